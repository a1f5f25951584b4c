"""Joints: marginals, the three forms, and refusal of anything that is not a distribution."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.attribute import Attribute
from discreet.exceptions import AlphabetError, DiscreetError, DistributionError, InputError
from discreet.joint import Joint
from discreet.testing import joints

COUNTS = [[7, 10], [26, 57]]


def test_counts_are_divided_by_n():
    joint = Joint.from_counts(COUNTS)
    assert joint.n == 100
    np.testing.assert_allclose(joint.table, np.array(COUNTS) / 100)
    np.testing.assert_allclose(joint.secret_prior, [0.17, 0.83])
    np.testing.assert_allclose(joint.release_given_secret[0], [0.4118, 0.5882], atol=5e-5)


def test_names_are_the_documented_ones():
    joint = Joint.from_counts(np.ones((2, 3, 4)), secrets=["no", "yes"], releases=[list("abc"), list("wxyz")])
    assert [a.name for a in joint.secrets + joint.releases] == ["secret", "release1", "release2"]
    assert Joint.from_counts(COUNTS).releases[0].name == "release"
    assert joint.letters[:3] == (("a", "w"), ("a", "x"), ("a", "y"))
    assert joint.curator().letters[12] == ("yes", "a", "w")


@given(joints(), st.sampled_from(["funnel", "include", "curator"]))
def test_forms_agree_on_every_marginal(joint, form):
    form_of = {
        "funnel": joint,
        "include": Joint(joint.probabilities, include_secret=True),
        "curator": joint.curator(),
    }[form]
    np.testing.assert_allclose(form_of.matrix.sum(axis=1), joint.secret_prior, atol=1e-15)
    np.testing.assert_allclose(form_of.matrix.sum(axis=0), form_of.prior, atol=1e-15)
    assert len(form_of.letters) == form_of.matrix.shape[1] == len(form_of.target_of)
    masses = np.zeros(len(form_of.target_letters))
    np.add.at(masses, form_of.target_of, form_of.prior)
    np.testing.assert_allclose(masses, form_of.target_prior, atol=1e-15)
    if form == "include":
        assert form_of.target_letters == form_of.letters
    else:
        np.testing.assert_allclose(form_of.target_prior, joint.table.sum(axis=0), atol=1e-15)


@given(joints(), st.booleans())
def test_expanded_rows_give_the_same_likelihoods(joint, curator):
    form = joint.curator() if curator else joint
    rows = np.random.default_rng(0).random((3, len(form.letters)))
    np.testing.assert_allclose((form.expand(rows) * form.table).sum(axis=-1), rows @ form.matrix.T, atol=1e-14)


def test_unseen_secrets_have_no_conditional_and_can_be_left_out():
    joint = Joint.from_counts([[0, 0], [1, 2], [3, 4]], secrets=["never", "a", "b"])
    assert list(joint.seen) == [1, 2]
    assert joint.release_given_secret.shape == (2, 2)
    assert joint.observed().secret_letters == ("a", "b")
    assert joint.observed().n == joint.n


def test_several_secret_columns_form_one_secret():
    attributes = (Attribute("x", (0, 1)), Attribute("y", ("p", "q", "r")))
    joint = Joint(np.full((6, 2), 1 / 12), attributes)
    assert joint.secret_letters[4] == (1, "q")


@pytest.mark.parametrize(
    ("build", "kind", "says"),
    [
        (lambda: Joint([[0.5, -0.1], [0.3, 0.3]]), DistributionError, "negative"),
        (lambda: Joint([[0.5, np.nan], [0.3, 0.3]]), DistributionError, "not finite"),
        (lambda: Joint([[0.5, np.inf], [0.3, 0.3]]), DistributionError, "not finite"),
        (lambda: Joint([[0.5, 0.1], [0.3, 0.2]]), DistributionError, "add up"),
        (lambda: Joint([["a", "b"], ["c", "d"]]), DistributionError, "not numbers"),
        (lambda: Joint([0.5, 0.5]), DistributionError, "dimensions"),
        (lambda: Joint([[0.5, 0.5]]), DistributionError, "fewer than two"),
        (lambda: Joint(np.zeros((2, 0))), DistributionError, "without letters"),
        (lambda: Joint([[0.5, 0.1], [0.2, 0.2]], n=0), DistributionError, "n is not a whole number"),
        (lambda: Joint.from_counts([[1.5, 2], [3, 4]]), DistributionError, "whole number"),
        (lambda: Joint.from_counts([[np.nan, 2], [3, 4]]), DistributionError, "whole number"),
        (lambda: Joint.from_counts([[-1, 2], [3, 4]]), DistributionError, "negative"),
        (lambda: Joint.from_counts([[0, 0], [0, 0]]), DistributionError, "no records"),
        (lambda: Joint.from_counts([["1", "2"], ["3", "4"]]), DistributionError, "not numbers"),
        (lambda: Joint.from_counts(COUNTS, secrets=["a", "a"]), AlphabetError, "twice"),
        (lambda: Joint.from_counts(COUNTS, secrets=["a", "b", "c"]), AlphabetError, "letters for axes"),
        (lambda: Joint.from_counts(np.ones((2, 2, 2)), releases=["a", "b"]), AlphabetError, "lists of letters"),
        (lambda: Joint.from_counts(np.ones((2, 2, 2)), releases=[["a", "b"], ["c"]]), AlphabetError, "letters for"),
        (
            lambda: Joint(np.full((2, 2), 0.25), (Attribute("x", (0, 1)),), (Attribute("x", (0, 1)),)),
            AlphabetError,
            "twice",
        ),
        (lambda: Attribute("x", ()), AlphabetError, "without letters"),
    ],
)
def test_bad_input_is_refused_with_a_reason(build, kind, says):
    with pytest.raises(kind, match=says) as caught:
        build()
    assert isinstance(caught.value, InputError)
    assert isinstance(caught.value, DiscreetError)


def test_messages_carry_no_values():
    with pytest.raises(DistributionError) as caught:
        Joint([[0.5, -0.123456], [0.3, 0.3]])
    assert "123456" not in str(caught.value)
    with pytest.raises(AlphabetError) as caught:
        Joint.from_counts(COUNTS, secrets=["canary", "canary"])
    assert "canary" not in str(caught.value)
