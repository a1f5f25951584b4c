"""Combinations of letter frequencies, estimated: the one place where values, covariances and intervals come from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from discreet.arrays import Floats
from discreet.estimate.fitting import MostLikely, Sample, determined, left_inverse, most_likely
from discreet.estimate.identification import bounding_scores
from discreet.estimate.intervals import confidence_limits, is_uneven
from discreet.estimate.row_clusters import RowClusters
from discreet.exceptions import ParameterError

Method = Literal["linear", "likelihood"]
SLACK = 1.0
"""Standard errors of the outputs that bounds for combinations which are not determined allow for."""
UNSEEN_SHARE = 0.01
"""The part of the prior that is spread over all letters, so that every output has a weight."""


@dataclass(frozen=True, eq=False)
class Analysis:
    """A sample, the prior of its letters, and how they are estimated.

    `pseudo_records` regularise the likelihood: as many clean records, distributed as the prior, are added to it.
    `excess` is n times a covariance of the letters that comes on top of that of the outputs; `clusters` says that some
    rows are one person's.
    """

    sample: Sample
    prior: Floats
    method: Method = "linear"
    pseudo_records: float = 0.0
    excess: Floats | None = None
    clusters: RowClusters | None = None

    def __post_init__(self) -> None:
        if self.method not in ("linear", "likelihood"):
            raise ParameterError("an unknown method", where="method", remedy="Use 'linear' or 'likelihood'.")
        if not 0 <= self.pseudo_records < np.inf:
            raise ParameterError("not a number of records", where="pseudo_records", remedy="Give a number from 0.")
        if self.pseudo_records and self.method == "linear":
            raise ParameterError(
                "linear estimates are not regularised", where="pseudo_records", remedy="Use method='likelihood'."
            )

    @cached_property
    def evidence(self) -> Sample:
        """The sample as if every person had one row: what limits rest on."""
        return self.sample if self.clusters is None else self.sample.thinned(self.clusters.factor)

    @property
    def draws(self) -> Sample:
        """The sample of the outputs' own draws: rows that share one are one."""
        return self.evidence if self.clusters is not None and self.clusters.tied else self.sample

    def beside_outputs(self, rows: Floats, frequencies: Floats) -> Floats:
        """The covariance of rows · p̂ on top of that of the outputs: what replaced values add, and what rows of one
        person that are drawn each by itself have in common."""
        added = np.zeros((len(rows), len(rows)))
        if self.excess is not None:
            added += rows @ self.excess @ rows.T / self.draws.n
        if self.clusters is not None and not self.clusters.tied:
            mean = rows @ frequencies
            added += (self.clusters.factor - 1) * ((rows * frequencies) @ rows.T - np.outer(mean, mean)) / self.draws.n
        return added

    @cached_property
    def start(self) -> Floats:
        """The prior, with something for every letter."""
        return (1 - UNSEEN_SHARE) * self.prior + UNSEEN_SHARE / len(self.prior)

    @cached_property
    def fit(self) -> MostLikely:
        """The most likely distribution of the letters, unregularised."""
        return most_likely(self.sample.scaled, self.sample.counts.astype(float), self.start)

    @cached_property
    def regularised(self) -> MostLikely:
        if not self.pseudo_records:
            return self.fit
        matrix = np.concatenate([self.sample.scaled, np.eye(len(self.start))])
        counts = np.concatenate([self.sample.counts, self.pseudo_records * self.start])
        return most_likely(matrix, counts, self.start)

    @cached_property
    def smoothed(self) -> Floats:
        """The fit and one record more, distributed as the prior: where a letter was not seen, it still may exist."""
        return np.asarray((self.sample.n * self.fit.frequencies + self.start) / (self.sample.n + 1))

    @cached_property
    def blind(self) -> Floats:
        """L weighted by the prior: scores that do not depend on the release."""
        return left_inverse(self.sample.scaled, self.start)

    @cached_property
    def efficient(self) -> Floats:
        """L weighted by the fit: the linear estimate that the likelihood's is close to when there are many records."""
        return left_inverse(self.sample.scaled, self.smoothed)


