"""Upper bounds on what any robust mechanism on (S, U) can keep, in closed form (theory 1.9)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from discreet.joint import Joint
from discreet.notions.rldp import RLDP
from discreet.solvers import nonrobust
from discreet.uncertainty.ball import Ball
from discreet.uncertainty.sets import Exactly
from discreet.uncertainty.statistics import lower_bounds, upper_bounds

Floats = NDArray[np.float64]
ROUNDING = 1e-9


def robust_bound(joint: Joint, notion: RLDP, time_limit: float | None = None) -> float:
    """I(S,U;Y) = I(S;Y) + I(U;Y|S): at most I*(S; ε), and at most H(U|s) and `about_letters` for every secret."""
    known = replace(joint.observed(), include_secret=True)
    nonrobust_bound = nonrobust.solve(known, RLDP(notion.epsilon, Exactly()), time_limit=time_limit).upper_bound
    ball = notion.uncertainty.ball(joint)
    everything = -xlogy(ball.conditional, ball.conditional).sum(axis=1)
    withheld = everything - about_letters(ball, notion.epsilon) - ROUNDING
    return nonrobust_bound - float(ball.mass @ np.maximum(withheld, 0.0))


def about_letters(ball: Ball, epsilon: float) -> Floats:
    """A bound on I(U;Y|S=s) for every secret: v_u lies in [0, w_u] and is one on average, so E[v_u ln v_u] ≤ ln w_u."""
    return np.asarray((ball.conditional * np.log(highest(ball, epsilon))).sum(axis=1))


def highest(ball: Ball, epsilon: float) -> Floats:
    """w[s, u], the largest v_u of a row of s with mean one under P̂, wherever in F the truth is; one for unseen letters.

    Let A and B be the largest and the smallest mean of v_s over F_{U|s}, and t the mean of the row of another secret
    under P̂. Then A ≤ e^ε t and t ≤ e^ε B, so A ≤ e^2ε B. Averaging v_s over all letters but u lowers A and raises B
    (data processing), so v_u is largest for a row of two levels. With strength g it is 1 − g + g/p_u, and A ≤ e^2ε B
    reads

        g ≤ (e^2ε − 1) / ((U_u/p_u − 1) + e^2ε (1 − L_u/p_u)),      L_u ≤ R_u ≤ U_u over F_{U|s}.
    """
    seen = ball.conditional > 0
    p, price = np.where(seen, ball.conditional, 1.0), np.exp(2 * epsilon)
    moves = (upper_bounds(ball) / p - 1) + price * (1 - lower_bounds(ball) / p)
    strength = np.ones(p.shape)
    if len(ball.compared) > 1:
        np.divide(price - 1, moves, out=strength, where=seen & (moves > price - 1))
    return np.asarray(1 - strength + strength / p)
