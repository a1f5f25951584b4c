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

from discreet.arrays import Floats
from discreet.channel import Channel
from discreet.estimate.fitting import determined, left_inverse
from discreet.estimate.release_model import Assumption, assumption_of, averaged_over_secret, marginal_rows
from discreet.exceptions import InfeasibleError, ParameterError
from discreet.joint import Joint, letters_of
from discreet.protocol import Protocol

EVERY_LETTER = 1e-6
"""The part of the prior that is spread over all letters, so that outputs of unseen letters have a weight."""
MORE_OR_LESS = "Release more records, or ask for less."


@dataclass(frozen=True, eq=False)
class Forecast:
    """The standard errors to expect from n records; infinite where the release will not determine a frequency."""

    names: tuple[str, ...]
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
    matrix, prior = channel.matrix, joint.prior
    attributes = joint.reads
    source = channel.source if isinstance(channel, Protocol) else None if joint.counts is None else "data"
    if assumption_of(joint, source, assume) == "P(s|x)":
        matrix, prior, attributes = averaged_over_secret(matrix, joint), joint.target_prior, joint.releases
    asked = names or [attribute.name for attribute in joint.released]
    rows = marginal_rows(attributes, asked)
    possible = matrix[matrix.any(axis=1)]
    spread = (1 - EVERY_LETTER) * prior + EVERY_LETTER / len(prior)
    inverse = left_inverse(possible, spread)
    scores, q = rows @ inverse, possible @ prior
    variances = (scores**2) @ q - (scores @ q) ** 2
    errors = np.sqrt(np.maximum(variances, 0) / n)
    known = determined(rows, inverse, possible)
    letters = letters_of([attribute for name in asked for attribute in attributes if attribute.name == name])
    return Forecast(tuple(asked), letters, rows @ prior, np.where(known, errors, np.inf), n)


def _clean(joint: Joint, n: int, name: str) -> Forecast:
    """What n records give that are released as they are."""
    frequencies = marginal_rows(joint.reads, [name]) @ joint.prior
    return Forecast((name,), (), frequencies, np.sqrt(frequencies * (1 - frequencies) / n), n)


@dataclass(frozen=True, eq=False)
class Reached:
    """An epsilon that reaches an accuracy, its mechanism, and all that were tried: (epsilon, largest half-width)."""

    epsilon: float
    channel: Protocol | Channel
    half_width: float
    tried: tuple[tuple[float, float], ...]


def smallest_epsilon(
    channel_at: Callable[[float], Protocol | Channel],
    joint: Joint,
    n: int,
    half_width: float,
    *,
    between: tuple[float, float] = (0.01, 10.0),
    names: Sequence[str] = (),
    assume: Assumption | None = None,
    steps: int = 24,
    precision: float = 0.01,
) -> Reached:
    """The smallest epsilon found whose 95 % intervals have at most this half-width for every letter of each attribute.

    `channel_at(epsilon)` is the mechanism; `names` asks for some attributes only, each by itself. Mechanisms that keep
    the most information do not always become more accurate with epsilon, so bisection alone would miss smaller ones:
    `steps` epsilons are tried from below until one reaches the accuracy, and the last step is then halved until it is
    smaller than the part `precision`. What is returned reaches the accuracy; between two steps that do not, a smaller
    one that does may hide.
    """
    if not 0 < half_width < np.inf:
        raise ParameterError("not a half-width", where="half_width", remedy="Give a positive number such as 0.01.")
    asked = names or [attribute.name for attribute in joint.released]
    tried: dict[float, tuple[Protocol | Channel, float]] = {}

    def reaches(epsilon: float) -> bool:
        channel = channel_at(epsilon)
        each = [forecast(channel, joint, n, names=[name], assume=assume).half_widths().max() for name in asked]
        tried[epsilon] = channel, float(max(each))
        return tried[epsilon][1] <= half_width

    clean = max(_clean(joint, n, name).half_widths().max() for name in asked)
    if clean > half_width:
        raise InfeasibleError(
            f"{n:,} clean records reach {clean:.2g}, not {half_width:g}", where="half_width", remedy=MORE_OR_LESS
        )
    low = high = between[0]
    for high in np.geomspace(*between, steps).tolist():
        if reaches(high):
            break
        low = high
    else:
        raise InfeasibleError(
            f"not reached at any of {steps} epsilons up to {high:g}", where="half_width", remedy=MORE_OR_LESS
        )
    while high > low * (1 + precision):
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return Reached(high, *tried[high], tuple((epsilon, tried[epsilon][1]) for epsilon in sorted(tried)))
