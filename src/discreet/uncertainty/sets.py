"""What a steward can say about the unknown distribution; with a joint each becomes a Rényi ball around its estimate."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.special import chdtri

from discreet.exceptions import ParameterError
from discreet.joint import Joint
from discreet.phrases import percent, rounded_down, rounded_up
from discreet.uncertainty.renyi_ball import RenyiBall
from discreet.uncertainty.uncertainty import BETWEEN_0_AND_1, SetWords, Uncertainty, registered_set


@registered_set
@dataclass(frozen=True)
class ChiSquare(Uncertainty):
    """The confidence set of the chi-square test (robust-2 (9) and (86)): F contains the true P with this confidence.

    Σ (P̂ − P)²/P ≤ q/n with q the quantile for (number of cells − 1) degrees of freedom: order 2, B = ln(1 + q/n).

    Arguments:
        confidence: that of the set, between 0 and 1.
    Raises:
        ParameterError: a number that is not between 0 and 1, or a joint without the number of its records.
    Example:
        >>> import discreet as dc
        >>> joint = dc.Joint.from_counts([[300, 100], [100, 300]])
        >>> round(dc.ChiSquare(0.95).around(joint).radius, 4)
        0.0097
    """

    confidence: float = field(default=0.95, metadata=BETWEEN_0_AND_1)
    words = SetWords(
        "ChiSquare",
        lambda stated: (
            f"This holds for every distribution in the {percent(stated.confidence)} confidence set of the estimate."
        ),
    )

    def __post_init__(self) -> None:
        if not 0 < self.confidence < 1:
            raise ParameterError("confidence outside (0, 1)", where="ChiSquare", remedy="Try 0.95.")

    def around(self, joint: Joint) -> RenyiBall:
        if joint.n is None:
            raise ParameterError(
                "a confidence set without the number of records",
                where="ChiSquare",
                remedy="Build the joint from counts, give n, or use Renyi(order, radius).",
            )
        quantile = float(chdtri(joint.table.size - 1, 1 - self.confidence))
        return RenyiBall(joint.table, order=2.0, radius=float(np.log1p(quantile / joint.n)))


@registered_set
@dataclass(frozen=True)
class Renyi(Uncertainty):
    """F = {P : D_order(P̂ ‖ P) ≤ radius} (robust-2 (8)), any order in (0, ∞).

    Arguments:
        order: of the divergence, above 0; 2 is what the chi-square test bounds.
        radius: the largest divergence, above 0; for 0 there is `Exactly()`, for ∞ `Everything()`.
    Raises:
        ParameterError: an order or a radius that is not a positive number.
    Example:
        >>> import discreet as dc
        >>> joint = dc.Joint.from_counts([[300, 100], [100, 300]])
        >>> dc.design(joint, dc.RLDP(0.5, dc.Renyi(2, 0.01))).protocol.epsilon <= 0.5
        True
    """

    order: float
    radius: float
    words = SetWords(
        "Renyi",
        lambda stated: (
            f"This holds for every distribution within Rényi divergence {rounded_down(stated.radius)} "
            f"(order {rounded_up(stated.order)})."
        ),
    )

    def __post_init__(self) -> None:
        if not (np.isfinite(self.order) and self.order > 0):
            raise ParameterError("an order outside (0, ∞)", where="Renyi", remedy="Try 2.")
        if not (np.isfinite(self.radius) and self.radius > 0):
            raise ParameterError(
                "a radius outside (0, ∞)", where="Renyi", remedy="For 0 use Exactly(), for ∞ use Everything()."
            )

    def around(self, joint: Joint) -> RenyiBall:
        return RenyiBall(joint.table, order=float(self.order), radius=float(self.radius))


@registered_set
@dataclass(frozen=True)
class Everything(Uncertainty):
    """Nothing is known: F is the whole simplex (robust-2 section 6).

    Example:
        >>> import discreet as dc
        >>> joint = dc.Joint.from_counts([[30, 10, 5], [5, 20, 40]])
        >>> found = dc.design(joint, dc.RLDP(1, dc.Everything()))  # no worse than ordinary LDP, whatever P is
        >>> found.protocol.epsilon <= 1
        True
    """

    words = SetWords("Everything", lambda _: "This holds whatever the true distribution is.")

    def around(self, joint: Joint) -> RenyiBall:
        return RenyiBall(joint.table, order=1.0, radius=np.inf)


@registered_set
@dataclass(frozen=True)
class Exactly(Uncertainty):
    """The estimate is the truth: F = {P̂}, what the papers call NR. Secrets that P̂ excludes are not protected.

    Example:
        >>> import discreet as dc
        >>> joint = dc.Joint.from_counts([[30, 10, 5], [5, 20, 40]])
        >>> found = dc.design(joint, dc.RLDP(0.5, dc.Exactly()))
        >>> abs(found.utility - dc.design(joint, dc.LDP(0.5)).utility) < 1e-6
        True
    """

    estimate_only = True
    words = SetWords("Exactly", lambda _: "This holds for the estimated distribution.")

    def around(self, joint: Joint) -> RenyiBall:
        return RenyiBall(joint.table, order=1.0, radius=0.0)


def ball_around(uncertainty: Uncertainty, joint: Joint) -> RenyiBall:
    """F for what is made for Rényi balls alone; ParameterError if it is another set."""
    found = uncertainty.around(joint)
    if not isinstance(found, RenyiBall):
        raise ParameterError(
            "this method is made for Rényi balls",
            where=type(uncertainty).__name__,
            remedy='Use ChiSquare, Renyi, Everything or Exactly, or method="auto".',
        )
    return found
