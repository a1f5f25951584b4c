"""What everybody may have of a protocol: the channel, the laws of X and of the outputs, and no counts with the secret.

The full file is for the steward and the auditor: its counts of secret and released letters together are protected by
nothing. A `PublicProtocol` is a function of less:

    form             weights                                        laws
    funnel           Q[y, x], as they are drawn from                of X and of the outputs
    include_secret   Q[y, (s, u)], as they are drawn from           none, for either would be about the secret
    sees_secret      Σ_s P(s|x) Q[y, (s, x)], rounded to integers   of X and of the outputs

The number of records stands beside a law that the mechanism keeps. Two protocols that agree in these give the same
public file but for the hash of the full one, whatever else their counts say. For that nothing here is a sum of floats:
laws are quotients of exact integers, rounded once. The level is the one that was asked for, not the one that was
proven: the smallest level that can be proven is a statistic of the counts.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discreet import information
from discreet.arrays import Floats, Integers, unchanging
from discreet.attribute import Attribute, Form, distinct_names, letters_of
from discreet.certify.proof import check_letters
from discreet.channel import Channel, float_channel, label
from discreet.exceptions import AlphabetError, DistributionError, ProtocolError
from discreet.files.atomic_file import unpublished
from discreet.given_columns import Stratum, check_keys_of_strata, strata_numbers
from discreet.notions.notion import Notion, words_of
from discreet.phrases import rounded_up
from discreet.protocol.protocol import Source, sparse_columns
from discreet.protocol.reveals import NO_LAW, Prior
from discreet.protocol.statement import Statement

CLOSE = 1e-9
"""Laws are rounded floats and weights rounded integers: what belongs together differs by less."""


@dataclass(frozen=True, eq=False, repr=False)
class PublicProtocol:
    """A channel with its promise, without the counts behind it: `Protocol.public()`, or `PublicProtocol.load(path)`.

    Attributes:
        form, reads, law, marginal: what is read, with its attributes; laws of input letters and outputs, or None.
        notion, promise, secrets, reveals: what is promised, in words, about which columns; what the file tells.
        columns, bits, outputs, source, statement, protocol_digest: as in `Protocol`; the hash of the full file.
        prior: whether the laws are those of the records that were counted: "exact", or "weighted", or "noisy".
        records: how many were counted, where the mechanism keeps their law; None where nobody says so.
    Example:
        >>> import discreet as dc
        >>> dc.design(dc.Joint.from_counts([[30, 10], [10, 30]]), dc.LIP(0.5)).protocol.public().notion
        LIP(epsilon=0.5)
    """

    columns: sparse.csc_array
    bits: int
    form: Form
    notion: Notion
    outputs: tuple[Hashable, ...]
    reads: tuple[Attribute, ...]
    secrets: tuple[str, ...]
    law: Floats | None
    marginal: Integers | None
    source: Source
    promise: str
    reveals: tuple[str, ...]
    statement: Statement
    protocol_digest: str
    prior: Prior = "exact"
    records: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", sparse_columns(self.columns))
        law = self.law
        check_letters(self.columns, self.bits, len(self.inputs), None if law is None else lambda: law == 0)
        distinct_names(self.reads)
        outputs = self.columns.shape[0]
        if len(self.outputs) != outputs or len(set(self.outputs)) != outputs:
            raise AlphabetError("not one name for every output", where="outputs", remedy="Name each one once.")
        secret = self.form is Form.RELEASES_SECRET
        if (self.law is None) != secret or (self.marginal is None) != secret:
            raise DistributionError("a law where X contains the secret, or none elsewhere", where="law")
        if self.law is not None and self.marginal is not None:
            self._check_laws(self.law, self.marginal)
        if self.records is not None and (self.law is None or self.records < 1):
            raise DistributionError("not a number of records beside a law", where="records")

    def _check_laws(self, law: Floats, marginal: Integers) -> None:
        """Distributions, and the one follows from the other."""
        if law.shape != (len(self.inputs),) or (law < 0).any() or abs(law.sum() - 1) > CLOSE:
            raise DistributionError("not a distribution of the input letters", where="law")
        if marginal.shape != (len(self.outputs),) or (marginal < 0).any() or sum(marginal.tolist()) != 1 << self.bits:
            raise DistributionError("not a distribution of the outputs", where="law")
        scale = 2.0**-self.bits
        room = CLOSE + scale * (len(marginal) + len(law))  # one unit per output; per letter where they were averaged
        if np.abs(self.columns @ law * scale - marginal * scale).max() > room:
            raise DistributionError("a law of the outputs that the weights do not give", where="law")

    @cached_property
    def inputs(self) -> tuple[Hashable, ...]:
        return letters_of(self.reads)

    @property
    def released(self) -> tuple[Attribute, ...]:
        """The attributes that the release is about: those of the input letters, in every form."""
        return self.reads

    @property
    def target_letters(self) -> tuple[Hashable, ...]:
        return self.inputs

    @cached_property
    def weights(self) -> NDArray[np.int64]:
        """All of them; letters that nobody has and that have none are drawn from the law of the outputs."""
        weights: NDArray[np.int64] = self.columns.toarray(order="C")
        if self.marginal is not None:
            weights[:, np.diff(self.columns.indptr) == 0] = self.marginal[:, None]
        weights.setflags(write=False)
        return weights

    @cached_property
    def matrix(self) -> Floats:
        """Q[y, x], the float view of the weights."""
        matrix = self.weights / 2.0**self.bits
        matrix.setflags(write=False)
        return matrix

    @cached_property
    def channel(self) -> Channel:
        """The same with every entry, or where these are many, with those that are not zero."""
        return float_channel(self.columns, self.bits, lambda: self.matrix, self.inputs, self.outputs)

    @property
    def epsilon(self) -> float:
        """The level that was asked for, and that the full file proves or betters."""
        return self.notion.epsilon

    @property
    def averaged(self) -> bool:
        """Whether the weights are means over a secret that the mechanism reads."""
        return self.form is Form.CURATOR

    @property
    def entropy(self) -> float | None:
        """H(X) in nats; None where no law is stated."""
        return None if self.law is None else information.entropy(self.law)

    @property
    def utility(self) -> float | None:
        """I(X;Y) in nats; None where no law is stated."""
        return (
            None
            if self.law is None
            else information.mutual_information(sparse.csr_array(self.channel.entries * self.law))
        )

    @cached_property
    def decoding(self) -> Floats | None:
        """P(x | y) under the law of X, one row per output; None where the letters contain the secret."""
        if self.law is None:
            return None
        masses = self.matrix * self.law
        totals = masses.sum(axis=1, keepdims=True)
        return unchanging(np.where(totals > 0, masses / np.where(totals > 0, totals, 1), self.law))

    def posterior(self, output: Hashable) -> Floats:
        """P(X | Y = output), in the order of `inputs`."""
        if self.law is None:
            raise ProtocolError(NO_LAW.rstrip("."), where="posterior", remedy="Estimate from the release instead.")
        if output not in self.outputs:
            raise AlphabetError("not an output of this protocol", remedy="Use a name from `outputs`.")
        masses = self.channel.row(self.outputs.index(output), self.law) * self.law
        return np.asarray(masses / masses.sum() if masses.sum() > 0 else self.law)

    # ---- the file ------------------------------------------------------------------------------------------------

    @cached_property
    def digest(self) -> str:
        """What `sha256sum` prints for the file."""
        from discreet.protocol.public_file import public_digest

        return public_digest(self)

    def encode(self) -> bytes:
        """The bytes of the file."""
        from discreet.protocol.public_file import encode_public

        return encode_public(self)

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        """A copy, or what another process gets, is read from the bytes of the file."""
        from discreet.protocol.public_file import decode_public

        return decode_public, (self.encode(),)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the public file: canonical bytes, whole or not at all."""
        _save(self.encode(), path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> PublicProtocol:
        """Read a public file of a protocol without given columns."""
        from discreet.protocol.public_file import load_public

        found = load_public(path)
        if not isinstance(found, cls):
            raise ProtocolError("a protocol with given columns", remedy="Use dc.StratifiedPublic.load.")
        return found

    def __repr__(self) -> str:
        name = words_of(self.notion).name
        sizes = f"{len(self.inputs)} letters, {len(self.outputs)} outputs"
        return f"PublicProtocol({name} at {rounded_up(self.epsilon)}: {sizes})"


@dataclass(frozen=True, eq=False, repr=False)
class StratifiedPublic:
    """A `PublicProtocol` for every stratum of the given columns.

    Attributes:
        given, strata, shares: the columns; the protocols by their letters; P(k), in the order of `strata`.
    Example:
        >>> import discreet as dc
        >>> joint = dc.StratifiedJoint((dc.Attribute("g", (1,)),), {(1,): dc.Joint.from_counts([[300, 9], [9, 300]])})
        >>> dc.design(joint, dc.LIP(0.5), force=True).protocol.public().shares.tolist()
        [1.0]
    """

    given: tuple[Attribute, ...]
    strata: Mapping[Stratum, PublicProtocol]
    shares: Floats

    def __post_init__(self) -> None:
        check_keys_of_strata(self.given, self.strata)
        first = self.first
        distinct_names((*self.given, *first.reads))
        if any(_head(one) != _head(first) for one in self.strata.values()):
            raise AlphabetError("strata with different promises or letters", where="strata")
        if len(self.shares) != len(self.strata) or (self.shares < 0).any() or abs(self.shares.sum() - 1) > CLOSE:
            raise DistributionError("not a distribution of the strata", where="share")
        counted = np.array([one.records or 0 for one in self.strata.values()])
        if counted.all() and np.abs(counted / counted.sum() - self.shares).max() > CLOSE:
            raise DistributionError("other numbers of records than the shares of the strata", where="records")

    @property
    def first(self) -> PublicProtocol:
        """Any of them: all but weights, outputs and laws is the same."""
        return next(iter(self.strata.values()))

    @property
    def notion(self) -> Notion:
        return self.first.notion

    @property
    def epsilon(self) -> float:
        return self.first.epsilon

    @property
    def protocol_digest(self) -> str:
        return self.first.protocol_digest

    @cached_property
    def outputs(self) -> tuple[Hashable, ...]:
        """The names of the outputs of all strata."""
        return tuple(dict.fromkeys(label(output) for one in self.strata.values() for output in one.outputs))

    @cached_property
    def numbers(self) -> Integers:
        """The number of the stratum of every combination of given letters, in C order; −1 where there is none."""
        return strata_numbers(self.given, iter(self.strata))

    @cached_property
    def digest(self) -> str:
        from discreet.protocol.public_file import public_digest

        return public_digest(self)

    def encode(self) -> bytes:
        """The bytes of the file."""
        from discreet.protocol.public_file import encode_public

        return encode_public(self)

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        """A copy, or what another process gets, is read from the bytes of the file."""
        from discreet.protocol.public_file import decode_public

        return decode_public, (self.encode(),)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the public file: canonical bytes, whole or not at all."""
        _save(self.encode(), path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> StratifiedPublic:
        """Read a public file of a protocol with given columns."""
        from discreet.protocol.public_file import load_public

        found = load_public(path)
        if not isinstance(found, cls):
            raise ProtocolError("a protocol without given columns", remedy="Use dc.PublicProtocol.load.")
        return found

    def __repr__(self) -> str:
        columns = ", ".join(attribute.name for attribute in self.given)
        stated = f"{words_of(self.notion).name} at {rounded_up(self.epsilon)}"
        return f"StratifiedPublic({stated}: {len(self.strata)} of {columns})"


AnyPublic = PublicProtocol | StratifiedPublic


def _head(one: PublicProtocol) -> tuple[Any, ...]:
    """What all strata share."""
    stated = (one.source, one.promise, one.reveals, one.statement, one.protocol_digest, one.prior)
    return (one.bits, one.form, one.notion, one.reads, one.secrets, *stated)


def _save(content: bytes, path: str | os.PathLike[str]) -> None:
    with unpublished(Path(path)) as file:
        file.write(content)
        file.publish()
