"""The relations between the notions (funnel-2, Lemmas 1 and 2, figure 2), as properties of random channels."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.channel import Channel
from discreet.information import leakage, utility
from discreet.joint import Joint
from discreet.notions import LDP, LIP, SRLIP, OrdinaryLDP, allows
from discreet.testing import channels, joints, joints_with_channels, post_processings

ANY = 1.0
ROUNDING = 1e-9


def level(notion, channel, joint):
    return notion(ANY).level(channel, joint).epsilon


@given(joints_with_channels())
def test_ldp_implies_lip_implies_twice_ldp(pair):
    joint, channel = pair
    ldp, lip = level(LDP, channel, joint), level(LIP, channel, joint)
    assert lip <= ldp + ROUNDING
    assert ldp <= 2 * lip + ROUNDING


@given(joints_with_channels())
def test_lip_bounds_the_leakage(pair):
    joint, channel = pair
    assert leakage(joint, channel) <= level(LIP, channel, joint) + ROUNDING
    assert leakage(joint, channel) <= utility(joint, channel) + ROUNDING


@given(joints_with_channels())
def test_ordinary_ldp_is_the_strictest(pair):
    joint, channel = pair
    assert level(LDP, channel, joint) <= level(OrdinaryLDP, channel, joint) + ROUNDING


@given(joints_with_channels(attributes=2, max_letters=3))
def test_srlip_implies_lip(pair):
    joint, channel = pair
    assert level(LIP, channel, joint) <= level(SRLIP, channel, joint) + ROUNDING


@given(joints(attributes=2, max_letters=3), st.booleans(), st.data())
def test_srlip_is_lip_under_every_side_channel(joint, reads_secret, data):
    """Definition 3 word for word: LIP of the channel restricted to the records with x_J, under P( · | x_J)."""
    if reads_secret:
        joint = joint.curator()
    channel = data.draw(channels(joint))
    worst = 0.0
    cells = joint.probabilities
    for slices in np.ndindex(*(n + 1 for n in joint.shape)):
        kept = np.zeros_like(cells)
        place = (slice(None), *(slice(None) if i == 0 else slice(i - 1, i) for i in slices))
        kept[place] = cells[place]
        if kept.sum() > 0:
            known = Joint(kept / kept.sum(), sees_secret=reads_secret)
            worst = max(worst, level(LIP, channel, known))
    assert level(SRLIP, channel, joint) == pytest.approx(worst, abs=1e-9)


@pytest.mark.parametrize("notion", [LDP, LIP, SRLIP, OrdinaryLDP])
@given(joints_with_channels(), st.data())
def test_post_processing_never_raises_a_level(notion, pair, data):
    joint, channel = pair
    after = channel.then(data.draw(post_processings(channel)))
    assert level(notion, after, joint) <= level(notion, channel, joint) + ROUNDING
    assert utility(joint, after) <= utility(joint, channel) + ROUNDING


@pytest.mark.parametrize("notion", [LDP, LIP, SRLIP, OrdinaryLDP])
@given(joints_with_channels(attributes=2, max_letters=3))
def test_merging_rows_changes_nothing(notion, pair):
    joint, channel = pair
    merged = channel.merged()
    assert level(notion, merged, joint) == pytest.approx(level(notion, channel, joint), abs=1e-9)
    assert utility(joint, merged) == pytest.approx(utility(joint, channel), abs=1e-9)


@pytest.mark.parametrize("notion", [LDP, LIP, SRLIP, OrdinaryLDP])
@given(joints_with_channels(attributes=2, max_letters=3))
def test_the_cone_and_the_level_agree(notion, pair):
    """Every row lies in the cone at the level of the channel, and the worst one no longer just below it."""
    joint, channel = pair
    epsilon = level(notion, channel, joint)
    if epsilon < 1e-3 or math.isinf(epsilon):
        return
    assert all(allows(notion(epsilon * (1 + 1e-9)), row, joint) for row in channel.matrix)
    assert not all(allows(notion(epsilon * (1 - 1e-6)), row, joint) for row in channel.matrix)


@given(joints_with_channels())
def test_the_witness_attains_the_level(pair):
    joint, channel = pair
    found = LDP(ANY).level(channel, joint)
    y = channel.outputs.index(found.witness.output)
    names = [joint.secret_letters[s] for s in joint.seen]
    first, second = (
        joint.letter_given_secret[names.index(s)] @ channel.matrix[y]
        for s in (found.witness.secret, found.witness.other)
    )
    if second > 0:
        assert math.log(first / second) == pytest.approx(found.epsilon, abs=1e-12)
    else:
        assert first == 0 or math.isinf(found.epsilon)


@pytest.mark.parametrize("notion", [LDP, LIP])
@given(joints_with_channels(), st.data())
def test_the_curator_form_of_a_channel_that_ignores_the_secret_has_the_same_level(notion, pair, data):
    joint, channel = pair
    ignoring = Channel(np.tile(channel.matrix, (1, len(joint.probabilities))))
    assert level(notion, ignoring, joint.curator()) == pytest.approx(level(notion, channel, joint), abs=1e-9)
    assert utility(joint.curator(), ignoring) == pytest.approx(utility(joint, channel), abs=1e-9)


def test_lazy_and_listed_side_channels_are_the_same_cone(monkeypatch):
    rng = np.random.default_rng(5)
    joint = Joint(rng.dirichlet(np.ones(24)).reshape(2, 3, 4))
    listed = SRLIP(0.3).cone(joint)
    monkeypatch.setattr("discreet.notions.srlip.LISTED_ENTRIES", 0)
    lazy = SRLIP(0.3).cone(joint)
    assert listed.complete
    assert not lazy.complete
    rows = np.vstack([rng.dirichlet(np.full(12, 5.0), size=200), 1 + 0.05 * rng.standard_normal((200, 12))])
    inside = [listed.excess(v) <= 1e-12 for v in rows]
    assert inside == [lazy.excess(v) <= 1e-12 for v in rows]
    assert 50 < sum(inside) < 350
