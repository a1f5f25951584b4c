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

from discreet.arrays import Floats, Rows, whole
from discreet.attribute import letters_of
from discreet.channel import Channel
from discreet.estimate.fitting import determined, left_inverse
from discreet.estimate.pooling import pooled_model, stratum_models
from discreet.estimate.release_model import (
    Assumption,
    ReleaseModel,
    assumption_of,
    averaged_over_secret,
    marginal_rows,
    model_of,
)
from discreet.exceptions import InfeasibleError, ParameterError
from discreet.given_columns import AnyJoint, StratifiedJoint
from discreet.protocol import Protocol
from discreet.protocol.counted_records import is_counted
from discreet.protocol.strata import AnyProtocol, StratifiedProtocol, strata_of

EVERY_LETTER = 1e-6
"""The part of the prior that is spread over all letters, so that outputs of unseen letters have a weight."""
MORE_OR_LESS = "Release more records, or ask for less."


@dataclass(frozen=True, eq=False)
class Forecast:
    """The standard errors to expect from n records; infinite where the release will not determine a frequency.

    Attributes:
        names: the attributes.
        letters: their letters.
        frequencies: those of the prior.
        standard_errors: one per letter; `half_widths(0.95)` are those of the intervals.
        n: the number of records.
        counted: whether these are the records that were counted, so that sampling adds nothing.
    Example:
        >>> import discreet as dc
        >>> from discreet.estimate import forecast
        >>> joint = dc.Joint.from_counts([[30, 10], [10, 30]])
        >>> told = forecast(dc.Channel([[0.9, 0.2], [0.1, 0.8]]), joint, 1000)
        >>> told.standard_errors.round(4).tolist(), round(told.effective_sample_size)
        ([0.0225, 0.0225], 495)
    """

    names: tuple[str, ...]
    letters: tuple[Hashable, ...]
    frequencies: Floats
    standard_errors: Floats
    n: int
    counted: bool = False
    """Whether it is about the very records that were counted, whose law the release keeps."""

    @property
    def design_effects(self) -> Floats:
        """n Var(p̂) / (p (1 − p)) of every letter that occurs: so many released records are worth one clean record."""
        occurs = (self.frequencies > 0) & (self.frequencies < 1)
        clean = self.frequencies[occurs] * (1 - self.frequencies[occurs])
        return np.asarray(self.n * self.standard_errors[occurs] ** 2 / clean)

    @cached_property
    def worth(self) -> float:
        """The share of clean records that a released one is worth: 1 / (mean design effect of the letters)."""
        effects = self.design_effects
        return float(1 / effects.mean()) if len(effects) else 1.0

    def half_widths(self, level: float = 0.95) -> Floats:
        """Half of the confidence interval to expect, where the normal approximation holds."""
        return np.asarray(ndtri((1 + level) / 2) * self.standard_errors)

    @cached_property
    def effective_sample_size(self) -> float:
        """The clean records that are worth as much: Σ p(1 − p) / Σ Var(p̂)."""
        return float((self.frequencies * (1 - self.frequencies)).sum() / (self.standard_errors**2).sum())


def forecast(
    channel: AnyProtocol | Channel,
    joint: AnyJoint,
    n: int,
    *,
    names: Sequence[str] = (),
    assume: Assumption | None = None,
) -> Forecast:
    """What analysts will get from n records if P is right. With given columns that is for all strata together.

    Arguments:
        channel: the mechanism, or its protocol.
        joint: P(S, X).
        n: the number of records.
        names: some attributes instead of all.
        assume: as in `estimate`.
    Returns:
        A `Forecast`.
    Raises:
        ParameterError: a number of records below 1, or one channel for several strata.
        AlphabetError: a name that is not released.
    Example:
        >>> import discreet as dc
        >>> from discreet.estimate import forecast
        >>> joint = dc.Joint.from_counts([[30, 10, 5], [5, 20, 40]])
        >>> purposes = dc.Accuracy(), dc.MutualInformation
        >>> found = [dc.design(joint, dc.LIP(0.5), utility=one).protocol for one in purposes]
        >>> forecast(found[0], joint, 1000).worth >= forecast(found[1], joint, 1000).worth
        True
    """
    if n < 1:
        raise ParameterError("not a number of records", where="n", remedy="Give a whole number from 1.")
    model = _told(channel, joint, n, assume)
    matrix, prior, attributes = whole(model.matrix), model.prior, model.attributes
    asked = names or [attribute.name for attribute in joint.released]
    rows = marginal_rows(attributes, asked)
    possible = matrix[matrix.any(axis=1)]
    spread = (1 - EVERY_LETTER) * prior + EVERY_LETTER / len(prior)
    inverse = left_inverse(possible, spread)
    scores, q = rows @ inverse, possible @ prior
    variances = (scores**2) @ q - (scores @ q) ** 2
    if model.excess is not None:
        variances = variances + np.einsum("ij,jk,ik->i", rows, model.excess, rows)
    errors = np.sqrt(np.maximum(variances, 0) / n)
    known = determined(rows, inverse, possible)
    letters = letters_of([attribute for name in asked for attribute in attributes if attribute.name == name])
    counted = model.excess is not None
    return Forecast(tuple(asked), letters, rows @ prior, np.where(known, errors, np.inf), n, counted)


