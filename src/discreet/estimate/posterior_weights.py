"""P(x | y): how likely each letter is for a released record, as weights for learners such as scikit-learn's.

A learner that takes weighted examples is given every record once per letter, with weight P(x | y). Where a public
column c matters (the class that is to be predicted), the letters' frequencies are estimated in each of its groups, so
that the weights are P(x | y, c) ∝ Q[y, x] P(x | c): weights with the overall P(x) pull the groups together. Many
letters and few records make P(x | c) noisy, and then its likelihood should be regularised by `pseudo_records`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.channel import Channel
from discreet.estimate.estimation import outputs_and_groups, outputs_of
from discreet.estimate.fitting import on_simplex
from discreet.estimate.release_model import Assumption, ReleaseModel, marginal_rows, model_of
from discreet.estimate.result import Estimate
from discreet.exceptions import AlphabetError, ParameterError
from discreet.protocol import Protocol


def posterior(protocol: Protocol | Channel, estimate: Estimate, *, assume: Assumption | None = None) -> Floats:
    """P(x | y), one row per output of the protocol, one column per letter of the estimate; rows add up to one."""
    return _posterior(model_of(protocol, assume), estimate)


def weighted(
    released: Any,
    protocol: Protocol | Channel,
    estimates: Estimate | Mapping[Hashable, Estimate],
    *,
    by: str | None = None,
    assume: Assumption | None = None,
    column: str | None = None,
    encoding: str | None = None,
) -> Floats:
    """P(x | y) for every record of a release, or P(x | y, c) with the estimates of `estimate_by` and its column."""
    model = model_of(protocol, assume, column)
    if isinstance(estimates, Estimate):
        return _posterior(model, estimates)[outputs_of(released, model, encoding)]
    if by is None:
        raise ParameterError("estimates of groups need their column", where="by", remedy="Name the public column.")
    outputs, groups = outputs_and_groups(released, model, by, encoding)
    if missing := {*groups} - {*estimates}:
        raise AlphabetError(f"{len(missing)} groups without an estimate", where=by, remedy="Use estimate_by.")
    names = list(estimates)
    tables = np.stack([_posterior(model, estimates[name]) for name in names])
    return np.asarray(tables[[names.index(group) for group in groups], outputs])


def _posterior(model: ReleaseModel, estimate: Estimate) -> Floats:
    whole = estimate.table([attribute.name for attribute in model.attributes])
    frequencies = _distribution(whole)
    masses = model.matrix * frequencies
    rows = marginal_rows(model.attributes, model.asked)
    summed = masses @ rows.T
    totals = summed.sum(axis=1, keepdims=True)
    return np.asarray(np.where(totals > 0, summed / np.where(totals > 0, totals, 1), rows @ frequencies))


def _distribution(estimate: Estimate) -> Floats:
    """The estimate as a distribution; the most likely one where not all of a linear one is determined."""
    if estimate.analysis.method == "linear" and estimate.determined.all():
        return on_simplex(estimate.functionals.values)
    return np.asarray(estimate.functionals.rows @ estimate.analysis.regularised.finished().frequencies)
