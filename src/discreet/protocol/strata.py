"""One protocol of several matrices: for every stratum of the given columns an ordinary protocol, proven by itself.

The file is a list of ordinary protocol files, each as the text it would have alone, with the letters of its stratum and
a hash over all: reading it reads, and proves, every one of them.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from discreet.arrays import Integers
from discreet.channel import label
from discreet.exceptions import AlphabetError, InputError, ProtocolError
from discreet.files.atomic_file import unpublished
from discreet.given_columns import Stratum, averaged, check_strata, strata_numbers
from discreet.joint import Attribute, Joint
from discreet.notions.conjunction import Conjunction
from discreet.notions.notion import Notion, words_of
from discreet.protocol.columns_2 import decode_columns, decode_letters_2, encode_column, encode_letter_2
from discreet.protocol.file import REMEDY, _parsed, canonical, decode, encode, read_limited
from discreet.protocol.protocol import Protocol

STRATA_FORMAT, STRATA_VERSION = "discreet strata", 1
BEGINNING = b'{"format":"discreet strata",'
"""Keys are in order, so every file of this kind begins so."""
STRATA_KEYS = {"format", "given", "sha256", "strata", "version"}


@dataclass(frozen=True, eq=False, repr=False)
class StratifiedProtocol:
    """`strata` maps the letters of the given columns to an ordinary protocol. All promise the same notion."""

    given: tuple[Attribute, ...]
    strata: Mapping[Stratum, Protocol]

    def __post_init__(self) -> None:
        check_strata(self.given, self.strata)
        first = self.first
        for one in self.strata.values():
            if one.notion != first.notion or one.bits != first.bits or one.source != first.source:
                raise AlphabetError("strata with different promises", where="strata", remedy="Design them together.")

    @property
    def first(self) -> Protocol:
        return next(iter(self.strata.values()))

    @property
    def joint(self) -> Joint:
        """The joint of the first stratum: for the letters and names, which are the same in all."""
        return self.first.joint

    @property
    def notion(self) -> Notion:
        return self.first.notion

    @property
    def source(self) -> Any:
        return self.first.source

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

    # ---- as one channel (k, z) → y, to be read beside k ------------------------------------------------------------

    @cached_property
    def outputs(self) -> tuple[Hashable, ...]:
        """The names of the outputs of all strata; beside the given columns one name means one output."""
        return tuple(dict.fromkeys(label(output) for one in self.strata.values() for output in one.outputs))

    @cached_property
    def numbers(self) -> Integers:
        """The number of the stratum of every combination of given letters, in C order; −1 where there is none."""
        return strata_numbers(self.given, iter(self.strata))

    @cached_property
    def law(self) -> Integers:
        """Weights of all outputs, for every stratum one column per letter and one for records without a letter."""
        place = {name: y for y, name in enumerate(self.outputs)}
        blocks = []
        for one in self.strata.values():
            block = np.zeros((len(self.outputs), one.joint.size + 1), np.int64)
            block[[place[label(output)] for output in one.outputs]] = np.column_stack([one.weights, one.marginal])
            blocks.append(block)
        return np.concatenate(blocks, axis=1)

    # ---- the file ------------------------------------------------------------------------------------------------

    @cached_property
    def digest(self) -> str:
        return _hash(_content(self))

    def encode(self) -> bytes:
        """The bytes of the file."""
        return canonical({**_content(self), "sha256": self.digest}) + b"\n"

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

    def __repr__(self) -> str:
        name, columns = words_of(self.notion).name, ", ".join(attribute.name for attribute in self.given)
        return f"StratifiedProtocol({name} proven at {self.epsilon:.9g} in {len(self.strata)} strata of {columns})"


AnyProtocol = Protocol | StratifiedProtocol


def load_protocol(path: str | os.PathLike[str]) -> AnyProtocol:
    """Either kind of protocol, proven again."""
    try:
        with Path(path).open("rb") as file:
            strata = file.read(len(BEGINNING)) == BEGINNING
    except OSError:
        strata = False
    return StratifiedProtocol.load(path) if strata else Protocol.load(path)


def decode_strata(data: bytes) -> StratifiedProtocol:
    content = _parsed(data)
    if not isinstance(content, dict) or set(content) != STRATA_KEYS or content["format"] != STRATA_FORMAT:
        raise ProtocolError("not a protocol with given columns", remedy=REMEDY)
    if content["version"] != STRATA_VERSION or isinstance(content["version"], bool):
        raise ProtocolError("another version of the file", remedy=f"This release reads version {STRATA_VERSION}.")
    stated = content.pop("sha256")
    if stated != _hash(content):
        raise ProtocolError("the content does not match its hash", where="sha256", remedy=REMEDY)
    try:
        given = decode_columns(content["given"], "given")
        found = [
            (decode_letters_2(one["letters"], "strata"), decode(_text(one["protocol"]).encode("utf-8")))
            for one in content["strata"]
        ]
        if len(dict(found)) != len(found):
            raise ProtocolError("a stratum occurs twice", where="strata", remedy=REMEDY)
        protocol = StratifiedProtocol(given, dict(found))
    except ProtocolError:
        raise
    except InputError as error:
        raise ProtocolError(error.what, where=error.where, remedy=REMEDY) from error
    except (TypeError, KeyError, ValueError):
        raise ProtocolError("fields that are no strata", where="strata", remedy=REMEDY) from None
    if protocol.digest != stated:
        raise ProtocolError("not written in its canonical form", where="sha256", remedy=REMEDY)
    return protocol


def _content(protocol: StratifiedProtocol) -> dict[str, Any]:
    return {
        "format": STRATA_FORMAT,
        "version": STRATA_VERSION,
        "given": [encode_column(one) for one in protocol.given],
        "strata": [
            {"letters": [encode_letter_2(letter) for letter in key], "protocol": encode(one).decode("ascii")}
            for key, one in protocol.strata.items()
        ],
    }


def _hash(content: dict[str, Any]) -> str:
    return hashlib.sha256(canonical(content)).hexdigest()


def _text(given: Any) -> str:
    if not isinstance(given, str):
        raise ProtocolError("not a text", where="strata", remedy=REMEDY)
    return given


def in_each_stratum(notion: Notion, strata: int) -> Notion:
    """The notion for one of so many strata: a set that misses the truth with probability β does so with β/|K| in each,
    so that all of them hold together."""
    if isinstance(notion, Conjunction):
        return Conjunction(tuple(in_each_stratum(one, strata) for one in notion.parts))
    about: Any = getattr(notion, "uncertainty", None)
    if about is None or "confidence" not in {one.name for one in fields(about)}:
        return notion
    changed: Any = notion
    shared = replace(about, confidence=1 - (1 - about.confidence) / strata)
    return replace(changed, uncertainty=shared)  # type: ignore[no-any-return]
