"""RLDP over a Rényi ball, proven output by output and pair by pair with numbers that a float search suggests.

For secrets s ≠ t that share the budget κ (theory 1.7), any ν ≥ max v_s, ν' ≥ −min v_t and E ≤ e^ε,

    P_{U|s}·v_s − E P_{U|t}·v_t  ≤  h(x) = ν − T_s(x) + E (ν' − T_t(κ − x))      for some x in [0, κ].

From order 1/2 on h is concave, so its tangent at any one x bounds it, and a line is largest at an end: two comparisons
of integers prove the pair. Below, T is concave in x, so h is largest at an end of every piece of [0, κ]; pieces are
halved until they are proven. The float search only proposes x, ν and ν'. A wrong proposal proves nothing.

Where many pairs share their rows, 9 common splits for every row replace a search for every pair: at the split x_k the
tangent of h is a part that depends on (output, s) plus e^ε times one that depends on (output, t). Two neighbouring
tangents, mixed so that their slopes cancel, bound h almost as well as the best one; the mixture is proven at both ends,
whatever its weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Indices, Integers, Weights
from discreet.certify.ball_terms import BUDGET_BITS, BallTerms, ExactBall, exact_ball, terms
from discreet.certify.exact_arithmetic import ExactIntegers, exp_lower
from discreet.certify.proof import PROVERS, STEP, ProofAttempt, dense
from discreet.certify.ratio_proofs import MOST_PAIRS, RATIO_BITS, RatioProver, everything
from discreet.channel import Channel
from discreet.exceptions import ParameterError, ProofError
from discreet.joint import Joint
from discreet.notions.notion import Notion, Witness
from discreet.notions.rldp import RLDP
from discreet.uncertainty.extremes import Extreme, largest, smallest
from discreet.uncertainty.pairs import SecretPairs, worst_excess
from discreet.uncertainty.renyi_ball import RenyiBall
from discreet.uncertainty.sets import ChiSquare, Renyi, ball_around

VALUE_BITS = 44
SMALLEST = 1e-18
"""A radius of zero has no best ν; a tiny one has, and it is finite where the row is constant on the support of P̂."""
SPLITS = 8
MIX_BITS = 20
SHARED = 16
"""A search for one pair costs about as much as the tangents of 16 rows at one split."""
BLOCK_CELLS, PAIRS_AT_ONCE = 100_000, 10_000
MOST_CELLS, MOST_POWERS = 1 << 28, 1 << 24
"""Outputs times secrets times u, at most, with square roots and with powers: some five minutes of either."""
MOST_ALONE, MOST_IN_PIECES = 1 << 20, 1 << 17
"""Pairs that must be proven one by one, at most, from order 1/2 on and below it: some four minutes of either."""
"""Numbers of Python integers that are held at once."""
PIECES, FINEST = 16, 14
"""Below order 1/2: pieces to begin with, and how often each may be halved."""
LATER_STEPS = (0, 1, 10, 1000)
"""Levels tried above the one that the float oracle finds, in steps of 1e-9."""


@dataclass(frozen=True)
class BallProver:
    """The proof of RLDP over a Rényi ball; one so large that it counts as everything is proven as such."""

    def check(self, weights: Weights, bits: int, joint: Joint, notion: Notion, epsilon: Fraction) -> ProofAttempt:
        robust, ball = _stated(joint, notion)
        weights = dense(weights)
        if ball is None:
            return RatioProver(everything).check(weights, bits, joint, notion, epsilon)
        price = exp_lower(epsilon, RATIO_BITS)
        try:
            with np.errstate(all="ignore"):
                found = excess(weights, bits, joint, ball, ball_around(robust.uncertainty, joint), price)
        except ArithmeticError as error:
            raise ProofError("the search for a robust proof broke off", where=type(error).__name__) from error
        holds = np.asarray(found.upper <= 0, dtype=bool)
        whole = 1 << RATIO_BITS + found.unit
        violation = np.where(holds, 0.0, (np.minimum(found.upper, whole << 64) / whole).astype(float))
        names = joint.secret_letters
        return ProofAttempt(holds, violation, lambda y: Witness(y, names[found.first[y]], names[found.second[y]]))

    def level(self, weights: Weights, bits: int, joint: Joint, notion: Notion) -> float:
        """The first step above the level that the float oracle finds which can be proven."""
        weights = dense(weights)
        if _stated(joint, notion)[1] is None:
            return RatioProver(everything).level(weights, bits, joint, notion)
        estimate = notion.level(Channel(weights / 2.0**bits, joint.letters), joint).epsilon
        if math.isfinite(estimate):
            first = math.ceil(max(estimate, 0.0) * STEP)
            for steps in (first + later for later in LATER_STEPS):
                if self.check(weights, bits, joint, notion, Fraction(steps / STEP)).proven:
                    return steps / STEP
        return math.inf


def _stated(joint: Joint, notion: Notion) -> tuple[RLDP, ExactBall | None]:
    """The notion as what it must be here, and its ball with the budget rounded up."""
    if not (isinstance(notion, RLDP) and isinstance(notion.uncertainty, (ChiSquare, Renyi))):
        raise ParameterError("not RLDP over a Rényi ball", where="BallProver", remedy="See PROVERS.")
    return notion, exact_ball(joint, notion.uncertainty)


@dataclass(frozen=True, eq=False)
class Excess:
    """Per output: at least 2^(96 + unit) times the largest h over all pairs, and the pair; proven where it is ≤ 0."""

    upper: ExactIntegers
    first: Indices
    second: Indices
    unit: int


def excess(weights: Integers, bits: int, joint: Joint, exact: ExactBall, ball: RenyiBall, price: int) -> Excess:
    """The largest h of every output at E = price/2^96, a block of outputs at a time."""
    c, k = joint.table.shape
    size = max(1, BLOCK_CELLS // (c * max(c, k)))
    _check_work(c * k * len(weights) > (MOST_CELLS if exact.order == 2 else MOST_POWERS) or c * c > MOST_PAIRS)
    left, found = MOST_ALONE if exact.order * 2 >= 1 else MOST_IN_PIECES, []
    for start in range(0, len(weights), size):
        rows = rows_of(weights[start : start + size], bits, joint)
        *block, alone = _block(rows, exact, ball, price, left)
        found.append(block)
        left -= alone
    upper, first, second = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return Excess(upper, first, second, rows.unit)


def _check_work(too_much: bool) -> None:
    if too_much:
        raise ProofError(
            "too many secrets, letters and outputs to prove", where="RLDP", remedy="Merge rare secrets or outputs."
        )


def _block(
    rows: WeightRows, exact: ExactBall, ball: RenyiBall, price: int, most_alone: int
) -> tuple[ExactIntegers, Indices, Indices, int]:
    """Pairs are proven by their one-sided bounds, else by tangents at common splits, else one by one."""
    outputs, secrets = rows.exact.shape[:2]
    most, least = _one_sided(rows, exact, ball)
    doubtful = (most[:, :, None] << RATIO_BITS) > price * least[:, None, :]
    y, s, t = np.nonzero(doubtful & ~np.eye(secrets, dtype=bool))
    if exact.order * 2 >= 1 and worthwhile(y, s, t, secrets):
        left = unproven(rows, exact, ball, price, y, s, t)
        y, s, t = y[left], s[left], t[left]
    _check_work(len(y) > most_alone)
    upper, first, second = np.full(outputs, -1, dtype=object), np.zeros(outputs, np.intp), np.ones(outputs, np.intp)
    for start in range(0, len(y), PAIRS_AT_ONCE):
        part = slice(start, start + PAIRS_AT_ONCE)
        for i, bound in enumerate(_pairs(rows, exact, ball, price, y[part], s[part], t[part]), start):
            if bound > upper[y[i]]:
                upper[y[i]], first[y[i]], second[y[i]] = bound, s[i], t[i]
    return upper, first, second, len(y)


def _one_sided(rows: WeightRows, exact: ExactBall, ball: RenyiBall) -> tuple[ExactIntegers, ExactIntegers]:
    """Bounds of the largest and the smallest mean of every row when its secret may spend the whole budget."""
    outputs, secrets = rows.exact.shape[:2]
    y, s = (index.ravel() for index in np.indices((outputs, secrets)))
    spent = np.full(len(s), exact.budget, dtype=object)
    above = rising_multiplier(rows, ball, y, s, ball.radii[s])
    below = falling_multiplier(rows, ball, y, s, ball.radii[s])
    most = above - terms(exact, s, above[:, None] - rows.exact[y, s], spent, rows.unit).low
    least = terms(exact, s, below[:, None] + rows.exact[y, s], spent, rows.unit).low - below
    return most.reshape(outputs, secrets), least.reshape(outputs, secrets)


def _pairs(
    rows: WeightRows, exact: ExactBall, ball: RenyiBall, price: int, y: Indices, s: Indices, t: Indices
) -> ExactIntegers:
    """An upper bound of h, in units of 2^−(96 + unit), for every pair."""
    pairs = SecretPairs.of(ball, s, t, rows.floats[y, s], rows.floats[y, t])
    worst = worst_excess(pairs, price / 2.0**RATIO_BITS)
    if exact.order * 2 < 1:
        found = np.maximum(integers(np.nan_to_num(worst.value) * rows.scale[y], RATIO_BITS + VALUE_BITS), 1)
        hopeful = np.flatnonzero(worst.value < 0)
        found[hopeful] = _in_pieces(rows, exact, price, pairs.take(hopeful), y[hopeful])
        return found
    split = np.clip(np.nan_to_num(worst.split), 0.0, exact.budget / 2.0**BUDGET_BITS)
    spent = np.minimum(integers(split, BUDGET_BITS), exact.budget)
    return _tangent(_sides(rows, exact, pairs, y, split), price, spent)


@dataclass(frozen=True, eq=False)
class Sides:
    """ν and ν' proposed for a split of the budget, with ν − v_s and ν' + v_t, and the bounds they give at any split."""

    exact: ExactBall
    pairs: SecretPairs
    unit: int
    nu: ExactIntegers
    nu_prime: ExactIntegers
    gaps: ExactIntegers
    gaps_prime: ExactIntegers

    def first(self, spent: ExactIntegers) -> BallTerms:
        """T_s(x)"""
        return terms(self.exact, self.pairs.s, self.gaps, spent, self.unit)

    def second(self, spent: ExactIntegers) -> BallTerms:
        """T_t(κ − x)"""
        return terms(self.exact, self.pairs.t, self.gaps_prime, self.exact.budget - spent, self.unit)


def _sides(rows: WeightRows, exact: ExactBall, pairs: SecretPairs, y: Indices, split: Floats) -> Sides:
    ball, s, t = pairs.ball, pairs.s, pairs.t
    nu = rising_multiplier(rows, ball, y, s, ball.reach(split, s))
    nu_prime = falling_multiplier(rows, ball, y, t, ball.reach(pairs.rest(split), t))
    gaps, gaps_prime = nu[:, None] - rows.exact[y, s], nu_prime[:, None] + rows.exact[y, t]
    return Sides(exact, pairs, rows.unit, nu, nu_prime, gaps, gaps_prime)


def _tangent(sides: Sides, price: int, spent: ExactIntegers) -> ExactIntegers:
    """The tangent of h at x, at the ends 0 and κ."""
    first, second, rest = sides.first(spent), sides.second(spent), sides.exact.budget - spent
    rise, fall = sides.nu - first.low, sides.nu_prime - second.low
    at_zero = ((rise - first.fall_low(spent)) << RATIO_BITS) + price * (fall + second.fall_high(spent))
    at_kappa = ((rise + first.fall_high(rest)) << RATIO_BITS) + price * (fall - second.fall_low(rest))
    return np.asarray(np.maximum(at_zero, at_kappa))


def _in_pieces(rows: WeightRows, exact: ExactBall, price: int, pairs: SecretPairs, y: Indices) -> ExactIntegers:
    """Below order 1/2: the largest bound over pieces of [0, κ], each halved until it is proven or too fine.

    Bounds get better with the square of a piece, so failures that multiply are not worth following."""
    worst = np.full(len(y), -1, dtype=object)
    cuts = integers(np.sin(np.linspace(0, np.pi / 2, PIECES + 1)) ** 2, BUDGET_BITS) * exact.budget >> BUDGET_BITS
    cuts[-1] = exact.budget
    owner = np.repeat(np.arange(len(y)), PIECES)
    left, right = np.tile(cuts[:-1], len(y)), np.tile(cuts[1:], len(y))
    for depth in range(FINEST + 1):
        middle = (left + right) // 2
        sides = _sides(rows, exact, pairs.take(owner), y[owner], (middle / 2**BUDGET_BITS).astype(float))
        bound = _piece(sides, price, left, right)
        failed = np.flatnonzero(np.asarray(bound > 0, dtype=bool))
        if depth == FINEST or len(failed) > PIECES * len(y):
            for i in failed:
                worst[owner[i]] = max(worst[owner[i]], bound[i])
            break
        left, right = np.r_[left[failed], middle[failed]], np.r_[middle[failed], right[failed]]
        owner = np.r_[owner[failed], owner[failed]]
    return worst


def _piece(sides: Sides, price: int, left: ExactIntegers, right: ExactIntegers) -> ExactIntegers:
    """h on [left, right]: at most its larger end where T is concave throughout, otherwise at most what either side
    gives when it may spend more than the other leaves."""
    first, second = (sides.first(left), sides.first(right)), (sides.second(left), sides.second(right))

    def h(low: ExactIntegers, low_: ExactIntegers) -> ExactIntegers:
        return np.asarray(((sides.nu - low) << RATIO_BITS) + price * (sides.nu_prime - low_))

    ends = np.maximum(h(first[0].low, second[0].low), h(first[1].low, second[1].low))
    crude = h(first[1].low, second[0].low)
    concave = (_exhausted(sides, sides.pairs.s, left) == _exhausted(sides, sides.pairs.s, right)) & (
        _exhausted(sides, sides.pairs.t, sides.exact.budget - left)
        == _exhausted(sides, sides.pairs.t, sides.exact.budget - right)
    )
    return np.where(concave, np.minimum(ends, crude), crude)


def _exhausted(sides: Sides, secrets: Indices, spent: ExactIntegers) -> NDArray[np.bool_]:
    """Whether the secret's conditional is arbitrary after spending this much."""
    return np.asarray(spent * sides.exact.records >= sides.exact.masses[secrets] << BUDGET_BITS, dtype=bool)


