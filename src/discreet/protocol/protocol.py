"""A protocol: what is released, and why that is allowed. It cannot be made without the proof.

On the way from a designed matrix to weights that are proven, rounding may break ε; then a little is given back. Mixing
with the output's own distribution, Q' = (1 − λ) Q + λ q 1ᵀ, adds the same constant λ q_y to both sides of every
condition of row y. A condition "high ≤ e^ε low" that fails by δ q_y holds again as soon as λ/(1 − λ) ≥ δ/(e^ε − 1).
Rows too small to be rounded well are first added to the largest row, which is post-processing.
"""

from __future__ import annotations

import os
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discreet import information
from discreet.arrays import Floats, Integers
from discreet.certify import level_upper_bound, marginal_weights, prove
from discreet.certify.exact_arithmetic import BITS, round_columns
from discreet.certify.proof import ProofAttempt, check
from discreet.channel import Channel
from discreet.exceptions import AlphabetError, ChannelError, DistributionError, ParameterError, ProofError
from discreet.files.atomic_file import unpublished
from discreet.joint import Joint
from discreet.notions.notion import Notion, check_fits, words_of
from discreet.protocol.statement import Statement

Source = Literal["data", "public", "given"]
"""Where the prior came from: the table that is released, a public sample, or a statement by somebody."""
MOST_MIXING = 1e-3
"""Rounding to 2^−52 never needs so much; whatever does was not private to begin with."""
SMALL = 1e-7
"""Outputs rarer than this are merged before others pay for mending them."""
ATTEMPTS = 12
LARGEST_POWER = 500.0
"""e^500 stands for every larger factor; only the size of a repair depends on it."""


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Protocol:
    """Integer weights over 2^bits, one column per input letter, with the notion they were proven to satisfy.

    Making one proves it: `epsilon` is the smallest level that could be proven, rounded up, or the level claimed, which
    is then proven. A value outside the alphabet, or a missing one, is released as a draw from `marginal`, the
    distribution of the outputs, which says nothing about the record.

    `weights` may be given as an array or as a sparse one; only those that are not zero are held, in `columns`.
    `version` is that of the file which it was first written to: 1 keeps the digest, and with it the draws, of then.
    """

    columns: sparse.csc_array
    bits: int
    joint: Joint
    notion: Notion
    outputs: tuple[Hashable, ...]
    source: Source
    epsilon: float
    cost: float
    version: int
    statement: Statement

    def __init__(
        self,
        weights: Integers | sparse.csc_array,
        bits: int,
        joint: Joint,
        notion: Notion,
        outputs: tuple[Hashable, ...] = (),
        source: Source | None = None,
        epsilon: float = -1.0,
        cost: float = 0.0,
        version: int = 2,
        statement: Statement = Statement(),  # noqa: B008
    ) -> None:
        _check_estimate(joint)
        columns = sparse_columns(weights)
        size = columns.shape[0]
        names = tuple(outputs) or tuple(range(size))
        if len(names) != size or len(set(names)) != size:
            raise AlphabetError(f"{len(set(names))} names for {size} outputs", remedy="Name each one once.")
        source = source or ("given" if joint.counts is None else "data")
        if source not in get_args(Source):
            raise ParameterError("an unknown source of the prior", where="source", remedy="Use data, public or given.")
        values = {
            "columns": columns, "bits": bits, "joint": joint, "notion": notion, "outputs": names, "source": source,
            "epsilon": epsilon, "cost": cost, "version": version, "statement": statement,
        }  # fmt: skip
        for name, value in values.items():
            object.__setattr__(self, name, value)
        if version not in (1, 2) or (version == 1 and _says_more(joint, statement)):
            raise ParameterError(
                "version 1 of the file cannot hold this", where="version", remedy="Make the protocol anew."
            )
        object.__setattr__(self, "epsilon", self._proven())
        if (used := len(np.unique(columns.indices))) > 1 << bits:
            raise ChannelError(
                f"{used:,} outputs in 2^{bits} parts", where="bits", remedy="Use more bits, or fewer outputs."
            )

    def with_source(self, source: Source) -> Protocol:
        """The same, its prior from somewhere else."""
        return Protocol(
            self.columns, self.bits, self.joint, self.notion, self.outputs, source, self.epsilon, self.cost,
            self.version, self.statement,
        )  # fmt: skip

    @classmethod
    def make(
        cls, channel: Channel, joint: Joint, notion: Notion, *, source: Source | None = None, bits: int = BITS
    ) -> Protocol:
        """Round the channel, repair what rounding broke, and prove it. `cost` says what that took, in nats."""
        exact = rounded(channel, joint, notion, bits)
        return cls(exact.weights, exact.bits, joint, notion, exact.outputs, source, cost=exact.cost)

    def _proven(self) -> float:
        if self.epsilon < 0:
            level = level_upper_bound(self.columns, self.bits, self.joint, self.notion)
            if level <= self.notion.epsilon:
                return level
            return prove(self.columns, self.bits, self.joint, self.notion).epsilon
        if not self.epsilon <= self.notion.epsilon:
            raise ProofError("a stated level above the notion's own", remedy="State at most the notion's epsilon.")
        return prove(self.columns, self.bits, self.joint, self.notion, self.epsilon).epsilon

    # ---- the channel ----------------------------------------------------------------------------------------

    @property
    def inputs(self) -> tuple[Hashable, ...]:
        return self.joint.letters

    @cached_property
    def weights(self) -> NDArray[np.int64]:
        """All weights as an array, one row per output: as large as outputs times letters."""
        weights: NDArray[np.int64] = self.columns.toarray(order="C")
        weights.setflags(write=False)
        return weights

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        """Q[y, z], the float view of the weights."""
        matrix = self.weights / 2.0**self.bits
        matrix.setflags(write=False)
        return matrix

    @cached_property
    def channel(self) -> Channel:
        return Channel(self.matrix, self.inputs, self.outputs)

    @cached_property
    def marginal(self) -> NDArray[np.int64]:
        """Weights over 2^bits of the distribution of the outputs, for values outside the alphabet."""
        return marginal_weights(self.columns, self.bits, self.joint)

    @property
    def utility(self) -> float:
        """I(T;Y) in nats."""
        return information.utility(self.joint, self.channel)

    @property
    def leakage(self) -> float:
        """I(S;Y) in nats."""
        return information.leakage(self.joint, self.channel)

    def posterior(self, output: Hashable) -> NDArray[np.float64]:
        """P(T | Y = output), in the order of `joint.target_letters`."""
        masses = information.target_with_output(self.joint, self.channel)[:, self._position(output)]
        return np.asarray(masses / masses.sum())

    def secret_posterior(self, output: Hashable) -> NDArray[np.float64]:
        """P(S | Y = output), in the order of `joint.secret_letters`."""
        masses = information.secret_with_output(self.joint, self.channel)[:, self._position(output)]
        return np.asarray(masses / masses.sum())

    def _position(self, output: Hashable) -> int:
        if output not in self.outputs:
            raise AlphabetError("not an output of this protocol", remedy="Use a name from `outputs`.")
        return self.outputs.index(output)

    # ---- the file -------------------------------------------------------------------------------------------

    @cached_property
    def digest(self) -> str:
        """What `sha256sum` prints for the file; for a protocol from version 1 of it, the SHA-256 that it had there."""
        from discreet.protocol.file import digest

        return digest(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the protocol file: canonical bytes, whole or not at all."""
        from discreet.protocol.file import encode

        with unpublished(Path(path)) as file:
            file.write(encode(self))
            file.publish()

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Protocol:
        """Read a protocol file and prove it again; ProtocolError if it is damaged or does not prove what it states."""
        from discreet.protocol.file import decode, read_limited

        return decode(read_limited(Path(path)))

    def sanitise(self, table: Any, **options: Any) -> Any:
        """Release a table through this protocol; see `discreet.release.sanitise`."""
        from discreet.release import sanitise

        return sanitise(table, self, **options)

    def check(self, table: Any, **options: Any) -> Any:
        """What `sanitise` with these options would do, drawing nothing: a `discreet.Check`."""
        from discreet.release import rehearse

        return rehearse(table, self, **options)

    def __repr__(self) -> str:
        c, b, z = len(self.joint.secret_letters), len(self.outputs), len(self.inputs)
        name = words_of(self.notion).name
        return f"Protocol({name} proven at {self.epsilon:.9g}: {c} secrets, {z} letters, {b} outputs)"


def sparse_columns(given: Integers | sparse.csc_array) -> sparse.csc_array:
    """Whole numbers as sparse columns in order, without zeros, that nobody can change."""
    if not sparse.issparse(given):
        given = np.array(given, dtype=np.int64)
        if given.ndim != 2:
            raise ChannelError("weights are not integers over 2^bits", remedy="Give weights[outputs, letters].")
    columns = sparse.csc_array(given, dtype=np.int64, copy=True)
    columns.sum_duplicates()
    columns.eliminate_zeros()
    for part in (columns.data, columns.indices, columns.indptr):
        part.setflags(write=False)
    return columns


def _says_more(joint: Joint, statement: Statement) -> bool:
    """Whether there is something that version 1 of the file has no place for."""
    columns = joint.secrets + joint.releases
    return bool(statement.said) or any(one.labels or one.missing or one.grouping for one in columns)


def _check_estimate(joint: Joint) -> None:
    """The counts, which the proof uses, and the probabilities, which the design used, must be the same estimate."""
    if joint.counts is None:
        return
    total = int(joint.counts.sum())
    if joint.n != total or not np.array_equal(joint.probabilities, joint.counts / total):
        raise DistributionError(
            "counts, n and probabilities of the joint differ", where="joint", remedy="Build it with Joint.from_counts."
        )


# ---- rounding, and what mends it -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Rounded:
    """Proven weights, the outputs they belong to, the mixing λ it took, and the nats of I(T;Y) it cost."""

    weights: Integers
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
        needed = _needed(found, weights, bits, joint, notion)
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
        f"the channel does not satisfy {words_of(notion).name}({notion.epsilon:g}), and not by rounding alone",
        where=found.words(y, outputs),
        remedy="Design it again, or state the level that an audit of it shows.",
    )


def mixed(matrix: Floats, prior: Floats, mixing: float) -> Floats:
    """(1 − λ) Q + λ q 1ᵀ"""
    return matrix if mixing == 0 else (1 - mixing) * matrix + mixing * (matrix @ prior)[:, None]


def _needed(found: ProofAttempt, weights: Integers, bits: int, joint: Joint, notion: Notion) -> Floats:
    """Per output the λ that mends its violation, together with two units of rounding noise on either side."""
    q = weights / 2.0**bits @ joint.prior
    levels = [min(one.epsilon, LARGEST_POWER) for one in notion.promises]
    noise = 2.0 ** (1 - bits) * (1 + np.exp(max(levels)))
    delta = np.where(found.violation > 0, found.violation + noise, 0.0)
    room = np.expm1(min(levels)) * q
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
    matrix: Floats, weights: Integers, outputs: tuple[Hashable, ...]
) -> tuple[Floats, Integers, tuple[Hashable, ...]]:
    """Outputs that rounding left without any weight are never drawn."""
    used = np.flatnonzero(weights.any(axis=1))
    return matrix[used], weights[used], tuple(outputs[y] for y in used)
