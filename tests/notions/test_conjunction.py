"""Two promises at once: the intersection, proven twice, and what several draws then tell (theory 7.1)."""

import json
import math

import numpy as np
import pytest

import discreet as dc
from discreet.datasets import adult
from discreet.notions.conjunction import belt_of
from discreet.protocol.file import canonical, decode, encode
from discreet.release.draws_together import draws_told, total_epsilon
from discreet.wording import guarantee


def resealed(content):
    return canonical(content) + b"\n"


@pytest.fixture(scope="module")
def joint():
    return dc.Joint.from_table(adult(), secret="marital-status", release="education")


@pytest.fixture(scope="module")
def small():
    return dc.Joint.from_counts([[50, 30, 20], [20, 30, 50], [40, 10, 10]])


@pytest.fixture(scope="module")
def belted(small):
    return dc.design(small, dc.LIP(0.3) & dc.OrdinaryLDP(1.5)).protocol


@pytest.mark.parametrize(("belt", "kept", "two"), [(None, 0.8588, 31.8), (8, 0.8469, 7.46), (5, 0.7296, 4.26)])
def test_the_belt_table(joint, belt, kept, two):
    notion = dc.LIP(0.5) if belt is None else dc.LIP(0.5) & dc.OrdinaryLDP(belt)
    found = dc.design(joint, notion)
    assert found.is_optimal()
    assert found.utility / joint.entropy == pytest.approx(kept, abs=1e-3 / 2)
    assert total_epsilon(found.protocol, 2) == pytest.approx(two, abs=0.01)
    again = decode(encode(found.protocol))
    audit = dc.audit(again)
    assert audit.lip <= 0.5 + 1e-9
    assert belt is None or audit.ordinary <= belt + 1e-9


def test_the_optimum_lies_below_either_and_above_a_product_of_both(small, belted):
    both = dc.design(small, dc.LIP(0.3) & dc.OrdinaryLDP(1.5))
    each = [dc.design(small, one).upper_bound for one in (dc.LIP(0.3), dc.OrdinaryLDP(1.5))]
    assert both.upper_bound <= min(each) + 1e-6
    assert both.utility > dc.design(small, dc.OrdinaryLDP(0.3)).utility
    assert dc.design(small, dc.LIP(0.3) & dc.OrdinaryLDP(20)).utility == pytest.approx(each[0], abs=1e-5)


def test_the_level_is_the_first_ones_or_nothing(small, belted):
    notion = belted.notion
    assert notion.level(belted.channel, small).epsilon == pytest.approx(dc.audit(belted).lip)
    raw = dc.Channel(np.eye(3), small.letters)
    assert notion.level(raw, small).epsilon == math.inf
    assert (dc.OrdinaryLDP(1.5) & dc.LIP(0.3)).level(belted.channel, small).epsilon == pytest.approx(
        dc.audit(belted).ordinary
    )


@pytest.mark.parametrize(("part", "epsilon"), [(0, 0.05), (1, 0.4)])
def test_a_file_with_one_of_the_two_broken_is_refused(belted, part, epsilon):
    content = json.loads(encode(belted))
    content["notions"][part]["epsilon"] = str(epsilon)
    with pytest.raises(dc.ProtocolError):
        decode(resealed(content))
    content = json.loads(encode(belted))
    assert decode(resealed(content)).digest == belted.digest


def test_a_nested_or_single_conjunction_is_no_file(belted):
    content = json.loads(encode(belted))
    first, second = content["notions"]
    nested = {"name": "Conjunction", "parts": [first, second]}
    for notions in ([nested], [nested, first], [first] * 2, [], "LIP", [first, second] * 1000):
        with pytest.raises(dc.ProtocolError):
            decode(resealed({**content, "notions": notions}))


def test_words_name_both(belted):
    said = guarantee(belted)
    assert "as likely" in said
    assert "odds between any two original values" in said
    assert belt_of(belted.notion) == 1.5
    assert belt_of(dc.LIP(1)) is None


def test_k_draws_stay_below_k_belts(belted):
    assert total_epsilon(belted, 2) <= 3.0
    assert total_epsilon(belted, 1000) <= 1500.0
    assert total_epsilon(belted, 1000) < math.inf
    assert "never exceed 1.5·k" in draws_told(belted)


@pytest.mark.parametrize(("low", "up"), [(0.1, 1.0), (0.5, 1.0), (1.0, 0.5)])
@pytest.mark.parametrize("belt", [0.15, 0.3])
def test_a_belt_counts_in_the_measure_of_the_first_promise(low, up, belt):
    """A fall of b is one of b·up/low where the lower side is the narrower one; listed, all draws of two letters."""
    joint = dc.Joint.from_counts([[300, 100], [100, 300]])
    protocol = dc.design(joint, dc.ALIP(low, up) & dc.OrdinaryLDP(belt)).protocol
    for draws in (2, 3, 4):
        told = np.array([np.ones(len(joint.letters))])
        for _ in range(draws):
            told = (told[:, None, :] * protocol.matrix[None, :, :]).reshape(-1, told.shape[1])
        moves = np.log(told @ joint.letter_given_secret.T) - np.log(told @ joint.prior)[:, None]
        true = max(moves.max(), -moves.min() * up / low)
        assert total_epsilon(protocol, draws) == pytest.approx(true, abs=1e-8)
        assert total_epsilon(protocol, draws) >= true - 1e-12
        assert true <= draws * belt * max(1, up / low) + 1e-9
    stated = float(draws_told(protocol).split("never exceed ")[1].split("·k")[0])
    assert 0 <= stated - belt * max(1, up / low) <= 1e-5


def test_a_belt_is_recommended_where_it_helps(joint):
    assert "--belt 8" in draws_told(dc.design(joint, dc.LIP(0.5)).protocol)
    assert "--belt" not in draws_told(dc.design(joint, dc.OrdinaryLDP(0.5), method="grr").protocol)


def test_the_same_notion_twice_is_refused():
    with pytest.raises(dc.ParameterError):
        dc.LIP(0.5) & dc.LIP(1.0)


def test_three_at_once_and_another_level(small):
    notion = dc.LIP(0.3) & dc.LDP(0.5) & dc.OrdinaryLDP(1.5)
    assert len(notion.promises) == 3
    found = dc.design(small, notion)
    levels = dc.audit(found.protocol)
    assert (levels.lip, levels.ldp, levels.ordinary) <= (0.3 + 1e-9, 0.5 + 1e-9, 1.5 + 1e-9)
    assert levels.ldp <= 0.5 + 1e-9
    assert levels.ordinary <= 1.5 + 1e-9
    assert notion.at(0.2).promises == (dc.LIP(0.2), dc.LDP(0.5), dc.OrdinaryLDP(1.5))
