"""An upper bound on every mechanism that is ε-RLDP over intervals (theory 5.6).

Cut [1, E] into intervals of ρ. Every output has a kind (t, i): secret t in [1, Eρ_{i+1}], the others in [ρ_i, E]. For
all prices α, every τ_i > 0 and every κ in [0, 1], because I(S;Y) ≤ I*_LDP(S; ε), −h(t̄) ≤ τ − t̄(1 + ln τ), Σ w ≤ 1,

    I(S,U;Y) ≤ κ I*_LDP + Σ α + max over (t, i) of [(1−κ) τ_i + Σ_s max_v g(v)]⁺,
    g(v) = p_s μ(v) − κ p_s h(t_s) − α_s·v − (1−κ)(1 + ln τ_i) p_s t_s,

v a row of the band that s has in (t, i). The inner maximum is a list. Any prices give a bound; those of a plan give a
good one.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from discreet.arrays import Floats
from discreet.solvers.columns.simplex import THREADS
from discreet.solvers.problem import Effort
from discreet.solvers.restricted_master import Optimum
from discreet.solvers.robust.intervals.lists import Secret
from discreet.solvers.robust.intervals.plan import Kind, Plan

CUTS = (1, 2, 4, 8, 16)
"""So many intervals of ln ρ, of equal length: four at first where there is time to price them, more where time is left
after that."""
FIRST = 4
"""On Adult 15×16 four leave about 4 % between value and bound, one or two more than 5 %."""
PLANNING = 1 / 3
"""The part of the time for the plan whose prices the bound is taken at."""
AGAIN = 1.5
"""Another pricing is begun if there is so many times the time of the last one."""
LONGER = 3.0
"""Twice the intervals take about this much longer."""
ROUNDING = 1e-9
"""Relative to the sizes of all terms: more than sums of a few hundred floats lose."""
CLOSE = 1e-3
"""A bound whose last pricing found less than this share of it is as good as its intervals allow."""


def upper_bound(secrets: list[Secret], price: float, about_secret: float, effort: Effort) -> float:
    """The smallest bound that the time allows: at first I*_LDP(S; ε) and what rows with A ≤ e^2ε B tell about letters;
    up to 16 letters then by kinds and lists, with more and more intervals."""
    told = sum(secret.mass * _about_letters(secret, price**2) for secret in secrets)
    best = about_secret + told + ROUNDING
    for cuts in _affordable(secrets, price, effort) if all(secret.listed for secret in secrets) else ():
        began = time.monotonic()
        best = min(best, _bound(secrets, price, about_secret, effort, cuts, best))
        if effort.left() < LONGER * (time.monotonic() - began):
            break
    return best


def _affordable(secrets: list[Secret], price: float, effort: Effort) -> tuple[int, ...]:
    """The numbers of intervals from the first one on that can be priced in the time that is left, as far as one row
    that is priced tells."""
    heaviest = max(secrets, key=lambda secret: secret.mass)
    began = time.monotonic()
    heaviest.largest_gain(heaviest.mass * heaviest.estimate, price, 1.0)
    each = max(time.monotonic() - began, 1e-6) * 2 * len(secrets) / THREADS
    most = effort.left() * (1 - PLANNING) / (AGAIN * each)
    first = max((cuts for cuts in CUTS if cuts <= min(FIRST, most)), default=CUTS[0])
    return tuple(cuts for cuts in CUTS if cuts >= first)


def _about_letters(secret: Secret, ratio: float) -> float:
    """I(U;Y|S=s) is at most H(U|s) and at most Σ_u p_u ln w_u, w_u the largest v_u of a row of mean 1 with A ≤ e^2ε B,
    which has two levels, u against the rest (theory 1.9)."""
    seen = secret.estimate > 0
    p = secret.estimate[seen]
    high = np.minimum(secret.upper, 1 - (secret.lower.sum() - secret.lower))[seen]
    low = np.maximum(secret.lower, 1 - (secret.upper.sum() - secret.upper))[seen]
    moves = (high / p - 1) + ratio * (1 - low / p)
    strength = np.minimum(1.0, (ratio - 1) / np.maximum(moves, ROUNDING))
    return min(float(-p @ np.log(p)), float(p @ np.log(1 - strength + strength / p)))


def _bound(secrets: list[Secret], price: float, about_secret: float, effort: Effort, cuts: int, known: float) -> float:
    """The bound with so many intervals, or what is known if time is up before that."""
    ratios = price ** np.linspace(0.0, 1.0, cuts + 1)
    kinds = [Kind(price * above, below) for below, above in pairwise(ratios)]
    plan = Plan(secrets, price, kinds, effort.share(PLANNING), about_secret)
    found, best = plan.generate(), known
    while not effort.late():
        began = time.monotonic()
        bound, missed = _priced(plan, found, about_secret, effort)
        best = min(best, bound)
        if effort.left() < AGAIN * (time.monotonic() - began) or missed <= CLOSE * best:
            break
        found = plan.generate()
    return best


def _priced(plan: Plan, found: Optimum, about_secret: float, effort: Effort) -> tuple[float, float]:
    """The bound at the prices of the plan, and what is in it only because the plan lacks rows; these are added.

    Infinite if the deadline comes first."""
    damping, tangents = plan.damping(found), plan.tangents(found)
    letters = found.prices[: len(plan.secrets) * len(plan.secrets[0].estimate)]
    gains = np.full((len(plan.kinds), 2, len(plan.secrets)), np.inf)

    def price(place: tuple[int, int, bool]) -> Floats | None:
        g, s, wide = place
        if effort.late():
            return None
        secret, (high, low) = plan.secrets[s], plan.band(g, wide)
        k = len(secret.estimate)
        slope = (1 - damping) * (1 + np.log(tangents[g])) * secret.mass
        alpha = letters[s * k : (s + 1) * k] + slope * secret.estimate
        rows = secret.promising(alpha, high, low, np.ones((1, k)), damping)
        near = float((secret.worth(rows, damping) - rows @ alpha).max())
        gain, row = secret.largest_gain(alpha, high, low, damping, near)
        gains[g, int(wide), s] = gain
        return rows if row is None else np.vstack([rows, row])

    places = plan.places()
    with ThreadPoolExecutor(THREADS) as pool:
        priced = list(pool.map(price, places))
    for (g, s, wide), rows in zip(places, priced, strict=True):
        if rows is not None:
            plan.add(g, s, wide, rows)
    if not np.isfinite(gains).all():
        return np.inf, np.inf
    extra = (gains[:, 1] - gains[:, 0]).max(axis=1)
    kinds = (1 - damping) * tangents + gains[:, 0].sum(axis=1) + extra
    total = damping * about_secret if damping > 0 else 0.0
    excess = max(float(kinds.max()), 0.0)
    size = abs(total) + float(np.abs(letters).sum()) + float(np.abs(gains).sum(axis=2).max()) + 1.0
    return total + float(letters.sum()) + excess + ROUNDING * size, excess
