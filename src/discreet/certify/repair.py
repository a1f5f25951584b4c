"""From a designed matrix to weights that are proven: round, and where rounding broke ε, give a little back.

Mixing with the output's own distribution, Q' = (1 − λ) Q + λ q 1ᵀ, adds the same constant λ q_y to both sides of every
condition of row y. A condition "high ≤ e^ε low" that fails by δ q_y holds again as soon as λ/(1 − λ) ≥ δ/(e^ε − 1).
Rows too small to be rounded well are first added to the largest row, which is post-processing.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet import information
from discreet.certify.prove import Check, check
from discreet.certify.rounding import BITS, Floats, Weights, round_columns
from discreet.channel import Channel
from discreet.exceptions import ProofError
from discreet.joint import Joint
from discreet.notions.level import Notion, check_fits

MOST_MIXING = 1e-3
SMALL = 1e-7
ATTEMPTS = 12


@dataclass(frozen=True, eq=False)
class Rounded:
    """Proven weights, the outputs they belong to, the mixing λ it took, and the nats of I(T;Y) it cost."""

    weights: Weights
    bits: int
    outputs: tuple[Hashable, ...]
    mixing: float
    cost: float


def rounded(channel: Channel, joint: Joint, notion: Notion, bits: int = BITS) -> Rounded:
    """Integer weights near `channel` that satisfy the notion in exact arithmetic; ProofError if that takes more than
    λ = 0.001, because then it is not rounding that broke the notion."""
    check_fits(channel, joint)
    matrix, outputs, mixing, merged = channel.matrix, channel.outputs, 0.0, False
    for _ in range(ATTEMPTS):
        weights = round_columns(mixed(matrix, joint.prior, mixing), bits)
        matrix, weights, outputs = _drop_empty(matrix, weights, outputs)
        found = check(weights, bits, joint, notion, Fraction(notion.epsilon))
        if found.proven:
            kept = Channel(weights / 2.0**bits, channel.inputs, outputs)
            cost = information.utility(joint, channel) - information.utility(joint, kept)
            return Rounded(weights, bits, outputs, mixing, cost)
        needed = _needed(found, weights, bits, joint, notion.epsilon)
        small = (needed > SMALL) & (weights / 2.0**bits @ joint.prior < SMALL)
        if small.any() and not merged and not small.all():
            matrix, outputs = _merge(matrix, outputs, small, joint.prior)
            merged = True
            continue
        mixing = max(4 * mixing, float(needed.max()))
        if mixing > MOST_MIXING:
            break
    y = int(np.argmax(found.violation))
    raise ProofError(
        f"the channel does not satisfy {type(notion).__name__}({notion.epsilon:g}), and not by rounding alone",
        where=found.words(y, outputs),
        remedy="Design it again, or state the level that an audit of it shows.",
    )


def mixed(matrix: Floats, prior: Floats, mixing: float) -> Floats:
    """(1 − λ) Q + λ q 1ᵀ"""
    return matrix if mixing == 0 else (1 - mixing) * matrix + mixing * (matrix @ prior)[:, None]


def _needed(found: Check, weights: Weights, bits: int, joint: Joint, epsilon: float) -> Floats:
    """Per output the λ that mends its violation, together with two units of rounding noise on either side."""
    q = weights / 2.0**bits @ joint.prior
    noise = 2.0 ** (1 - bits) * (1 + np.exp(min(epsilon, 500.0)))
    delta = np.where(found.violation > 0, found.violation + noise, 0.0)
    room = np.expm1(min(epsilon, 500.0)) * q
    return np.asarray(np.divide(delta, delta + room, out=np.zeros_like(delta), where=delta > 0))


def _merge(
    matrix: Floats, outputs: tuple[Hashable, ...], small: NDArray[np.bool_], prior: Floats
) -> tuple[Floats, tuple[Hashable, ...]]:
    """The small rows added to the likeliest of the others."""
    largest = int(np.where(small, -1.0, matrix @ prior).argmax())
    joined = matrix.copy()
    joined[largest] += matrix[small].sum(axis=0)
    return joined[~small], tuple(name for name, gone in zip(outputs, small, strict=True) if not gone)


def _drop_empty(
    matrix: Floats, weights: Weights, outputs: tuple[Hashable, ...]
) -> tuple[Floats, Weights, tuple[Hashable, ...]]:
    """Outputs that rounding left without any weight are never drawn."""
    used = np.flatnonzero(weights.any(axis=1))
    return matrix[used], weights[used], tuple(outputs[y] for y in used)
