"""From a release and its protocol to an estimate.

All that an estimate needs of a release is how often each output occurs: the outputs of a table of any kind and size are
counted batch by batch (`records`), those of several protocols brought to common letters (`release_model`), and the rest
is the mathematics of `fitting` and `functionals`. Learners that take weighted examples need the output of every record
as well, which is read here too.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.arrays import Indices, Integers
from discreet.channel import Channel
from discreet.estimate.fitting import Sample
from discreet.estimate.functionals import Analysis, Method
from discreet.estimate.pooling import pooled_model, stratum_counts, stratum_models
from discreet.estimate.release_model import (
    Assumption,
    ReleaseModel,
    check_size,
    common_prior,
    model_of,
    product_model,
    union,
)
from discreet.estimate.result import Estimate, Placement
from discreet.exceptions import AlphabetError, ParameterError, TableError
from discreet.given_columns import Stratum
from discreet.protocol import Protocol
from discreet.protocol.strata import StratifiedProtocol
from discreet.records.counting import tabulated
from discreet.records.letters import Alphabet, LabelReader, indexed
from discreet.records.source import open_records

Released = Any
"""A path, a frame, an Arrow table or stream, or an array with the counts of the outputs."""


def estimate(
    released: Released | Sequence[Released],
    protocol: Protocol | StratifiedProtocol | Channel | Sequence[Protocol | Channel],
    *,
    method: Method = "linear",
    on: Placement = "raw",
    assume: Assumption | None = None,
    pseudo_records: float = 0.0,
    column: str | None = None,
    encoding: str | None = None,
) -> Estimate:
    """The distribution of the released attributes, from a release and the protocol it was made with.

    - `method`: "linear" is unbiased, "likelihood" is the most likely distribution, with `pseudo_records` of the prior.
    - `on`: leave linear estimates "raw", "clip" each to [0, 1], or project all to the nearest distribution ("simplex").
    - `assume="P(s|x)"`: for a mechanism that also read the secret, take P(s|x) from the protocol's prior.
    - One table and a list of protocols: the columns of one table, drawn for the same records.
    - A list of tables and a list of protocols of the same length: independent releases about one population.
    - A protocol with given columns: all strata together; `estimate_strata` has each by itself.
    - `encoding`: that of CSV files without byte order mark; UTF-8 if not given.
    """
    if isinstance(protocol, StratifiedProtocol):
        each = stratum_models(protocol, assume, column)
        found = stratum_counts(released, protocol, each, encoding)
        return _estimate(
            [pooled_model(protocol, each)], [np.concatenate(list(found.values()))], method, on, pseudo_records
        )
    if isinstance(protocol, Protocol | Channel):
        models, tables = [model_of(protocol, assume, column)], [released]
    elif isinstance(released, list | tuple):
        models, tables = [model_of(one, assume, column) for one in protocol], list(released)
        if len(models) != len(tables):
            raise ParameterError(
                f"{len(tables)} releases and {len(models)} protocols", remedy="Give one protocol per release."
            )
    else:
        models, tables = [product_model([model_of(one, assume) for one in protocol])], [released]
    counts = [count_outputs(table, model, encoding) for table, model in zip(tables, models, strict=True)]
    return _estimate(models, counts, method, on, pseudo_records)


def estimate_by(
    released: Released,
    protocol: Protocol | Channel,
    by: str,
    *,
    method: Method = "linear",
    on: Placement = "raw",
    assume: Assumption | None = None,
    pseudo_records: float = 0.0,
    column: str | None = None,
    encoding: str | None = None,
) -> dict[Hashable, Estimate]:
    """An estimate for every group of a public column that was kept in the release."""
    model = model_of(protocol, assume, column)
    groups = count_groups(released, model, by, encoding)
    return {name: _estimate([model], [counts], method, on, pseudo_records) for name, counts in groups.items()}


def estimate_strata(
    released: Released,
    protocol: StratifiedProtocol,
    *,
    method: Method = "linear",
    on: Placement = "raw",
    assume: Assumption | None = None,
    pseudo_records: float = 0.0,
    column: str | None = None,
    encoding: str | None = None,
) -> dict[Stratum, Estimate]:
    """An estimate for every stratum of the given columns that has records, by its own protocol."""
    models = stratum_models(protocol, assume, column)
    counts = stratum_counts(released, protocol, models, encoding)
    return {
        key: _estimate([models[key]], [mine], method, on, pseudo_records) for key, mine in counts.items() if mine.any()
    }


def _estimate(
    models: list[ReleaseModel], counts: list[Integers], method: Method, on: Placement, pseudo_records: float
) -> Estimate:
    attributes = union([model.attributes for model in models])
    check_size([sum(len(model.matrix) for model in models), *(len(attribute) for attribute in attributes)])
    sample = Sample.of([(model.lifted(attributes), wave) for model, wave in zip(models, counts, strict=True)])
    analysis = Analysis(sample, common_prior(models, attributes), method, pseudo_records)
    asked = tuple(dict.fromkeys(name for model in models for name in model.asked))
    notes = tuple(dict.fromkeys(note for model in models for note in model.notes))
    return Estimate(analysis, attributes, asked, on, notes)


# ---- the outputs of a released table --------------------------------------------------------------------------------


def count_outputs(released: Released, model: ReleaseModel, encoding: str | None = None) -> Integers:
    """How often each output occurs; outputs of several columns in C order."""
    if isinstance(released, np.ndarray):
        return _given(released, model)
    with open_records(released, model.columns, encoding=encoding, in_order=False) as source:
        return _outputs_only(tabulated(source, _readers(model)), model).reshape(-1)


def count_groups(
    released: Released, model: ReleaseModel, by: str, encoding: str | None = None
) -> dict[Hashable, Integers]:
    """How often each output occurs in each group of a public column; letters of the groups as text, None if missing."""
    if by in model.columns:
        raise AlphabetError("groups need a public column", where=by, remedy="Name a column that was kept as it was.")
    groups = Alphabet.of_texts(by)
    with open_records(released, [*model.columns, by], encoding=encoding) as source:
        counts = _outputs_only(tabulated(source, [groups, *_readers(model)]), model)
    each = counts.reshape(len(groups), len(model.matrix))
    return {name: each[number] for number, name in enumerate(groups.met) if each[number].any()}


def outputs_of(released: Released, model: ReleaseModel, encoding: str | None = None) -> Indices:
    """The number of every record's output, in the order of the table."""
    with open_records(released, model.columns, encoding=encoding) as source:
        readers = _readers(model)
        return np.concatenate([np.zeros(0, np.intp), *(_outputs(batch, readers) for batch in source)])


