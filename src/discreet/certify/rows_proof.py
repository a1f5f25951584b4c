"""What k rows that are independent given the secret tell together, in integers (theory 7.3).

With m_s(y) and T_s proportional to P(s, y) and P(s), all outputs y = (y_1 … y_k) of k rows have

    P(s, y) ∝ c_s Π_i m_s(y_i),   P(s) ∝ c_s T_s^k,   c_s = lcm(T_s'^(k−1)) / T_s^(k−1),

whole numbers again, so what proves a notion about P(s) and P(y|s) for one row proves it for all of them. Where outputs
are too many to be listed the two sides of LIP are bounded apart. A chance falls most at one output k times (Hölder). It
rises by −ln Σ p_s' Π_i r_s'(y_i), r = t_s'/t_s, and for any weights w that add up to one (Jensen)

    −ln Σ p r ≤ Σ w (ln w − ln p) − Σ_i Σ w ln r(y_i) ≤ Σ w (ln w − ln p) + k max_y Σ w (ln t_s(y) − ln t_s'(y)):

a wrong guess of w makes the bound larger, never smaller than the truth. Notions that are ratios of any two secrets have
k times the level of one row; robust LIP has k times the largest such ratio over its own set.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np

from discreet.arrays import Floats, Weights
from discreet.certify.average_proofs import AverageProver, SecretMasses
from discreet.certify.exact_arithmetic import ExactIntegers, ceil_div, exact_prior, ln_bounds, secret_weights
from discreet.certify.interval_proof import apart_upper_bound
from discreet.certify.posterior_proofs import ShiftProver, TwoSidedProver, shifts
from discreet.certify.proof import PROVERS, STEP, check_weights, level_upper_bound
from discreet.certify.ratio_proofs import RatioProver, check_pairs, lowered_most, raised_most, two_sided
from discreet.exceptions import ParameterError, ProofError
from discreet.joint import Joint
from discreet.notions.alip import ALIP
from discreet.notions.ldp import LDP
from discreet.notions.lip import LIP
from discreet.notions.notion import Notion, words_of
from discreet.notions.ordinary_ldp import OrdinaryLDP
from discreet.notions.pml import PML
from discreet.notions.rldp import RLDP
from discreet.notions.rlip import RLIP
from discreet.notions.rows_together import ABOUT_S, tangent_weights
from discreet.notions.shift import Shift
from discreet.notions.srlip import SRLIP

MOST_MASSES = 1 << 18
"""Secrets times outputs of all rows together that are listed: a second or so."""
MOST_PRODUCTS = 1 << 27
"""Of them, each as wide as rows and secrets make it: seconds. A file of a few bytes can state any number of rows."""
MOST_POWERS = 1 << 22
"""Secrets squared, times outputs, times rows, where every output stands for all rows: a second or so."""
MOST_ROWS_PROVEN = 4096
"""Products of longer numbers than these make take longer than linear in their length."""
MOST_LOGARITHMS = 1 << 16
WIDTH, PARTS = 96, 1 << 40
"""Logarithms are off by less than 2^−90; weights are whole numbers over 2^40."""


def rows_upper_bound(weights: Weights, bits: int, joint: Joint, notion: Notion, rows: int) -> float:
    """The level of so many rows that are independent given the secret they share: proven, a multiple of 1e-9."""
    if type(rows) is not int or rows < 1:
        raise ParameterError("not a number of rows", where="rows", remedy="Give a whole number from 1.")
    leading = notion.promises[0]
    if rows == 1:
        return level_upper_bound(weights, bits, joint, leading)
    if isinstance(leading, LDP | OrdinaryLDP | RLDP):
        return _times(rows, level_upper_bound(weights, bits, joint, leading))
    if isinstance(leading, RLIP):
        return _times(rows, apart_upper_bound(weights, bits, joint, leading))
    if isinstance(leading, SRLIP):
        return _times(2 * rows, level_upper_bound(weights, bits, joint, leading))
    if not isinstance(leading, (LIP, *ABOUT_S)):
        raise ParameterError(
            f"what several rows tell together is not known for {words_of(notion).name}",
            where="rows",
            remedy="Release one row of each person, or tie their rows (--rows one, --rows tied).",
        )
    check_weights(weights, bits, joint, leading)
    one = RowMasses.of(weights, joint)
    if one.can_list(rows):
        return _listed(one.together(rows), bits, joint, leading)
    if isinstance(leading, LIP):
        if rows > MOST_ROWS_PROVEN or len(one.names) * one.masses.size * rows > MOST_POWERS:
            raise ProofError(
                f"{rows:,} rows are too many to be proven together",
                where="rows",
                remedy="Release one row of each person (--rows one), or promise LDP.",
            )
        return max(_fall(one, bits, joint, leading, rows), *(_rise(one, s, rows) for s in range(len(one.names))))
    raise ProofError(
        f"the outputs of {rows} rows are too many to be listed",
        where=words_of(notion).name,
        remedy="Release one row of each person (--rows one), or promise LIP or LDP.",
    )


@dataclass(frozen=True, eq=False)
class RowMasses:
    """P(s, y) and P(s) up to a common factor, for the secrets that occur and the outputs that can."""

    names: list[Hashable]
    masses: ExactIntegers
    totals: ExactIntegers

    @classmethod
    def of(cls, weights: Weights, joint: Joint) -> RowMasses:
        check_pairs(weights, joint)
        prior = exact_prior(joint)
        totals = prior.reshape(len(prior), -1).sum(axis=1)
        seen = np.flatnonzero(totals > 0)
        masses = secret_weights(weights, joint, prior)[seen]
        occurs = np.flatnonzero((masses != 0).any(axis=0))
        return cls([joint.secret_letters[s] for s in seen], masses[:, occurs], totals[seen])

    def can_list(self, rows: int) -> bool:
        """Whether the outputs of all rows are few enough, and the numbers that belong to them short enough."""
        names, outputs = (int(size) for size in self.masses.shape)
        if rows > MOST_PRODUCTS:
            return False
        found = math.comb(outputs + rows - 1, rows) * names
        return found <= MOST_MASSES and found * names * rows * rows <= MOST_PRODUCTS

    def together(self, rows: int) -> RowMasses:
        """The same for the outputs of all rows, in any order."""
        chosen = np.array(list(combinations_with_replacement(range(self.masses.shape[1]), rows)))
        factors = self._factors(rows)
        found = np.stack([_orders(chosen, rows) * factor for factor in factors])
        for place in range(rows):
            found = found * self.masses[:, chosen[:, place]]
        return RowMasses(self.names, found, self.totals**rows * factors)

    def repeated(self, rows: int) -> RowMasses:
        """The same where all rows have one output."""
        factors = self._factors(rows)
        return RowMasses(self.names, self.masses**rows * factors[:, None], self.totals**rows * factors)

    def _factors(self, rows: int) -> ExactIntegers:
        powers = [int(total) ** (rows - 1) for total in self.totals]
        common = math.lcm(*powers)
        return np.array([common // power for power in powers], dtype=object)


def _orders(chosen: np.ndarray[tuple[int, int], np.dtype[np.int64]], rows: int) -> ExactIntegers:
    """In how many orders outputs can come that are listed without one."""
    orders, run = np.full(len(chosen), math.factorial(rows), dtype=object), np.ones(len(chosen), dtype=object)
    for place in range(1, rows):
        run = np.where(chosen[:, place] == chosen[:, place - 1], run + 1, 1)
        orders = orders // run
    return orders


def _times(factor: int, level: float) -> float:
    if math.isinf(level):
        return math.inf
    return _stepped(factor * Fraction(level))


def _stepped(level: Fraction) -> float:
    """The smallest multiple of 1e-9 that is, as a float, no less than this."""
    steps = max(0, ceil_div(level.numerator * STEP, level.denominator))
    while Fraction(steps / STEP) < level:
        steps += 1
    return steps / STEP


def _listed(all_rows: RowMasses, bits: int, joint: Joint, notion: Notion) -> float:
    """The proof of one row, on the outputs of all of them."""
    given = all_rows.names, all_rows.masses, all_rows.totals
    if isinstance(notion, LIP):
        return RatioProver(lambda *_: two_sided(*given)).level(all_rows.masses, bits, joint, notion)
    rise = RatioProver(lambda *_: raised_most(*given))
    if isinstance(notion, PML):
        return rise.level(all_rows.masses, bits, joint, notion)
    if isinstance(notion, ALIP):
        sides = TwoSidedProver(lambda *_: (raised_most(*given), lowered_most(*given)))
        return sides.level(all_rows.masses, bits, joint, notion)
    if isinstance(notion, Shift):
        return ShiftProver(lambda *_: shifts(*given)).level(all_rows.masses, bits, joint, notion)
    prover = PROVERS[type(notion)]
    assert isinstance(prover, AverageProver)
    each = all_rows.masses
    return prover.level_of(SecretMasses(each, each.sum(axis=1), each.sum(axis=0), int(each.sum())))


# ---- outputs that are too many to be listed --------------------------------------------------------------------------


def _fall(one: RowMasses, bits: int, joint: Joint, notion: Notion, rows: int) -> float:
    every = one.repeated(rows)
    prover = RatioProver(lambda *_: lowered_most(every.names, every.masses, every.totals))
    return prover.level(every.masses, bits, joint, notion)


def _rise(one: RowMasses, secret: int, rows: int) -> float:
    """No less than the largest −ln Σ p_s' Π_i t_s'(y_i) / t_s(y_i)."""
    if (one.masses == 0).any():
        return math.inf
    if one.masses.size > MOST_LOGARITHMS:
        raise ProofError(
            f"{len(one.names):,} secrets and {one.masses.shape[1]:,} outputs are too many for exact logarithms",
            where="rows",
            remedy="Merge rare secrets or outputs, or release one row of each person (--rows one).",
        )
    parts = _whole_parts(tangent_weights(_logs(one, secret), _shares(one.totals), rows))
    low, high = _bounds(one.masses)
    low_total, high_total = _bounds(one.totals)
    high_all = ln_bounds(int(one.totals.sum()), WIDTH)[1]
    fixed = -sum(part * (lower - high_all) for part, lower in zip(parts, low_total, strict=True))
    fixed += sum(part * (ln_bounds(part, WIDTH)[1] - ln_bounds(PARTS, WIDTH)[0]) for part in parts if part)
    weights = np.array(parts, dtype=object)
    worst = max(
        PARTS * (high[secret, y] - low_total[secret]) - int(weights @ (low[:, y] - high_total))
        for y in range(one.masses.shape[1])
    )
    return _stepped(Fraction(int(fixed + rows * worst), PARTS << WIDTH))


def _bounds(numbers: ExactIntegers) -> tuple[ExactIntegers, ExactIntegers]:
    """2^96 times the logarithms, from below and from above."""
    found = np.frompyfunc(lambda x: ln_bounds(int(x), WIDTH), 1, 1)(numbers)
    low, high = (np.frompyfunc(lambda pair, i=i: pair[i], 1, 1)(found) for i in (0, 1))
    return low, high


def _shares(totals: ExactIntegers) -> Floats:
    whole = int(totals.sum())
    return np.array([int(total) / whole for total in totals])


def _logs(one: RowMasses, secret: int) -> Floats:
    """ln t_s'(y) − ln t_s(y), outputs × secrets, as floats: only a guess of weights rests on them."""
    told = np.array([[math.log(int(m)) for m in row] for row in one.masses])
    told -= np.array([math.log(int(total)) for total in one.totals])[:, None]
    return np.asarray((told - told[secret]).T)


def _whole_parts(weights: Floats) -> Sequence[int]:
    """Whole numbers near 2^40 w that add up to 2^40."""
    parts = [int(part) for part in np.floor(np.clip(weights, 0, 1) * PARTS)]
    parts[int(np.argmax(weights))] += PARTS - sum(parts)
    return parts
