"""From a release and its protocol to an estimate.

All that an estimate needs of a release is how often each output occurs: the outputs of a table of any kind and size are
counted batch by batch (`records`), those of several protocols brought to common letters (`release_model`), and the rest
is the mathematics of `fitting` and `functionals`. Learners that take weighted examples need the output of every record
as well, which is read here too.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.arrays import Indices, Integers, whole
from discreet.channel import Channel
from discreet.estimate.fitting import LEAST_RECORDS, Sample
from discreet.estimate.functionals import Analysis, Method
from discreet.estimate.kept_law import are_counted
from discreet.estimate.many_letters import SparseAnalysis, SparseSample
from discreet.estimate.pooling import Strata, pooled_model, stratum_counts, stratum_models
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
from discreet.estimate.row_clusters import at_most, clusters_of, widest
from discreet.exceptions import AlphabetError, ParameterError, TableError
from discreet.given_columns import Stratum
from discreet.phrases import shown
from discreet.protocol import Protocol
from discreet.protocol.public import PublicProtocol
from discreet.records.cells import indexed
from discreet.records.counting import tabulated
from discreet.records.letters import Alphabet, LabelReader
from discreet.records.source import open_records

Released = Any
"""A path, a frame, an Arrow table or stream, or an array with the counts of the outputs."""
Options = tuple[Method, Placement, float, int | None]
"""How to estimate: method, placement, pseudo-records and rows of a person."""
MOST_NAMED = 8
"""More groups than these are told by their number."""


def estimate(
    released: Released | Sequence[Released],
    protocol: Protocol | PublicProtocol | Strata | Channel | Sequence[Protocol | PublicProtocol | Channel],
    *,
    method: Method = "linear",
    on: Placement = "raw",
    assume: Assumption | None = None,
    pseudo_records: float = 0.0,
    column: str | None = None,
    encoding: str | None = None,
    rows_per_person: int | None = None,
) -> Estimate:
    """The distribution of the released attributes, from a release and the protocol it was made with, full or public.

    One table and a list of protocols are the columns of one table, drawn for the same records. A list of tables and a
    list of protocols of the same length are independent releases about one population. A protocol with given columns
    gives all strata together; `estimate_strata` has each by itself.

    Arguments:
        released: a table, a path, or counts of the outputs in their order; or a list.
        protocol: the one it was made with, a channel, or a list.
        method: "linear" is unbiased, "likelihood" is the most likely distribution.
        on: leave linear estimates "raw", "clip" each to [0, 1], or project all to the nearest distribution ("simplex").
        assume: "P(s|x)", for a mechanism that also read the secret: take it from the protocol's prior. "counted":
            values keep their law, and these are the records that were counted: count them as they are; that is the
            default for as many records as were counted from the table itself, unless their outputs contradict it;
            "nothing" undoes it.
        pseudo_records: with "likelihood", so many records of the prior.
        column: the released column, where its name is another.
        encoding: that of CSV files without byte order mark; UTF-8 if not given.
        rows_per_person: at most so many rows of one person are in the release; errors are widened for it, and for what
            a protocol with tied or independent rows says by itself.
    Returns:
        An `Estimate`: `letters`, `frequencies`, `standard_errors`, `interval(0.95)`, `notes`.
    Raises:
        TableError: a value in the release that is no output of the protocol.
        AlphabetError: no such column, or releases whose letters do not fit together.
        ParameterError: as many protocols as tables are needed, or an option out of range.
    Example:
        >>> import discreet, numpy
        >>> found = discreet.estimate(numpy.array([70, 30]), discreet.Channel([[0.9, 0.2], [0.1, 0.8]]))
        >>> found.frequencies.round(3).tolist()
        [0.714, 0.286]
    """
    if isinstance(protocol, Strata):
        each, found = _each_stratum(released, protocol, assume, column, encoding)
        return _estimate(
            [pooled_model(protocol, each)], [np.concatenate(list(found.values()))], method, on, pseudo_records,
            rows_per_person,
        )  # fmt: skip
    if isinstance(protocol, Protocol | PublicProtocol | Channel):
        model = model_of(protocol, assume, column)
        mine = count_outputs(released, model, encoding)
        counted, notes = are_counted([(protocol, model, mine)]) if assume is None else (False, ())
        model = model_of(protocol, "counted", column) if counted else replace(model, notes=(*model.notes, *notes))
        if counted:
            mine = np.concatenate([mine, np.zeros(model.size - len(mine), np.int64)])
        return _estimate([model], [mine], method, on, pseudo_records, rows_per_person)
    if assume == "counted" and len(protocol) > 1:
        raise ParameterError(
            "several protocols whose values are counted as they are", where="assume",
            remedy="What each keeps is the law of its own columns and table: estimate each release by itself.",
        )  # fmt: skip
    if isinstance(released, list | tuple):
        models, tables = [model_of(one, assume, column) for one in protocol], list(released)
        if len(models) != len(tables):
            raise ParameterError(
                f"{len(tables)} releases and {len(models)} protocols", remedy="Give one protocol per release."
            )
    else:
        models, tables = [product_model([model_of(one, assume) for one in protocol])], [released]
    counts = [count_outputs(table, model, encoding) for table, model in zip(tables, models, strict=True)]
    return _estimate(models, counts, method, on, pseudo_records, rows_per_person)


def estimate_by(
    released: Released,
    protocol: Protocol | PublicProtocol | Channel,
    by: str,
    *,
    method: Method = "linear",
    on: Placement = "raw",
    assume: Assumption | None = None,
    pseudo_records: float = 0.0,
    column: str | None = None,
    encoding: str | None = None,
    rows_per_person: int | None = None,
) -> dict[Hashable, Estimate]:
    """An estimate for every group of a public column that was kept in the release.

    A group of a single record has no estimate, and is named in the notes of the others. P(s|x) of the whole table is
    not that of a group, so where the mechanism read the secret nothing is assumed about it unless `assume` says so.

    Arguments:
        released: the release, with the column `by`.
        protocol: the one it was made with, full or public.
        by: a public column that was kept.
        …: those of `discreet.estimate.estimate`.
    Returns:
        By the values of the column, an `Estimate`, for groups of two records or more.
    Raises:
        AlphabetError: no such column, or a column that is secret or released.
        ParameterError: a protocol with given columns.
        TableError: a value in the release that is no output of the protocol, or no group of two records.
    Example:
        >>> import discreet as dc, pyarrow as pa
        >>> from discreet.estimate import estimate_by
        >>> channel = dc.Channel([[0.9, 0.2], [0.1, 0.8]], inputs=["a", "b"], outputs=["a", "b"])
        >>> table = pa.table({"release": ["a"] * 70 + ["b"] * 30, "town": ["N", "S"] * 50})
        >>> {town: found.n for town, found in estimate_by(table, channel, "town", column="release").items()}
        {'N': 50, 'S': 50}
    """
    if isinstance(protocol, Strata):
        remedy = "estimate_strata has each stratum by itself; estimate has all of them together."
        raise ParameterError("a protocol with given columns, which are its groups", where="estimate_by", remedy=remedy)
    model = model_of(protocol, assume or "nothing", column)
    counts = count_groups(released, model, by, encoding)
    return _each(dict.fromkeys(counts, model), counts, method, on, pseudo_records, rows_per_person)


def estimate_strata(
    released: Released,
    protocol: Strata,
    *,
    method: Method = "linear",
    on: Placement = "raw",
    assume: Assumption | None = None,
    pseudo_records: float = 0.0,
    column: str | None = None,
    encoding: str | None = None,
    rows_per_person: int | None = None,
) -> dict[Stratum, Estimate]:
    """An estimate for every stratum of the given columns that has two records or more, by its own protocol.

    Arguments:
        released: the release, with the given columns.
        protocol: one with given columns, full or public.
        …: those of `discreet.estimate.estimate`.
    Returns:
        By the letters of the given columns, an `Estimate`.
    Raises:
        AlphabetError: a given column that the release does not have.
        TableError: a value in the release that is no output of the protocol, or no group of two records.
    Example:
        >>> import discreet as dc, pyarrow as pa
        >>> from discreet.estimate import estimate_strata
        >>> rows = [("a", "x", "k")] * 300 + [("a", "y", "m")] * 200 + [("b", "y", "k")] * 300 + [("b", "x", "m")] * 200
        >>> table = pa.table(dict(zip(("s", "x", "given"), zip(*rows), strict=True)))
        >>> joint = dc.Joint.from_table(table, secret="s", release="x", given="given")
        >>> protocol = dc.design(joint, dc.LIP(0.5)).protocol
        >>> found = estimate_strata(protocol.sanitise(table), protocol)
        >>> {stratum: one.n for stratum, one in found.items()}
        {('k',): 600, ('m',): 400}
    """
    models, counts = _each_stratum(released, protocol, assume, column, encoding)
    return _each(models, counts, method, on, pseudo_records, rows_per_person)


def _each(
    models: Mapping[Any, ReleaseModel], counts: Mapping[Any, Integers], *options: *Options
) -> dict[Any, Estimate]:
    """An estimate of every group of two records or more; the others say which were left out."""
    sizes = {key: int(mine.sum()) for key, mine in counts.items() if mine.any()}
    enough = [key for key, size in sizes.items() if size >= LEAST_RECORDS]
    single = [key[0] if isinstance(key, tuple) and len(key) == 1 else key for key in sizes if key not in enough]
    if not enough:
        raise TableError(
            "no group of two records or more",
            where="the release",
            remedy="Estimate all records together, without groups.",
        )
    named = f"{len(single):,} groups" if len(single) > MOST_NAMED else ", ".join(map(shown, single))
    said = (f"Left out, having a single record, of which nothing can be estimated: {named}.",) if single else ()
    told = {key: replace(models[key], notes=(*models[key].notes, *said)) for key in enough}
    return {key: _estimate([told[key]], [counts[key]], *options, part=True) for key in enough}


def _each_stratum(
    released: Released, protocol: Strata, assume: Assumption | None, column: str | None, encoding: str | None
) -> tuple[dict[Stratum, ReleaseModel], dict[Stratum, Integers]]:
    """Model and counts of every stratum; values are counted as they are where every stratum is the one counted."""
    models = stratum_models(protocol, assume, column)
    counts = stratum_counts(released, protocol, models, encoding)
    waves = [(one, models[key], counts[key]) for key, one in protocol.strata.items()]
    counted, notes = are_counted(waves) if assume is None else (False, ())
    if counted:
        models = stratum_models(protocol, "counted", column)
        counts = stratum_counts(released, protocol, models, encoding)
    return {key: replace(model, notes=(*model.notes, *notes)) for key, model in models.items()}, counts


def _estimate(
    models: list[ReleaseModel],
    counts: list[Integers],
    method: Method,
    on: Placement,
    pseudo_records: float,
    rows_per_person: int | None,
    *,
    part: bool = False,
) -> Estimate:
    attributes = union([model.attributes for model in models])
    said = [] if rows_per_person is None else [at_most(rows_per_person)]
    stated = [(model.rows, int(wave.sum())) for model, wave in zip(models, counts, strict=True)]
    clusters = widest(said or [clusters_of(rows, n, part=part) for rows, n in stated if rows is not None])
    asked = tuple(dict.fromkeys(name for model in models for name in model.asked))
    notes = tuple(dict.fromkeys(note for model in models for note in model.notes))
    notes += () if clusters is None else (clusters.note,)
    if len(models) == 1 and not isinstance(models[0].matrix, np.ndarray):
        if method != "linear":
            raise ParameterError(
                "the most likely distribution of very many letters", where="method", remedy="Use method='linear'."
            )
        factor = 1.0 if clusters is None else clusters.factor
        thin = SparseSample(models[0].matrix, counts[0], models[0].prior, factor)
        return Estimate(SparseAnalysis(thin), attributes, asked, on, notes)
    check_size([sum(model.size for model in models), *(len(attribute) for attribute in attributes)])
    sample = Sample.of([(whole(model.lifted(attributes)), wave) for model, wave in zip(models, counts, strict=True)])
    excess = models[0].excess if len(models) == 1 else None
    analysis = Analysis(sample, common_prior(models, attributes), method, pseudo_records, excess, clusters)
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
    each = counts.reshape(len(groups), model.size)
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
    if counts.shape != (model.size,) or counts.dtype.kind not in "iu" or (counts < 0).any():
        raise TableError(
            f"not {model.size} counts", where="released", remedy="Give one whole number per output, or a table."
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
