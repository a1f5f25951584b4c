"""(ε, F)-RLDP (robust-2, Definition 1): ε-LDP with respect to S for every distribution P of an uncertainty set F."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discreet.channel import Channel
from discreet.joint import Joint
from discreet.notions.cone import Cone, ordered_pairs
from discreet.notions.level import Level, Witness, check_fits, checked_epsilon
from discreet.uncertainty.ball import Ball
from discreet.uncertainty.pair import Pairs, joint_witness
from discreet.uncertainty.sets import ChiSquare, Uncertainty
from discreet.uncertainty.support import largest, smallest
from discreet.uncertainty.sweep import Sweep
from discreet.uncertainty.worst import worst_excess, worst_ratio

Floats = NDArray[np.float64]
LISTED_ENTRIES = 2_000_000
VIOLATED = 1e-12
FIRST_BATCH, BATCH = 16, 256


@dataclass(frozen=True)
class RLDP:
    """P(y | s) ≤ e^ε P(y | s') for every output, every two different secrets and every P in F."""

    epsilon: float
    uncertainty: Uncertainty = field(default_factory=ChiSquare)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))

    def cone(self, joint: Joint) -> Cone:
        """max over P in F of P_{U|s}·v_s − e^ε P_{U|s'}·v_s' ≤ 0  (39).

        The rows at P̂ are listed, the others come from the worst P for a given v. A single point has no others, and
        for the whole simplex all of them can be listed: v_{s,u} ≤ e^ε v_{s',u'} (Proposition 3).
        """
        ball, price = self.uncertainty.ball(joint), float(np.exp(self.epsilon))
        first, second = _all_pairs(ball)
        everything = ball.radius == np.inf
        if everything and len(first) * ball.estimate.shape[1] ** 2 * len(joint.letters) <= LISTED_ENTRIES:
            return Cone(_corner_rows(joint, first, second, price))
        at_estimate = pair_rows(joint, first, second, ball.conditional[first], ball.conditional[second], price)
        if ball.radius == 0:
            return Cone(at_estimate)
        seen = (ball.mass[first] > 0) & (ball.mass[second] > 0)

        def separate(v: Floats) -> Floats:
            return violated_rows(joint, ball, price, v)

        return Cone(at_estimate[seen], separate)

    def level(self, channel: Channel, joint: Joint) -> Level:
        """The logarithm of the worst ratio over F: attained at the witness, proven not to be exceeded."""
        check_fits(channel, joint)
        ball = self.uncertainty.ball(joint)
        rows = joint.expand(channel.matrix)
        y, s, t, ratio, split = _worst_pair(ball, rows)
        if y < 0:
            return Level(0.0)
        pairs = Pairs(ball, np.array([s]), np.array([t]), rows[y, s][None], rows[y, t][None])
        names = joint.secret_letters[s], joint.secret_letters[t]
        witness = Witness(channel.outputs[y], *names, distribution=joint_witness(pairs, 0, split))
        return Level(float(np.log(ratio)), witness)


def violated_rows(joint: Joint, ball: Ball, price: float, v: Floats) -> Floats:
    """The rows of the worst P for every ordered pair of secrets whose condition v breaks."""
    rows = joint.expand(v)
    first, second = _all_pairs(ball)
    most, least = _ranges(ball, rows[None])
    size = most[0, first] + price * least[0, second]
    possible = most[0, first] - price * least[0, second] > VIOLATED * size
    first, second = first[possible], second[possible]
    if len(first) == 0:
        return np.zeros((0, len(v)))
    pairs = Pairs(ball, first, second, rows[first], rows[second])
    worst = worst_excess(pairs, price)
    broken = worst.value > VIOLATED * size[possible]
    pairs, split = pairs.take(broken), worst.split[broken]
    return pair_rows(joint, pairs.s, pairs.t, pairs.rise(split).attained_at, pairs.fall(split).attained_at, price)


