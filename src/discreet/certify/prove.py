"""The proof: integer weights, an exact prior, a notion, and a level; accepted or refused, never "about right"."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.certify import linear, robust
from discreet.certify.exponential import exp_lower
from discreet.certify.linear import RATIO_BITS, Ratios, Weights
from discreet.certify.renyi import ExactBall, exact_ball
from discreet.certify.rounding import MAX_BITS
from discreet.channel import Channel
from discreet.exceptions import ChannelError, ParameterError, ProofError
from discreet.joint import Joint
from discreet.notions import LDP, LIP, SRLIP, OrdinaryLDP
from discreet.notions.level import Notion, Witness
from discreet.notions.rldp import RLDP
from discreet.uncertainty import ChiSquare, Exactly, Renyi

STEP = 10**9
"""Levels are stated in steps of 1e-9, rounded up."""


@dataclass(frozen=True)
class Proof:
    """`notion` holds at `epsilon`, for these weights and this prior."""

    notion: Notion
    epsilon: float


@dataclass(frozen=True, eq=False)
class Check:
    """What a proof attempt found: per output by how much "high ≤ e^ε low" fails (0 where it is proven), and where."""

    holds: NDArray[np.bool_]
    violation: NDArray[np.float64]
    witness: Callable[[int], Witness]

    @property
    def proven(self) -> bool:
        return bool(self.holds.all())

    def words(self, y: int, outputs: Sequence[Hashable] | None = None) -> str:
        """Output and secrets by name, the output by position if it has none."""
        found = self.witness(y)
        output = f"number {y}" if outputs is None else repr(outputs[y])
        known = "".join(f", given {name} = {value!r}" for name, value in found.side_channel)
        against = "the population" if found.other is None else repr(found.other)
        return f"output {output}, {found.secret!r} against {against}{known}"


def prove(weights: Weights, bits: int, joint: Joint, notion: Notion, epsilon: float | None = None) -> Proof:
    """That the notion holds at `epsilon` (its own, unless another level is claimed); ProofError if not."""
    level = notion.epsilon if epsilon is None else epsilon
    if not (math.isfinite(level) and level >= 0):
        raise ParameterError("the level is not a number ≥ 0", where="epsilon", remedy="State the level as a number.")
    check_weights(weights, bits, joint)
    found = check(weights, bits, joint, notion, Fraction(level))
    if not found.proven:
        y = int(np.flatnonzero(~found.holds)[0])
        raise ProofError(
            f"{type(notion).__name__} is not proven at {level!r}",
            where=found.words(y),
            remedy="Round and repair the channel again, or state a higher level.",
        )
    return Proof(notion, level)


def level_upper_bound(weights: Weights, bits: int, joint: Joint, notion: Notion) -> float:
    """The smallest level that can be proven, rounded up to a multiple of 1e-9; infinite if there is none."""
    check_weights(weights, bits, joint)
    if _ball(joint, notion) is not None:
        return _robust_level(weights, bits, joint, notion)
    worst = _ratios(weights, joint, notion).upper.max()
    if worst == math.inf or worst > exp_lower(Fraction(10**6), RATIO_BITS):
        return math.inf
    steps = max(0, math.ceil((math.log(max(int(worst), 1)) - RATIO_BITS * math.log(2)) * STEP))
    while exp_lower(Fraction(steps / STEP), RATIO_BITS) < worst:
        steps += 1
    return steps / STEP


def check(weights: Weights, bits: int, joint: Joint, notion: Notion, epsilon: Fraction) -> Check:
    """Every condition of the notion at this level, in exact arithmetic."""
    ball = _ball(joint, notion)
    if ball is not None and isinstance(notion, RLDP):
        return _check_robust(weights, bits, joint, notion, ball, epsilon)
    ratios = _ratios(weights, joint, notion)
    holds = np.asarray(ratios.upper <= exp_lower(epsilon, RATIO_BITS), dtype=bool)
    scale = 2.0**bits
    short = (ratios.high - np.exp(min(float(epsilon), 500.0)) * ratios.low) / scale
    return Check(holds, np.where(holds, 0.0, np.maximum(short, 1 / scale)), ratios.witness)


def _robust_level(weights: Weights, bits: int, joint: Joint, notion: Notion) -> float:
    """The first step above the level that the float oracle finds which can be proven."""
    estimate = notion.level(Channel(weights / 2.0**bits, joint.letters), joint).epsilon
    if math.isfinite(estimate):
        first = math.ceil(max(estimate, 0.0) * STEP)
        for steps in (first, first + 1, first + 10, first + 1000):
            if check(weights, bits, joint, notion, Fraction(steps / STEP)).proven:
                return steps / STEP
    return math.inf


def _check_robust(weights: Weights, bits: int, joint: Joint, notion: RLDP, ball: ExactBall, epsilon: Fraction) -> Check:
    price = exp_lower(epsilon, RATIO_BITS)
    try:
        with np.errstate(all="ignore"):
            found = robust.excess(weights, bits, joint, ball, notion.uncertainty.ball(joint), price)
    except ArithmeticError as error:
        raise ProofError("the search for a robust proof broke off", where=type(error).__name__) from error
    holds = np.asarray(found.upper <= 0, dtype=bool)
    whole = 1 << RATIO_BITS + found.unit
    violation = np.where(holds, 0.0, (np.minimum(found.upper, whole << 64) / whole).astype(float))
    names = joint.secret_letters
    return Check(holds, violation, lambda y: Witness(y, names[found.first[y]], names[found.second[y]]))


def _ball(joint: Joint, notion: Notion) -> ExactBall | None:
    """The Rényi ball of a robust notion, None where the notion has finitely many conditions."""
    if isinstance(notion, RLDP) and isinstance(notion.uncertainty, (ChiSquare, Renyi)):
        return exact_ball(joint, notion.uncertainty)
    return None


def check_weights(weights: Weights, bits: int, joint: Joint) -> None:
    """Whole numbers ≥ 0, one column a letter, each adding up to 2^bits."""
    bits = int(bits)
    if not 1 <= bits <= MAX_BITS or weights.dtype != np.int64 or weights.ndim != 2:
        raise ChannelError("weights are not integers over 2^bits", remedy=f"Use int64 and 1 to {MAX_BITS} bits.")
    if weights.shape[1] != len(joint.letters) or len(weights) == 0:
        raise ChannelError(
            f"weights for {weights.shape[1]} letters, a joint with {len(joint.letters)}",
            remedy="Use the joint these weights were made for.",
        )
    if (weights < 0).any() or (weights > 1 << bits).any():
        raise ChannelError("a weight outside 0 … 2^bits", remedy="Round the channel again.")
    halves = (weights >> 30).sum(axis=0), (weights & (2**30 - 1)).sum(axis=0)
    if any((int(high) << 30) + int(low) != 1 << bits for high, low in zip(*halves, strict=True)):
        raise ChannelError("the weights of a letter do not add up to 2^bits", remedy="Round the channel again.")


def _ratios(weights: Weights, joint: Joint, notion: Notion) -> Ratios:
    if isinstance(notion, LDP):
        return linear.ldp(weights, joint)
    if isinstance(notion, LIP):
        return linear.lip(weights, joint)
    if isinstance(notion, SRLIP):
        return linear.srlip(weights, joint)
    if isinstance(notion, OrdinaryLDP):
        return linear.ordinary(weights, joint)
    if isinstance(notion, RLDP):
        return (
            linear.ldp(weights, joint) if isinstance(notion.uncertainty, Exactly) else linear.everything(weights, joint)
        )
    raise ParameterError(f"no proof is known for {type(notion).__name__}", remedy="Use LDP, LIP, SRLIP or RLDP.")
