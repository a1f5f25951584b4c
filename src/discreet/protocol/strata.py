"""One protocol of several matrices: for every stratum of the given columns an ordinary protocol, proven by itself.

The file is version 2 of the protocol file. What strata share stands where an ordinary protocol has it (columns,
notions, bits, statement); outputs, weights, prior and proven level stand in `strata`, beside the letters of the given
columns. Reading it proves every one of them.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.arrays import Floats, Integers, unchanging
from discreet.attribute import Attribute
from discreet.channel import label
from discreet.exceptions import AlphabetError, ProtocolError
from discreet.files.atomic_file import unpublished
from discreet.given_columns import AnyJoint, StratifiedJoint, Stratum, averaged, check_strata, strata_numbers
from discreet.joint import Joint
from discreet.notions.notion import Notion, words_of
from discreet.protocol.columns_2 import (
    check_keys,
    decode_decimal,
    decode_letter_2,
    decode_letters_2,
    decode_strata_list,
    encode_column,
    encode_decimal,
    encode_letter_2,
    filled_list,
    whole_number,
)
from discreet.protocol.document import LARGEST_BITS, POLICY, wrong
from discreet.protocol.document_2 import (
    FRAME_KEYS,
    MET,
    PRIOR_KEYS,
    PROMISES,
    TOO_MANY,
    decode_frame,
    decode_prior,
    decode_promises,
    decode_statement,
    decode_weights,
    encode_frame,
    encode_prior,
    encode_promises,
    encode_weights,
    most_cells,
)
from discreet.protocol.file import (
    VERSION,
    check_canonical,
    decode,
    digest_of,
    in_words_of_files,
    parsed,
    pieces_2,
    read_limited,
    readable_content,
)
from discreet.protocol.protocol import Protocol, Source
from discreet.protocol.seal import check_seal
from discreet.protocol.statement import Statement
from discreet.protocol.together import in_all_strata
from discreet.records.letters import check_letters_published, check_shown_apart, column_of
from discreet.records.noise import StratumNoise
from discreet.utilities.agreement import Agreement

if TYPE_CHECKING:
    from discreet.protocol.public import StratifiedPublic

BEGINNINGS, HAS_STRATA = (b'{"averages":', b'{"bits":'), b'"strata":['
"""Keys are in order and text has its quotes escaped: only a protocol of version 2 with strata has both."""
STRATA_KEYS = {"bits", "epsilon", "given", "joint", "policy", "strata"}
STRATUM_KEYS = {"epsilon", "given", "outputs", "weights"}


@dataclass(frozen=True, eq=False, repr=False)
class StratifiedProtocol:
    """`strata` maps the letters of the given columns to an ordinary protocol. All promise the same notion.

    Arguments:
        given: the given columns.
        strata: by their letters, a `Protocol`.
    Raises:
        AlphabetError: strata that promise different things, or have different letters.
    Example:
        >>> import discreet as dc, pyarrow as pa
        >>> rows = [("a", "x", "k")] * 300 + [("a", "y", "m")] * 200 + [("b", "y", "k")] * 300 + [("b", "x", "m")] * 200
        >>> table = pa.table(dict(zip(("s", "x", "given"), zip(*rows), strict=True)))
        >>> joint = dc.Joint.from_table(table, secret="s", release="x", given="given")
        >>> protocol = dc.design(joint, dc.LIP(0.5)).protocol
        >>> sorted(protocol.sanitise(table).column_names)
        ['given', 'x']
    """

    given: tuple[Attribute, ...]
    strata: Mapping[Stratum, Protocol]

    def __post_init__(self) -> None:
        check_strata(self.given, self.strata)
        check_letters_published(self.given)
        object.__setattr__(self, "strata", MappingProxyType(dict(self.strata)))
        same = ("notion", "bits", "source", "statement")
        if any(getattr(one, name) != getattr(self.first, name) for one in self.strata.values() for name in same):
            raise AlphabetError("strata with different promises", where="strata", remedy="Design them together.")
        check_shown_apart(column_of(self.joint), map(str, self.outputs))
        promise_of(self)  # refuses confidences that leave none for all strata together

    @property
    def first(self) -> Protocol:
        return next(iter(self.strata.values()))

    @property
    def joint(self) -> Joint:
        """The joint of the first stratum: for the letters and names, which are the same in all."""
        return self.first.joint

    @cached_property
    def population(self) -> StratifiedJoint:
        """The joints of all strata."""
        return StratifiedJoint(self.given, {key: one.joint for key, one in self.strata.items()})

    @property
    def notion(self) -> Notion:
        """What every stratum promises by itself."""
        return self.first.notion

    def with_source(self, source: Source) -> StratifiedProtocol:
        """The same, its priors from somewhere else."""
        return replace(self, strata={key: one.with_source(source) for key, one in self.strata.items()})

    @property
    def source(self) -> Any:
        return self.first.source

    @property
    def statement(self) -> Statement:
        return self.first.statement

    @cached_property
    def epsilon(self) -> float:
        """The largest level of a stratum."""
        return max(one.epsilon for one in self.strata.values())

    @property
    def n(self) -> int:
        return sum(one.joint.n or 0 for one in self.strata.values())

    @property
    def utility(self) -> float:
        """I(T;Y|K) in nats."""
        return averaged({key: (one.joint, one.utility) for key, one in self.strata.items()})

    @property
    def leakage(self) -> float:
        """I(S;Y|K) in nats."""
        return averaged({key: (one.joint, one.leakage) for key, one in self.strata.items()})

    @property
    def entropy(self) -> float:
        """H(T|K) in nats."""
        return averaged({key: (one.joint, one.joint.entropy) for key, one in self.strata.items()})

    @cached_property
    def shares(self) -> Floats:
        """P(k) in the order of the strata, each the float nearest to a quotient of integers."""
        return unchanging(np.array([int(one.joint.n or 0) / self.n for one in self.strata.values()]))

    def public(self) -> StratifiedPublic:
        """What everybody may have of it: no counts, and laws without the secret."""
        from discreet.protocol.published import public_strata

        self.check_seals()
        return public_strata(self, promise_of(self))

    # ---- as one channel (k, z) → y, to be read beside k ------------------------------------------------------------

    @cached_property
    def outputs(self) -> tuple[Hashable, ...]:
        """The names of the outputs of all strata; beside the given columns one name means one output."""
        return tuple(dict.fromkeys(label(output) for one in self.strata.values() for output in one.outputs))

    @cached_property
    def numbers(self) -> Integers:
        """The number of the stratum of every combination of given letters, in C order; −1 where there is none."""
        return unchanging(strata_numbers(self.given, iter(self.strata)))

    @cached_property
    def law(self) -> Integers:
        """Weights of all outputs, for every stratum one column per letter and one for records without a letter."""
        place = {name: y for y, name in enumerate(self.outputs)}
        blocks = []
        for one in self.strata.values():
            block = np.zeros((len(self.outputs), one.joint.size + 1), np.int64)
            block[[place[label(output)] for output in one.outputs]] = np.column_stack([one.weights, one.marginal])
            blocks.append(block)
        law = np.concatenate(blocks, axis=1)
        law.setflags(write=False)
        return law

    # ---- the file ------------------------------------------------------------------------------------------------

    @cached_property
    def digest(self) -> str:
        """What `sha256sum` prints for the file."""
        self.check_seals()
        return digest_of(pieces_2(to_strata_document(self)))

    def check_seals(self) -> None:
        """ProtocolError where a stratum was changed after it was proven."""
        for one in self.strata.values():
            check_seal(one)

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        """A copy, or what another process gets, is read from the bytes of the file and so proven again."""
        return decode_strata, (self.encode(),)

    def encode(self) -> bytes:
        """The bytes of the file."""
        self.check_seals()
        cells, too_many = self.joint.probabilities.size * len(self.strata), wrong("joint", TOO_MANY)
        where = f"{len(self.strata):,} strata of {self.joint.size:,} letters"
        return readable_content(
            to_strata_document(self), where, lambda size: too_many if cells > most_cells(size) else None
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the protocol file: canonical bytes, whole or not at all."""
        with unpublished(Path(path)) as target:
            target.write(self.encode())
            target.publish()

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> StratifiedProtocol:
        """Read the file and prove every stratum again."""
        return decode_strata(read_limited(Path(path)))

    def sanitise(self, table: Any, **options: Any) -> Any:
        """Release a table through this protocol; see `discreet.release.sanitise`."""
        return Protocol.sanitise(self, table, **options)  # type: ignore[arg-type]

    def check(self, table: Any, **options: Any) -> Any:
        """What `sanitise` with these options would do, drawing nothing: a `discreet.Check`."""
        return Protocol.check(self, table, **options)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        name, columns = words_of(self.notion).name, ", ".join(attribute.name for attribute in self.given)
        return f"StratifiedProtocol({name} proven at {self.epsilon:.9g} in {len(self.strata)} strata of {columns})"


