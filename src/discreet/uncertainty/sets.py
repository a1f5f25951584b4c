"""What a steward says about the unknown distribution; with a joint each becomes a Rényi ball around its estimate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import chdtri

from discreet.exceptions import ParameterError
from discreet.joint import Joint
from discreet.uncertainty.ball import Ball


class Uncertainty(Protocol):
    """A set F of distributions P(s, x) that the guarantee covers."""

    def ball(self, joint: Joint) -> Ball: ...


@dataclass(frozen=True)
class ChiSquare:
    """The confidence set of the chi-square test (robust-2 (9) and (86)): F contains the true P with this confidence.

    Σ (P̂ − P)²/P ≤ q/n with q the quantile for (number of cells − 1) degrees of freedom: order 2, B = ln(1 + q/n).
    """

    confidence: float = 0.95

    def __post_init__(self) -> None:
        if not 0 < self.confidence < 1:
            raise ParameterError("confidence outside (0, 1)", where="ChiSquare", remedy="Try 0.95.")

    def ball(self, joint: Joint) -> Ball:
        if joint.n is None:
            raise ParameterError(
                "a confidence set without the number of records",
                where="ChiSquare",
                remedy="Build the joint from counts, give n, or use Renyi(order, radius).",
            )
        quantile = float(chdtri(joint.table.size - 1, 1 - self.confidence))
        return Ball(joint.table, order=2.0, radius=float(np.log1p(quantile / joint.n)))


@dataclass(frozen=True)
class Renyi:
    """F = {P : D_order(P̂ ‖ P) ≤ radius} (robust-2 (8)), any order in (0, ∞)."""

    order: float
    radius: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.order) and self.order > 0):
            raise ParameterError("an order outside (0, ∞)", where="Renyi", remedy="Try 2.")
        if not (np.isfinite(self.radius) and self.radius > 0):
            raise ParameterError(
                "a radius outside (0, ∞)", where="Renyi", remedy="For 0 use Exactly(), for ∞ use Everything()."
            )

    def ball(self, joint: Joint) -> Ball:
        return Ball(joint.table, order=float(self.order), radius=float(self.radius))


@dataclass(frozen=True)
class Everything:
    """Nothing is known: F is the whole simplex (robust-2 section 6)."""

    def ball(self, joint: Joint) -> Ball:
        return Ball(joint.table, order=1.0, radius=np.inf)


@dataclass(frozen=True)
class Exactly:
    """The estimate is the truth: F = {P̂}, what the papers call NR. Secrets that P̂ excludes are not protected."""

    def ball(self, joint: Joint) -> Ball:
        return Ball(joint.table, order=1.0, radius=0.0)
