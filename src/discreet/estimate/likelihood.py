"""Maximum likelihood: maximise Σ_y f_y ln (Q p)_y over the simplex, f the observed shares of the outputs.

The problem is concave. EM multiplies p_x by g_x = Σ_y f_y Q[y, x] / (Q p)_y and never decreases the likelihood; SQUAREM
(Varadhan and Roland 2008) extrapolates two EM steps and keeps the result only where the likelihood did not fall.
Where EM crawls, a projected Newton method finishes on Σ_y f_y ln (Q p)_y − Σ_x p_x, p ≥ 0, which has the same maximum.

The certificate: by concavity no distribution has a log-likelihood above that of p by more than n (max_x g_x − 1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.estimate.sample import Floats
from discreet.exceptions import UnfinishedError

EM_STEPS = 300
NEWTON_STEPS = 100
EXACT = 1e-13
"""The gap a record at which the search stops: the rounding errors of the sums are of this size."""
ROUNDING = 1e-15
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
    """The maximum, from a start that gives every letter some probability. Only outputs that occurred matter."""
    n, seen = float(counts.sum()), counts > 0
    problem = _Problem(matrix[seen], counts[seen] / n)
    p, history = _squarem(problem, start / start.sum())
    if problem.gap(p) > EXACT:
        p = _newton(problem, p, history)
    return Fit(p, n * problem.gap(p), tuple(history))


@dataclass(frozen=True, eq=False)
class _Problem:
    matrix: Floats
    shares: Floats

    def value(self, p: Floats) -> float:
        """The mean log-likelihood a record."""
        with np.errstate(divide="ignore"):
            return float(self.shares @ np.log(self.matrix @ p))

    def gradient(self, p: Floats) -> Floats:
        return np.asarray(self.matrix.T @ (self.shares / (self.matrix @ p)))

    def gap(self, p: Floats) -> float:
        return max(0.0, float(self.gradient(p).max()) - 1)

    def step(self, p: Floats) -> Floats:
        moved = p * self.gradient(p)
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
        plain = problem.value(second)
        bold = problem.value(leap)
        p, value = (leap, bold) if bold >= plain else (second, plain)
        if value <= history[-1]:
            break
        history.append(value)
        if problem.gap(p) <= EXACT:
            break
    return p, history


def _newton(problem: _Problem, p: Floats, history: list[float]) -> Floats:
    """Projected Newton (Bertsekas 1982): letters at zero that want to be there move along the gradient only.

    Near the maximum a gain drowns in rounding while the gap, which is of first order, still shrinks: the step with the
    smallest gap is kept.
    """
    best, least, idle = p, problem.gap(p), 0
    for _ in range(NEWTON_STEPS):
        q = problem.matrix @ p
        slope = problem.matrix.T @ (problem.shares / q) - 1
        nearby = min(1e-3 / len(p), float(np.abs(p - np.maximum(p + slope, 0)).max()))
        free = (p > nearby) | (slope >= 0)
        rows = problem.matrix[:, free] * (np.sqrt(problem.shares) / q)[:, None]
        curvature = rows.T @ rows
        curvature[np.diag_indices(len(curvature))] += 1e-12 * np.trace(curvature) / len(curvature)
        direction = slope.copy()
        direction[free] = np.linalg.solve(curvature, slope[free])
        p = _line_search(problem, p, direction, slope)
        p = p / p.sum()
        value, gap = problem.value(p), problem.gap(p)
        risen = value > history[-1] + ROUNDING * (1 + abs(value))
        idle = 0 if gap < least or risen else idle + 1
        if gap < least or risen:
            history.append(value)
        if gap < least:
            best, least = p, gap
        if gap <= EXACT or idle > 3:
            break
    return best


def _line_search(problem: _Problem, p: Floats, direction: Floats, slope: Floats) -> Floats:
    """The first of the steps 1, 1/2, 1/4, … that raises Σ f ln(Qp) − Σ p enough, up to rounding."""
    before, length = problem.value(p) - p.sum(), 1.0
    moved = p
    while length > 1e-12:
        moved = np.maximum(p + length * direction, 0)
        gain = problem.value(moved) - moved.sum() - before
        if gain >= 1e-4 * float(slope @ (moved - p)) - ROUNDING * (1 + abs(before)):
            break
        length /= 2
    return moved
