"""What a release is for: the mechanism that serves it, the smallest epsilon for a share, and what is done with many."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dc
from discreet.exceptions import InfeasibleError, ParameterError
from discreet.study import Purpose, Study, needed_epsilon
from discreet.study import purposes as room
from discreet.study.purposes import serve, worth_by_letter

JOINT = dc.Joint.from_counts([[50, 30, 20], [20, 30, 50]], secrets=["ill", "well"])


@pytest.mark.parametrize("purpose", list(Purpose))
def test_each_purpose_has_the_most_of_what_it_is_about(purpose: Purpose) -> None:
    found = {one: serve(JOINT, dc.LIP(0.4), one).design.protocol for one in Purpose}
    measure = room.measure_of(purpose)
    mine = measure.of(JOINT, found[purpose].channel)
    for other, protocol in found.items():
        if purpose is not Purpose.values or other is purpose:
            assert mine >= measure.of(JOINT, protocol.channel) - 1e-3
    assert all(one.notion == dc.LIP(0.4) for one in found.values())


@pytest.mark.parametrize(("purpose", "share"), [(Purpose.values, 0.8), (Purpose.statistics, 0.5)])
def test_the_smallest_epsilon_with_a_share(purpose: Purpose, share: float) -> None:
    study = Study.begin(JOINT, dc.LIP(1.0), purpose=purpose, need=share)
    assert study.needed is not None
    assert study.design is not None
    assert study.design.utility >= share
    below = serve(JOINT, dc.LIP(study.needed.epsilon / 1.02), purpose).design
    assert below.utility < share
    shares = [reached for _, reached in study.needed.tried]
    assert shares == sorted(shares)


def test_a_share_out_of_reach_is_refused() -> None:
    with pytest.raises(InfeasibleError, match="is reached at epsilon"):
        needed_epsilon(lambda epsilon: 0.5, 0.6)
    with pytest.raises(ParameterError):
        needed_epsilon(lambda epsilon: 0.5, 1.2)
    assert needed_epsilon(lambda epsilon: 0.9, 0.6).epsilon == room.BETWEEN[0]


def test_half_widths_fall_with_epsilon_once_designed_for() -> None:
    wide = []
    for epsilon in (0.1, 0.2, 0.4, 0.8):
        study = Study.begin(JOINT, dc.LIP(epsilon), purpose=Purpose.statistics).with_forecasts(1000)
        wide.append(study.forecasts[0].half_widths().max())
    assert wide == sorted(wide, reverse=True)


def test_many_letters_fall_back_to_a_list_that_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MOST_ACCURATE_LETTERS", 5)
    monkeypatch.setattr(room, "MOST_AGREEING_CELLS", 30)
    monkeypatch.setattr(room, "MOST_GROUPED", 4)
    counts = np.random.default_rng(0).integers(5, 60, (3, 8))
    joint = dc.Joint.from_counts(counts)
    best = serve(joint, dc.LIP(0.5), Purpose.statistics)
    assert "The best of a list was taken" in best.remark
    tried = [dc.design(joint, dc.LIP(0.5), method=method) for method in ("grr", "keep-or-draw")]
    mine = worth_by_letter(joint, best.design.protocol.channel)
    assert all(mine >= worth_by_letter(joint, one.protocol.channel) - 1e-9 for one in tried)
    values = serve(joint, dc.LIP(0.5), Purpose.values)
    assert values.design.method == "keep-or-draw"
    assert "kept with a probability" in values.remark
    law = values.design.protocol.matrix @ joint.prior
    assert np.abs(law - joint.target_prior).max() < 2.0**-40
    assert values.design.utility <= dc.design(joint, dc.LIP(0.5), utility=dc.Agreement()).utility + 1e-9


def test_what_is_worth_little_is_told_and_rare_letters_are_named() -> None:
    counts = np.array([[400, 300, 200, 1], [150, 300, 420, 1]])
    joint = dc.Joint.from_counts(counts, releases=[dc.Attribute("colour", ("red", "green", "blue", "puce"))])
    study = Study.begin(joint, dc.LIP(0.05)).with_forecasts(int(counts.sum()))
    told = " ".join(study.warnings)
    assert "puce" in told
    assert "--merge colour:rare:5" in told
    assert "less than a tenth" in told or "does not determine" in told
    clean = Study.begin(JOINT, dc.LIP(3.0)).with_forecasts(200)
    assert clean.warnings == ()
