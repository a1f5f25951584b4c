"""What the robust papers compute for a chi-square set, in the closed forms they print for order 2.

The engine has the exact quantities for every order (`discreet.uncertainty`). The experiments of the papers were run
with these, which bound them; here they are for comparison, and a test holds the two against each other.
"""

from __future__ import annotations

import math

import numpy as np

from discreet.arrays import Floats
from discreet.information import entropy
from discreet.joint import Joint
from discreet.mechanisms.calibration import best_share
from discreet.mechanisms.randomised_response import randomised_response
from discreet.uncertainty.renyi_ball import RenyiBall


def radius_bounds(ball: RenyiBall) -> Floats:
    """d_s ≥ rad_s(F): robust-1 (11), robust-2 Proposition 2 with the corrections of the errata.

    With A = e^{B_s} − 1 and p the smallest P̂(u|s): the exact radius 2p(ξ₊(p) − 1) if A ≥ (1 − 2p)², otherwise √A.
    """
    excess, least = np.expm1(ball.radii), ball.conditional.min(axis=1)
    root = np.sqrt(excess * (excess + 4 * least * (1 - least)))
    with np.errstate(invalid="ignore"):
        exact = (excess * (1 - 2 * least) + root) / (1 + excess)
    bounds = np.where(excess >= (1 - 2 * least) ** 2, np.where(np.isfinite(excess), exact, 2.0), np.sqrt(excess))
    return np.minimum(bounds, 2.0)


def farthest(ball: RenyiBall) -> float:
    """max over s, s' of ‖P̂_{U|s} − P̂_{U|s'}‖₁"""
    return float(np.abs(ball.conditional[:, None] - ball.conditional[None]).sum(axis=-1).max())


def distance_bound(ball: RenyiBall) -> float:
    """d of robust-1 (12) and robust-2 (62)."""
    return min(2.0, 2 * float(radius_bounds(ball).max()) + farthest(ball))


def ir_strengths(joint: Joint, epsilon: float, d: float) -> tuple[float, float]:
    """The best Independent Reporting for a given d (robust-2 (82)): ε₁ on S and δ₂ = ln(1 + 2(e^{ε₂} − 1)/d) on U."""

    def strengths(second: float) -> tuple[float, float]:
        return epsilon - second, math.log1p(2 * math.expm1(second) / d) if d > 0 else math.inf

    return strengths(best_share(lambda second: _ir_value(joint, *strengths(second)), 0.0, epsilon))


def ir_information(joint: Joint, epsilon: float, d: float) -> float:
    """I(X;Y) of that mechanism."""
    return _ir_value(joint, *ir_strengths(joint, epsilon, d))


def _ir_value(joint: Joint, first: float, second: float) -> float:
    """Columns of a randomised response are permutations of each other, so H(Y | X) is that of one column of each."""
    c, k = joint.table.shape
    on_secret, on_u = randomised_response(c, first), randomised_response(k, second)
    noise = entropy(on_secret[:, 0]) + entropy(on_u[:, 0])
    return entropy(on_secret @ joint.table @ on_u.T) - noise


def cr_information(joint: Joint, epsilon: float, radii: Floats) -> float:
    """I(X;Y) of the best robust Conditional Reporting, δ_s = ln(1 + 2(e^{ε₂} − 1)/d_s)  (robust-1 Theorems 5, 6)."""
    c, k = joint.table.shape
    mass, conditional = joint.secret_prior[joint.seen], joint.release_given_secret

    def information(first: float) -> float:
        on_secret = randomised_response(c, first)
        told = entropy(on_secret @ joint.secret_prior) - entropy(on_secret[:, 0])
        return told + float(on_secret[0, 0] * (mass @ _reports(conditional, k, epsilon - first, radii[joint.seen])))

    return information(best_share(information, 0.0, epsilon))


def _reports(conditional: Floats, k: int, second: float, radii: Floats) -> Floats:
    """I(R^s(U); U | S = s) for every secret."""
    odds = 1 + 2 * math.expm1(second) / np.maximum(radii, 1e-12)
    truth, lie = odds / (odds + k - 1), 1 / (odds + k - 1)
    outputs = lie[:, None] + (truth - lie)[:, None] * conditional
    noise = np.array([entropy([t, *[other] * (k - 1)]) for t, other in zip(truth, lie, strict=True)])
    return np.asarray(np.array([entropy(row) for row in outputs]) - noise)
