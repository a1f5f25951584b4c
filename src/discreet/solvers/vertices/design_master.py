"""The best weights on a list of rows: A-optimal design by a primal-dual interior point (theory 6.2).

    minimise ψ(q) = tr C W(q)⁻¹,  W = Σ q w wᵀ,   subject to  Σ q w = 0,  Σ q = 1,  q ≥ 0,  Σ q μ ≥ least

With A = W⁻¹CW⁻¹ the gradient is −wᵀAw and the Hessian 2 (W_r A W_rᵀ)∘(W_r W⁻¹ W_rᵀ), W_r the list as a matrix. At the
optimum wᵀAw + ημ − λ·w is the same number for every row used and no larger for any other on the list: λ and η are the
exact prices that the certificate takes.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from discreet.exceptions import UnfinishedError
from discreet.solvers.vertices.pivots import Floats

CLOSED = 1e-9
"""Relative gap on the list at which the weights are good enough: a hundredth of what the list itself proves."""
BALANCED = 1e-12
MOST_IMBALANCE = 1e-9
"""How far Σ q w should be from zero, and may be where rounding ends the steps: the weights are made exact later."""
TOLD = 1e-10
"""Nats by which the information asked for may be missed."""
MOST_STEPS = 150
TO_THE_WALL = 0.98
"""Share of the way to q = 0 that one step may take."""
LARGER = (0.0, 1e-14, 1e-12, 1e-10)
"""By how much a diagonal may grow, relative to itself, so that a system can be solved. Later steps correct it."""
SPREAD = (0.0, 0.1, 1.0)
"""Shares of even weights in the start: where the weights known are too close to zero to leave it, more of them."""
EXHAUSTED = 1e-20
"""Mean of q z, relative to ψ, below which a step only moves rounding."""
LARGEST = 1e60
LEAST = 1e-60
"""No weight or reduced cost becomes larger or smaller, so that their ratios stay numbers."""
FLOOR = 1e-12
"""Least starting weight of a row."""


@dataclass(frozen=True, eq=False)
class RowList:
    """Rows as a master sees them: `balance` must average to zero, `judged` makes W, `information` is μ or None."""

    balance: Floats
    judged: Floats
    information: Floats | None = None

    def part(self, which: Floats) -> RowList:
        told = None if self.information is None else self.information[which]
        return RowList(self.balance[which], self.judged[which], told)

    def __len__(self) -> int:
        return len(self.balance)


@dataclass(frozen=True, eq=False)
class DesignWeights:
    """Weights with their ψ, and the prices of the certificate: curvature A, λ, η, on this list tight up to `gap`."""

    weights: Floats
    variance: float
    curvature: Floats
    price: Floats
    information_price: float
    gap: float


def optimal_weights(
    rows: RowList,
    estimands: Floats,
    least: float | None = None,
    start: Floats | None = None,
    *,
    closed: float = CLOSED,
    until: float = float("inf"),
) -> DesignWeights:
    """The best weights on these rows; UnfinishedError if they do not balance, do not hold the information asked for, or
    are too few to tell all letters apart.

    Stopped by the clock it answers with weights that balance and are not the best; `gap` says by how much.
    """
    even = np.full(len(rows), 1.0 / len(rows))
    for share in SPREAD if start is not None else SPREAD[-1:]:
        point = _InteriorPoint(rows, estimands, least, even if start is None else (1 - share) * start + share * even)
        for _ in range(MOST_STEPS):
            if point.finished(closed):
                break
            if not point.step() or (time.monotonic() > until and point.valid):
                break
        if point.valid:
            return point.answer()
    raise UnfinishedError(
        "no weights were found that balance these rows",
        where="accuracy",
        remedy="Add rows, ask for less information, or merge rare letters.",
    )


class _InteriorPoint:
    """Where the interior point stands: q, its prices λ and κ, the reduced costs z, and the slack of the information."""

    def __init__(self, rows: RowList, estimands: Floats, least: float | None, start: Floats | None) -> None:
        self.rows, self.estimands = rows, estimands
        self.told = rows.information if least is not None else None
        self.least = 0.0 if least is None else least
        self.frame = np.column_stack([rows.balance, np.ones(len(rows))])
        self.q = np.full(len(rows), 1.0 / len(rows)) if start is None else np.maximum(start, FLOOR)
        self.prices = np.zeros(self.frame.shape[1])
        self.eta = 0.0
        self.slack = 0.0
        self.measure()
        self.prices[-1] = self.variance
        self.z = np.maximum(self.variance - self.gains, 0.1 * self.variance)
        if self.told is not None:
            spread = max(float(self.told.max() - self.told.min()), np.finfo(float).tiny)
            self.slack = max(float(self.told @ self.q) - self.least, 0.01 * spread)
            self.eta = 0.1 * self.variance / spread

    def measure(self) -> None:
        """W, A, ψ and the gradient at q; where W has no inverse none of them is a number, and q is no answer."""
        judged = self.rows.judged
        moment = judged.T * self.q @ judged
        try:
            self.inverse = np.linalg.inv((moment + moment.T) / 2)
        except LinAlgError:
            self.inverse = np.full_like(moment, np.nan)
        self.curvature = self.inverse @ self.estimands @ self.inverse
        self.gains = np.einsum("ij,ij->i", judged @ self.curvature, judged)
        self.variance = float(np.trace(self.estimands @ self.inverse))
        self.short = -self.frame.T @ self.q
        self.short[-1] += 1.0

    @property
    def imbalance(self) -> float:
        return float(np.abs(self.short).max())

    @property
    def values(self) -> Floats:
        """wᵀAw + ημ − λ·w, on the support the same for every row at the optimum."""
        told = 0.0 if self.told is None else self.eta * self.told
        return np.asarray(self.gains + told - self.rows.balance @ self.prices[:-1])

    @property
    def relative_gap(self) -> float:
        """By how much the certificate on this list falls short of ψ."""
        most = float(self.values.max()) - self.eta * self.least
        return max(0.0, 1.0 - self.variance / most) if most > 0 else 1.0

    @property
    def valid(self) -> bool:
        """Whether q is a mechanism that holds the information asked for, up to rounding."""
        enough = self.told is None or float(self.told @ self.q) >= self.least - TOLD
        return enough and self.imbalance <= MOST_IMBALANCE and 0 < self.variance < np.inf

    def finished(self, closed: float) -> bool:
        return self.valid and self.imbalance <= BALANCED and self.relative_gap <= closed

    def step(self) -> bool:
        """One predictor and corrector step; False when rounding ends the progress."""
        q, z, told = self.q, self.z, self.told
        judged = self.rows.judged
        hessian = (judged @ self.curvature @ judged.T) * (judged @ self.inverse @ judged.T) * 2.0
        hessian[np.diag_indices_from(hessian)] += z / np.maximum(q, LEAST)
        if not np.isfinite(hessian).all():
            return False
        dual = self.gains - self.frame @ self.prices + z
        frame, missing = self.frame, 0.0
        if told is not None:
            dual = dual + self.eta * told
            missing = self.least + self.slack - float(told @ q)
            frame = np.column_stack([frame, told])
        try:
            factor = _factorised(hessian)
            solved = cho_solve(factor, frame, check_finite=False)
            schur = frame.T @ solved
            if told is not None:
                schur[-1, -1] += self.slack / self.eta
            schur_factor = _factorised(schur)
        except LinAlgError:
            return False

        def direction(target: Floats, slack_target: float) -> tuple[Floats, Floats, Floats, float, float]:
            """The change of q, prices, z, slack and η that brings q z to `target` and slack·η to `slack_target`."""
            moved = cho_solve(factor, dual + (target - q * z) / q, check_finite=False)
            wanted = self.short
            if told is not None:
                wanted = np.append(wanted, slack_target / self.eta - self.slack + missing)
            prices = cho_solve(schur_factor, frame.T @ moved - wanted, check_finite=False)
            weights = moved - solved @ prices
            costs = (target - q * z - z * weights) / q
            if told is None:
                return weights, prices, costs, 0.0, 0.0
            return weights, prices[:-1], costs, float(told @ weights) - missing, -float(prices[-1])

        count = len(q) + (told is not None)
        level = (float(q @ z) + self.slack * self.eta) / count
        if level < EXHAUSTED * self.variance:
            return False
        dq, _, dz, ds, de = direction(np.zeros_like(q), 0.0)
        first, second = self._lengths(dq, dz, ds, de)
        ahead = float((q + first * dq) @ (z + second * dz)) + (self.slack + first * ds) * (self.eta + second * de)
        aim = level * min(1.0, max(ahead / count / level, 1e-6)) ** 3 if level > 0 else 0.0
        dq, dp, dz, ds, de = direction(aim - dq * dz, aim - ds * de)
        first, second = self._lengths(dq, dz, ds, de)
        length = min(first, second)
        if not np.isfinite(length) or length < 1e-10:
            return False
        before = self.q, self.z, self.prices, self.slack, self.eta
        balanced = self.imbalance <= BALANCED
        self.q, self.z = np.maximum(q + length * dq, LEAST), np.maximum(z + length * dz, LEAST)
        self.prices = self.prices + length * dp
        self.slack, self.eta = self.slack + length * ds, self.eta + length * de
        self.measure()
        if (
            np.isfinite(self.variance)
            and float(self.z.max()) < LARGEST
            and not (balanced and self.imbalance > MOST_IMBALANCE)
        ):
            return True
        self.q, self.z, self.prices, self.slack, self.eta = before
        self.measure()
        return False

    def _lengths(self, dq: Floats, dz: Floats, ds: float, de: float) -> tuple[float, float]:
        first = min(1.0, TO_THE_WALL / max(float((-dq / self.q).max()), np.finfo(float).tiny))
        second = min(1.0, TO_THE_WALL / max(float((-dz / self.z).max()), np.finfo(float).tiny))
        if self.told is not None:
            first = min(first, TO_THE_WALL / max(-ds / self.slack, np.finfo(float).tiny))
            second = min(second, TO_THE_WALL / max(-de / self.eta, np.finfo(float).tiny))
        return first, second

    def answer(self) -> DesignWeights:
        return DesignWeights(
            self.q, self.variance, self.curvature, self.prices[:-1].copy(), self.eta, self.relative_gap
        )


def _factorised(matrix: Floats) -> tuple[Floats, bool]:
    """A Cholesky factor; where rounding made the matrix indefinite, of one with a slightly larger diagonal."""
    for more in LARGER:
        try:
            found: tuple[Floats, bool] = cho_factor(
                matrix + np.diag(more * np.diag(matrix)), lower=True, check_finite=False
            )
        except LinAlgError:
            continue
        return found
    raise LinAlgError("not positive definite")