# ---- rows, and the multipliers ν that the float search proposes for them ---------------------------------------------


@dataclass(frozen=True, eq=False)
class WeightRows:
    """[output, secret, u]: exact in units of 2^−unit, and as floats divided by the largest entry of the output."""

    exact: ExactIntegers
    floats: Floats
    scale: Floats
    unit: int


def rows_of(weights: Integers, bits: int, joint: Joint) -> WeightRows:
    c, k = joint.table.shape
    cells = weights.reshape(-1, c, k) if joint.reads_secret else np.broadcast_to(weights[:, None], (len(weights), c, k))
    scale = np.maximum(cells.max(axis=(1, 2)), 1).astype(float)
    return WeightRows(cells.astype(object) << VALUE_BITS, cells / scale[:, None, None], scale, bits + VALUE_BITS)


def rising_multiplier(rows: WeightRows, ball: RenyiBall, y: Indices, s: Indices, radius: Floats) -> ExactIntegers:
    """A good ν ≥ max v_s for the largest mean over the ball of this radius, in units of 2^−unit."""
    found = largest(rows.floats[y, s], ball.conditional[s], np.maximum(radius, SMALLEST), ball.order)
    return _proposed(found.value, found, rows.scale[y], rows.exact[y, s].max(axis=1))


def falling_multiplier(rows: WeightRows, ball: RenyiBall, y: Indices, t: Indices, radius: Floats) -> ExactIntegers:
    """A good ν' ≥ −min v_t for the smallest mean."""
    found = smallest(rows.floats[y, t], ball.conditional[t], np.maximum(radius, SMALLEST), ball.order)
    return _proposed(-found.value, found, rows.scale[y], -rows.exact[y, t].min(axis=1))


