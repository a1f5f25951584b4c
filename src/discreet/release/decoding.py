"""TARGET.decoding.csv: what every output of a release means, where outputs are not values.

One row for each output (beside given columns, for each group and output): its name as it stands in the released file,
and for every value of every released column the probability that the record had it, P(x | y) at the stated law. It is
made from the public file alone, so it tells nothing that is not published already. Where outputs are values there is
nothing to decode, and where the secret itself is released the public file states no law: then there is no such file.
Of very many outputs and values only what is possible is listed: one row for each output, column and value.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

import numpy as np

from discreet.channel import label
from discreet.protocol.public import AnyPublic, PublicProtocol, StratifiedPublic
from discreet.records.letters import column_of, spreadsheet_safe

DIGITS = 6
MOST_CELLS = 4_000_000
"""A table of so many cells is some twenty megabytes; a larger one lists what is possible."""
LISTED = ("column", "value", "probability")


def decoding(public: AnyPublic) -> bytes | None:
    """The table, or None where there is nothing to decode."""
    strata = public.strata if isinstance(public, StratifiedPublic) else {(): public}
    first = next(iter(strata.values()))
    known = set(first.target_letters)
    if first.law is None or all(output in known for one in strata.values() for output in one.outputs):
        return None
    given = [attribute.name for attribute in public.given] if isinstance(public, StratifiedPublic) else []
    values = [f"{attribute.name} = {label(letter)}" for attribute in first.released for letter in attribute.letters]
    many = sum(len(one.outputs) for one in strata.values()) * len(values) > MOST_CELLS
    target = io.StringIO(newline="")
    rows = csv.writer(target, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    heads = LISTED if many else values
    rows.writerow([spreadsheet_safe(name) for name in (*given, column_of(first), *heads)])
    for key, one in strata.items():
        beside = [spreadsheet_safe(label(letter)) for letter in key]
        if many:
            rows.writerows([*beside, *row] for row in _listed(one))
        else:
            rows.writerows([*beside, spreadsheet_safe(name), *shares] for name, shares in _decoded(one))
    return target.getvalue().encode()


def _decoded(public: PublicProtocol) -> Iterator[tuple[str, list[float]]]:
    """Every output, with the law of each column's values when it is seen."""
    law = public.law
    assert law is not None
    sizes = [len(attribute) for attribute in public.released]
    for output, row in zip(public.outputs, public.matrix, strict=True):
        mass = row * law
        posterior = (mass / mass.sum() if mass.sum() > 0 else law).reshape(sizes)
        shares: list[float] = []
        for axis in range(len(sizes)):
            others = tuple(place for place in range(len(sizes)) if place != axis)
            shares += np.round(posterior.sum(axis=others), DIGITS).tolist()
        yield label(output), shares


def _listed(public: PublicProtocol) -> Iterator[tuple[str, str, str, float]]:
    """Every output with the values that it leaves possible, column by column, likeliest first; written safely."""
    law = public.law
    assert law is not None
    entries, sizes = public.channel.entries, [len(attribute) for attribute in public.released]
    seen = np.repeat(np.arange(len(public.outputs)), np.diff(entries.indptr))
    masses = entries.data * law[entries.indices]
    totals = np.bincount(seen, masses, len(public.outputs))[seen]
    chances = np.divide(masses, totals, out=np.zeros_like(masses), where=totals > 0)
    found = []
    for number, place in enumerate(np.unravel_index(entries.indices, sizes)):
        pairs, group = np.unique(seen * sizes[number] + place, return_inverse=True)
        shares = np.bincount(group, chances, len(pairs))
        found.append(np.stack([pairs // sizes[number], np.full(len(pairs), number), pairs % sizes[number], shares]))
    rows = np.concatenate(found, axis=1)
    rows = rows[:, np.lexsort((rows[2], -rows[3], rows[1], rows[0]))]
    outputs = [spreadsheet_safe(label(output)) for output in public.outputs]
    columns = [spreadsheet_safe(attribute.name) for attribute in public.released]
    values = [[spreadsheet_safe(label(letter)) for letter in attribute.letters] for attribute in public.released]
    for y, number, value, share in zip(*rows[:3].astype(np.intp).tolist(), rows[3].round(DIGITS).tolist(), strict=True):
        yield outputs[y], columns[number], values[number][value], share
