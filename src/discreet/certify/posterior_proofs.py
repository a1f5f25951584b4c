"""The proofs of PML, ALIP, Shift and Perfect: what an output does to the chances of secrets, in integers.

PML is one side of LIP's ratios, ALIP both with a limit of its own each, Perfect those of LIP at its fixed level. With
m_s = P(s, y) and t_s = P(s) up to common factors, M and T their sums, the shift of an output is

    Σ_s (m_s / M − t_s / T)⁺ = Σ_s (m_s T − t_s M)⁺ / (M T),

a fraction of integers, which is compared with b exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.arrays import Weights
from discreet.certify.exact_arithmetic import ExactIntegers, ceil_div
from discreet.certify.proof import PROVERS, STEP, ProofAttempt, all_of
from discreet.certify.ratio_proofs import (
    RATIO_BITS,
    RatioProver,
    Ratios,
    all_by_secret,
    by_secret,
    lip,
    lowered_most,
    raised_most,
)
from discreet.joint import Joint
from discreet.notions.alip import ALIP
from discreet.notions.notion import Notion, Witness
from discreet.notions.perfect import Perfect
from discreet.notions.pml import PML
from discreet.notions.shift import Shift


def raised(weights: Weights, joint: Joint) -> Ratios:
    """P(y | s) / P(y) for all seen secrets."""
    return by_secret(weights, joint, raised_most)


def both_sides(weights: Weights, joint: Joint) -> tuple[Ratios, Ratios]:
    """P(y | s) / P(y) and P(y) / P(y | s) for all seen secrets."""
    rise, fall = all_by_secret(weights, joint, raised_most, lowered_most)
    return rise, fall


@dataclass(frozen=True)
class TwoSidedProver:
    """ALIP: the rise against e^ε, the fall against e^(ε · low / up), both rounded down."""

    sides: Callable[[Weights, Joint], tuple[Ratios, Ratios]]

    def check(self, weights: Weights, bits: int, joint: Joint, notion: Notion, epsilon: Fraction) -> ProofAttempt:
        rise, fall = self.sides(weights, joint)
        return all_of([rise.within(epsilon, bits), fall.within(epsilon * self._share(notion), bits)])

    def level(self, weights: Weights, bits: int, joint: Joint, notion: Notion) -> float:
        """In steps of 1e-9 of either side; that of the lower side, seen from the upper, may be up/low times as wide."""
        rise, fall = (side.level for side in self.sides(weights, joint))
        if not (np.isfinite(rise) and np.isfinite(fall)):
            return float("inf")
        needed = Fraction(fall) / self._share(notion)
        return max(rise, ceil_div(needed.numerator * STEP, needed.denominator) / STEP)

    def _share(self, notion: Notion) -> Fraction:
        assert isinstance(notion, ALIP)
        return Fraction(notion.low) / Fraction(notion.up)


@dataclass(frozen=True)
class ShiftProver:
    """Shift: a fraction of integers against b."""

    ratios: Callable[[Weights, Joint], Ratios]

    def check(self, weights: Weights, bits: int, joint: Joint, notion: Notion, epsilon: Fraction) -> ProofAttempt:
        found = self.ratios(weights, joint)
        holds = np.asarray(found.upper * epsilon.denominator <= epsilon.numerator << RATIO_BITS, dtype=np.bool_)
        scale = 2.0**bits
        short = (found.high - float(epsilon) * found.low) / scale
        return ProofAttempt(holds, np.where(holds, 0.0, np.maximum(short, 1 / scale)), found.witness)

    def level(self, weights: Weights, bits: int, joint: Joint, notion: Notion) -> float:
        worst = int(self.ratios(weights, joint).upper.max())
        steps = ceil_div(worst * STEP, 1 << RATIO_BITS)
        while Fraction(steps / STEP) * (1 << RATIO_BITS) < worst:
            steps += 1
        return steps / STEP


def shifts(names: list[Hashable], masses: ExactIntegers, totals: ExactIntegers) -> Ratios:
    """For every output 2^96 times its shift, rounded up; zero for an output that never occurs."""
    whole, n = masses.sum(axis=0), int(totals.sum())
    changes = masses * n - totals[:, None] * whole
    rises = np.where(changes > 0, changes, 0).sum(axis=0)
    upper = np.array(
        [ceil_div(int(rise) << RATIO_BITS, int(m) * n) if m else 0 for rise, m in zip(rises, whole, strict=True)],
        dtype=object,
    )
    places = [np.argsort(-changes[:, y], kind="stable") for y in range(changes.shape[1])]

    def witness(y: int) -> Witness:
        moved = tuple(names[s] for s in places[y] if changes[s, y] > 0)
        return Witness(y, names[places[y][0]], statement=moved)

    return Ratios(upper, (rises / n**2).astype(float), (whole / n).astype(float), witness)


PROVERS.update(
    {
        PML: RatioProver(raised),
        ALIP: TwoSidedProver(both_sides),
        Shift: ShiftProver(lambda weights, joint: by_secret(weights, joint, shifts)),
        Perfect: RatioProver(lip),
    }
)