def _told(channel: AnyProtocol | Channel, joint: AnyJoint, n: int, assume: Assumption | None) -> ReleaseModel:
    """The model that `estimate` will use for n records by default."""
    if isinstance(channel, StratifiedProtocol):
        kept = (
            assume is None and n == channel.n and all(is_counted(one, one.joint.n or 0) for one in strata_of(channel))
        )
        return pooled_model(channel, stratum_models(channel, "counted" if kept else assume, None))
    if isinstance(joint, StratifiedJoint):
        raise ParameterError("one channel for several strata", where="joint", remedy="Give the protocol of all strata.")
    if isinstance(channel, Protocol) and (assume == "counted" or (assume is None and is_counted(channel, n))):
        return model_of(channel, "counted")
    source = channel.source if isinstance(channel, Protocol) else None if joint.counts is None else "data"
    prior, attributes = joint.prior, joint.reads
    matrix: Rows = channel.matrix
    if assumption_of(joint, source, assume) == "P(s|x)":
        matrix, prior, attributes = averaged_over_secret(channel.matrix, joint), joint.target_prior, joint.releases
    return ReleaseModel(matrix, attributes, prior, (), (), ())


def _clean(joint: AnyJoint, n: int, name: str) -> Forecast:
    """What n records give that are released as they are."""
    strata = list(joint.strata.values()) if isinstance(joint, StratifiedJoint) else [joint]
    records = np.array([one.n or 1 for one in strata], dtype=float)
    each = np.array([marginal_rows(one.reads, [name]) @ one.prior for one in strata])
    frequencies = np.asarray(records / records.sum() @ each)
    return Forecast((name,), (), frequencies, np.sqrt(frequencies * (1 - frequencies) / n), n)


@dataclass(frozen=True, eq=False)
class Reached:
    """An epsilon that reaches an accuracy, its mechanism, and all that were tried: (epsilon, largest half-width).

    Attributes:
        epsilon: the level.
        channel: the mechanism at this level.
        half_width: the largest of its intervals.
        tried: pairs of an epsilon and its largest half-width.
    Example:
        >>> import discreet as dc
        >>> from discreet.estimate import smallest_epsilon
        >>> joint = dc.Joint.from_counts([[30, 10], [10, 30]])
        >>> at = lambda epsilon: dc.design(joint, dc.LIP(epsilon)).protocol
        >>> found = smallest_epsilon(at, joint, 10_000, 0.05, steps=6, precision=0.1)
        >>> found.half_width <= 0.05, len(found.tried) >= 2
        (True, True)
    """

    epsilon: float
    channel: AnyProtocol | Channel
    half_width: float
    tried: tuple[tuple[float, float], ...]


def smallest_epsilon(
    channel_at: Callable[[float], AnyProtocol | Channel],
    joint: AnyJoint,
    n: int,
    half_width: float,
    *,
    between: tuple[float, float] = (0.01, 10.0),
    names: Sequence[str] = (),
    assume: Assumption | None = None,
    steps: int = 24,
    precision: float = 0.01,
    rising: bool = False,
) -> Reached:
    """The smallest epsilon found whose 95 % intervals have at most this half-width for every letter of each attribute.

    Mechanisms that keep the most information do not always become more accurate with epsilon, so bisection alone would
    miss smaller ones: epsilons are tried from below until one reaches the accuracy, and the last step is then halved.
    What is returned reaches the accuracy; between two steps that do not, a smaller one that does may hide.

    Arguments:
        channel_at: epsilon → the mechanism.
        joint: P(S, X).
        n: the number of records.
        half_width: of the 95 % intervals, at most.
        between: the smallest and the largest epsilon.
        names: some attributes only, each by itself.
        assume: as in `estimate`.
        steps: how many epsilons are tried.
        precision: the last step is halved until it is smaller than this part.
        rising: mechanisms that are designed for accuracy become more accurate with epsilon: halving alone finds the
            smallest.
    Returns:
        A `Reached`.
    Raises:
        InfeasibleError: no epsilon that was tried reaches it.
        ParameterError: a half-width, limits or a number of steps out of range.
    Example:
        >>> import discreet as dc
        >>> from discreet.estimate import smallest_epsilon
        >>> joint = dc.Joint.from_counts([[30, 10], [10, 30]])
        >>> best = lambda epsilon: dc.design(joint, dc.LIP(epsilon), utility=dc.Accuracy()).protocol
        >>> found = smallest_epsilon(best, joint, 10_000, 0.05, precision=0.1, rising=True)
        >>> found.half_width <= 0.05
        True
    """
    if not 0 < half_width < np.inf:
        raise ParameterError("not a half-width", where="half_width", remedy="Give a positive number such as 0.01.")
    asked = names or [attribute.name for attribute in joint.released]
    tried: dict[float, tuple[AnyProtocol | Channel, float]] = {}

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
    for high in [between[1]] if rising else np.geomspace(*between, steps).tolist():
        if reaches(high):
            break
        low = high
    else:
        tries = 1 if rising else steps
        raise InfeasibleError(
            f"not reached at any of {tries} epsilons up to {high:g}", where="half_width", remedy=MORE_OR_LESS
        )
    while high > low * (1 + precision):
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return Reached(high, *tried[high], tuple((epsilon, tried[epsilon][1]) for epsilon in sorted(tried)))
