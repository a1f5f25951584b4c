"""No method states a bound that what another one finds exceeds, whatever the notion, the form and the utility."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.exceptions import DiscreetError
from discreet.solvers.methods import METHODS

COUNTS = {
    "three": np.array([[914, 2145, 2656, 400], [125, 1617, 2764, 900], [600, 300, 200, 1500]]),
    "two": np.array([[914, 2145, 2656], [125, 1617, 2764]]),
}
NOTIONS = {
    str(notion): notion
    for notion in (
        dc.LDP(0.5),
        dc.LIP(0.5),
        dc.SRLIP(0.5),
        dc.PML(0.5),
        dc.ALIP(1.0, 0.5),
        dc.Shift(0.1),
        dc.OrdinaryLDP(1.0),
        dc.LIP(0.5) & dc.OrdinaryLDP(4),
        dc.LDP(0.5) & dc.LIP(0.2),
        dc.RLDP(1.0, dc.Confidence(0.9)),
        dc.RLIP(1.0, dc.Confidence(0.9)),
        dc.RLDP(1.0, dc.Renyi(2, 0.001)),
        dc.RLDP(1.0, dc.Exactly()),
        dc.Funnel(0.02),
        dc.MaximalLeakage(0.2),
        dc.Guess(0.6),
    )
}
FORMS = {"funnel": lambda joint: joint, "curator": lambda joint: joint.curator(), "secret": lambda joint: joint}


def joints() -> Iterator[tuple[str, dc.Joint]]:
    for name, counts in COUNTS.items():
        yield name, dc.Joint.from_counts(counts)
        yield f"{name}, curator", dc.Joint.from_counts(counts).curator()
        yield f"{name}, secret released", dc.Joint.from_counts(counts, include_secret=True)


def found(joint: dc.Joint, notion: Any, utility: Any) -> dict[str, tuple[float, float]]:
    designs = {}
    for name in METHODS:
        try:
            design = dc.design(joint, notion, utility=utility, method=name, time_limit=1.0)
        except DiscreetError:
            continue
        designs[name] = design.utility, design.upper_bound
    return designs


@pytest.mark.parametrize("notion", NOTIONS)
def test_bounds(notion: str) -> None:
    """The bound of the best closed form was that of LDP for every notion: LIP, PML and others keep more."""
    for name, joint in joints():
        designs = found(joint, NOTIONS[notion], dc.MutualInformation)
        if not designs:
            continue
        best = max(kept for kept, _ in designs.values())
        below = {method: bound for method, (_, bound) in designs.items() if bound < best - 1e-9}
        assert not below, (name, best, below)