def _proposed(value: Floats, found: Extreme, scale: Floats, least: ExactIntegers) -> ExactIntegers:
    """The optimal ν is the value plus the rate at which the radius buys it."""
    nu = np.nan_to_num(value + found.rate, nan=0.0, posinf=1.0)
    return np.maximum(integers(nu * scale, VALUE_BITS), least)


def integers(values: Floats, bits: int) -> ExactIntegers:
    """Whole numbers near 2^bits times the values."""
    return np.asarray(np.frompyfunc(int, 1, 1)(np.ldexp(values, bits)), dtype=object)


# ---- many pairs at once: tangents at common splits -------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Lines:
    """One side of the tangents, [row, k]: its values at the ends x = 0 and x = κ, when the tangent is taken at x_k."""

    at_zero: ExactIntegers
    at_kappa: ExactIntegers


def worthwhile(y: Indices, s: Indices, t: Indices, secrets: int) -> bool:
    """Whether the pairs share enough rows for the common splits to be cheaper."""
    rows = len(np.unique(y * secrets + s)) + len(np.unique(y * secrets + t))
    return SHARED * len(y) > rows * (SPLITS + 1)


def unproven(
    rows: WeightRows, exact: ExactBall, ball: RenyiBall, price: int, y: Indices, s: Indices, t: Indices
) -> Indices:
    """The pairs that the common splits do not prove, by position."""
    secrets = rows.exact.shape[1]
    upper_rows, upper = np.unique(y * secrets + s, return_inverse=True)
    lower_rows, lower = np.unique(y * secrets + t, return_inverse=True)
    rising = _rising(rows, exact, ball, *np.divmod(upper_rows, secrets))
    falling = _falling(rows, exact, ball, *np.divmod(lower_rows, secrets))
    k, weight = _proposal(rising, falling, price, upper, lower)
    left = np.ones(len(y), dtype=bool)
    for ends in ("at_zero", "at_kappa"):
        above, below = getattr(rising, ends), getattr(falling, ends)
        lines = [(above[upper, i] << RATIO_BITS) + price * below[lower, i] for i in (k, k + 1)]
        left &= np.asarray(weight * lines[0] + ((1 << MIX_BITS) - weight) * lines[1] <= 0, dtype=bool)
    return np.flatnonzero(~left)