def largest_excess(ball: Ball, rows: Floats, price: float) -> float:
    """max over rows v(row, secret, letter), pairs of secrets and P in F of P_{U|s}·v_s − price · P_{U|t}·v_t."""
    first, second = _all_pairs(ball)
    if _one_split(ball):
        most, least = _ranges(ball, rows)
        return float((most[:, first] - price * least[:, second]).max())
    attained, bound = Sweep.of(ball, rows).excesses(first, second, price)
    best = float(attained.max())
    for y, pair in _promising(bound, best):
        if bound[y[0], pair[0]] <= best:
            break
        s, t = first[pair], second[pair]
        best = max(best, float(worst_excess(Pairs(ball, s, t, rows[y, s], rows[y, t]), price).bound.max()))
    return best


def pair_rows(
    joint: Joint, s: NDArray[np.intp], t: NDArray[np.intp], upper: Floats, lower: Floats, price: float
) -> Floats:
    """R_s·v_s − price · R_t·v_t as rows over the input letters, for conditionals R_s and R_t of pairs of secrets."""
    c, k = joint.table.shape
    count = np.arange(len(s))
    blocks = np.zeros((len(s), c, k))
    blocks[count, s] += upper
    blocks[count, t] -= price * lower
    return blocks.reshape(len(s), c * k) if joint.reads_secret else np.asarray(blocks.sum(axis=1))


def _all_pairs(ball: Ball) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    first, second = ordered_pairs(len(ball.compared))
    return ball.compared[first], ball.compared[second]


def _corner_rows(joint: Joint, first: NDArray[np.intp], second: NDArray[np.intp], price: float) -> Floats:
    k = joint.table.shape[1]
    pair, u, w = (index.ravel() for index in np.indices((len(first), k, k)))
    corners = np.eye(k)
    rows = pair_rows(joint, first[pair], second[pair], corners[u], corners[w], price)
    return np.unique(rows[~(rows >= 0).all(axis=1) & (rows > 0).any(axis=1)], axis=0)


def _ranges(ball: Ball, rows: Floats) -> tuple[Floats, Floats]:
    """The largest and smallest mean of every row under every secret, over its own projection of F."""
    p, radii = ball.conditional, ball.radii
    return largest(rows, p, radii, ball.order).value, smallest(rows, p, radii, ball.order).value


def _worst_pair(ball: Ball, rows: Floats) -> tuple[int, int, int, float, float]:
    """The output, the two secrets, the ratio and the split where it is worst; output −1 if nothing is told apart.

    Bounds for all pairs at once leave few that could be the worst; these are solved exactly, most promising first.
    Pairs of empty rows compare nothing.
    """
    first, second = _all_pairs(ball)
    if _one_split(ball):
        most, least = (part[:, of] for part, of in zip(_ranges(ball, rows), (first, second), strict=True))
        bound = np.divide(most, least, out=np.where(most > 0, np.inf, 0.0), where=least > 0)
    else:
        _, bound = Sweep.of(ball, rows).ratios(first, second)
    best = (-1, 0, 0, 1.0, 0.0)
    for y, pair in _promising(bound, best[3]):
        if bound[y[0], pair[0]] <= best[3]:
            break
        s, t = first[pair], second[pair]
        worst = worst_ratio(Pairs(ball, s, t, rows[y, s], rows[y, t]))
        ratios = np.where(np.isnan(worst.bound), np.inf, worst.bound)
        i = int(ratios.argmax())
        if ratios[i] > best[3]:
            best = (int(y[i]), int(s[i]), int(t[i]), float(ratios[i]), float(worst.split[i]))
    return best


def _one_split(ball: Ball) -> bool:
    """Whether the budget need not be shared: a single point has none, the whole simplex enough for all."""
    return ball.budget in (0.0, np.inf)


def _promising(bound: Floats, floor: float) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Batches of (row, pair) whose bound exceeds the floor, most promising first."""
    flat = bound.ravel()
    candidates = np.flatnonzero(flat > floor)
    order = candidates[np.argsort(-flat[candidates], kind="stable")]
    for start in (0, *range(FIRST_BATCH, len(order), BATCH)):
        batch = order[start : start + BATCH] if start else order[:FIRST_BATCH]
        if len(batch):
            y, pair = np.unravel_index(batch, bound.shape)
            yield y, pair
