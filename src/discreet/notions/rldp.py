"""(ε, F)-RLDP (robust-2, Definition 1): ε-LDP with respect to S for every distribution P of an uncertainty set F.

Over a Rényi ball the two secrets that an output compares share one budget, so the worst case of a pair is a search for
its best split (theory 1.7); a single point, the whole simplex and every set without a budget have nothing to share, and
the worst case of each secret is its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from discreet.arrays import Floats, Indices
from discreet.channel import Channel
from discreet.joint import Joint
from discreet.notions.notion import (
    MOST_COMPARED,
    Cone,
    Level,
    Notion,
    Witness,
    Words,
    check_fits,
    ordered_pairs,
    registered,
)
from discreet.phrases import names, times
from discreet.uncertainty.confidence import Confidence
from discreet.uncertainty.grouped_rows import grouped_rows
from discreet.uncertainty.pair_bounds import SplitGrid
from discreet.uncertainty.pairs import SecretPairs, joint_witness, worst_excess, worst_ratio
from discreet.uncertainty.renyi_ball import RenyiBall
from discreet.uncertainty.uncertainty import Uncertainty, UncertaintySet, set_words

LISTED_ENTRIES = 2_000_000
"""Conditions of the whole simplex are listed while they fit into 16 MB."""
VIOLATED = 1e-12
"""A condition broken by less than this share of its terms is broken by rounding."""
FIRST_BATCH, BATCH = 16, 256
"""The worst pair is usually among the first few; the others are solved in batches that keep the arrays small."""


def _promise(notion: RLDP, joint: Joint, epsilon: float) -> str:
    return (
        f"Whoever sees a released record: the odds between any two values of {names(joint.secrets)} change at most "
        f"{times(epsilon)}-fold. {set_words(notion.uncertainty).holds(notion.uncertainty)}"
    )


@registered
@dataclass(frozen=True)
class RLDP(Notion):
    """P(y | s) ≤ e^ε P(y | s') for every output, every two different secrets and every P in F.

    Arguments:
        epsilon: the largest ln P(y | s) / P(y | s') under any P of the set, in nats.
        uncertainty: the set F: `Confidence(0.95)` if not given, or `ChiSquare`, `Renyi`, `Everything`, `Exactly`.
    Raises:
        ParameterError: an epsilon that is not a positive number, or a set that needs counts on a joint without them.
    Example:
        >>> import discreet as dc
        >>> joint = dc.Joint.from_counts([[300, 100], [100, 300]])
        >>> robust, plain = dc.design(joint, dc.RLDP(0.5)), dc.design(joint, dc.LDP(0.5))
        >>> robust.utility < plain.utility
        True
    """

    epsilon: float
    uncertainty: Uncertainty = field(default_factory=Confidence)
    words = Words(
        name="RLDP",
        command="rldp",
        title="robust local differential privacy",
        row="robust (RLDP)",
        symbol="(ε, F)-RLDP",
        over="and secrets s ≠ s′, and every distribution P in the set F",
        formula="P(y|s) ≤ e^ε P(y|s′)",
        promise=_promise,
        at_prior=False,
    )

    @classmethod
    def asked(cls, epsilon: float, confidence: float) -> RLDP:
        return cls(epsilon, Confidence(confidence))

    @classmethod
    def audited(cls, uncertainty: Uncertainty | None) -> RLDP | None:
        return None if uncertainty is None else cls(1.0, uncertainty)

    def cone(self, joint: Joint) -> Cone:
        """max over P in F of P_{U|s}·v_s − e^ε P_{U|s'}·v_s' ≤ 0  (39).

        The rows at P̂ are listed, the others come from the worst P for a given v. A single point has no others, and
        for the whole simplex all of them can be listed: v_{s,u} ≤ e^ε v_{s',u'} (Proposition 3).
        """
        known, price = self.uncertainty.around(joint), float(np.exp(self.epsilon))
        first, second = _all_pairs(known, len(joint.letters))
        if known.everything and len(first) * known.estimate.shape[1] ** 2 * len(joint.letters) <= LISTED_ENTRIES:
            return Cone(_corner_rows(joint, first, second, price))
        at_estimate = pair_rows(joint, first, second, known.conditional[first], known.conditional[second], price)
        if known.single:
            return Cone(at_estimate)
        seen = (known.mass[first] > 0) & (known.mass[second] > 0)

        def separate(v: Floats) -> Floats:
            return violated_rows(joint, known, price, v)

        return Cone(at_estimate[seen], separate)

    def level(self, channel: Channel, joint: Joint) -> Level:
        """The logarithm of the worst ratio over F: attained at the witness, proven not to be exceeded."""
        return level_over(self.uncertainty.around(joint), channel, joint)


def level_over(known: UncertaintySet, channel: Channel, joint: Joint) -> Level:
    """The same over a set that was made already: also one that has limits for the masses, which move no ratio."""
    check_fits(channel, joint)
    found = NOTHING_TOLD
    for outputs, rows, laws in _row_blocks(channel, joint, known):
        worst = _worst_pair(known, rows, laws, found.ratio)
        if worst.output >= 0:
            found = worst._replace(output=int(outputs[worst.output]))
    if found.output < 0:
        return Level(0.0)
    secrets = joint.secret_letters[found.first], joint.secret_letters[found.second]
    row = joint.expand(channel.row(found.output, joint.prior))
    worst_law = _worst_distribution(known, row, found.first, found.second, found.split)
    return Level(float(np.log(found.ratio)), Witness(channel.outputs[found.output], *secrets, distribution=worst_law))


class WorstPair(NamedTuple):
    """The output that tells two secrets apart best, their ratio, and the split of the budget where it is attained."""

    output: int
    first: int
    second: int
    ratio: float
    split: float


NOTHING_TOLD = WorstPair(-1, 0, 0, 1.0, 0.0)  # no output, a ratio of one: level 0


def _row_blocks(
    channel: Channel, joint: Joint, known: UncertaintySet
) -> Iterator[tuple[Indices, Floats, Floats | None]]:
    """Rows v(output, secret, letter): all letters, or over a Rényi ball groups of equal ones with their laws."""
    if isinstance(channel.rows, np.ndarray):
        step = max(1, MOST_COMPARED // max(1, len(known.compared)) ** 2)
        for outputs in np.split(np.arange(len(channel.outputs)), range(step, len(channel.outputs), step)):
            yield outputs, joint.expand(channel.rows[outputs]), None
    elif isinstance(known, RenyiBall):
        for groups in grouped_rows(channel.rows, joint, known):
            yield groups.outputs, groups.values, groups.laws
    else:
        for outputs, rows in channel.blocks(joint.prior):
            yield outputs, joint.expand(rows), None


def violated_rows(joint: Joint, known: UncertaintySet, price: float, v: Floats) -> Floats:
    """The rows of the worst P in F for every ordered pair of secrets whose condition v breaks."""
    rows = joint.expand(v)
    first, second = _all_pairs(known)
    most, least, up, down = known.drawn(rows[None])
    size = most.value[0, first] + price * least.value[0, second]
    possible = most.value[0, first] - price * least.value[0, second] > VIOLATED * size
    first, second = first[possible], second[possible]
    if len(first) == 0:
        return np.zeros((0, len(v)))
    if not isinstance(known, RenyiBall):
        cuts = pair_rows(joint, first, second, most.attained_at[0, first], least.attained_at[0, second], price)
        return np.asarray(cuts + (up[0, first] - price * down[0, second])[:, None] * joint.prior)
    pairs = SecretPairs.of(known, first, second, rows[first], rows[second])
    worst = worst_excess(pairs, price)
    broken = worst.value > VIOLATED * size[possible]
    pairs, split = pairs.take(broken), worst.split[broken]
    return pair_rows(joint, pairs.s, pairs.t, pairs.rise(split).attained_at, pairs.fall(split).attained_at, price)


def largest_excess(known: UncertaintySet, rows: Floats, price: float) -> float:
    """max over rows v(row, secret, letter), pairs of secrets and P in F of P_{U|s}·v_s − price · P_{U|t}·v_t."""
    first, second = _all_pairs(known)
    if not isinstance(known, RenyiBall) or _one_split(known):
        most, least = known.told(rows)
        return float((most[:, first] - price * least[:, second]).max())
    attained, bound = SplitGrid.of(known, rows).excesses(first, second, price)
    best = float(attained.max())
    for y, pair in _promising(bound, best):
        if bound[y[0], pair[0]] <= best:
            break
        s, t = first[pair], second[pair]
        best = max(best, float(worst_excess(SecretPairs.of(known, s, t, rows[y, s], rows[y, t]), price).bound.max()))
    return best


def pair_rows(joint: Joint, s: Indices, t: Indices, upper: Floats, lower: Floats, price: float) -> Floats:
    """R_s·v_s − price · R_t·v_t as rows over the input letters, for conditionals R_s and R_t of pairs of secrets."""
    c, k = joint.table.shape
    count = np.arange(len(s))
    blocks = np.zeros((len(s), c, k))
    blocks[count, s] += upper
    blocks[count, t] -= price * lower
    return blocks.reshape(len(s), c * k) if joint.reads_secret else np.asarray(blocks.sum(axis=1))


def _all_pairs(known: UncertaintySet, width: int = 1) -> tuple[Indices, Indices]:
    first, second = ordered_pairs(len(known.compared), width)
    return known.compared[first], known.compared[second]


def _corner_rows(joint: Joint, first: Indices, second: Indices, price: float) -> Floats:
    k = joint.table.shape[1]
    pair, u, w = (index.ravel() for index in np.indices((len(first), k, k)))
    corners = np.eye(k)
    rows = pair_rows(joint, first[pair], second[pair], corners[u], corners[w], price)
    return np.unique(rows[~(rows >= 0).all(axis=1) & (rows > 0).any(axis=1)], axis=0)


def _worst_pair(known: UncertaintySet, rows: Floats, laws: Floats | None = None, floor: float = 1.0) -> WorstPair:
    """The worst of these rows; output −1 if no ratio is above the floor.

    Bounds for all pairs at once leave few that could be the worst; these are solved exactly, most promising first.
    Without a budget the bounds are attained. Pairs of empty rows compare nothing.
    """
    if not isinstance(known, RenyiBall):
        most, least = (part[:, known.compared] for part in known.told(rows))
        return _worst_of_each(most, least, known.compared, floor)
    first, second = _all_pairs(known)
    if _one_split(known):
        ranges = known.ranges(rows) if laws is None else known.ranges(rows, laws)
        most, least = (part.value[:, of] for part, of in zip(ranges, (first, second), strict=True))
        bound = np.divide(most, least, out=np.where(most > 0, np.inf, 0.0), where=least > 0)
    else:
        _, bound = SplitGrid.of(known, rows, laws).ratios(first, second)
    best = NOTHING_TOLD._replace(ratio=floor)
    for y, pair in _promising(bound, floor):
        if bound[y[0], pair[0]] <= best.ratio:
            break
        s, t = first[pair], second[pair]
        pairs = SecretPairs.of(known, s, t, rows[y, s], rows[y, t], None if laws is None else (laws[y, s], laws[y, t]))
        worst = worst_ratio(pairs)
        ratios = np.where(np.isnan(worst.bound), np.inf, worst.bound)
        i = int(ratios.argmax())
        if ratios[i] > best.ratio:
            best = WorstPair(int(y[i]), int(s[i]), int(t[i]), float(ratios[i]), float(worst.split[i]))
    return best


def _worst_of_each(most: Floats, least: Floats, compared: Indices, floor: float) -> WorstPair:
    """The same where nothing is shared between secrets: each is compared with the other one of the smallest mean."""
    best, (outputs, size) = NOTHING_TOLD._replace(ratio=floor), most.shape
    if size < 2:
        return best
    lowest = least.argmin(axis=1)[:, None]
    without = least.copy()
    np.put_along_axis(without, lowest, np.inf, axis=1)
    other = np.where(np.arange(size) == lowest, without.argmin(axis=1)[:, None], lowest)
    low = np.take_along_axis(least, other, axis=1)
    bound = np.divide(most, low, out=np.where(most > 0, np.inf, 0.0), where=low > 0)
    y, s = np.unravel_index(int(bound.argmax()), (outputs, size))
    if bound[y, s] <= floor:
        return best
    return WorstPair(int(y), int(compared[s]), int(compared[other[y, s]]), float(bound[y, s]), 0.0)


def _worst_distribution(known: UncertaintySet, row: Floats, s: int, t: int, split: float) -> Floats:
    """A P in F under which the row v(secret, letter) tells s from t best."""
    if isinstance(known, RenyiBall):
        return joint_witness(SecretPairs.of(known, np.array([s]), np.array([t]), row[s][None], row[t][None]), 0, split)
    most, least = known.ranges(row)
    return known.attained({s: most.attained_at[s], t: least.attained_at[t]})


def _one_split(ball: RenyiBall) -> bool:
    """Whether the budget need not be shared: a single point has none, the whole simplex enough for all."""
    return ball.budget in (0.0, np.inf)


def _promising(bound: Floats, floor: float) -> Iterator[tuple[Indices, Indices]]:
    """Batches of (row, pair) whose bound exceeds the floor, most promising first."""
    flat = bound.ravel()
    candidates = np.flatnonzero(flat > floor)
    order = candidates[np.argsort(-flat[candidates], kind="stable")]
    for start in (0, *range(FIRST_BATCH, len(order), BATCH)):
        batch = order[start : start + BATCH] if start else order[:FIRST_BATCH]
        if len(batch):
            y, pair = np.unravel_index(batch, bound.shape)
            yield y, pair
