"""Whole outputs made better one at a time, at the prices of all (theory 5.5).

An output of kind (t, ρ) gains μ(v) − α·v, convex in v; a curator's, who is judged by I(U;Y), gains μ(v̄) − α·v with
v̄_u = Σ_s P̂(s|u) v_{s,u}. Its slope at v is a linear price for every secret apart, and the best row of each band is
exact. For a few ρ and every t the sum over secrets is compared; the best becomes the new output.
"""

from __future__ import annotations

import numpy as np

from discreet.arrays import Floats
from discreet.compiling import compiled
from discreet.solvers.robust.intervals.linear import best_row

STEPS = 10
LITTLE = 1e-3
"""Climbs of one output between two master programs; a letter left out has so much of it, or its slope were infinite."""


@compiled()
def climbed_outputs(
    outputs: Floats, prior: Floats, alpha: Floats, lower: Floats, upper: Floats, price: float, ratios: Floats,
    curator: bool,
) -> tuple[Floats, Floats]:  # fmt: skip
    """Outputs that gain at prices α, each climbed from a given one, and what they gain."""
    found, gains = outputs.copy(), np.empty(len(outputs))
    c, k = prior.shape
    slope, best = np.empty((c, k)), np.empty((c, k))
    narrow, wide = np.empty((c, k)), np.empty((c, k))
    for y in range(len(outputs)):
        gain = _gain(found[y], prior, alpha, curator)
        for _ in range(STEPS):
            _slope(found[y], prior, alpha, curator, slope)
            _best_output(slope, lower, upper, price, ratios, narrow, wide, best)
            reached = _gain(best, prior, alpha, curator)
            if reached <= gain + 1e-12:
                break
            gain = reached
            found[y] = best
        gains[y] = gain
    return found, gains


@compiled()
def _best_output(
    slope: Floats, lower: Floats, upper: Floats, price: float, ratios: Floats, narrow: Floats, wide: Floats,
    best: Floats,
) -> None:  # fmt: skip
    """The best output for linear prices over all kinds (t, ρ), ρ one of the ratios."""
    c = len(slope)
    top = -np.inf
    for ratio in ratios:
        total, extra, at = 0.0, -np.inf, 0
        for s in range(c):
            inside = best_row(slope[s], lower[s], upper[s], price, ratio, narrow[s])
            outside = inside
            if ratio > 1.0:
                outside = best_row(slope[s], lower[s], upper[s], price * ratio, 1.0, wide[s])
            total += inside
            if outside - inside > extra:
                extra, at = outside - inside, s
        if total + extra > top:
            top = total + extra
            best[:] = narrow
            if ratio > 1.0:
                best[at] = wide[at]


@compiled()
def best_outputs(slopes: Floats, lower: Floats, upper: Floats, price: float, ratios: Floats) -> Floats:
    """The best output for every set of linear prices, one price per secret and letter."""
    c, k = lower.shape
    found, narrow, wide = np.empty_like(slopes), np.empty((c, k)), np.empty((c, k))
    for y in range(len(slopes)):
        _best_output(slopes[y], lower, upper, price, ratios, narrow, wide, found[y])
    return found


@compiled()
def _told(output: Floats, prior: Floats, curator: bool) -> Floats:
    """What the gain looks at: v, or v̄ in its place for every secret."""
    if not curator:
        return output
    averaged = np.empty_like(output)
    for u in range(prior.shape[1]):
        mass = prior[:, u].sum()
        averaged[:, u] = (prior[:, u] * output[:, u]).sum() / mass if mass > 0 else 1.0
    return averaged


@compiled()
def _slope(output: Floats, prior: Floats, alpha: Floats, curator: bool, slope: Floats) -> None:
    """p(s,u) ln(v/t̄) − α; a letter left out counts as having a little of it."""
    mean = (prior * output).sum()
    told = _told(output, prior, curator)
    for s in range(prior.shape[0]):
        for u in range(prior.shape[1]):
            slope[s, u] = prior[s, u] * np.log(max(told[s, u], LITTLE) / mean) - alpha[s, u]


@compiled()
def _gain(output: Floats, prior: Floats, alpha: Floats, curator: bool) -> float:
    mean = (prior * output).sum()
    told = _told(output, prior, curator)
    total = 0.0
    for s in range(prior.shape[0]):
        for u in range(prior.shape[1]):
            if told[s, u] > 0:
                total += prior[s, u] * output[s, u] * np.log(told[s, u] / mean)
            total -= alpha[s, u] * output[s, u]
    return total
