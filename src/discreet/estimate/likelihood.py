"""Maximum likelihood: maximise Σ_y f_y ln (Q p)_y over the simplex, f the observed shares of the outputs.

The problem is concave. EM multiplies p_x by g_x = Σ_y f_y Q[y, x] / (Q p)_y and never decreases the likelihood; SQUAREM
(Varadhan and Roland 2008) extrapolates two EM steps and keeps the result only where the likelihood did not fall.
Where EM crawls, an interior point method finishes.

The certificate: by concavity no distribution has a log-likelihood above that of p by more than n (max_x g_x − 1).

Where a channel says little, as randomised response with a small epsilon, everything that matters is a small difference
of large sums. Columns of Q add up to one, so g_x − 1 = Σ_y Q[y, x] (f_y / (Q p)_y − 1), and gains of the likelihood are
Σ_y f_y ln(1 + (Q δ)_y / (Q p)_y): neither subtracts numbers that are nearly equal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.estimate.sample import Floats
from discreet.exceptions import UnfinishedError

EM_STEPS = 60
NEWTON_STEPS = 100
EXACT = 1e-13
"""The gap a record at which the search stops: the rounding errors of the sums are of this size."""
MOST_NATS = 1e-3
"""The largest gap of the log-likelihood that is still called its maximum; 0.5 would be one standard error."""


@dataclass(frozen=True, eq=False)
class Fit:
    """A distribution of the letters whose log-likelihood is at most `gap` nats below the largest one.

    `history` holds the mean log-likelihood a record after every accepted step.
    """

    frequencies: Floats
    gap: float
    history: tuple[float, ...]

    def finished(self) -> Fit:
        """This fit, if it is the maximum for every practical purpose."""
        if self.gap > MOST_NATS:
            raise UnfinishedError(
                f"the likelihood may still rise by {self.gap:.1g} nats",
                where="likelihood",
                remedy="Use method='linear'.",
            )
        return self


def most_likely(matrix: Floats, counts: Floats, start: Floats) -> Fit:
    """The maximum, from a start that gives every letter some probability; the matrix's columns have one sum."""
    n = float(counts.sum())
    problem = _Problem(matrix / matrix.sum(axis=0).mean(), counts / n)
    p, history = _squarem(problem, start / start.sum())
    if problem.gap(p) > EXACT:
        finished = _interior(problem, p)
        history.append(history[-1] + problem.gain(p, finished))
        p = finished
    return Fit(p, n * problem.gap(p), tuple(history))


@dataclass(frozen=True, eq=False)
class _Problem:
    matrix: Floats
    shares: Floats

    def value(self, p: Floats) -> float:
        """The mean log-likelihood a record."""
        seen = self.shares > 0
        with np.errstate(divide="ignore"):
            return float(self.shares[seen] @ np.log((self.matrix @ p)[seen]))

    def gain(self, p: Floats, moved: Floats) -> float:
        """value(moved) − value(p), accurate also where it is tiny."""
        seen = self.shares > 0
        change = (self.matrix @ (moved - p))[seen] / (self.matrix @ p)[seen]
        with np.errstate(divide="ignore"):
            return float(self.shares[seen] @ np.log1p(np.maximum(change, -1)))

    def slope(self, p: Floats) -> Floats:
        """g − 1"""
        q = self.matrix @ p
        return np.asarray(self.matrix.T @ (np.divide(self.shares, q, out=np.zeros_like(q), where=q > 0) - 1))

    def gap(self, p: Floats) -> float:
        return max(0.0, float(self.slope(p).max()))

    def step(self, p: Floats) -> Floats:
        moved = p * np.maximum(1 + self.slope(p), 0)
        return np.asarray(moved / moved.sum())


def _squarem(problem: _Problem, p: Floats) -> tuple[Floats, list[float]]:
    history = [problem.value(p)]
    for _ in range(EM_STEPS // 3):
        first = problem.step(p)
        second = problem.step(first)
        change, bend = first - p, second - 2 * first + p
        if not bend.any():
            break
        length = max(1.0, float(np.linalg.norm(change) / np.linalg.norm(bend)))
        leap = p + 2 * length * change + length**2 * bend
        leap = np.where(leap > 0, leap, 0.1 * second)
        leap = problem.step(leap / leap.sum())
        moved = leap if problem.gain(second, leap) >= 0 else second
        gain = problem.gain(p, moved)
        if gain <= 0:
            break
        p = moved
        history.append(history[-1] + gain)
        if problem.gap(p) <= EXACT:
            break
    return p, history


def _interior(problem: _Problem, p: Floats) -> Floats:
    """The primal-dual interior point method for g_x − 1 + z_x = 0, p_x z_x = 0, p, z ≥ 0 (Wright 1997).

    Newton's step for p_x z_x = μ, with a μ that shrinks; p and z stay positive. Near the end rounding decides, so the
    point with the smallest gap is kept.
    """
    best, least = p, problem.gap(p)
    p = 0.99 * p + 0.01 / len(p)
    slope = problem.slope(p)
    z = np.maximum(-slope, 0.1 * np.abs(slope).max() + EXACT)
    for _ in range(NEWTON_STEPS):
        centre = 0.1 * float(p @ z) / len(p)
        q = problem.matrix @ p
        rows = problem.matrix * (np.sqrt(problem.shares) / q)[:, None]
        change: Floats = np.linalg.solve(rows.T @ rows + np.diag(z / p), slope + centre / p).astype(float)
        dual = (centre - z * change) / p - z
        p = p + _inside(p, change) * change
        z = z + _inside(z, dual) * dual
        slope = problem.slope(p)
        gap = problem.gap(p / p.sum())
        if gap < least:
            best, least = p / p.sum(), gap
        if gap <= EXACT:
            break
    return best


def _inside(values: Floats, change: Floats) -> float:
    """The longest step up to 1 that stays positive, and a little less."""
    shrinking = change < 0
    return min(1.0, 0.995 * float((-values[shrinking] / change[shrinking]).min(initial=np.inf)))