def _splits(exact: ExactBall) -> ExactIntegers:
    """0 = x_0 < … < x_K = κ, symmetric, closer together near both ends where h bends most."""
    half = integers(np.sin(np.pi / 2 * np.arange(SPLITS // 2) / SPLITS) ** 2, BUDGET_BITS) * exact.budget >> BUDGET_BITS
    return np.concatenate([half, [exact.budget // 2], (exact.budget - half)[::-1]])


def _rising(rows: WeightRows, exact: ExactBall, ball: RenyiBall, y: Indices, s: Indices) -> Lines:
    """ν − T_s(x_k) and its tangent."""
    y, s, spent = _repeated(exact, y, s)
    nu = rising_multiplier(rows, ball, y, s, ball.reach((spent / 2**BUDGET_BITS).astype(float), s))
    found = terms(exact, s, nu[:, None] - rows.exact[y, s], spent, rows.unit)
    value = nu - found.low
    return _lines(value - found.fall_low(spent), value + found.fall_high(exact.budget - spent))


def _falling(rows: WeightRows, exact: ExactBall, ball: RenyiBall, y: Indices, t: Indices) -> Lines:
    """ν' − T_t(κ − x_k) and its tangent."""
    y, t, spent = _repeated(exact, y, t)
    rest = exact.budget - spent
    nu = falling_multiplier(rows, ball, y, t, ball.reach((rest / 2**BUDGET_BITS).astype(float), t))
    found = terms(exact, t, nu[:, None] + rows.exact[y, t], rest, rows.unit)
    value = nu - found.low
    return _lines(value + found.fall_high(spent), value - found.fall_low(rest))


def _repeated(exact: ExactBall, y: Indices, secrets: Indices) -> tuple[Indices, Indices, ExactIntegers]:
    splits = _splits(exact)
    return np.repeat(y, len(splits)), np.repeat(secrets, len(splits)), np.tile(splits, len(y))


def _lines(at_zero: ExactIntegers, at_kappa: ExactIntegers) -> Lines:
    return Lines(at_zero.reshape(-1, SPLITS + 1), at_kappa.reshape(-1, SPLITS + 1))


def _proposal(
    rising: Lines, falling: Lines, price: int, upper: Indices, lower: Indices
) -> tuple[Indices, ExactIntegers]:
    """For every pair two neighbouring tangents k, k + 1 and the weight of the first, found in floats."""
    factor = price / 2.0**RATIO_BITS
    ends = [
        above.astype(float)[upper] + factor * below.astype(float)[lower]
        for above, below in ((rising.at_zero, falling.at_zero), (rising.at_kappa, falling.at_kappa))
    ]
    slope = ends[1] - ends[0]
    first, second = slope[:, :-1], slope[:, 1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.clip(np.nan_to_num(-second / (first - second), nan=0.5), 0.0, 1.0)
    bound = np.maximum(*(share * end[:, :-1] + (1 - share) * end[:, 1:] for end in ends))
    k = bound.argmin(axis=1)
    return k, integers(share[np.arange(len(k)), k], MIX_BITS)


PROVERS.update({(RLDP, ChiSquare): BallProver(), (RLDP, Renyi): BallProver()})
