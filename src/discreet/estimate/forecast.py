"""Before a release: how accurate will analysts be?

At the prior p the unbiased linear estimate with weights 1/(Qp) and the most likely distribution have the same
asymptotic covariance ((Qᵀ diag(1/Qp) Q)⁻¹ − p pᵀ)/n, so it is known before a single record is released.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtri

from discreet.alphabet import letters_of
from discreet.channel import Channel
from discreet.estimate.linear import determined, left_inverse
from discreet.estimate.model import Assumption, averaged_over_secret, marginal_rows
from discreet.estimate.sample import Floats
from discreet.exceptions import InfeasibleError, ParameterError
from discreet.joint import Joint
from discreet.protocol import Protocol

EVERY_LETTER = 1e-6
"""The part of the prior that is spread over all letters, so that outputs of unseen letters have a weight."""


@dataclass(frozen=True, eq=False)
class Forecast:
    """The standard errors to expect from n records; infinite where the release will not determine a frequency."""

    letters: tuple[Hashable, ...]
    frequencies: Floats
    standard_errors: Floats
    n: int

    def half_widths(self, level: float = 0.95) -> Floats:
        """Half of the confidence interval to expect, where the normal approximation holds."""
        return np.asarray(ndtri((1 + level) / 2) * self.standard_errors)

    @cached_property
    def effective_sample_size(self) -> float:
        """The clean records that are worth as much: Σ p(1 − p) / Σ Var(p̂)."""
        return float((self.frequencies * (1 - self.frequencies)).sum() / (self.standard_errors**2).sum())


def forecast(
    channel: Protocol | Channel, joint: Joint, n: int, *, names: Sequence[str] = (), assume: Assumption | None = None
) -> Forecast:
    """What analysts will get from n records if P is right; `names` asks for some attributes instead of all."""
    if n < 1:
        raise ParameterError("not a number of records", where="n", remedy="Give a whole number from 1.")
    matrix, attributes, prior = channel.matrix, joint.releases, joint.prior
    if joint.sees_secret and assume:
        matrix, prior = averaged_over_secret(matrix, joint), joint.target_prior
    elif joint.reads_secret:
        attributes = joint.secrets + joint.releases
    asked = names or [attribute.name for attribute in (attributes if joint.include_secret else joint.releases)]
    rows = marginal_rows(attributes, asked)
    possible = matrix[matrix.any(axis=1)]
    spread = (1 - EVERY_LETTER) * prior + EVERY_LETTER / len(prior)
    inverse = left_inverse(possible, spread)
    scores, q = rows @ inverse, possible @ prior
    variances = (scores**2) @ q - (scores @ q) ** 2
    errors = np.sqrt(np.maximum(variances, 0) / n)
    known = determined(rows, inverse, possible)
    letters = letters_of([attribute for name in asked for attribute in attributes if attribute.name == name])
    return Forecast(letters, rows @ prior, np.where(known, errors, np.inf), n)


def smallest_epsilon(
    channel_at: Callable[[float], Protocol | Channel],
    joint: Joint,
    n: int,
    half_width: float,
    *,
    between: tuple[float, float] = (1e-3, 10.0),
    names: Sequence[str] = (),
    assume: Assumption | None = None,
    precision: float = 1e-3,
) -> tuple[float, Forecast]:
    """The smallest epsilon whose 95 % intervals have at most this half-width for every letter, and its forecast.

    `channel_at(epsilon)` is the mechanism; accuracy is taken to improve with epsilon. The answer reaches the accuracy;
    one that is smaller by the part `precision` does not.
    """

    def forecast_at(epsilon: float) -> Forecast:
        return forecast(channel_at(epsilon), joint, n, names=names, assume=assume)

    def reaches(candidate: Forecast) -> bool:
        return bool((candidate.half_widths() <= half_width).all())

    low, high = between
    best = forecast_at(high)
    if not reaches(best):
        raise InfeasibleError(
            f"not reached at epsilon {high:g}", where="half_width", remedy="Release more records, or ask for less."
        )
    if reaches(first := forecast_at(low)):
        return low, first
    while high > low * (1 + precision):
        middle = float(np.sqrt(low * high))
        candidate = forecast_at(middle)
        if reaches(candidate):
            high, best = middle, candidate
        else:
            low = middle
    return high, best
