"""Curators over intervals: a mechanism that reads (S, X) and is judged by I(X;Y) (theory 1.10, 5.7).

A plan for (S, X), glued in the order of letters, is a beginning. Outputs in use, mixtures of two, and others are
climbed from at the prices of all; every secret has its best row for the slope, exactly.
"""

from __future__ import annotations

import numpy as np

from discreet.arrays import Floats
from discreet.solvers.problem import Effort
from discreet.solvers.robust.intervals.polishing import best_outputs, climbed_outputs
from discreet.solvers.robust.intervals.weighing import OutputWeights
from discreet.uncertainty.intervals import Intervals

STALE_ROUNDS = 6
SETTLED = 1e-5
STARTS = 40
LEAST_GAIN, USED = 1e-7, 1e-9
NOISE = (-3.0, 1.0)
"""Logarithms of how far from the prices of all a start may be, relative to the masses of letters."""


def climb_curator(outputs: OutputWeights, intervals: Intervals, price: float, ratios: Floats, effort: Effort) -> None:
    """More outputs, until little is gained or time is up."""
    prior, rng = outputs.prior, np.random.default_rng(0)
    k = prior.shape[1]
    limits = (intervals.low, intervals.high)
    value, weights, alpha = outputs.solve()
    stale = 0
    while stale < STALE_ROUNDS and not effort.late():
        used = outputs.outputs[weights > USED]
        first, second = (used[rng.integers(len(used), size=STARTS)] for _ in range(2))
        share = rng.uniform(0.2, 0.8, (STARTS, 1, 1))
        size = np.exp(rng.uniform(*NOISE, (STARTS, 1, 1)))
        anywhere = best_outputs(size * rng.normal(size=(STARTS, 1, k)) * prior - alpha, *limits, price, ratios)
        starts = np.concatenate([used, share * first + (1 - share) * second, anywhere])
        more, gains = climbed_outputs(starts, prior, alpha, *limits, price, ratios, True)
        before = value
        outputs.add(more[gains > LEAST_GAIN])
        value, weights, alpha = outputs.solve()
        stale = stale + 1 if value - before <= SETTLED else 0
