"""A protocol as plain data (see schema.json), and back; every field is checked before anything is built from it."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.alphabet import Attribute
from discreet.exceptions import ProtocolError
from discreet.joint import Joint
from discreet.protocol.letters import decode_letter, encode_letter
from discreet.protocol.promises import decode_notion, encode_notion

if TYPE_CHECKING:
    from discreet.protocol.protocol import Protocol

POLICY = {"missing": "draw from the output distribution", "unseen": "draw from the output distribution"}
SOURCES = ["data", "public", "given"]
FORMS = ("funnel", "include_secret", "sees_secret")
KEYS = {"bits", "epsilon", "joint", "notion", "outputs", "policy", "weights"}
JOINT_KEYS = {"counts", "form", "n", "probabilities", "releases", "secrets", "source"}
MOST_ATTRIBUTES = 24
SAFE = 2**53


def to_document(protocol: Protocol) -> dict[str, Any]:
    return {
        "bits": protocol.bits,
        "epsilon": protocol.epsilon,
        "joint": _encode_joint(protocol.joint, protocol.source),
        "notion": encode_notion(protocol.notion),
        "outputs": [encode_letter(name) for name in protocol.outputs],
        "policy": POLICY,
        "weights": [[_encode_integer(w) for w in row] for row in protocol.weights.tolist()],
    }


def from_document(document: dict[str, Any]) -> Protocol:
    """Builds, and thereby proves, the protocol."""
    from discreet.protocol.protocol import Protocol

    _check_keys(document, KEYS, "the file")
    if document["policy"] != POLICY:
        raise _wrong("policy", "a policy this release does not know")
    joint, source = _decode_joint(document["joint"])
    outputs = tuple(decode_letter(name) for name in _list(document["outputs"], "outputs"))
    bits = _integer(document["bits"], "bits", 60)
    weights = _decode_weights(document["weights"], len(outputs), len(joint.letters))
    epsilon = _number(document["epsilon"], "epsilon")
    if epsilon < 0 or not outputs:
        raise _wrong("epsilon" if outputs else "outputs", "nothing is stated")
    return Protocol(weights, bits, joint, decode_notion(document["notion"]), outputs, source, epsilon=epsilon)


def _encode_joint(joint: Joint, source: str | None) -> dict[str, Any]:
    counted = joint.counts is not None
    return {
        "counts": [int(count) for count in joint.counts.ravel()] if joint.counts is not None else None,
        "form": FORMS[1 if joint.include_secret else 2 if joint.sees_secret else 0],
        "n": joint.n,
        "probabilities": None if counted else [float(p) for p in joint.probabilities.ravel()],
        "releases": [_encode_attribute(attribute) for attribute in joint.releases],
        "secrets": [_encode_attribute(attribute) for attribute in joint.secrets],
        "source": source,
    }


def _decode_joint(given: Any) -> tuple[Joint, Any]:
    _check_keys(given, JOINT_KEYS, "joint")
    secrets, releases = (_decode_attributes(given[name], name) for name in ("secrets", "releases"))
    shape = (_product(len(a) for a in secrets), *(len(a) for a in releases))
    if given["form"] not in FORMS or not isinstance(given["form"], str):
        raise _wrong("form", "an unknown form")
    included, seen = (given["form"] == form for form in FORMS[1:])
    if given["source"] not in SOURCES:
        raise _wrong("source", "an unknown source of the prior")
    n = None if given["n"] is None else _integer(given["n"], "n", SAFE)
    if (given["counts"] is None) == (given["probabilities"] is None):
        raise _wrong("joint", "either counts or probabilities must be given")
    if given["counts"] is None:
        cells = [_number(p, "probabilities") for p in _list(given["probabilities"], "probabilities")]
        if not all(0 <= p <= 1 for p in cells):
            raise _wrong("probabilities", "a number outside 0 … 1")
        table = _shaped(np.array(cells), shape)
        return Joint(table, secrets, releases, n=n, include_secret=included, sees_secret=seen), given["source"]
    counts = np.array([_integer(k, "counts", SAFE) for k in _list(given["counts"], "counts")], dtype=np.int64)
    table = _shaped(counts, shape)
    total = sum(counts.tolist())
    if n != total or not 0 < total < SAFE:
        raise _wrong("n", "the counts do not add up to n")
    joint = Joint(table / total, secrets, releases, n=n, include_secret=included, sees_secret=seen, counts=table)
    return joint, given["source"]


def _encode_attribute(attribute: Attribute) -> dict[str, Any]:
    return {"letters": [encode_letter(letter) for letter in attribute.letters], "name": attribute.name}


def _decode_attributes(given: Any, where: str) -> tuple[Attribute, ...]:
    items = _list(given, where)
    if not 1 <= len(items) <= MOST_ATTRIBUTES:
        raise _wrong(where, f"not between 1 and {MOST_ATTRIBUTES} attributes")
    attributes = []
    for item in items:
        _check_keys(item, {"letters", "name"}, where)
        if not isinstance(item["name"], str):
            raise _wrong(where, "a name that is not text")
        letters: list[Hashable] = [decode_letter(letter) for letter in _list(item["letters"], where)]
        attributes.append(Attribute(item["name"], tuple(letters)))
    return tuple(attributes)


def _encode_integer(value: int) -> int | str:
    return value if value < SAFE else str(value)


def _decode_weights(given: Any, outputs: int, letters: int) -> NDArray[np.int64]:
    rows = _list(given, "weights")
    if len(rows) != outputs or any(not isinstance(row, list) or len(row) != letters for row in rows):
        raise _wrong("weights", "not one row an output with one weight a letter")
    flat = list(chain.from_iterable(rows))
    if not all(type(weight) is int and 0 <= weight < SAFE for weight in flat):
        flat = [_decode_integer(weight) for weight in flat]
    return np.array(flat, dtype=np.int64).reshape(outputs, letters)


def _decode_integer(given: Any) -> int:
    if isinstance(given, str):
        if not (given.isascii() and given.isdigit() and len(given) < 20 and str(int(given)) == given):
            raise _wrong("weights", "a weight that is not a whole number")
        if not SAFE <= int(given) <= 1 << 60:
            raise _wrong("weights", "a weight written as text that need not be")
        return int(given)
    return _integer(given, "weights", SAFE)


def _integer(given: Any, where: str, limit: int) -> int:
    if type(given) is not int or not 0 <= given <= limit:
        raise _wrong(where, "not a whole number in range")
    return given


def _number(given: Any, where: str) -> float:
    if type(given) not in (int, float) or not abs(given) <= 1e308:
        raise _wrong(where, "not a finite number")
    return float(given)


def _list(given: Any, where: str) -> list[Any]:
    if not isinstance(given, list) or not given:
        raise _wrong(where, "not a list with something in it")
    return given


def _shaped(cells: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    if len(cells) != _product(shape):
        raise _wrong("joint", "not one cell for every combination of letters")
    return cells.reshape(shape)


def _product(sizes: Any) -> int:
    total = 1
    for size in sizes:
        total *= size
    return total


def _check_keys(given: Any, keys: set[str], where: str) -> None:
    if not isinstance(given, dict) or set(given) != keys:
        raise _wrong(where, "fields are missing, or there are others than the schema knows")


def _wrong(where: str, what: str) -> ProtocolError:
    return ProtocolError(what, where=where, remedy="Ask for the file again from where it came from; do not edit it.")
