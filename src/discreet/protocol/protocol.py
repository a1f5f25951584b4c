"""A protocol: what is released, and why that is allowed. It cannot be made without the proof."""

from __future__ import annotations

import os
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discreet import information
from discreet.arrays import Indices, Integers, unchanging, unmasked
from discreet.certify import level_upper_bound, marginal_weights, prove
from discreet.certify.exact_arithmetic import BITS
from discreet.certify.rows_proof import rows_upper_bound
from discreet.channel import Channel, float_channel
from discreet.exceptions import AlphabetError, ChannelError, DistributionError, InOwnWords, ParameterError, ProofError
from discreet.files.atomic_file import unpublished
from discreet.joint import Joint
from discreet.notions.average import OnAverage
from discreet.notions.notion import Notion, words_of
from discreet.notions.ordinary_ldp import OrdinaryLDP
from discreet.protocol.rounding import rounded
from discreet.protocol.seal import check_seal, seal_of
from discreet.protocol.statement import Statement
from discreet.records.letters import check_letters_differ, released_columns
from discreet.records.noise import StratumNoise, noisy_size, projected
from discreet.records.persons import Rule, WhoseRows
from discreet.uncertainty.confidence import Confidence, has_limits

if TYPE_CHECKING:
    from discreet.protocol.public import PublicProtocol

