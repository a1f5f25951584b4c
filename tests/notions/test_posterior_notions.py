"""What PML, ALIP, Shift and Perfect permit, how they are stated, and the optima they are known to have."""

import math

import numpy as np
import pytest

import discreet as dc
from discreet.channel import Channel
from discreet.datasets import adult
from discreet.exceptions import ParameterError
from discreet.joint import Joint
from discreet.notions.by_name import notion_of, spelled, spelling
from discreet.notions.notion import allows
from discreet.protocol.file import decode, encode
from discreet.study import trade_off
from discreet.wording import guarantee

KEPT = {
    "sex": (1.0000, 0.9872, 0.9897, 0.7513),
    "race": (0.9393, 0.8522, 0.9997, 0.5324),
    "marital-status": (0.9389, 0.8056, 0.9607, 0.2604),
    "occupation": (0.8104, 0.6374, 0.7622, 0.0113),
}
NOTIONS = (dc.PML(0.5), dc.ALIP(0.3, 0.7), dc.Shift(0.1), dc.Perfect())
SMALL = Joint.from_counts([[50, 30, 20], [20, 30, 50], [40, 10, 10]], secrets=["flu", "cold", "none"])
SHARP = Joint.from_counts([[60, 10, 5], [5, 40, 80], [40, 5, 9]])


@pytest.mark.parametrize("secret", KEPT)
def test_what_is_kept_of_education(secret):
    joint = dc.Joint.from_table(adult(), secret=secret, release="education")
    for notion, kept in zip(NOTIONS, KEPT[secret], strict=True):
        found = dc.design(joint, notion)
        assert found.is_optimal()
        assert found.utility / joint.entropy == pytest.approx(kept, abs=2e-4)
        assert decode(encode(found.protocol)).notion == notion
        levels = dc.audit(found.protocol).levels
        assert levels[notion.words.name].epsilon <= notion.epsilon + 1e-12


@pytest.mark.parametrize("notion", NOTIONS, ids=lambda one: one.words.name)
def test_rows_are_permitted_exactly_up_to_the_level(notion):
    """From the definition of each, by brute force over random rows."""
    rng, permitted = np.random.default_rng(0), 0
    flat = SHARP.table
    for _ in range(400):
        row = rng.dirichlet(np.full(3, 0.4)) + rng.choice([0.01, 0.1, 0.5])
        after = (flat * row).sum(axis=1) / (flat * row).sum()
        before = flat.sum(axis=1)
        ratios = np.log(after / before)
        right = {
            "PML": ratios.max() <= 0.5,
            "ALIP": ratios.max() <= 0.7 and ratios.min() >= -0.3,
            "Shift": all(
                abs((after - before) @ chosen) <= 0.1 for chosen in np.ndindex(2, 2, 2)
            ),
            "Perfect": np.abs(ratios).max() <= 1e-12,
        }[notion.words.name]  # fmt: skip
        assert allows(notion, row, SHARP) == right
        permitted += right
    assert allows(notion, np.ones(3), SHARP)
    assert notion.words.name == "Perfect" or 0 < permitted < 400


def test_statements_are_listed_or_separated_alike(monkeypatch):
    listed = dc.Shift(0.05).cone(SMALL)
    monkeypatch.setattr("discreet.notions.shift.LISTED_SECRETS", 0)
    lazy = dc.Shift(0.05).cone(SMALL)
    assert listed.complete
    assert not lazy.complete
    rows = 1 + 0.5 * np.random.default_rng(1).standard_normal((300, 3)).clip(-1.9, 2)
    inside = [listed.excess(row) <= 1e-12 for row in rows]
    assert inside == [lazy.excess(row) <= 1e-12 for row in rows]
    assert 20 < sum(inside) < 280


def test_pml_may_rule_a_secret_out_and_lip_may_not():
    joint = Joint.from_counts([[5, 5, 0], [5, 5, 10]], secrets=["a", "b"])
    channel = Channel(np.array([[1.0, 1.0, 0.2], [0.0, 0.0, 0.8]]))
    assert dc.PML(1).level(channel, joint).epsilon == pytest.approx(math.log(1.5))
    assert dc.LIP(1).level(channel, joint).epsilon == math.inf
    assert dc.ALIP(5, 1).level(channel, joint).epsilon == math.inf
    assert dc.ALIP(math.inf, 1) == dc.PML(1)