def outputs_and_groups(
    released: Released, model: ReleaseModel, by: str, encoding: str | None = None
) -> tuple[Indices, list[Hashable]]:
    """The number of every record's output, and its group."""
    groups, readers = Alphabet.of_texts(by), _readers(model)
    outputs, numbers = [np.zeros(0, np.intp)], [np.zeros(0, np.intp)]
    with open_records(released, [*model.columns, by], encoding=encoding) as source:
        for batch in source:
            outputs.append(_outputs(batch, readers))
            values, indices = indexed(batch.column(by))
            numbers.append(groups.numbers(values).take(indices))
    names = groups.met
    return np.concatenate(outputs), [names[number] for number in np.concatenate(numbers)]


def _given(counts: NDArray[Any], model: ReleaseModel) -> Integers:
    if counts.shape != (len(model.matrix),) or counts.dtype.kind not in "iu" or (counts < 0).any():
        raise TableError(
            f"not {len(model.matrix)} counts", where="released", remedy="Give one whole number per output, or a table."
        )
    return counts.astype(np.int64)


def _readers(model: ReleaseModel) -> list[LabelReader]:
    return [LabelReader(name, labels) for name, labels in zip(model.columns, model.labels, strict=True)]


def _outputs_only(counts: Integers, model: ReleaseModel) -> Integers:
    """Without the last place of every output's axis, which is for what is no output, and must be empty."""
    for axis, name in zip(range(-len(model.columns), 0), model.columns, strict=True):
        if counts.take(-1, axis=axis).any():
            raise _no_output(name)
    places: Any = (..., *(slice(-1) for _ in model.columns))
    return np.asarray(counts[places])


def _outputs(batch: pa.RecordBatch, readers: Sequence[LabelReader]) -> Indices:
    """The number of every record's output; several columns in C order."""
    outputs = np.zeros(len(batch), np.intp)
    for reader in readers:
        values, indices = indexed(batch.column(reader.name))
        mine = reader.numbers(values).take(indices)
        if (mine == len(reader.labels)).any():
            raise _no_output(reader.name)
        outputs = outputs * len(reader.labels) + mine
    return outputs


def _no_output(column: str) -> TableError:
    return TableError(
        "a value that is no output of this protocol",
        where=column,
        remedy="Estimate with the protocol that the table was released with.",
    )
