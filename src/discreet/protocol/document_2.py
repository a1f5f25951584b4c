"""A protocol as version 2 of the file has it: whole numbers and text only, weights and counts where they are not zero.

The identity of a file is the SHA-256 of its bytes, so there is one way to write a protocol and no other is read: keys
that say nothing are left out, lists of cells are in order, numbers that are not whole are the shortest decimal text of
a float, whole numbers from 2^53 on are decimal text.

    weights   for each input letter the numbers of the outputs it can have, in order, and their weights: they add up to
              2^bits, so the file is as large as the weights that are not zero
    counts    all cells in C order, or where fewer than half are not zero, the numbers of these cells and their counts
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from discreet.arrays import Integers
from discreet.attribute import Attribute, Form
from discreet.exceptions import ProtocolError
from discreet.joint import Joint
from discreet.notions.conjunction import Conjunction
from discreet.notions.notion import AVERAGES, NOTIONS, Notion, words_of
from discreet.protocol.columns_2 import (
    check_keys,
    decode_columns,
    decode_decimal,
    decode_integers,
    decode_letters_2,
    encode_column,
    encode_decimal,
    encode_integer,
    encode_letter_2,
    filled_list,
    texts,
    whole_number,
)
from discreet.protocol.document import (
    LARGEST_BITS,
    POLICY,
    SAFE_INTEGER,
    SOURCES,
    UNCERTAINTY,
    decode_notion,
    encode_letter,
    encode_notion,
    wrong,
)
from discreet.protocol.statement import Statement
from discreet.records.noise import Noise, noisy_joint
from discreet.records.persons import Rule, WhoseRows
from discreet.uncertainty.confidence import has_limits

if TYPE_CHECKING:
    from discreet.protocol.protocol import Protocol

KEYS = {"bits", "epsilon", "joint", "outputs", "policy", "weights"}
PROMISES = {"averages", "notions"}
OPTIONAL = {"sha256_1", "statement"} | PROMISES
TOO_MANY = "more cells than a protocol of its size has"
FRAME_KEYS, MET = {"form", "releases", "secrets", "source"}, "met"
PRIOR_KEYS = {"counts", "n", "noise", "probabilities", "weight"}
ROWS_KEYS = {"column", "most", "rows", "rule", "unit", "units"}
LARGEST_NOISY = 1 << 40
"""Of a count with noise, and what it may be below zero."""
FEW_CELLS = 1 << 16
"""So many cells of the prior, or of the weights, a file may always stand for."""
CELLS_PER_BYTE = 1
"""And so many for each of its bytes: a small file cannot make a table that fills the memory."""


def to_document_2(protocol: Protocol) -> dict[str, Any]:
    """The content of the file; `sha256_1` keeps the identity of a protocol that was first written as version 1."""
    said = protocol.statement.said
    return {
        "bits": protocol.bits,
        "epsilon": encode_decimal(protocol.epsilon),
        "joint": {**encode_frame(protocol), **encode_prior(protocol.joint)},
        **encode_promises(protocol.notion),
        "outputs": [encode_letter_2(name) for name in protocol.outputs],
        "policy": POLICY,
        "weights": encode_weights(protocol.columns),
        **({"statement": said} if said else {}),
        **({"sha256_1": protocol.digest} if protocol.version == 1 else {}),
    }


def from_document_2(document: dict[str, Any], size: int) -> Protocol:
    """Builds, and thereby proves, the protocol of a file of `size` bytes. The document is used up."""
    from discreet.protocol.protocol import Protocol

    check_keys(document, KEYS, OPTIONAL, "the file")
    if document["policy"] != POLICY:
        raise wrong("policy", "a policy this release does not know")
    joint, source = _decode_joint(document.pop("joint"), most_cells(size))
    outputs = decode_letters_2(filled_list(document.pop("outputs"), "outputs"), "outputs")
    bits = whole_number(document["bits"], "bits", LARGEST_BITS)
    columns = decode_weights(document.pop("weights"), len(outputs), joint.size)
    notion = decode_promises(document)
    epsilon = decode_decimal(document["epsilon"], "epsilon")
    if epsilon < 0:
        raise wrong("epsilon", "nothing is stated")
    kept = document.get("sha256_1")
    version = 2 if kept is None else 1
    statement = decode_statement(document.get("statement", {}))
    protocol = Protocol(
        columns, bits, joint, notion, outputs, source, epsilon=epsilon, version=version, statement=statement
    )
    if kept is not None and kept != protocol.digest:
        raise wrong("sha256_1", "the content does not match the hash that it had as version 1")
    return protocol


# ---- promises --------------------------------------------------------------------------------------------------------


def encode_promises(notion: Notion) -> dict[str, Any]:
    """Every promise by its name in files, its numbers as decimal text: notions of rows, and averages, which lead."""
    promises = [(words_of(one).name in AVERAGES, _as_text(encode_notion(one))) for one in notion.promises]
    stated = {"averages": [one for led, one in promises if led], "notions": [one for led, one in promises if not led]}
    return {key: value for key, value in stated.items() if value}


def _as_text(stated: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: _as_text(value) if isinstance(value, Mapping) else encode_decimal(value) if key != "name" else value
        for key, value in stated.items()
    }


def decode_promises(document: Mapping[str, Any]) -> Notion:
    """One notion, or several at once, of which the first leads; they are the ceiling of an average if there is one."""
    if not PROMISES & set(document):
        raise wrong("notions", "nothing is promised")
    notions = [_decode_promise(one, NOTIONS) for one in _few(document, "notions", len(NOTIONS))]
    averages = [_decode_promise(one, AVERAGES) for one in _few(document, "averages", 1)]
    rows = Conjunction(tuple(notions)) if len(notions) > 1 else notions[0] if notions else None
    if not averages:
        assert rows is not None
        return rows
    return averages[0] if rows is None else averages[0] & rows


def _few(document: Mapping[str, Any], name: str, most: int) -> list[Any]:
    stated = filled_list(document[name], name) if name in document else []
    if len(stated) > most:
        raise wrong(name, "more than there are, or than can hold together")
    return stated


def _decode_promise(given: Any, known: Mapping[str, type[Notion]]) -> Notion:
    return decode_notion(_as_numbers(given, "notions"), known)


def _as_numbers(given: Any, where: str) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise wrong(where, "not a notion")
    return {
        key: value
        if key == "name"
        else _as_numbers(value, where)
        if key == UNCERTAINTY
        else decode_decimal(value, where)
        for key, value in given.items()
    }


# ---- weights ---------------------------------------------------------------------------------------------------------


def encode_weights(columns: sparse.csc_array) -> dict[str, Any]:
    """One list of outputs and one of weights for every letter; empty ones for letters that nobody has."""
    bounds = columns.indptr.tolist()
    outputs, values = columns.indices.tolist(), columns.data.tolist()
    if len(columns.data) and int(columns.data.max()) >= SAFE_INTEGER:
        values = [encode_integer(value) for value in values]
    letters = range(len(bounds) - 1)
    return {
        "outputs": [outputs[bounds[z] : bounds[z + 1]] for z in letters],
        "values": [values[bounds[z] : bounds[z + 1]] for z in letters],
    }


def decode_weights(given: Any, outputs: int, letters: int) -> sparse.csc_array:
    check_keys(given, {"outputs", "values"}, set(), "weights")
    places, values = filled_list(given.pop("outputs"), "weights"), filled_list(given.pop("values"), "weights")
    if not len(places) == len(values) == letters or not all(isinstance(one, list) for one in chain(places, values)):
        raise wrong("weights", "not one list per letter")
    sizes = np.fromiter(map(len, places), np.int64, letters)
    if not np.array_equal(sizes, np.fromiter(map(len, values), np.int64, letters)):
        raise wrong("weights", "not one weight for every output that is listed")
    numbers = list(chain.from_iterable(places))
    places.clear()
    indices = decode_integers(numbers, "weights", low=0, high=outputs - 1)
    numbers = list(chain.from_iterable(values))
    values.clear()
    data = decode_integers(numbers, "weights", low=1, high=1 << LARGEST_BITS)
    if outputs > len(data):
        raise wrong("outputs", "more outputs than weights")
    starts = np.concatenate([[0], np.cumsum(sizes)])
    falls = np.flatnonzero(np.diff(indices) <= 0) + 1
    if not np.isin(falls, starts).all():
        raise wrong("weights", "outputs of a letter that are not in order")
    return sparse.csc_array((data, indices, starts), shape=(outputs, letters))


# ---- the joint -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Frame:
    """What strata share: the columns, what the mechanism reads, and where the priors come from."""

    secrets: tuple[Attribute, ...]
    releases: tuple[Attribute, ...]
    form: Form
    source: Any

    @property
    def shape(self) -> tuple[int, ...]:
        return (prod(len(a) for a in self.secrets), *(len(a) for a in self.releases))


def encode_frame(protocol: Protocol) -> dict[str, Any]:
    """Where a promise rests on confidence in counts, also whose letters were met rather than declared."""
    joint = protocol.joint
    met = [encode_letter(one.name) for one in joint.releases if one.met and has_limits(protocol.notion)]
    return {
        "form": str(joint.form),
        "releases": [encode_column(attribute) for attribute in joint.releases],
        "secrets": [encode_column(attribute) for attribute in joint.secrets],
        "source": protocol.source,
        **({MET: met} if met else {}),
    }


def encode_prior(joint: Joint) -> dict[str, Any]:
    """The prior in whole numbers where it was counted, and the number of records behind it."""
    if joint.counts is not None:
        prior = {"counts": encode_cells(joint.counts.reshape(-1), encode_integer)}
    else:
        prior = {"probabilities": encode_cells(joint.probabilities.reshape(-1), encode_decimal)}
    return {
        **prior,
        **({} if joint.n is None else {"n": joint.n}),
        **({"weight": joint.weight} if joint.weight else {}),
        **({} if joint.noise is None else {"noise": encode_decimal(joint.noise.epsilon)}),
    }


def _decode_joint(given: Any, most: int) -> tuple[Joint, Any]:
    check_keys(given, FRAME_KEYS, PRIOR_KEYS | {MET}, "joint")
    frame = decode_frame(given, most)
    return decode_prior(given, frame), frame.source


def decode_frame(given: dict[str, Any], most: int) -> Frame:
    """Used up; its prior is left, for as many cells as `most`."""
    secrets, releases = (decode_columns(given.pop(name), name) for name in ("secrets", "releases"))
    met = set(texts(given.pop(MET), MET)) if MET in given else set()
    if not met <= {one.name for one in releases}:
        raise wrong(MET, "a column that is not released")
    releases = tuple(replace(one, met=one.name in met) for one in releases)
    if not isinstance(given["form"], str) or given["form"] not in list(Form):
        raise wrong("form", "an unknown form")
    if given["source"] not in SOURCES:
        raise wrong("source", "an unknown source of the prior")
    frame = Frame(secrets, releases, Form(given["form"]), given["source"])
    if prod(frame.shape) > most:
        raise wrong("joint", TOO_MANY)
    return frame


def decode_prior(given: dict[str, Any], frame: Frame, noise: type[Noise] = Noise) -> Joint:
    """The prior of a frame; `noise` is the kind that noisy counts have."""
    shape = frame.shape
    n = whole_number(given["n"], "n", SAFE_INTEGER) if "n" in given else None
    if ("counts" in given) == ("probabilities" in given):
        raise wrong("joint", "either counts or probabilities must be given")
    if "probabilities" in given:
        if "noise" in given:
            raise wrong("noise", "noise belongs to counts")
        cells = decode_cells(given.pop("probabilities"), prod(shape), "probabilities", decode_probabilities)
        weight = given.get("weight", "")
        if weight or "weight" in given:
            texts([weight], "weight")
            if not weight or n is None:
                raise wrong("weight", "weighted records without the column's name or their effective number")
        return Joint(cells.reshape(shape), frame.secrets, frame.releases, n=n, form=frame.form, weight=weight)
    if "weight" in given:
        raise wrong("weight", "weighted records have probabilities, not counts")
    if "noise" in given:
        return _decode_noisy(given, frame, n, noise)
    counts = decode_cells(given.pop("counts"), prod(shape), "counts", _decode_counts).reshape(shape)
    total = sum(counts.reshape(-1).tolist())
    if n != total or not 0 < total < SAFE_INTEGER:
        raise wrong("n", "the counts do not add up to n")
    return Joint(counts / total, frame.secrets, frame.releases, n=n, form=frame.form, counts=counts)


def _decode_noisy(given: dict[str, Any], frame: Frame, n: int | None, kind: type[Noise]) -> Joint:
    """Counts with noise, which may be negative and need not add up to the number of records, which is public."""
    if n is None:
        raise wrong("n", "noisy counts without the number of records")
    noise = kind(decode_decimal(given["noise"], "noise"))
    counts = decode_cells(given.pop("counts"), prod(frame.shape), "counts", _decode_noisy_counts)
    joint = noisy_joint(counts, n, frame.secrets, frame.releases, noise)
    return replace(joint, form=frame.form)


def _decode_noisy_counts(given: list[Any]) -> Integers:
    return decode_integers(given, "counts", low=-LARGEST_NOISY, high=LARGEST_NOISY)


def encode_cells(cells: Any, encoded: Callable[[Any], Any]) -> Any:
    """All cells, or the places and values of those that are not zero where these are fewer than half."""
    there = np.flatnonzero(cells)
    if 2 * len(there) >= len(cells):
        return [encoded(value) for value in cells.tolist()]
    return {"cells": there.tolist(), "values": [encoded(value) for value in cells[there].tolist()]}


def decode_cells(given: Any, size: int, where: str, decoded: Callable[[list[Any]], Any]) -> Any:
    if isinstance(given, list):
        if len(given) != size:
            raise wrong(where, "not one cell for every combination of letters")
        return decoded(given)
    check_keys(given, {"cells", "values"}, set(), where)
    places = decode_integers(filled_list(given["cells"], where), where, low=0, high=size - 1)
    values = decoded(filled_list(given["values"], where))
    if len(places) != len(values) or (np.diff(places) <= 0).any():
        raise wrong(where, "not one number for every cell that is listed, in order")
    cells = np.zeros(size, values.dtype)
    cells[places] = values
    return cells


def _decode_counts(given: list[Any]) -> Integers:
    return decode_integers(given, "counts", low=0, high=SAFE_INTEGER)


def decode_probabilities(given: list[Any]) -> Any:
    cells = np.array([decode_decimal(value, "probabilities") for value in given])
    if not ((cells >= 0) & (cells <= 1)).all():
        raise wrong("probabilities", "a number outside 0 … 1")
    return cells


# ---- the statement, and what a reader would say ----------------------------------------------------------------------


def decode_statement(given: Any) -> Statement:
    if not isinstance(given, dict) or not set(given) <= set(Statement.__dataclass_fields__):
        raise wrong("statement", "something this release does not know")
    forecast = given.get("forecast", {})
    if not isinstance(forecast, dict):
        raise wrong("statement", "a forecast that is not a name and a text each")
    texts([value for key, value in given.items() if key not in ("people", "forecast", "rows")] or ["none"], "statement")
    texts([*forecast, *forecast.values()] or ["none"], "statement")
    return Statement(**{**given, **({"rows": _decode_rows(given["rows"])} if "rows" in given else {})})


def _decode_rows(given: Any) -> WhoseRows | str:
    if isinstance(given, str):
        return texts([given], "statement")[0]
    check_keys(given, ROWS_KEYS, {"epsilon"}, "statement")
    [unit, column, rule] = texts([given[name] for name in ("unit", "column", "rule")], "statement")
    if rule not in list(Rule):
        raise wrong("statement", "a rule for rows that this release does not know")
    units, rows, most = (whole_number(given[name], "statement", SAFE_INTEGER) for name in ("units", "rows", "most"))
    epsilon = decode_decimal(given["epsilon"], "statement") if "epsilon" in given else None
    return WhoseRows(unit, column, Rule(rule), units, rows, most, epsilon)


def most_cells(size: int) -> int:
    """Of all priors that a file of so many bytes may stand for."""
    return max(FEW_CELLS, CELLS_PER_BYTE * size)


def too_many_cells(protocol: Protocol, size: int) -> ProtocolError | None:
    """What a reader would say of the cells of a file of this size."""
    if protocol.joint.probabilities.size > most_cells(size):
        return wrong("joint", TOO_MANY)
    if len(protocol.outputs) > protocol.columns.nnz:
        return wrong("outputs", "more outputs than weights")
    return None
