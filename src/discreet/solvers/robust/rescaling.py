"""The last step of every robust solver, the finished channel brought to level ε; and what nobody exceeds (theory 1.9).

What counts is the level of the channel itself, over all of F, not how it was constructed. Beside it stand upper bounds
on what any robust mechanism on (S, U) can keep, in closed form.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import xlogy

from discreet.arrays import Floats
from discreet.attribute import Form
from discreet.channel import Channel, fewer_outputs
from discreet.exceptions import ProofError
from discreet.joint import Joint
from discreet.notions.rldp import RLDP, largest_excess
from discreet.notions.rlip import RLIP, largest_change
from discreet.solvers.known_joint.refinement import nonrobust_bound
from discreet.solvers.problem import Effort
from discreet.solvers.tolerances import PROOF_MARGIN
from discreet.uncertainty.renyi_ball import RenyiBall, lower_bounds, upper_bounds
from discreet.uncertainty.sets import Exactly, ball_around

SECONDS_PER_PAIR = 2e-5
SECONDS_PER_LETTER = {"quadratic": 6e-5, "other": 7e-4, "linear": 2e-7}
"""Measured: what bringing one output to level ε and proving it takes for one pair of secrets, and for one letter of one
secret at order two, at another order, and where the set is a point or everything."""
SMALLEST_EXCESS = 1e-12
"""Keeps λ finite where a row may grow without end; it is then limited by v ≥ 0."""
ENTROPY_ROUNDING = 1e-9
"""Given back on what a bound says is withheld of a letter: far above the rounding of entropies."""


def at_level(joint: Joint, notion: RLDP | RLIP, widths: Floats, rows: Floats, *, grow: bool) -> Channel:
    """The rows 1 + λ (v − 1) with the largest λ that keeps them private and non-negative; λ ≤ 1 unless they may grow.

    Their worst excess P_{U|s}·v_s − E P_{U|t}·v_t over F is λ e + (1 − λ)(1 − E), with e the excess at λ = 1: the means
    move with λ, and P stays the worst. It vanishes at λ = (E − 1)/(E − 1 + e). `rows` is v over the input letters, with
    Σ_y widths_y v_y = 1 for every letter.
    """
    price = float(np.exp(notion.epsilon)) * (1 - PROOF_MARGIN)
    excess = largest_miss(joint, notion, rows, price)
    least = float(rows.min())
    share = min((price - 1) / max(price - 1 + excess, SMALLEST_EXCESS), 1 / (1 - least) if least < 1 else 1.0)
    share = share if grow else min(share, 1.0)
    matrix = np.maximum(1 + share * (rows - 1), 0.0) * widths[:, None]
    channel = Channel(matrix / matrix.sum(axis=0), joint.letters).merged()
    if notion.level(channel, joint).epsilon > notion.epsilon:
        raise ProofError("the finished mechanism is not private", where="robust", remedy="Please report this.")
    return channel


def largest_miss(joint: Joint, notion: RLDP | RLIP, rows: Floats, price: float) -> float:
    """The worst excess of rows over the input letters, whichever the notion is."""
    if isinstance(notion, RLIP):
        return largest_change(notion.known(joint), joint.expand(rows), price)
    return largest_excess(notion.uncertainty.around(joint), joint.expand(rows), price)


def weaker(joint: Joint, notion: RLDP | RLIP, rows: Floats) -> Floats:
    """Each of these rows with P̂·v = 1 for itself as 1 + λ (v − 1), with the largest λ ≤ 1 that makes it private."""
    price = float(np.exp(notion.epsilon)) * (1 - PROOF_MARGIN)
    excess = np.array([largest_miss(joint, notion, row[None], price) for row in rows])
    share = np.minimum((price - 1) / np.maximum(price - 1 + excess, price - 1), 1.0)
    return np.asarray(1 + share[:, None] * (rows - 1))


def proof_seconds(ball: RenyiBall, outputs: int) -> float:
    """About what it takes to bring so many outputs to level ε and to prove it."""
    c, k = map(int, ball.estimate.shape)
    kind = "linear" if ball.radius in (0.0, np.inf) else "quadratic" if ball.order == 2 else "other"
    pairs = 0.0 if kind == "linear" else c * SECONDS_PER_PAIR
    return outputs * c * (pairs + k * SECONDS_PER_LETTER[kind])


def provable(ball: RenyiBall, seconds: float) -> int:
    """How many outputs can be brought to level ε and proven in so many seconds; at least one."""
    return int(min(max(1.0, seconds / proof_seconds(ball, 1)), 1e9))


def merged_to(joint: Joint, widths: Floats, rows: Floats, most: int) -> tuple[Floats, Floats]:
    """These rows with those that say nearly the same merged, until there are at most so many."""
    if most == 1:
        return np.ones(1), np.ones((1, rows.shape[1]))
    matrix = rows * widths[:, None]
    channel = fewer_outputs(joint, Channel(matrix / matrix.sum(axis=0), joint.letters), 1.0, most)
    widths = channel.matrix @ joint.prior
    return widths, channel.matrix / widths[:, None]


def robust_bound(joint: Joint, notion: RLDP, effort: Effort) -> float:
    """I(S,U;Y) = I(S;Y) + I(U;Y|S): at most I*(S; ε), and at most H(U|s) and `about_letters` for every secret."""
    known = replace(joint.observed(), form=Form.RELEASES_SECRET)
    ball = ball_around(notion.uncertainty, joint)
    everything = -xlogy(ball.conditional, ball.conditional).sum(axis=1)
    withheld = everything - about_letters(ball, notion.epsilon) - ENTROPY_ROUNDING
    bound = nonrobust_bound(known, RLDP(notion.epsilon, Exactly()), effort)
    return bound - float(ball.mass @ np.maximum(withheld, 0.0))


def about_letters(ball: RenyiBall, epsilon: float) -> Floats:
    """A bound on I(U;Y|S=s) for every secret: v_u lies in [0, w_u] and is one on average, so E[v_u ln v_u] ≤ ln w_u."""
    return np.asarray((ball.conditional * np.log(highest(ball, epsilon))).sum(axis=1))


def highest(ball: RenyiBall, epsilon: float) -> Floats:
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