def test_the_worst_case_is_told():
    """Every number from the matrix by hand."""
    joint = Joint.from_counts([[60, 20], [20, 60], [20, 20]], secrets=["a", "b", "c"], releases=["low", "high"])
    channel = Channel(np.array([[0.9, 0.1], [0.1, 0.9]]), joint.letters, ("L", "H"))
    protocol = dc.Protocol.make(channel, joint, dc.ALIP(2.0, 1.0))
    found = dc.audit(protocol)
    told = (0.9 * 60 + 0.1 * 20) / (0.9 * 100 + 0.1 * 100)
    assert found.levels["Shift"].epsilon == pytest.approx(told - 0.4)
    assert found.witnesses["Shift"] == "output 'L' makes 'a' more likely by 16 percentage points"
    assert found.witnesses["PML"] == "output 'L' makes 'a' 1.4 times as likely as before"
    fallen = 0.4 / ((0.1 * 60 + 0.9 * 20) / 100)
    assert found.levels["ALIP"].epsilon == pytest.approx(max(math.log(told / 0.4), math.log(fallen) / 2))
    assert found.witnesses["ALIP"] == "output 'L' makes 'a' 1.4 times as likely as before"
    assert "Perfect" not in found.levels
    lowered = dc.audit(dc.Protocol.make(channel, joint, dc.ALIP(0.6, 2.0)))
    assert lowered.witnesses["ALIP"] == "output 'L' makes 'b' 1.667 times less likely than before"


def test_promises_say_what_each_does_not():
    channel = Channel(np.full((2, 3), 0.5))
    said = [guarantee(dc.Protocol.make(channel, SMALL, one)) for one in NOTIONS]
    assert "ruled out" in said[0]
    assert "less likely" in said[1]
    assert "percentage points" in said[2]
    assert "one part in a billion" in said[3]


@pytest.mark.parametrize("wrong", [lambda: dc.PML(0), lambda: dc.ALIP(0, 1), lambda: dc.ALIP(1, math.inf),
                                   lambda: dc.ALIP(math.nan, 1), lambda: dc.Shift(0), lambda: dc.Shift(1.1),
                                   lambda: dc.Shift(math.nan), lambda: dc.ALIP(math.inf, -1)])  # fmt: skip
def test_wrong_numbers_are_refused(wrong):
    with pytest.raises(ParameterError):
        wrong()


def test_notions_in_one_word():
    for notion in (*NOTIONS, dc.LIP(0.1), dc.OrdinaryLDP(8)):
        assert spelled(spelling(notion)) == notion
    assert notion_of("alip:0.3:0.7", None, 0.9) == dc.ALIP(0.3, 0.7)
    assert notion_of("rldp:0.5", None, 0.9) == dc.RLDP.asked(0.5, 0.9)
    assert notion_of("perfect", None, 0.9) == dc.Perfect()
    assert notion_of("shift", 0.1, 0.9, belt=3) == dc.Shift(0.1) & dc.OrdinaryLDP(3)
    for text in ("alip:0.3", "alip:a:b", "shift:0.1:0.2", "nobody:1", "perfect:1"):
        with pytest.raises(ParameterError):
            spelled(text)
    for text, epsilon in (("alip:0.3:0.7", 0.5), ("shift", None)):
        with pytest.raises(ParameterError):
            notion_of(text, epsilon, 0.9)


def test_perfect_has_one_point_and_no_curve():
    joint = Joint.from_counts([[10, 20, 5], [20, 40, 30]])
    found = dc.design(joint, dc.Perfect())
    curves = trade_off(found.protocol)
    assert {point.epsilon for points in curves.values() for point in points} == {1e-9}


def test_given_columns_belts_and_curators():
    """Together with what they can meet."""
    people = adult()
    strata = dc.Joint.from_table(people, secret="race", release="education", given=["sex"])
    joint = dc.Joint.from_table(people, secret="race", release="relationship")
    for notion in NOTIONS:
        alone = dc.design(joint, notion).utility
        assert dc.design(joint, notion, sees_secret=True, gap=1e-3).utility >= alone - 1e-3
        stratified = dc.design(strata, notion)
        assert stratified.is_optimal(3e-6)
        assert stratified.protocol.epsilon <= notion.epsilon
        belted = dc.design(joint, notion & dc.OrdinaryLDP(5), gap=1e-4)
        assert belted.utility <= alone + 1e-6
        assert dc.audit(belted.protocol).ordinary <= 5 + 1e-9
