"""From a release and its protocol to an estimate."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from discreet.channel import Channel
from discreet.estimate.counting import count_groups, count_outputs
from discreet.estimate.functionals import Analysis, Method
from discreet.estimate.model import Assumption, Model, check_size, common_prior, model_of, together, union
from discreet.estimate.result import Estimate, Placement
from discreet.estimate.sample import Integers, Sample
from discreet.exceptions import ParameterError
from discreet.protocol import Protocol

Released = Any
"""A file's path, a frame, an Arrow table, or an array with the counts of the outputs."""


def estimate(
    released: Released | Sequence[Released],
    protocol: Protocol | Channel | Sequence[Protocol | Channel],
    *,
    method: Method = "linear",
    on: Placement = "raw",
    assume: Assumption | None = None,
    pseudo_records: float = 0.0,
    column: str | None = None,
) -> Estimate:
    """The distribution of the released attributes, from a release and the protocol it was made with.

    - `method`: "linear" is unbiased, "likelihood" is the most likely distribution, with `pseudo_records` of the prior.
    - `on`: leave linear estimates "raw", "clip" each to [0, 1], or project all to the nearest distribution ("simplex").
    - `assume="P(s|x)"`: for a mechanism that also read the secret, take P(s|x) from the protocol's prior.
    - One table and a list of protocols: the columns of one table, drawn for the same records.
    - A list of tables and a list of protocols of the same length: independent releases about one population.
    """
    if isinstance(protocol, Protocol | Channel):
        models, tables = [model_of(protocol, assume, column)], [released]
    elif isinstance(released, list | tuple):
        models, tables = [model_of(one, assume, column) for one in protocol], list(released)
        if len(models) != len(tables):
            raise ParameterError(
                f"{len(tables)} releases and {len(models)} protocols", remedy="Give one protocol a release."
            )
    else:
        models, tables = [together([model_of(one, assume) for one in protocol])], [released]
    counts = [count_outputs(table, model) for table, model in zip(tables, models, strict=True)]
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
) -> dict[Hashable, Estimate]:
    """An estimate for every group of a public column that was kept in the release."""
    model = model_of(protocol, assume, column)
    groups = count_groups(released, model, by)
    return {name: _estimate([model], [counts], method, on, pseudo_records) for name, counts in groups.items()}


def _estimate(
    models: list[Model], counts: list[Integers], method: Method, on: Placement, pseudo_records: float
) -> Estimate:
    attributes = union([model.attributes for model in models])
    check_size([sum(len(model.matrix) for model in models), *(len(attribute) for attribute in attributes)])
    sample = Sample.of([(model.lifted(attributes), wave) for model, wave in zip(models, counts, strict=True)])
    analysis = Analysis(sample, common_prior(models, attributes), method, pseudo_records)
    asked = tuple(dict.fromkeys(name for model in models for name in model.asked))
    notes = tuple(dict.fromkeys(note for model in models for note in model.notes))
    return Estimate(analysis, attributes, asked, on, notes)
