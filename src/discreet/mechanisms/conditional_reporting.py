"""Conditional Reporting (funnel-2, Algorithm 1): hide S by randomised response, then report X as it should look.

If the randomised secret s̃ is the true one, X is told; otherwise a draw from P(X | s̃) is. It reads the secret.

Robust Conditional Reporting (robust-1, Protocol 2): CR whose report on U is randomised once more.

S is randomised to s̃ with strength ε₁. The report on U goes through a randomised response of strength δ_s̃, fed with the
true u if s̃ is the true secret and with a draw from P̂(U | s̃) otherwise. An output (s̃, u) therefore depends on the
unknown P only through its probability under s̃ itself:

    P(y | S=s̃) / P(y | S=s)  =  e^{ε₁} (1 + γ R_u) / (1 + γ P̂(u|s̃)),      γ = e^{δ_s̃} − 1,  R in F_{U|s̃},

so the strongest δ_s̃ that keeps both this and its inverse below e^ε is closed form.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet.arrays import Floats
from discreet.attribute import Form
from discreet.channel import Channel
from discreet.exceptions import ParameterError
from discreet.information import utility
from discreet.joint import Joint
from discreet.mechanisms.calibration import Calibrated, best_share, robust
from discreet.mechanisms.randomised_response import randomised_response
from discreet.notions.notion import Notion
from discreet.notions.rldp import RLDP
from discreet.uncertainty.renyi_ball import l1_radius, lower_bounds, upper_bounds
from discreet.uncertainty.sets import ball_around


def cr(joint: Joint, strength: float) -> Channel:
    """CR^α for a joint in curator form: Q[y, (s, x)] = P(s̃=s | s) δ_{xy} + Σ_{s̃≠s} P(s̃ | s) P(y | s̃)  (eq. 46).

    A secret of probability zero is no s̃; records that carry it draw s̃ uniformly.
    """
    if joint.form is not Form.CURATOR:
        raise ParameterError("Conditional Reporting reads the secret", where="cr", remedy="Use joint.curator().")
    seen, (c, a) = joint.seen, joint.table.shape
    reported = np.full((len(seen), c), 1 / len(seen))
    reported[:, seen] = randomised_response(len(seen), strength)
    truth = np.zeros(c)
    truth[seen] = reported[np.arange(len(seen)), seen]
    lies = reported.copy()
    lies[np.arange(len(seen)), seen] = 0
    drawn = joint.release_given_secret.T @ lies
    matrix = drawn[:, :, None] + truth[:, None] * np.eye(a)[:, None, :]
    return Channel(matrix.reshape(a, c * a), joint.letters, joint.release_letters)


# ---- robust Conditional Reporting (robust-1, Protocol 2): CR whose report on U is randomised once more ---------------


def robust_cr(joint: Joint, first: float, seconds: Floats) -> Channel:
    """Strength `first` on S and `seconds[s]` on U. For a secret never seen the drawn u is uniform."""
    joint.require(Form.RELEASES_SECRET, "robust_cr")
    c, k = joint.table.shape
    on_secret = randomised_response(c, first)
    drawn_from = np.full((c, k), 1 / k)
    drawn_from[joint.seen] = joint.release_given_secret
    matrix = np.empty((c, k, c, k))
    for told in range(c):
        on_u = randomised_response(k, float(seconds[told]))
        matrix[told] = on_secret[told][None, :, None] * (on_u @ drawn_from[told])[:, None, None]
        matrix[told, :, told, :] = on_secret[told, told] * on_u
    return Channel(matrix.reshape(c * k, c * k), joint.letters, joint.letters)


def calibrated_robust_cr(joint: Joint, notion: Notion) -> Calibrated:
    """The best share of epsilon for S, with the strongest reports on U that are then allowed."""
    notion = robust(notion, "robust_cr")
    ball = ball_around(notion.uncertainty, joint)
    least, most, expected = lower_bounds(ball), upper_bounds(ball), ball.conditional

    def seconds(first: float) -> Floats:
        rise, fall = np.exp(notion.epsilon - first), np.exp(notion.epsilon + first)
        grows = np.minimum(_largest_growth(most, expected, rise), _largest_growth(expected, least, fall))
        return np.asarray(np.log1p(grows.min(axis=1)))

    return _best(joint, notion, seconds)


def paper_robust_cr(joint: Joint, notion: RLDP) -> Calibrated:
    """δ_s = ln(1 + 2(e^{ε₂} − 1)/d_s) with d_s the radius of F_{U|s}  (robust-1 Theorem 5)."""
    radii = l1_radius(ball_around(notion.uncertainty, joint))

    def seconds(first: float) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            grows = 2 * np.expm1(notion.epsilon - first) / radii
        return np.log1p(np.where(radii > 0, grows, np.inf))

    return _best(joint, notion, seconds)


def _best(joint: Joint, notion: RLDP, seconds: Callable[[float], Floats]) -> Calibrated:
    def member(first: float) -> Channel:
        return robust_cr(joint, first, seconds(first))

    first = best_share(lambda at: utility(joint, member(at)), 0.0, notion.epsilon)
    return Calibrated(member(first), first, joint, notion)


def _largest_growth(high: Floats, low: Floats, factor: float) -> Floats:
    """The largest γ with (1 + γ·high) ≤ factor·(1 + γ·low), cell by cell."""
    slack = high - factor * low
    with np.errstate(divide="ignore"):
        return np.where(slack > 0, (factor - 1) / np.where(slack > 0, slack, 1), np.inf)