Source = Literal["data", "public", "given"]
"""Where the prior came from: the table that is released, a public sample, or a statement by somebody.

Example:
    >>> from typing import get_args
    >>> from discreet.protocol import Source
    >>> get_args(Source)
    ('data', 'public', 'given')
"""


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Protocol:
    """Integer weights over 2^bits, one column per input letter, with the notion they were proven to satisfy.

    Making one proves it: `epsilon` is the smallest level that could be proven, rounded up, or the level claimed, which
    is then proven. A value outside the alphabet is released as a draw from `marginal`, the distribution of the outputs,
    which says nothing about the record; so is a missing one, unless missing values were counted, as a letter: None.

    Arguments:
        weights: an array or a sparse one; only those that are not zero are held, in `columns`.
        bits: every column of the weights adds up to 2^bits.
        joint: P(S, X), which the promise is about.
        notion: what is promised.
        outputs: their names; numbers if left out.
        source: where the prior came from.
        epsilon: the level claimed; the smallest that can be proven if left out.
        cost: what rounding took of the utility.
        version: of the file that it was first written to: 1 keeps the digest, and with it the draws, of then.
        statement: what else was said: whose rows, for which purpose.

    Raises:
        ProofError: the weights do not keep the promise.
        ChannelError: weights that are not whole numbers adding up to 2^bits in every column.
        AlphabetError: two letters of a column that are written alike, and so would be drawn as one.

    Example:
        >>> import discreet
        >>> joint = discreet.Joint.from_counts([[30, 10], [10, 30]])
        >>> weights = [[3, 1], [1, 3]]  # over 2^2
        >>> protocol = discreet.Protocol(weights, 2, joint, discreet.LDP(1))
        >>> protocol.epsilon
        0.510825624
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
    seal: bytes

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
        check_private(joint, notion)
        check_letters_differ(joint.reads)
        columns = sparse_columns(weights)
        size = columns.shape[0]
        names = tuple(outputs) or tuple(range(size))
        if len(names) != size or len(set(names)) != size:
            raise AlphabetError(f"{len(set(names))} names for {size} outputs", remedy="Name each one once.")
        learnt = joint.counts is not None or joint.weight or joint.rows is not None
        source = source or ("data" if learnt else "given")
        if source not in get_args(Source):
            raise ParameterError("an unknown source of the prior", where="source", remedy="Use data, public or given.")
        values = {
            "columns": columns, "bits": bits, "joint": joint, "notion": notion, "outputs": names, "source": source,
            "epsilon": epsilon, "cost": cost, "version": version, "statement": statement,
        }  # fmt: skip
        for name, value in values.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "seal", seal_of(self))
        if version not in (1, 2) or (version == 1 and not self._fits_version_1()):
            raise ParameterError(
                "version 1 of the file cannot hold this", where="version", remedy="Make the protocol anew."
            )
        object.__setattr__(self, "epsilon", self._proven())
        self._check_rows()
        if (used := len(np.unique(columns.indices))) > 1 << bits:
            raise ChannelError(
                f"{used:,} outputs in 2^{bits} parts", where="bits", remedy="Use more bits, or fewer outputs."
            )

    def _fits_version_1(self) -> bool:
        """Whether version 1 of the file has a place for everything, and could have had so many weights."""
        from discreet.protocol.file import LARGEST_FILE

        joint, columns = self.joint, self.joint.secrets + self.joint.releases
        more = any(one.labels or one.missing or one.grouping for one in columns) or isinstance(self.notion, OnAverage)
        said = self.statement.said or joint.weight or joint.noise or len(self.silent)
        met = has_limits(self.notion) and any(one.met for one in columns)
        return not (more or said or met) and len("0,") * self.columns.shape[0] * joint.size <= LARGEST_FILE

    def with_source(self, source: Source) -> Protocol:
        """The same, its prior from somewhere else."""
        return self.stating(self.statement, source)

    def stating(self, statement: Statement, source: Source | None = None) -> Protocol:
        """The same with something else said beside the proof."""
        return Protocol(
            self.columns, self.bits, self.joint, self.notion, self.outputs, source or self.source, self.epsilon,
            self.cost, self.version, statement,
        )  # fmt: skip

    @classmethod
    def make(
        cls, channel: Channel, joint: Joint, notion: Notion, *, source: Source | None = None, bits: int = BITS
    ) -> Protocol:
        """Round the channel, repair what rounding broke, and prove it. `cost` says what that took, in nats."""
        exact, said = rounded(channel, joint, notion, bits), Statement.about(joint.rows)
        released_columns(joint, exact.outputs)
        return cls(exact.weights, exact.bits, joint, notion, exact.outputs, source, cost=exact.cost, statement=said)

    def _proven(self) -> float:
        if self.epsilon < 0:
            level = level_upper_bound(self.columns, self.bits, self.joint, self.notion)
            if level <= self.notion.epsilon:
                return level
            return prove(self.columns, self.bits, self.joint, self.notion).epsilon
        if not self.epsilon <= self.notion.epsilon:
            raise ProofError("a stated level above the notion's own", remedy="State at most the notion's epsilon.")
        return prove(self.columns, self.bits, self.joint, self.notion, self.epsilon).epsilon

    def _check_rows(self) -> None:
        """What all rows of a person are said to tell together is what they tell (theory 7.3)."""
        rows = self.statement.rows
        if not isinstance(rows, WhoseRows) or rows.rule is not Rule.independent:
            return
        if rows.epsilon is None:
            raise ProofError(
                "rows of a person that are drawn by themselves, and no level for all of them together",
                where="rows",
                remedy="Design for persons (--person, --rows independent), or state it.",
            )
        if not self.rows_level(rows.most) <= rows.epsilon:
            raise ProofError(
                f"{rows.most} rows tell more together than is stated",
                where="rows",
                remedy="Design again for persons (--person, --rows independent).",
            )

    def rows_level(self, rows: int) -> float:
        """What so many rows of one person tell together if they are independent given the secret: proven."""
        return rows_upper_bound(self.columns, self.bits, self.joint, self.notion, rows)

    # ---- the channel ----------------------------------------------------------------------------------------

    @property
    def inputs(self) -> tuple[Hashable, ...]:
        return self.joint.letters

    @cached_property
    def silent(self) -> Indices:
        """The letters that nobody has and that have no column of their own: they are drawn from `marginal`."""
        return unchanging(np.flatnonzero(np.diff(self.columns.indptr) == 0))

    @cached_property
    def weights(self) -> NDArray[np.int64]:
        """All weights as an array, one row per output: as large as outputs times letters."""
        weights: NDArray[np.int64] = self.columns.toarray(order="C")
        if len(self.silent):
            weights[:, self.silent] = self.marginal[:, None]
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
        """The mechanism with every entry, or where these are many, with those that are not zero."""
        return float_channel(self.columns, self.bits, lambda: self.matrix, self.inputs, self.outputs)

    @cached_property
    def marginal(self) -> NDArray[np.int64]:
        """Weights over 2^bits of the distribution of the outputs, for values outside the alphabet."""
        weights = marginal_weights(self.columns, self.bits, self.joint)
        weights.setflags(write=False)
        return weights

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
        row = sparse.csr_array(self.channel.entries[[self._position(output)]])
        masses = information.target_masses(self.joint, row).toarray()[0]
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

        check_seal(self)
        return digest(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the protocol file: canonical bytes, whole or not at all."""
        content = self.encode()
        with unpublished(Path(path)) as file:
            file.write(content)
            file.publish()

    def encode(self) -> bytes:
        """The bytes of the file."""
        from discreet.protocol.file import encode

        check_seal(self)
        return encode(self)

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        """A copy, or what another process gets, is read from the bytes of the file and so proven again."""
        from discreet.protocol.file import decode

        return decode, (self.encode(),)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Protocol:
        """Read a protocol file and prove it again; ProtocolError if it is damaged or does not prove what it states."""
        from discreet.protocol.file import decode, read_limited

        return decode(read_limited(Path(path)))

    def public(self) -> PublicProtocol:
        """What everybody may have of it: no counts, and laws without the secret."""
        from discreet.protocol.published import public_protocol

        check_seal(self)
        return public_protocol(self, self.notion)

    def sanitise(self, table: Any, **options: Any) -> Any:
        """Release a table through this protocol, once; all options are those of `discreet.release.sanitise`.

        Arguments:
            table: a pandas, polars or pyarrow frame, or a path.
            options: `keep` names columns to publish as they are, `ledger` and `budget` the account, `key` repeats.
        Returns:
            A table of the kind that came in, with the released columns, records in random order.

        Raises:
            AlphabetError: columns of the protocol that the table does not have.
            BudgetError: a release that would tell more than the budget.
            ReleaseError: something went wrong on the way; nothing was published.

        Example:
            >>> import discreet, pyarrow
            >>> joint = discreet.Joint.from_counts([[30, 10], [10, 30]], secrets=["s", "t"], releases=["a", "b"])
            >>> protocol = discreet.design(joint, discreet.LIP(0.3)).protocol
            >>> name = joint.releases[0].name
            >>> protocol.sanitise(pyarrow.table({name: ["a", "b", "b"]})).num_rows
            3
        """
        from discreet.release import sanitise

        return sanitise(table, self, **options)

    def check(self, table: Any, **options: Any) -> Any:
        """What `sanitise` with these options would do, drawing nothing: a `discreet.Check`."""
        from discreet.release import rehearse

        return rehearse(table, self, **options)

    def __repr__(self) -> str:
        sizes = f"{len(self.joint.secret_letters)} secrets, {len(self.inputs)} letters, {len(self.outputs)} outputs"
        return f"Protocol({words_of(self.notion).name} proven at {self.epsilon:.9g}: {sizes})"


