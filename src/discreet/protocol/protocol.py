"""A protocol: what is released, and why that is allowed. It cannot be made without the proof."""

from __future__ import annotations

import os
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from discreet import information
from discreet.certify import BITS, level_upper_bound, marginal_weights, prove, rounded
from discreet.channel import Channel
from discreet.exceptions import AlphabetError, DistributionError, ParameterError, ProofError
from discreet.joint import Joint
from discreet.notions.level import Notion

Source = Literal["data", "public", "given"]
"""Where the prior came from: the table that is released, a public sample, or a statement by somebody."""


@dataclass(frozen=True, eq=False, repr=False)
class Protocol:
    """Integer weights over 2^bits, one column an input letter, with the notion they were proven to satisfy.

    Making one proves it: `epsilon` is the smallest level that could be proven, rounded up, or the level claimed, which
    is then proven. A value outside the alphabet, or a missing one, is released as a draw from `marginal`, the
    distribution of the outputs, which says nothing about the record.
    """

    weights: NDArray[np.int64]
    bits: int
    joint: Joint
    notion: Notion
    outputs: tuple[Hashable, ...] = ()
    source: Source | None = None
    epsilon: float = field(default=-1.0)
    cost: float = 0.0

    def __post_init__(self) -> None:
        _check_estimate(self.joint)
        weights = np.array(self.weights, dtype=np.int64)
        weights.setflags(write=False)
        outputs = tuple(self.outputs) or tuple(range(len(weights)))
        if len(outputs) != len(weights) or len(set(outputs)) != len(outputs):
            raise AlphabetError(f"{len(set(outputs))} names for {len(weights)} outputs", remedy="Name each one once.")
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "outputs", outputs)
        source = self.source or ("given" if self.joint.counts is None else "data")
        if source not in get_args(Source):
            raise ParameterError("an unknown source of the prior", where="source", remedy="Use data, public or given.")
        object.__setattr__(self, "source", source)
        object.__setattr__(self, "epsilon", self._proven())

    @classmethod
    def make(
        cls, channel: Channel, joint: Joint, notion: Notion, *, source: Source | None = None, bits: int = BITS
    ) -> Protocol:
        """Round the channel, repair what rounding broke, and prove it. `cost` says what that took, in nats."""
        exact = rounded(channel, joint, notion, bits)
        return cls(exact.weights, exact.bits, joint, notion, exact.outputs, source, cost=exact.cost)

    def _proven(self) -> float:
        if self.epsilon < 0:
            level = level_upper_bound(self.weights, self.bits, self.joint, self.notion)
            if level <= self.notion.epsilon:
                return level
            return prove(self.weights, self.bits, self.joint, self.notion).epsilon
        if not self.epsilon <= self.notion.epsilon:
            raise ProofError("a stated level above the notion's own", remedy="State at most the notion's epsilon.")
        return prove(self.weights, self.bits, self.joint, self.notion, self.epsilon).epsilon

    # ---- the channel ----------------------------------------------------------------------------------------

    @property
    def inputs(self) -> tuple[Hashable, ...]:
        return self.joint.letters

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
        return marginal_weights(self.weights, self.bits, self.joint)

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
        """The SHA-256 of the content: two protocols with the same digest are the same protocol."""
        from discreet.protocol.file import digest

        return digest(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the protocol file: canonical bytes, whole or not at all."""
        from discreet.protocol.file import encode

        target = Path(path)
        if target.exists() and not target.is_file():
            raise ParameterError("not an ordinary file, so it is not replaced", where=str(target))
        temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            temporary.write_bytes(encode(self))
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Protocol:
        """Read a protocol file and prove it again; ProtocolError if it is damaged or does not prove what it states."""
        from discreet.protocol.file import decode, read_limited

        return decode(read_limited(Path(path)))

    def sanitise(self, table: Any, **options: Any) -> Any:
        """Release a table through this protocol; see `discreet.release.sanitise`."""
        from discreet.release import sanitise

        return sanitise(table, self, **options)

    def __repr__(self) -> str:
        c, b, z = len(self.joint.secret_letters), len(self.outputs), len(self.inputs)
        name = type(self.notion).__name__
        return f"Protocol({name} proven at {self.epsilon:.9g}: {c} secrets, {z} letters, {b} outputs)"


def _check_estimate(joint: Joint) -> None:
    """The counts, which the proof uses, and the probabilities, which the design used, must be the same estimate."""
    if joint.counts is None:
        return
    total = int(joint.counts.sum())
    if joint.n != total or not np.array_equal(joint.probabilities, joint.counts / total):
        raise DistributionError(
            "counts, n and probabilities of the joint differ", where="joint", remedy="Build it with Joint.from_counts."
        )
