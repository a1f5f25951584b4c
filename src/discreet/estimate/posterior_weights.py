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

from discreet.arrays import Floats, whole
from discreet.channel import Channel
from discreet.estimate.estimation import outputs_and_groups, outputs_of
from discreet.estimate.fitting import on_simplex
from discreet.estimate.many_letters import SparseAnalysis
from discreet.estimate.release_model import Assumption, ReleaseModel, marginal_rows, model_of
from discreet.estimate.result import Estimate
from discreet.exceptions import AlphabetError, ParameterError
from discreet.protocol import Protocol
from discreet.protocol.public import PublicProtocol


def posterior(
    protocol: Protocol | PublicProtocol | Channel, estimate: Estimate, *, assume: Assumption | None = None
) -> Floats:
    """P(x | y), one row per output of the protocol, one column per letter of the estimate; rows add up to one.

    Arguments:
        protocol: the one of the release.
        estimate: of the release.
        assume: as in `estimate`.
    Returns:
        An array.
    Raises:
        AlphabetError: an estimate of other letters than the protocol reads.
    Example:
        >>> import discreet as dc, numpy as np
        >>> from discreet.estimate import posterior
        >>> channel = dc.Channel([[0.9, 0.2], [0.1, 0.8]])
        >>> posterior(channel, dc.estimate(np.array([70, 30]), channel)).round(2).tolist()
        [[0.92, 0.08], [0.24, 0.76]]
    """
    return _posterior(model_of(protocol, assume), estimate)


def weighted(
    released: Any,
    protocol: Protocol | PublicProtocol | Channel,
    estimates: Estimate | Mapping[Hashable, Estimate],
    *,
    by: str | None = None,
    assume: Assumption | None = None,
    column: str | None = None,
    encoding: str | None = None,
) -> Floats:
    """P(x | y) for every record of a release, or P(x | y, c) with the estimates of `estimate_by` and its column.

    Arguments:
        released: the release.
        protocol: the one it was made with.
        estimates: what `estimate` or `estimate_by` returned.
        by: with `estimate_by`, its column.
        assume: as in `estimate`.
        column: the released column, where its name is another.
        encoding: that of CSV files without byte order mark.
    Returns:
        An array with one row per record, for weighted tables and regressions.
    Raises:
        ParameterError: several estimates without their column.
        TableError: a value in the release that is no output of the protocol.
    Example:
        >>> import discreet as dc, pyarrow as pa
        >>> from discreet.estimate import weighted
        >>> channel = dc.Channel([[0.9, 0.2], [0.1, 0.8]], outputs=["a", "b"])
        >>> table = pa.table({"release": ["a"] * 70 + ["b"] * 30})
        >>> found = dc.estimate(table, channel, column="release")
        >>> weights = weighted(table, channel, found, column="release")
        >>> weights.shape, weights.mean(axis=0).round(3).tolist() == found.frequencies.round(3).tolist()
        ((100, 2), True)
    """
    model = model_of(protocol, assume, column)
    if isinstance(estimates, Estimate):
        return _posterior(model, estimates)[outputs_of(released, model, encoding)]
    if by is None:
        raise ParameterError("estimates of groups need their column", where="by", remedy="Name the public column.")
    outputs, groups = outputs_and_groups(released, model, by, encoding)
    if missing := {*groups} - {*estimates}:
        raise AlphabetError(
            f"{len(missing)} groups without an estimate",
            where=by,
            remedy="Use estimate_by of this release; a group of a single record has none: leave it out of both.",
        )
    names = list(estimates)
    tables = np.stack([_posterior(model, estimates[name]) for name in names])
    return np.asarray(tables[[names.index(group) for group in groups], outputs])


def _posterior(model: ReleaseModel, estimate: Estimate) -> Floats:
    everything = estimate.table([attribute.name for attribute in model.attributes])
    frequencies = _distribution(everything)
    masses = whole(model.matrix) * frequencies
    rows = marginal_rows(model.attributes, model.asked)
    summed = masses @ rows.T
    totals = summed.sum(axis=1, keepdims=True)
    return np.asarray(np.where(totals > 0, summed / np.where(totals > 0, totals, 1), rows @ frequencies))


def _distribution(estimate: Estimate) -> Floats:
    """The estimate as a distribution; the most likely one where not all of a linear one is determined."""
    analysis = estimate.analysis
    linear = isinstance(analysis, SparseAnalysis) or analysis.method == "linear"
    if linear and estimate.determined.all():
        return on_simplex(estimate.functionals.values)
    if isinstance(analysis, SparseAnalysis):
        raise ParameterError(
            "very many letters, not all of them determined", where="weights", remedy="Use fewer letters, grouped."
        )
    return np.asarray(estimate.functionals.rows @ analysis.regularised.finished().frequencies)
