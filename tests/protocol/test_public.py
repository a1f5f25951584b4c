"""The public part of a protocol: the same for all joints that agree in weights and law, and enough to estimate."""

import json
import re

import numpy as np
import pytest
from public_cases import (
    CANARY,
    FORMS,
    LETTERS,
    blind_curator,
    channel_of,
    protocol_of,
    releasing,
    scaled,
    stratified,
    table_of,
    twins,
)

import discreet as dc
from discreet.attribute import Form
from discreet.datasets import adult
from discreet.estimate import estimate_strata, posterior, weighted
from discreet.protocol import Protocol
from discreet.protocol.public_file import decode_public
from discreet.protocol.published import averaged_weights, exact_law


def without_digest(public):
    return public.encode().replace(public.protocol_digest.encode(), b"digest")


@pytest.mark.parametrize("pair", [twins, scaled])
@pytest.mark.parametrize("form", FORMS)
def test_equal_weights_and_law_are_equal_bytes_but_for_the_digest(form, pair):
    one, other = (FORMS[form](joint) for joint in pair())
    assert one.epsilon != other.epsilon or pair is scaled  # the proven levels differ, and would tell
    first, second = one.public(), other.public()
    assert first.protocol_digest == one.digest != other.digest == second.protocol_digest
    assert without_digest(first) == without_digest(second)


def test_a_law_summed_in_floats_would_tell():
    """The priors that joints compute for themselves differ in the last place where X's law is one and the same."""
    first, moves = np.reshape(CANARY, (2, 4)), np.random.default_rng(0).integers(-900, 900, size=(40, 4))
    pairs = [[dc.Joint.from_counts(first + k * np.stack([move, -move])) for k in (0, 1)] for move in moves]
    assert any(not np.array_equal(one.prior, other.prior) for one, other in pairs)
    assert all(np.array_equal(exact_law(one), exact_law(other)) for one, other in pairs)


def numbers_in(data):
    """Every number in a JSON file, those written as text and inside text included."""
    return [int(found) for found in re.findall(r"\d+", data.decode())]


@pytest.mark.parametrize("form", FORMS)
def test_no_joint_count_is_in_it(form):
    protocol = FORMS[form](twins()[0])
    data = protocol.public().encode()
    assert not set(CANARY) & set(numbers_in(data))
    full = protocol.encode() if "strata" in form else json.dumps(twins()[0].counts.tolist()).encode()
    assert set(CANARY) <= set(numbers_in(full))  # where they are, the scan finds them
    assert b'"counts"' not in data
    assert b'"probabilities"' not in data
    assert b'"n":' not in data


@pytest.mark.parametrize("form", FORMS)
def test_the_secret_is_a_name_unless_it_is_released(form):
    data = FORMS[form](twins()[0]).public().encode()
    assert (b'"ill"' in data) == (form == "include_secret")
    assert b'"secrets":["secret"]' in data


def test_the_level_is_the_one_that_was_asked_for():
    protocol = protocol_of(twins()[0], dc.LIP(6.0) & dc.OrdinaryLDP(20.0))
    public = protocol.public()
    assert public.epsilon == 6.0 != protocol.epsilon
    assert f"{protocol.epsilon!r}".encode() not in public.encode()
    assert public.notion == protocol.notion
    assert "Whoever sees" in public.promise


def test_it_says_what_it_tells():
    said = " ".join(protocol_of(twins()[0]).public().reveals)
    assert "chosen from the counts of the released table" in said
    assert "SHA-256 of the full file" in said
    said = " ".join(protocol_of(twins()[0], source="public").public().reveals)
    assert "public sample" in said
    assert "average over the secret" in " ".join(blind_curator(twins()[0]).public().reveals)
    assert "No law and no posterior" in " ".join(releasing(twins()[0]).public().reveals)
    merged = dc.Joint.from_counts(np.full((3, 4), 9), ["ill", "worse", "well"], LETTERS)
    merged = merged.merge_secrets(["ill", "worse"], "bad")
    assert "grouped" in " ".join(protocol_of(merged).public().reveals)


def test_no_law_and_no_posterior_where_the_letters_contain_the_secret():
    public = releasing(twins()[0]).public()
    assert public.law is None
    assert public.marginal is None
    assert public.decoding is None
    with pytest.raises(dc.ProtocolError, match="No law"):
        public.posterior(public.outputs[0])
    assert b'"law"' not in public.encode()


def test_the_posterior_is_that_of_the_full_protocol():
    for protocol in (protocol_of(twins()[0]), blind_curator(twins()[0])):
        public = protocol.public()
        for output in protocol.outputs:
            np.testing.assert_allclose(public.posterior(output), protocol.posterior(output), atol=1e-14)
    with pytest.raises(dc.AlphabetError):
        public.posterior("no output")


def test_the_average_over_the_secret_is_the_channel_that_people_meet():
    joint = twins()[0].curator()
    protocol = Protocol.make(channel_of(joint), joint, dc.LIP(9.0))
    weights = averaged_weights(protocol).toarray()
    assert (weights.sum(axis=0) == 1 << protocol.bits).all()
    given_x = joint.table / joint.table.sum(axis=0)
    expected = (protocol.matrix.reshape(3, 2, 4) * given_x).sum(axis=1)
    np.testing.assert_allclose(weights / 2.0**protocol.bits, expected, atol=1e-15)