def sparse_columns(given: Integers | sparse.csc_array) -> sparse.csc_array:
    """Whole numbers as sparse columns in order, without zeros, that nobody can change."""
    refusal = ChannelError("weights are not integers", remedy="Give weights[outputs, letters] in whole numbers.")
    with InOwnWords(lambda _: refusal, *information.NOT_NUMBERS):
        entries = given.data if sparse.issparse(given) else np.array(unmasked(given))
        with np.errstate(invalid="ignore"):
            exact = entries.dtype.kind in "bi" or bool((entries.astype(np.int64) == entries).all())
    if not exact or (not sparse.issparse(given) and entries.ndim != 2):
        raise refusal
    columns = sparse.csc_array(given if sparse.issparse(given) else entries, dtype=np.int64, copy=True)
    columns.sum_duplicates()
    columns.eliminate_zeros()
    for part in (columns.data, columns.indices, columns.indptr):
        part.setflags(write=False)
    return columns


def _check_estimate(joint: Joint) -> None:
    """The counts, which the proof uses, and the probabilities, which the design used, must be the same estimate."""
    if joint.counts is None:
        return
    if joint.noise is not None:
        if joint.n is None or not np.array_equal(joint.probabilities, projected(joint.counts)):
            raise DistributionError(
                "probabilities that are not the projection of the noisy counts", where="joint", remedy="Draw it again."
            )
        if isinstance(joint.noise, StratumNoise) and joint.n != noisy_size(joint.counts):
            raise DistributionError(
                "a stratum whose noisy counts do not add up to its n", where="joint", remedy="Draw it again."
            )
        return
    total = int(joint.counts.sum())
    if joint.n != total or not np.array_equal(joint.probabilities, joint.counts / total):
        raise DistributionError(
            "counts, n and probabilities of the joint differ", where="joint", remedy="Build it with Joint.from_counts."
        )


def check_private(joint: Joint, notion: Notion) -> None:
    """Noisy counts are no distribution: only what holds for every distribution that they allow can be promised."""
    if joint.noise is not None:
        check_covers_noise(notion)


def check_covers_noise(notion: Notion) -> None:
    """ParameterError where a notion cannot be promised over noisy counts: known before any noise is drawn."""
    for one in notion.promises:
        if not isinstance(getattr(one, "uncertainty", None), Confidence) and not isinstance(one, OrdinaryLDP):
            raise ParameterError(
                "a private prior needs a promise over exact confidence limits",
                where=words_of(one).name,
                remedy="Promise RLDP or RLIP with Confidence: dc.RLDP(1.0, dc.Confidence(0.95)), --notion rldp.",
            )
