"""Upper bounds on what any robust mechanism can keep (theory 1.9)."""

from __future__ import annotations

from dataclasses import replace

from discreet.joint import Joint
from discreet.notions.rldp import RLDP
from discreet.solvers import nonrobust
from discreet.uncertainty.sets import Exactly


def nonrobust_bound(joint: Joint, notion: RLDP, time_limit: float | None = None) -> float:
    """I*(S; ε) + H(U | S), the optimum if P̂ were known to be the truth: F contains P̂, so nothing robust keeps more."""
    known = replace(joint.observed(), include_secret=True)
    return nonrobust.solve(known, RLDP(notion.epsilon, Exactly()), time_limit=time_limit).upper_bound