@dataclass(frozen=True, eq=False)
class Functionals:
    """θ = rows · p for rows over the letters of an analysis."""

    analysis: Analysis
    rows: Floats

    @cached_property
    def determined(self) -> NDArray[np.bool_]:
        return determined(self.rows, self.analysis.blind, self.analysis.sample.scaled)

    @cached_property
    def blind_scores(self) -> Floats:
        """l with l Q = w, one row per combination that is determined, fixed before the release is seen."""
        return np.asarray(self.rows[self.determined] @ self.analysis.blind)

    @cached_property
    def scores(self) -> Floats:
        """The scores whose law the standard errors describe."""
        if self.analysis.method == "linear":
            return self.blind_scores
        return np.asarray(self.rows[self.determined] @ self.analysis.efficient)

    @cached_property
    def values(self) -> Floats:
        """The estimates, not a number where the sample does not determine them."""
        values = np.full(len(self.rows), np.nan)
        if self.analysis.method == "linear":
            values[self.determined] = self.scores @ self.analysis.sample.shares
        else:
            values[self.determined] = self.rows[self.determined] @ self.analysis.regularised.finished().frequencies
        return values

    @cached_property
    def covariance(self) -> Floats:
        """Linear: unbiased, from the shares observed. Likelihood: the inverse Fisher information at the fit."""
        sample, known = self.analysis.draws, np.ix_(self.determined, self.determined)
        covariance = np.full((len(self.rows), len(self.rows)), np.nan)
        if self.analysis.method == "linear":
            unbiased = np.sqrt(sample.sizes / (sample.sizes - 1))[sample.wave]
            centred = (
                self.scores - np.add.reduceat(self.scores * sample.empirical, sample.starts, axis=1)[:, sample.wave]
            )
            covariance[known] = sample.covariance(centred * unbiased, sample.empirical)
        else:
            covariance[known] = sample.covariance(self.scores, sample.matrix @ self.analysis.smoothed)
        covariance[known] += self.analysis.beside_outputs(self.rows[self.determined], self.analysis.smoothed)
        return covariance

    def blind_covariance(self, frequencies: Floats) -> Floats:
        """The covariance that the unbiased linear estimates have if these are the frequencies of the letters."""
        sample = self.analysis.draws
        return sample.covariance(self.blind_scores, sample.matrix @ frequencies) + self.analysis.beside_outputs(
            self.rows[self.determined], frequencies
        )

    @cached_property
    def stretch(self) -> Floats:
        """How much longer than those of the outputs alone the errors are."""
        excess, n = self.analysis.excess, self.analysis.sample.n
        if excess is None:
            return np.ones(len(self.rows))
        added = np.einsum("ij,jk,ik->i", self.rows, excess, self.rows) / n
        spread = (self.rows**2 @ self.analysis.smoothed - (self.rows @ self.analysis.smoothed) ** 2) / n
        return np.asarray(np.sqrt(1 + np.maximum(added, 0) / np.maximum(spread, np.finfo(float).tiny)))

    @cached_property
    def standard_errors(self) -> Floats:
        return np.sqrt(np.diag(self.covariance))

    @cached_property
    def switched(self) -> NDArray[np.bool_]:
        """Determined combinations for which the normal approximation fails: judged with one more record a letter."""
        switched = np.zeros(len(self.rows), dtype=bool)
        n, fitted = self.analysis.evidence.n, self.analysis.fit.frequencies
        cautious = (n * fitted + 1) / (n + len(fitted))
        switched[self.determined] = is_uneven(self.analysis.evidence, cautious, self.blind_scores)
        return switched

    @cached_property
    def _bounding(self) -> tuple[Floats, Floats]:
        """Scores for confidence limits: the sharpest at the fit when its outputs may be off by a standard error."""
        sample, fitted = self.analysis.evidence, self.analysis.fit.frequencies
        spread = np.sqrt(sample.scaled @ self.analysis.smoothed / sample.n)
        return bounding_scores(sample.scaled, self.rows[~self.determined], fitted, SLACK * spread)

    @cached_property
    def bounds(self) -> Floats:
        """Smallest and largest value that the fitted outputs allow; both are the estimate where it is determined."""
        bounds = np.repeat(self.values[:, None], 2, axis=1)
        if not self.determined.all():
            matrix, fitted = self.analysis.sample.scaled, self.analysis.fit.frequencies
            sharpest = bounding_scores(matrix, self.rows[~self.determined], fitted)
            bounds[~self.determined] = np.column_stack([scores @ (matrix @ fitted) for scores in sharpest])
            bounds = np.clip(bounds, *self._range)
        return bounds

    @property
    def _range(self) -> tuple[Floats, Floats]:
        """Smallest and largest value on all distributions."""
        return self.rows.min(axis=1, keepdims=True), self.rows.max(axis=1, keepdims=True)

    def limits(self, level: float) -> Floats:
        """Lower and upper confidence limits.

        Normal where that holds, tests inverted where it does not; bounds with their own uncertainty where the
        combination is not determined.
        """
        if not 0 < level < 1:
            raise ParameterError("a level outside (0, 1)", where="interval", remedy="Use 0.95 for 95 %.")
        sample, fitted = self.analysis.evidence, self.analysis.fit.frequencies
        centre = np.full(len(self.rows), np.nan)
        centre[self.determined] = self.scores @ sample.shares
        half = float(ndtri((1 + level) / 2)) * self.standard_errors
        limits = np.column_stack([centre - half, centre + half])
        if self.switched.any():
            scores = self.blind_scores[self.switched[self.determined]]
            limits[self.switched] = confidence_limits(sample, fitted, scores, scores, level)
            middle = centre[self.switched, None]
            limits[self.switched] = middle + (limits[self.switched] - middle) * self.stretch[self.switched, None]
        if not self.determined.all():
            limits[~self.determined] = confidence_limits(sample, fitted, *self._bounding, level)
            wide = np.column_stack(
                [np.minimum(limits[:, 0], self.bounds[:, 0]), np.maximum(limits[:, 1], self.bounds[:, 1])]
            )
            limits = np.where(self.determined[:, None], limits, np.clip(wide, *self._range))
        return limits
