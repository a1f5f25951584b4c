"""What a design is compared with: the trade-off, the secrets that cost most under robust LDP, fewer outputs."""

import numpy as np
import pytest

import discreet as dc
from discreet.study import OPTIMUM, Costly, Point, costly_secrets, trade_off
from discreet.wording import costly

COUNTS = [[4, 3, 2], [400, 300, 10], [90, 80, 700], [300, 90, 80], [100, 900, 90]]
LETTERS = ["rare", "a", "b", "c", "d"]
JOINT = dc.Joint.from_counts(COUNTS, secrets=LETTERS, include_secret=True)
NOTION = dc.RLDP(1.0)


@pytest.fixture(scope="module")
def found():
    return dc.design(JOINT, NOTION, time_limit=4.0)


def test_what_the_others_would_gain_is_measured_and_told():
    joint = dc.Joint.from_counts([[3, 6], [400, 300], [90, 700]], secrets=["rare", "a", "b"], include_secret=True)
    costs = costly_secrets(joint, dc.RLDP(0.3, dc.ChiSquare()), seconds=20.0)
    by_name = {one.secret: one.cost for one in costs}
    assert set(by_name) == {"rare", "a", "b"}
    assert by_name["rare"] > 0.03
    assert [one.cost for one in costs] == sorted(by_name.values(), reverse=True)
    assert "rare (" in costly(joint, costs)
    assert costly(joint, [Costly("rare", 0.001)]) == ""


def test_the_rarest_are_looked_at_first():
    assert [one.secret for one in costly_secrets(JOINT, NOTION, most=1, seconds=1.0)] == ["rare"]


def test_merging_the_rare_secret_keeps_more_of_the_rest(found):
    merged = JOINT.merge_secrets(["rare", "c"], "rare or c")
    assert merged.secret_letters == ("a", "b", "d", "rare or c")
    np.testing.assert_array_equal(merged.counts[-1], [304, 93, 82])
    assert merged.n == JOINT.n
    assert dc.design(merged, NOTION, time_limit=4.0).utility > found.utility


@pytest.mark.parametrize("letters", [["rare"], ["rare", "nobody"], ["a", "a"]])
def test_what_cannot_be_merged_is_refused(letters):
    with pytest.raises(dc.DistributionError, match="merged"):
        JOINT.merge_secrets(letters, "b" if letters == ["a", "a"] else "other")


@pytest.mark.parametrize("seen", [[0, 0, 0], [1, 0, 0], [4, 3, 2]])
def test_secrets_seen_0_1_or_9_times_break_nothing(seen):
    joint = dc.Joint.from_counts([seen, *COUNTS[1:]], secrets=LETTERS, include_secret=True)
    found = dc.design(joint, NOTION, time_limit=2.0)
    assert found.protocol.epsilon <= 1.0
    assert costly_secrets(joint, NOTION, most=1, seconds=1.5)[0].secret == "rare"


def test_nobody_stands_out_where_the_distribution_is_known_or_unknown():
    for uncertainty in (dc.Exactly(), dc.Everything()):
        assert costly_secrets(JOINT, dc.RLDP(1.0, uncertainty)) == ()


def test_fewer_outputs_lose_little_and_are_proven_and_named(found):
    sparser = found.sparser()
    assert len(sparser.protocol.outputs) < len(found.protocol.outputs)
    assert 0.98 * found.utility - 1e-9 <= sparser.utility <= found.utility
    assert sparser.protocol.epsilon <= 1.0
    assert sparser.upper_bound == found.upper_bound
    assert all(isinstance(name, str) for name in sparser.protocol.outputs)
    assert len(found.sparser(0.5).protocol.outputs) < len(sparser.protocol.outputs)


def small_protocol():
    joint = dc.Joint.from_counts([[50, 30, 20], [20, 30, 50]])
    return dc.Protocol.make(dc.Channel(0.2 * np.eye(3) + 0.8 / 3), joint, dc.LIP(0.2))


def test_the_trade_off_grows_and_holds_the_chosen_point():
    protocol, steps = small_protocol(), []
    curves = trade_off(protocol, multiples=(0.5, 1.0, 2.0), step=lambda: steps.append(1))
    best, others = curves[OPTIMUM], curves["randomised response"]
    assert len(steps) == 3
    assert best[1] == Point(0.2, protocol.utility, protocol.utility)
    assert best[0].value <= best[2].value
    assert [point.epsilon for point in best] == [point.epsilon for point in others] == [0.1, 0.2, 0.4]
    assert all(other.value <= one.bound + 1e-9 for other, one in zip(others[::2], best[::2], strict=True))


def test_a_trade_off_without_time_has_the_chosen_point_alone():
    protocol = small_protocol()
    assert trade_off(protocol, upper_bound=0.5, seconds=0.0) == {OPTIMUM: [Point(0.2, protocol.utility, 0.5)]}