def test_an_unseen_value_is_averaged_over_the_population():
    counts = np.array([[5, 0, 2], [1, 0, 9]])
    joint = dc.Joint.from_counts(counts, ["ill", "well"], LETTERS[:3]).curator()
    protocol = Protocol.make(channel_of(joint), joint, dc.LIP(9.0))
    mean = protocol.matrix.reshape(3, 2, 3)[:, :, 1] @ joint.secret_prior
    np.testing.assert_allclose(protocol.public().matrix[:, 1], mean, atol=1e-15)


# ---- estimates -------------------------------------------------------------------------------------------------------


def same(one, other, tolerance):
    assert one.n == other.n
    assert one.letters == other.letters
    np.testing.assert_allclose(one.frequencies, other.frequencies, rtol=0, atol=tolerance)
    np.testing.assert_allclose(one.standard_errors, other.standard_errors, rtol=0, atol=tolerance)
    np.testing.assert_allclose(one.interval(0.95), other.interval(0.95), rtol=0, atol=max(tolerance, 1e-9))


@pytest.fixture(scope="module")
def people():
    return adult()


@pytest.fixture(scope="module")
def designed(people):
    joint = dc.Joint.from_table(people, secret="marital-status", release="education")
    return dc.design(joint, dc.LIP(0.5)).protocol


@pytest.mark.parametrize("method", ["linear", "likelihood"])
def test_estimates_are_those_of_the_full_protocol(people, designed, method, tmp_path):
    released = designed.sanitise(people)
    designed.public().save(tmp_path / "public.json")
    public = dc.PublicProtocol.load(tmp_path / "public.json")
    same(dc.estimate(released, public, method=method), dc.estimate(released, designed, method=method), 1e-12)
    found = dc.estimate(released, public)
    np.testing.assert_allclose(posterior(public, found), posterior(designed, found), atol=1e-12)
    np.testing.assert_allclose(weighted(released, public, found), weighted(released, designed, found), atol=1e-12)


def test_estimates_of_a_curator_assume_what_was_counted():
    joint = twins()[0].curator()
    protocol = Protocol.make(channel_of(joint, tuple("ABCDE")), joint, dc.LIP(9.0))
    released = protocol.sanitise(table_of(joint, 4000))
    public = protocol.public()
    same(dc.estimate(released, public), dc.estimate(released, protocol), 1e-12)
    assert dc.estimate(released, public).notes == dc.estimate(released, protocol).notes
    with pytest.raises(dc.ParameterError, match="mean over the secret"):
        dc.estimate(released, public, assume="nothing")


def test_estimates_without_a_law_are_unbiased():
    joint = dc.Joint.from_counts(twins()[0].counts, ["ill", "well"], LETTERS, include_secret=True)
    protocol = Protocol.make(channel_of(joint, tuple("ABCDEFGHIJ")), joint, dc.LDP(20.0))
    released = protocol.sanitise(table_of(joint, 40_000))
    found, full = dc.estimate(released, protocol.public()), dc.estimate(released, protocol)
    assert protocol.public().form is Form.RELEASES_SECRET
    truth = joint.prior
    assert (np.abs(found.frequencies - truth) < 5 * found.standard_errors).all()
    assert (found.standard_errors >= 0.999 * full.standard_errors).all()  # the law is what they lack
    assert any("states no law" in note for note in found.notes)


def test_estimates_in_strata():
    joint = twins()[0]
    protocol = stratified(joint)
    released = protocol.sanitise(table_of(joint, 4000))
    public = decode_public(protocol.public().encode())
    same(dc.estimate(released, public), dc.estimate(released, protocol), 1e-12)
    each, full = estimate_strata(released, public), estimate_strata(released, protocol)
    assert list(each) == list(full) == [("f",), ("m",)]
    for key, one in each.items():
        same(one, full[key], 1e-12)
        # a fit that ends once it is close enough turns a last bit of the law into the ninth digit of a limit
        np.testing.assert_array_equal(one.interval(0.95), full[key].interval(0.95))


def test_several_columns_and_their_agreement(people):
    joint = dc.Joint.from_table(people, secret="marital-status", release=["sex", "income"])
    protocol = dc.design(joint, dc.LIP(0.3), utility=dc.Agreement()).protocol
    released = protocol.sanitise(people)
    assert released.column_names == ["sex", "income"]
    same(dc.estimate(released, protocol.public()), dc.estimate(released, protocol), 1e-12)


def test_groupings_are_kept(people):
    years = people.append_column("years", [np.arange(len(people)) % 77])
    group = dc.Grouping(bins={"years": [0, 30, 50]})
    joint = dc.Joint.from_table(years, secret="marital-status", release="years", group=group)
    protocol = dc.design(joint, dc.LIP(0.5)).protocol
    again = decode_public(protocol.public().encode())
    assert again.reads == joint.releases
    assert again.reads[0].grouping is not None
    released = protocol.sanitise(years)
    same(dc.estimate(released, again), dc.estimate(released, protocol), 1e-12)
