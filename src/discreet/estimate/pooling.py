"""Estimates from a release with given columns: for every stratum by itself, and for all of them together.

A stratified protocol is one channel (k, z) → (k, y), block by block, released as the given columns beside y. So the
distribution of all strata together, with its covariance, is an ordinary estimate over that channel.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg import block_diag

from discreet.arrays import Integers, whole
from discreet.attribute import Attribute
from discreet.channel import label
from discreet.estimate.release_model import Assumption, ReleaseModel, model_of
from discreet.exceptions import AlphabetError, TableError
from discreet.given_columns import Stratum
from discreet.protocol.counted_records import stated_prior
from discreet.protocol.public import StratifiedPublic
from discreet.protocol.strata import StratifiedProtocol
from discreet.records.counting import tabulated
from discreet.records.letters import LabelReader, LetterReader, column_of, spreadsheet_safe
from discreet.records.source import open_records

Strata = StratifiedProtocol | StratifiedPublic

ALIKE = 1e-12
"""Two probabilities of an exact law that differ by less are the same, rounded."""
ABSENT = "Assumed: values that the table of a stratum did not have do not occur in that stratum."


class _GivenReader:
    """Numbers the letters of a given column, also as CSV shows them; one more for everything else."""

    def __init__(self, attribute: Attribute) -> None:
        labels = tuple(map(label, attribute.letters))
        grouped = attribute.grouping is not None or attribute.missing
        shown = {spreadsheet_safe(text): number for number, text in enumerate(labels)}
        changed = {text: number for text, number in shown.items() if text not in labels}
        written = Attribute(attribute.name, (*(labels if grouped else attribute.letters), *changed))
        self.name, self.size, self.reader = attribute.name, len(attribute), LetterReader((written,))
        self.places = np.array([*range(self.size), *changed.values(), self.size], np.intp)

    def __len__(self) -> int:
        return self.size + 1

    def numbers(self, values: Any) -> Any:
        return self.places.take(self.reader.codes([values]).astype(np.intp))


def stratum_models(protocol: Strata, assume: Assumption | None, column: str | None) -> dict[Stratum, ReleaseModel]:
    name = column or column_of(protocol.first if isinstance(protocol, StratifiedPublic) else protocol.joint)
    models = {key: model_of(one, assume, name) for key, one in protocol.strata.items()}
    noisy = any(
        stated_prior(one) == "noisy" for one in protocol.strata.values()
    )  # then no letter is known to be absent
    return models if noisy else {key: _without_absent(model) for key, model in models.items()}


def _without_absent(model: ReleaseModel) -> ReleaseModel:
    """The model with an output of its own, which never occurs, for every letter that the stratum does not have and that
    is therefore released as a draw from all others: left as it is, it would leave all of them undetermined."""
    full = whole(model.matrix)
    law = full @ model.prior
    absent = np.flatnonzero((model.prior == 0) & (np.abs(full - law[:, None]).max(axis=0) < ALIKE))
    if not len(absent):
        return model
    matrix = np.vstack([full, np.zeros((len(absent), full.shape[1]))])
    matrix[:, absent] = 0.0
    matrix[len(full) + np.arange(len(absent)), absent] = 1.0
    names = tuple(f"\N{REPLACEMENT CHARACTER}{number}" for number in range(len(absent)))
    return replace(model, matrix=matrix, labels=((*model.labels[0], *names),), notes=(*model.notes, ABSENT))


def stratum_counts(
    released: Any, protocol: Strata, models: dict[Stratum, ReleaseModel], encoding: str | None
) -> dict[Stratum, Integers]:
    """How often each output of each stratum occurs."""
    first = next(iter(models.values()))
    labels = tuple(str(name) for name in protocol.outputs)
    readers: list[Any] = [*map(_GivenReader, protocol.given), LabelReader(first.columns[0], labels)]
    with open_records(released, [reader.name for reader in readers], encoding=encoding, in_order=False) as source:
        counts = tabulated(source, readers)
    if counts.take(-1, axis=-1).any():
        raise TableError("a value that is no output of this protocol", where=first.columns[0], remedy=_SAME)
    sizes = [len(attribute) for attribute in protocol.given]
    for axis in range(len(sizes)):
        if counts.take(-1, axis=axis).any():
            raise AlphabetError("a value that no stratum has", where=protocol.given[axis].name, remedy=_SAME)
    inside = counts[(*(slice(-1) for _ in sizes), slice(-1))].reshape(-1, len(labels))
    if inside[protocol.numbers[:-1] < 0].any():
        raise AlphabetError("a stratum that the protocol does not have", where="given", remedy=_SAME)
    place = {name: y for y, name in enumerate(labels)}
    found = {}
    for number, (key, model) in enumerate(models.items()):
        row = inside[int(np.flatnonzero(protocol.numbers == number)[0])]
        mine = np.array([row[place[name]] if name in place else 0 for name in model.labels[0]], np.int64)
        if row.sum() != mine.sum():
            raise TableError("a value that is no output of its stratum", where=first.columns[0], remedy=_SAME)
        found[key] = mine
    return found


_SAME = "Estimate with the protocol that the table was released with."


def pooled_model(protocol: Strata, models: dict[Stratum, ReleaseModel]) -> ReleaseModel:
    """All strata as one channel; the strata are the letters of one more attribute, which is not hidden."""
    first, several = next(iter(models.values())), len(protocol.given) > 1
    keys = tuple(models) if several else tuple(key[0] for key in models)
    stratum = Attribute("×".join(attribute.name for attribute in protocol.given), keys)
    sizes = [model.matrix.shape for model in models.values()]
    matrix = np.zeros((sum(rows for rows, _ in sizes), sum(columns for _, columns in sizes)))
    row = column = 0
    for model in models.values():
        matrix[row : row + len(model.matrix), column : column + model.matrix.shape[1]] = model.matrix
        row, column = row + len(model.matrix), column + model.matrix.shape[1]
    blocks = [model.excess for model in models.values()]
    excess = None
    if all(block is not None for block in blocks):
        parts = zip(protocol.shares, blocks, strict=True)
        excess = block_diag(*(share * block for share, block in parts if block is not None))
    names = tuple(f"{label(key)}: {name}" for key, model in models.items() for name in model.labels[0])
    return replace(
        first,
        matrix=matrix,
        attributes=(stratum, *first.attributes),
        prior=np.concatenate(
            [share * model.prior for share, model in zip(protocol.shares, models.values(), strict=True)]
        ),
        labels=(names,),
        notes=tuple(dict.fromkeys(note for model in models.values() for note in model.notes)),
        excess=excess,
    )
