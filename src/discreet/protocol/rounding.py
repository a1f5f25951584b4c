"""Rounding a designed matrix to weights that are proven, and what mends them.

On the way from a designed matrix to weights that are proven, rounding may break ε; then a little is given back. Mixing
with the output's own distribution, Q' = (1 − λ) Q + λ q 1ᵀ, adds the same constant λ q_y to both sides of every
condition of row y. A condition "high ≤ e^ε low" that fails by δ q_y holds again as soon as λ/(1 − λ) ≥ δ/(e^ε − 1).
Rows too small to be rounded well are first added to the largest row, which is post-processing.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discreet import information
from discreet.arrays import Floats
from discreet.certify.exact_arithmetic import BITS, round_columns
from discreet.certify.proof import ProofAttempt, all_of, check
from discreet.channel import Channel
from discreet.exceptions import ProofError
from discreet.joint import Joint
from discreet.notions.notion import Notion, check_fits, words_of

MOST_MIXING = 1e-3
"""Rounding to 2^−52 never needs so much; whatever does was not private to begin with."""
SMALL = 1e-7
"""Outputs rarer than this are merged before others pay for mending them."""
ATTEMPTS = 12
MOST_MIXED = 1 << 26
"""Entries of a mechanism that is mended: half a gigabyte."""
LARGEST_POWER = 500.0
"""e^500 stands for every larger factor; only the size of a repair depends on it."""


@dataclass(frozen=True, eq=False)
class Rounded:
    """Proven weights, the outputs they belong to, the mixing λ it took, and the nats of I(T;Y) it cost."""

    weights: sparse.csc_array
    bits: int
    outputs: tuple[Hashable, ...]
    mixing: float
    cost: float


def rounded(channel: Channel, joint: Joint, notion: Notion, bits: int = BITS) -> Rounded:
    """Integer weights near `channel` that satisfy the notion in exact arithmetic; ProofError if that takes more than
    λ = 0.001, because then it is not rounding that broke the notion."""
    check_fits(channel, joint)
    rows, outputs, mixing, merged = channel.entries, channel.outputs, 0.0, False
    for _ in range(ATTEMPTS):
        weights = round_columns(mixed(rows, joint.prior, mixing), bits)
        rows, weights, outputs = _drop_empty(rows, sparse.csc_array(weights), outputs)
        each = [check(weights, bits, joint, one, Fraction(one.epsilon)) for one in notion.promises]
        found = all_of(each)
        if found.proven:
            kept = Channel(weights / 2.0**bits, channel.inputs, outputs)
            cost = information.utility(joint, channel) - information.utility(joint, kept)
            return Rounded(weights, bits, outputs, mixing, cost)
        q = weights @ joint.prior / 2.0**bits
        pairs = zip(each, notion.promises, strict=True)
        needed = np.max([_needed(one, q, bits, part.epsilon) for one, part in pairs], axis=0)
        small = (needed > SMALL) & (q < SMALL)
        if small.any() and not merged and not small.all():
            rows, outputs = _merge(rows, outputs, small, joint.prior)
            merged = True
            continue
        mixing = max(4 * mixing, float(needed.max()))
        if mixing > MOST_MIXING:
            break
    y = int(np.argmax(found.violation))
    raise ProofError(
        f"the channel does not satisfy {words_of(notion).name}({notion.epsilon:g}), and not by rounding alone",
        where=found.words(y),
        remedy="Design it again, or state the level that an audit of it shows.",
    )


def mixed(rows: sparse.csr_array, prior: Floats, mixing: float) -> sparse.csr_array:
    """(1 − λ) Q + λ q 1ᵀ, which has every entry; refused where that would fill the memory."""
    if mixing == 0:
        return rows
    outputs, letters = rows.shape
    if outputs * letters > MOST_MIXED:
        raise ProofError(
            "rounding broke the promise, and too many letters to mend it",
            where=f"{outputs:,} outputs of {letters:,} letters",
            remedy="Design it at a slightly smaller epsilon.",
        )
    return sparse.csr_array((1 - mixing) * rows.toarray() + mixing * (rows @ prior)[:, None])


def _needed(found: ProofAttempt, q: Floats, bits: int, epsilon: float) -> Floats:
    """Per output the λ that mends its violation, together with two units of rounding noise on either side."""
    if found.mixing:
        return np.full(len(q), found.mixing)
    level = min(epsilon, LARGEST_POWER)
    noise = 2.0 ** (1 - bits) * (1 + np.exp(level))
    delta = np.where(found.violation > 0, found.violation + noise, 0.0)
    room = np.expm1(level) * q
    return np.asarray(np.divide(delta, delta + room, out=np.zeros_like(delta), where=delta > 0))


def _merge(
    rows: sparse.csr_array, outputs: tuple[Hashable, ...], small: NDArray[np.bool_], prior: Floats
) -> tuple[sparse.csr_array, tuple[Hashable, ...]]:
    """The small rows added to the likeliest of the others."""
    largest = int(np.where(small, -1.0, rows @ prior).argmax())
    goes_to = np.where(small, largest, np.arange(len(small)))
    joining = sparse.csr_array((np.ones(len(small)), (goes_to, np.arange(len(small)))), shape=(len(small),) * 2)
    return (joining @ rows)[~small], tuple(name for name, gone in zip(outputs, small, strict=True) if not gone)


def _drop_empty(
    rows: sparse.csr_array, weights: sparse.csc_array, outputs: tuple[Hashable, ...]
) -> tuple[sparse.csr_array, sparse.csc_array, tuple[Hashable, ...]]:
    """Outputs that rounding left without any weight are never drawn."""
    weights.eliminate_zeros()
    used = np.unique(weights.indices)
    if len(used) == len(outputs):
        return rows, weights, outputs
    return rows[used], weights[used], tuple(outputs[y] for y in used)