AnyProtocol = Protocol | StratifiedProtocol


def population_of(protocol: AnyProtocol) -> AnyJoint:
    """The distribution that a protocol is for, with all of its strata."""
    return protocol.population if isinstance(protocol, StratifiedProtocol) else protocol.joint


def strata_of(protocol: AnyProtocol) -> tuple[Protocol, ...]:
    """The protocols of all strata; of one without given columns itself."""
    return tuple(protocol.strata.values()) if isinstance(protocol, StratifiedProtocol) else (protocol,)


def share_unchanged(protocol: AnyProtocol) -> float | None:
    """P(X̃ = X), the mean over the records of all strata; None where outputs are not values."""
    shares, records = [], []
    for one in strata_of(protocol):
        if not set(one.outputs) <= set(one.joint.target_letters):
            return None
        shares.append(Agreement().of(one.joint, one.channel))
        records.append(one.joint.n or 1)
    return float(np.average(shares, weights=records))


def promise_of(protocol: AnyProtocol) -> Notion:
    """What a protocol promises for all of its strata together."""
    return in_all_strata(protocol.notion, len(strata_of(protocol)))


def load_protocol(path: str | os.PathLike[str]) -> AnyProtocol:
    """Either kind of protocol, proven again.

    Arguments:
        path: of a protocol file.
    Returns:
        A `Protocol`, or a `StratifiedProtocol`.
    Raises:
        ProtocolError: a file that is damaged, or does not prove what it states.
    Example:
        >>> import discreet as dc
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> protocol = dc.design(dc.Joint.from_counts([[30, 10], [10, 30]]), dc.LIP(0.5)).protocol
        >>> with TemporaryDirectory() as folder:
        ...     protocol.save(Path(folder, "protocol.json"))
        ...     dc.load_protocol(Path(folder, "protocol.json")).digest == protocol.digest
        True
    """
    return decode_either(read_limited(Path(path)))


