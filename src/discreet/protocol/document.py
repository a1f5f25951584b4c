"""A protocol as version 1 of the file has it (schema_1.json), and back: every field is checked before it is used.

Letters are text, whole numbers, floats, booleans, nothing, and tuples of these; whole numbers that JSON readers would
round are text. Notions and uncertainty sets stand under the fixed names of `NOTIONS` and `SETS` with their numbers;
names that are not registered are refused, by the reader and by the writer.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import fields
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discreet.attribute import Attribute, Form
from discreet.exceptions import AlphabetError, ProtocolError
from discreet.joint import Joint
from discreet.notions.notion import NOTIONS, Notion, words_of
from discreet.uncertainty.uncertainty import SETS, Uncertainty, set_words

if TYPE_CHECKING:
    from discreet.protocol.protocol import Protocol

POLICY = {"missing": "draw from the output distribution", "unseen": "draw from the output distribution"}
SOURCES = ["data", "public", "given"]
KEYS = {"bits", "epsilon", "joint", "notion", "outputs", "policy", "weights"}
JOINT_KEYS = {"counts", "form", "n", "probabilities", "releases", "secrets", "source"}
UNCERTAINTY = "uncertainty"
"""The one parameter of a notion that is not a number."""
CEILING = "ceiling"
MOST_ATTRIBUTES = 24
SAFE_INTEGER = 2**53
"""The first whole number that not every JSON reader can tell from its neighbour."""
LARGEST_DIGITS = 40
"""Letters that are longer numbers are identifiers, and belong into the file as text."""
HALVES = "Turn it into text that can be written as UTF-8: it holds half of a surrogate pair."
AT_ONCE = 1 << 12
"""Numbers that are written at once: the text of many at a time takes some fifty times its own bytes on the way."""
MOST_ALIKE = 64
"""Letters of one hash, at most: a file with thousands of them would keep every look-up busy for hours."""
LARGEST_BITS = 60
LARGEST = 1e308
"""Nearly the largest float: what is beyond was not written by `encode`."""


def to_document(protocol: Protocol) -> dict[str, Any]:
    """The content; numbers as arrays, and the weights as their text, row after row: as lists they could be thousands of
    times the file of version 2 that they are hashed for."""
    return {
        "bits": protocol.bits,
        "epsilon": protocol.epsilon,
        "joint": _encode_joint(protocol.joint, protocol.source),
        "notion": encode_notion(protocol.notion),
        "outputs": [encode_letter(name) for name in protocol.outputs],
        "policy": POLICY,
        "weights": _written_weights(protocol.columns),
    }


def from_document(document: dict[str, Any]) -> Protocol:
    """Builds, and thereby proves, the protocol. The document is used up, so that both never fill the memory."""
    from discreet.protocol.protocol import Protocol

    _check_keys(document, KEYS, "the file")
    if document["policy"] != POLICY:
        raise wrong("policy", "a policy this release does not know")
    joint, source = _decode_joint(document.pop("joint"))
    outputs = decode_letters(_list(document.pop("outputs"), "outputs"), "outputs")
    bits = _integer(document["bits"], "bits", LARGEST_BITS)
    weights = _decode_weights(document.pop("weights"), len(outputs), joint.size)
    epsilon = _number(document["epsilon"], "epsilon")
    if epsilon < 0 or not outputs:
        raise wrong("epsilon" if outputs else "outputs", "nothing is stated")
    notion = decode_notion(document["notion"])
    return Protocol(weights, bits, joint, notion, outputs, source, epsilon=epsilon, version=1)


# ---- notions and sets ------------------------------------------------------------------------------------------------


def encode_notion(notion: Notion) -> dict[str, Any]:
    """The notion by its name in files, with the numbers it is stated with. Several at once are for version 2."""
    return {"name": words_of(notion).name, **_encode_fields(notion)}


def decode_notion(given: Any, known: Mapping[str, type[Notion]] = NOTIONS) -> Notion:
    notion: Notion = _decode_named(given, known, "notion")
    return notion


def parameters(kind: type) -> list[str]:
    """What a notion or a set is stated with. The ceiling of an average is a notion of its own, and stands beside it."""
    return [one.name for one in fields(kind) if one.name != CEILING]


def _encode_fields(stated: Any) -> dict[str, Any]:
    given = {name: getattr(stated, name) for name in parameters(type(stated))}
    return {name: _encode_set(value) if name == UNCERTAINTY else float(value) for name, value in given.items()}


def _encode_set(uncertainty: Uncertainty) -> dict[str, Any]:
    return {"name": set_words(uncertainty).name, **_encode_fields(uncertainty)}


def _decode_named(given: Any, known: Mapping[str, Any], where: str) -> Any:
    name = given.get("name") if isinstance(given, dict) else None
    if not isinstance(name, str) or name not in known:
        raise ProtocolError("an unknown name", where=where, remedy="See the schema for the names it may state.")
    stated = {key: value for key, value in given.items() if key != "name"}
    if set(stated) != set(parameters(known[name])):
        raise ProtocolError("other parameters than it has", where=where, remedy="See the schema.")
    for key, value in stated.items():
        if key == UNCERTAINTY:
            stated[key] = _decode_named(value, SETS, key)
        elif type(value) not in (int, float) or not abs(value) <= LARGEST:
            raise ProtocolError("not a finite number", where=key, remedy="See the schema.")
        else:
            stated[key] = float(value)
    return known[name](**stated)


# ---- letters ---------------------------------------------------------------------------------------------------------


def encode_letter(letter: Hashable) -> Any:
    """A letter as JSON; whole numbers too large for JSON readers as {"integer": "…"}, tuples as lists."""
    value = letter.item() if isinstance(letter, np.generic) else letter
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        if not is_unicode(value):
            raise AlphabetError("text that is half a character has no place in a protocol file", remedy=HALVES)
        return value
    if isinstance(value, int) and abs(value) < 10**LARGEST_DIGITS:
        return int(value) if abs(value) <= SAFE_INTEGER else {"integer": str(int(value))}
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if isinstance(value, tuple):
        return [encode_letter(part) for part in value]
    raise AlphabetError(
        f"a letter of type {type(letter).__name__} has no place in a protocol file",
        remedy="Use text, numbers, booleans, None or tuples of these as letters.",
    )


def is_unicode(text: str) -> bool:
    """Whether the text can be written at all: half of a surrogate pair is no character, and no file takes it."""
    return text.isascii() or not any("\ud800" <= sign <= "\udfff" for sign in text)


def decode_letters(given: list[Any], where: str) -> tuple[Hashable, ...]:
    return checked_letters(tuple(decode_letter(letter) for letter in given), where)


def checked_letters(letters: tuple[Hashable, ...], where: str) -> tuple[Hashable, ...]:
    """The letters, unless too many of them have one hash."""
    hashes = np.sort(np.fromiter(map(hash, letters), np.int64, len(letters)))
    if (hashes[MOST_ALIKE:] == hashes[:-MOST_ALIKE]).any():
        raise wrong(where, "letters chosen so that telling them apart takes for ever")
    return letters


def decode_letter(given: Any) -> Hashable:
    if given is None or isinstance(given, bool):
        return given
    if isinstance(given, str) and is_unicode(given):
        return given
    if isinstance(given, int) and abs(given) <= SAFE_INTEGER:
        return given
    if isinstance(given, float) and math.isfinite(given):
        return given
    if isinstance(given, list):
        return tuple(decode_letter(part) for part in given)
    if isinstance(given, dict) and set(given) == {"integer"} and isinstance(given["integer"], str):
        return _decode_large(given["integer"])
    raise ProtocolError("something that is not a letter", remedy="See the schema for what a letter may be.")


def _decode_large(text: str) -> int:
    digits = text.removeprefix("-")
    if digits.isascii() and digits.isdigit() and len(digits) <= LARGEST_DIGITS:
        value = int(text)
        if abs(value) > SAFE_INTEGER and str(value) == text:
            return value
    raise ProtocolError("something that is not a letter", remedy="See the schema for what a letter may be.")


# ---- the joint, the weights ------------------------------------------------------------------------------------------


def _encode_joint(joint: Joint, source: str | None) -> dict[str, Any]:
    counted = joint.counts is not None
    return {
        "counts": joint.counts.ravel() if joint.counts is not None else None,
        "form": str(joint.form),
        "n": joint.n,
        "probabilities": None if counted else joint.probabilities.ravel(),
        "releases": [_encode_attribute(attribute) for attribute in joint.releases],
        "secrets": [_encode_attribute(attribute) for attribute in joint.secrets],
        "source": source,
    }


def _decode_joint(given: Any) -> tuple[Joint, Any]:
    _check_keys(given, JOINT_KEYS, "joint")
    secrets, releases = (_decode_attributes(given[name], name) for name in ("secrets", "releases"))
    shape = (_product(len(a) for a in secrets), *(len(a) for a in releases))
    if given["form"] not in list(Form) or not isinstance(given["form"], str):
        raise wrong("form", "an unknown form")
    if given["source"] not in SOURCES:
        raise wrong("source", "an unknown source of the prior")
    n = None if given["n"] is None else _integer(given["n"], "n", SAFE_INTEGER)
    if (given["counts"] is None) == (given["probabilities"] is None):
        raise wrong("joint", "either counts or probabilities must be given")
    if given["counts"] is None:
        cells = [_number(p, "probabilities") for p in _list(given["probabilities"], "probabilities")]
        if not all(0 <= p <= 1 for p in cells):
            raise wrong("probabilities", "a number outside 0 … 1")
        table = _shaped(np.array(cells), shape)
        return Joint(table, secrets, releases, n=n, form=Form(given["form"])), given["source"]
    counts = np.array([_integer(k, "counts", SAFE_INTEGER) for k in _list(given["counts"], "counts")], dtype=np.int64)
    table = _shaped(counts, shape)
    total = sum(counts.tolist())
    if n != total or not 0 < total < SAFE_INTEGER:
        raise wrong("n", "the counts do not add up to n")
    joint = Joint(table / total, secrets, releases, n=n, form=Form(given["form"]), counts=table)
    return joint, given["source"]


def _encode_attribute(attribute: Attribute) -> dict[str, Any]:
    letters = [encode_letter(letter) for letter in attribute.letters]
    return {"letters": letters, "name": encode_letter(attribute.name)}


def _decode_attributes(given: Any, where: str) -> tuple[Attribute, ...]:
    items = _list(given, where)
    if not 1 <= len(items) <= MOST_ATTRIBUTES:
        raise wrong(where, f"not between 1 and {MOST_ATTRIBUTES} attributes")
    attributes = []
    for item in items:
        _check_keys(item, {"letters", "name"}, where)
        if not isinstance(item["name"], str) or not is_unicode(item["name"]):
            raise wrong(where, "a name that is not text")
        attributes.append(Attribute(item["name"], decode_letters(_list(item["letters"], where), where)))
    return tuple(attributes)


def _written_weights(columns: sparse.csc_array) -> Iterator[bytes]:
    """One list per output, with a weight for every letter: between those that are not zero, zeros."""
    rows, letters = columns.tocsr(), columns.shape[1]
    rows.sort_indices()
    for y in range(rows.shape[0]):
        yield b",[" if y else b"[["
        end, last = int(rows.indptr[y + 1]), -1
        for start in range(int(rows.indptr[y]), end, AT_ONCE):
            part = slice(start, min(start + AT_ONCE, end))
            places, values = rows.indices[part].tolist(), rows.data[part].tolist()
            gaps = (b"0," * (after - before - 1) for before, after in pairwise((last, *places)))
            texts = (b"%d," % value if value < SAFE_INTEGER else b'"%d",' % value for value in values)
            written, last = b"".join(chain.from_iterable(zip(gaps, texts, strict=True))), places[-1]
            yield written if last < letters - 1 else written[:-1]
        yield (b"0," * (letters - last - 1))[:-1] + b"]"
    yield b"]"


def _decode_weights(given: Any, outputs: int, letters: int) -> NDArray[np.int64]:
    rows = _list(given, "weights")
    if len(rows) != outputs or any(not isinstance(row, list) or len(row) != letters for row in rows):
        raise wrong("weights", "not one row per output with one weight per letter")
    flat = list(chain.from_iterable(rows))
    if not all(type(weight) is int and 0 <= weight < SAFE_INTEGER for weight in flat):
        flat = [_decode_integer(weight) for weight in flat]
    return np.array(flat, dtype=np.int64).reshape(outputs, letters)


def _decode_integer(given: Any) -> int:
    if isinstance(given, str):
        if not (given.isascii() and given.isdigit() and len(given) < 20 and str(int(given)) == given):
            raise wrong("weights", "a weight that is not a whole number")
        if not SAFE_INTEGER <= int(given) <= 1 << LARGEST_BITS:
            raise wrong("weights", "a weight written as text that need not be")
        return int(given)
    return _integer(given, "weights", SAFE_INTEGER)


# ---- checks ----------------------------------------------------------------------------------------------------------


def _integer(given: Any, where: str, limit: int) -> int:
    if type(given) is not int or not 0 <= given <= limit:
        raise wrong(where, "not a whole number in range")
    return given


def _number(given: Any, where: str) -> float:
    if type(given) not in (int, float) or not abs(given) <= LARGEST:
        raise wrong(where, "not a finite number")
    return float(given)


def _list(given: Any, where: str) -> list[Any]:
    if not isinstance(given, list) or not given:
        raise wrong(where, "not a list with something in it")
    return given


def _shaped(cells: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    if len(cells) != _product(shape):
        raise wrong("joint", "not one cell for every combination of letters")
    return cells.reshape(shape)


def _product(sizes: Any) -> int:
    total = 1
    for size in sizes:
        total *= size
    return total


def _check_keys(given: Any, keys: set[str], where: str) -> None:
    if not isinstance(given, dict) or set(given) != keys:
        raise wrong(where, "fields are missing, or there are others than the schema knows")


def wrong(where: str, what: str) -> ProtocolError:
    return ProtocolError(what, where=where, remedy="Ask for the file again from where it came from; do not edit it.")