def decode_either(data: bytes) -> AnyProtocol:
    return decode_strata(data) if data.startswith(BEGINNINGS) and HAS_STRATA in data else decode(data)


def decode_strata(data: bytes) -> StratifiedProtocol:
    """The protocol in these bytes, every stratum proven again."""
    version, content = parsed(data)
    if version != VERSION or "strata" not in content:
        raise ProtocolError("a protocol without given columns", where="strata", remedy="Read it with Protocol.load.")
    with in_words_of_files():
        protocol = _from_document(content, len(data))
    vars(protocol)["digest"] = check_canonical(to_strata_document(protocol), data)
    return protocol


def to_strata_document(protocol: StratifiedProtocol) -> dict[str, Any]:
    """The content of the file: as for an ordinary protocol, with outputs, weights and prior stratum by stratum."""
    first, said = protocol.first, protocol.statement.said
    return {
        "bits": first.bits,
        "epsilon": encode_decimal(protocol.epsilon),
        "given": [encode_column(one) for one in protocol.given],
        "joint": encode_frame(first),
        **encode_promises(first.notion),
        "policy": POLICY,
        "strata": [_encode_stratum(key, one) for key, one in protocol.strata.items()],
        **({"statement": said} if said else {}),
    }


def _encode_stratum(key: Stratum, one: Protocol) -> dict[str, Any]:
    return {
        "epsilon": encode_decimal(one.epsilon),
        "given": [encode_letter_2(letter) for letter in key],
        "outputs": [encode_letter_2(name) for name in one.outputs],
        "weights": encode_weights(one.columns),
        **encode_prior(one.joint),
    }


def _from_document(document: dict[str, Any], size: int) -> StratifiedProtocol:
    check_keys(document, STRATA_KEYS, {"statement"} | PROMISES, "the file")
    if document["policy"] != POLICY:
        raise wrong("policy", "a policy this release does not know")
    given, strata = decode_strata_list(document)
    check_keys(document["joint"], FRAME_KEYS, {MET}, "joint")
    frame = decode_frame(document["joint"], most_cells(size) // len(strata))
    bits, notion = whole_number(document["bits"], "bits", LARGEST_BITS), decode_promises(document)
    statement = decode_statement(document.get("statement", {}))
    found: dict[Stratum, Protocol] = {}
    for one in strata:
        check_keys(one, STRATUM_KEYS, PRIOR_KEYS, "strata")
        key = tuple(map(decode_letter_2, filled_list(one["given"], "strata")))
        if key in found:
            raise wrong("strata", "a stratum occurs twice")
        joint = decode_prior(one, frame, StratumNoise)
        outputs = decode_letters_2(filled_list(one["outputs"], "outputs"), "outputs")
        epsilon = decode_decimal(one["epsilon"], "epsilon")
        if epsilon < 0:
            raise wrong("epsilon", "nothing is stated")
        columns = decode_weights(one["weights"], len(outputs), joint.size)
        found[key] = Protocol(columns, bits, joint, notion, outputs, frame.source, epsilon=epsilon, statement=statement)
    return StratifiedProtocol(given, found)
