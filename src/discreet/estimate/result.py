"""The result of an estimation: frequencies of letters, and quantities made of them, with honest errors.

Differences between groups or waves that were released independently.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from discreet.arrays import Floats
from discreet.attribute import Attribute, letters_of
from discreet.channel import label
from discreet.estimate.fitting import on_simplex
from discreet.estimate.functionals import Analysis, Functionals
from discreet.estimate.identification import determined_combinations
from discreet.estimate.many_letters import SparseAnalysis, SparseFunctionals, sparse_margins
from discreet.estimate.release_model import marginal_rows
from discreet.exceptions import AlphabetError, ParameterError

Placement = Literal["raw", "clip", "simplex"]


@dataclass(frozen=True, eq=False)
class Quantity:
    """A combination of frequencies: a mean, a share, a contrast.

    Attributes:
        functional: what it was computed from; `value`, `standard_error`, `bounds` and `interval(0.95)` are read off it.
    Example:
        >>> import discreet as dc, numpy as np
        >>> found = dc.estimate(np.array([70, 30]), dc.Channel([[0.9, 0.2], [0.1, 0.8]], inputs=[0, 1]))
        >>> mean = found.mean()
        >>> round(mean.value, 3), round(mean.standard_error, 3)
        (0.286, 0.066)
    """

    functional: Functionals | SparseFunctionals

    @property
    def value(self) -> float:
        return float(self.functional.values[0])

    @property
    def standard_error(self) -> float:
        return float(self.functional.standard_errors[0])

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest value that the release allows, where it does not determine it."""
        low, high = self.functional.bounds[0]
        return float(low), float(high)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        low, high = self.functional.limits(level)[0]
        return float(np.fmin(low, self.value)), float(np.fmax(high, self.value))


@dataclass(frozen=True, eq=False)
class Estimate:
    """Frequencies of the letters of some attributes, in C order, about the population that the records come from.

    Entries are not numbers where the release does not determine them; `bounds` and `interval` are numbers everywhere.
    Standard errors and covariance are those of the raw estimate, also where it was clipped or projected.

    Attributes:
        analysis: what it was computed from.
        attributes: all attributes of the release.
        names: those that are shown.
        on: "raw", "clip" or "simplex".
        remarks: what was assumed; `notes` has these and what the numbers themselves call for.
    Raises:
        ParameterError: a placement that nobody knows.
    Example:
        >>> import discreet as dc, numpy as np
        >>> found = dc.estimate(np.array([70, 30]), dc.Channel([[0.9, 0.2], [0.1, 0.8]]))
        >>> found.standard_errors.round(3).tolist(), found.interval(0.95).round(2).tolist()
        ([0.066, 0.066], [[0.58, 0.83], [0.17, 0.42]])
        >>> round(found.effective_sample_size)
        47
    """

    analysis: Analysis | SparseAnalysis
    attributes: tuple[Attribute, ...]
    names: tuple[str, ...]
    on: Placement = "raw"
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.on not in ("raw", "clip", "simplex"):
            raise ParameterError("an unknown placement", where="on", remedy="Use 'raw', 'clip' or 'simplex'.")

    @property
    def n(self) -> int:
        return self.analysis.sample.n

    @cached_property
    def shown(self) -> tuple[Attribute, ...]:
        """The attributes of this estimate's letters."""
        known = {attribute.name: attribute for attribute in self.attributes}
        return tuple(known[name] for name in self.names)

    @cached_property
    def letters(self) -> tuple[Hashable, ...]:
        return letters_of(self.shown)

    @cached_property
    def functionals(self) -> Functionals | SparseFunctionals:
        if isinstance(self.analysis, SparseAnalysis):
            place = {attribute.name: axis for axis, attribute in enumerate(self.attributes)}
            sizes = tuple(len(attribute) for attribute in self.attributes)
            rows = sparse_margins(sizes, tuple(place[name] for name in self.names))
            return SparseFunctionals(self.analysis.sample, rows)
        return Functionals(self.analysis, marginal_rows(self.attributes, self.names))

    @cached_property
    def frequencies(self) -> Floats:
        raw = self.functionals.values
        if self.on == "raw" or (self.on == "simplex" and not self.determined.all()):
            return raw
        return np.clip(raw, 0, 1) if self.on == "clip" else on_simplex(raw)

    @property
    def standard_errors(self) -> Floats:
        return self.functionals.standard_errors

    @property
    def covariance(self) -> Floats:
        return self.functionals.covariance

    def covariance_of(self, letters: Sequence[Hashable]) -> Floats:
        """The covariance of the frequencies of some letters, in this order; for thousands of letters `covariance` is
        refused and this is how it is asked for.

        Arguments:
            letters: some of `letters`.

        Returns:
            A matrix with a row and a column for each.

        Raises:
            AlphabetError: not a letter of this estimate.

        Example:
            >>> import discreet, numpy
            >>> found = discreet.estimate(numpy.array([70, 30]), discreet.Channel([[0.9, 0.2], [0.1, 0.8]], ["a", "b"]))
            >>> found.covariance_of(["b"]).round(4).tolist()
            [[0.0043]]
        """
        place = {letter: i for i, letter in enumerate(self.letters)}
        if not all(letter in place for letter in letters):
            raise AlphabetError("not a letter of this estimate", where="letters", remedy="Use some of `letters`.")
        chosen = [place[letter] for letter in letters]
        if isinstance(self.functionals, SparseFunctionals):
            return SparseFunctionals(self.functionals.sample, self.functionals.rows[chosen]).covariance
        return np.asarray(self.covariance[np.ix_(chosen, chosen)])

    @property
    def determined(self) -> NDArray[np.bool_]:
        """Which frequencies the release determines."""
        return self.functionals.determined

    @property
    def bounds(self) -> Floats:
        """Smallest and largest frequencies that make the same outputs; the estimate itself where it is determined."""
        return self.functionals.bounds

    def interval(self, level: float = 0.95) -> Floats:
        """Confidence limits, letters × 2. They contain the estimate; clipped ones stay inside [0, 1]."""
        limits = self.functionals.limits(level)
        if self.on != "raw":
            limits = np.clip(limits, 0, 1)
        low, high = np.fmin(limits[:, 0], self.frequencies), np.fmax(limits[:, 1], self.frequencies)
        return np.column_stack([low, high])

    # ---- other views ------------------------------------------------------------------------------------------

    def attribute(self, name: str) -> Estimate:
        """The distribution of one attribute."""
        return self.table([name])

    def table(self, names: Sequence[str]) -> Estimate:
        """The cross-table of some attributes; `cells` has an axis for each."""
        if isinstance(self.analysis, Analysis):
            marginal_rows(self.attributes, names)
        return Estimate(self.analysis, self.attributes, tuple(names), self.on, self.remarks)

    @property
    def cells(self) -> Floats:
        return self.frequencies.reshape([len(attribute) for attribute in self.shown])

    # ---- quantities -------------------------------------------------------------------------------------------

    def combination(self, weights: ArrayLike) -> Quantity:
        """Σ_x weights[x] · frequency[x]"""
        given = np.asarray(weights, dtype=float)
        if given.shape != (len(self.letters),) or not np.isfinite(given).all():
            raise ParameterError(
                f"not {len(self.letters)} weights", where="combination", remedy="Give one number per letter."
            )
        if isinstance(self.functionals, SparseFunctionals):
            rows = sparse.csr_array(sparse.csr_array(given[None]) @ self.functionals.rows)
            return Quantity(SparseFunctionals(self.functionals.sample, rows))
        return Quantity(Functionals(self.functionals.analysis, given[None] @ self.functionals.rows))

    def mean(self, values: Mapping[Hashable, float] | Callable[[Hashable], float] | None = None) -> Quantity:
        """The mean of one number per letter; the letters themselves where they are numbers."""
        if values is None:
            numbers = [x if isinstance(x, int | float) else None for x in self.letters]
        elif isinstance(values, Mapping):
            numbers = [values.get(x) for x in self.letters]
        else:
            numbers = [values(x) for x in self.letters]
        if any(number is None for number in numbers):
            raise AlphabetError("a letter without a number", where="mean", remedy="Give one for every letter.")
        return self.combination(np.array(numbers, dtype=float))

    # ---- what it is worth -------------------------------------------------------------------------------------

    @cached_property
    def effective_sample_size(self) -> float:
        """The clean records that would give the same total variance: Σ p(1 − p) / Σ Var(p̂)."""
        if not self.determined.all():
            return 0.0
        p = on_simplex(self.functionals.values)
        return float((p * (1 - p)).sum() / (self.standard_errors**2).sum())

    @property
    def design_effect(self) -> float:
        """How many released records are worth one clean record."""
        return self.n / self.effective_sample_size if self.effective_sample_size else np.inf

    @cached_property
    def combinations(self) -> tuple[tuple[str, Quantity], ...]:
        """What the release does determine, in words, each with its estimate."""
        labels = [label(letter) for letter in self.letters]
        if isinstance(self.functionals, SparseFunctionals):
            raise ParameterError(
                f"{len(labels):,} letters", where="combinations", remedy="Look at `determined`, letter by letter."
            )
        sample = self.functionals.analysis.sample
        found = determined_combinations(sample.scaled, self.functionals.rows)
        return tuple((_words(row, labels), self.combination(row)) for row in found)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of these numbers must know."""
        labels = np.array([label(letter) for letter in self.letters], dtype=object)
        notes = list(self.remarks)
        if not self.determined.all():
            notes.append(
                f"Not determined by the release: {_listed(labels[~self.determined])}. Their intervals hold every value "
                "that the release allows; see `bounds`, and `combinations` for what is determined."
            )
            if self.on == "simplex":
                notes.append("Not projected to the simplex, since not all letters are determined.")
        if (switched := self.functionals.switched).any():
            way = (
                "are empirical Bernstein limits, which hold for any number of records"
                if isinstance(self.functionals, SparseFunctionals)
                else "invert a test (saddlepoint tail of the linear estimate)"
            )
            notes.append(f"The normal approximation fails for {_listed(labels[switched])}: their intervals {way}.")
        if self.analysis.pseudo_records:
            notes.append(
                f"Regularised by {self.analysis.pseudo_records:g} records distributed as the prior; "
                "errors and intervals are those of the unregularised estimate."
            )
        return tuple(notes)


def _words(row: Floats, labels: Sequence[str]) -> str:
    terms = []
    for weight, name in zip(row, labels, strict=True):
        if abs(weight) > 1e-8:
            sign = "− " if weight < 0 else "+ "
            terms.append(sign + (name if abs(abs(weight) - 1) < 1e-8 else f"{abs(weight):.4g}·{name}"))
    return " ".join(terms).removeprefix("+ ")


def _listed(labels: NDArray[np.object_]) -> str:
    return f"{len(labels)} letters" if len(labels) > 8 else ", ".join(str(name) for name in labels)


# ---- differences between groups or waves that were released independently --------------------------------------------


@dataclass(frozen=True, eq=False)
class Difference:
    """first − second, letter by letter, or of two quantities.

    Attributes:
        first: an `Estimate` or a `Quantity`.
        second: another, of the same letters; `values`, `standard_errors`, `interval(0.95)` are of first − second.
    Raises:
        AlphabetError: estimates of different letters.
    Example:
        >>> import discreet as dc, numpy as np
        >>> from discreet.estimate import Difference
        >>> channel = dc.Channel([[0.9, 0.2], [0.1, 0.8]])
        >>> then, now = (dc.estimate(np.array(counts), channel) for counts in ([70, 30], [60, 40]))
        >>> Difference(now, then).values.round(3).tolist()
        [-0.143, 0.143]
    """

    first: Estimate | Quantity
    second: Estimate | Quantity

    def __post_init__(self) -> None:
        if self.letters != _letters(self.second):
            raise AlphabetError("the two estimates have different letters", remedy="Compare the same attributes.")

    @property
    def letters(self) -> tuple[Hashable, ...]:
        return _letters(self.first)

    @property
    def values(self) -> Floats:
        return _values(self.first) - _values(self.second)

    @property
    def standard_errors(self) -> Floats:
        return np.hypot(_functional(self.first).standard_errors, _functional(self.second).standard_errors)

    def interval(self, level: float = 0.95) -> Floats:
        """Limits made of the limits of the two, each at its distance from its estimate (MOVER, Zou and Donner 2008).

        Where a frequency is not determined, the difference ranges from one bound to the other.
        """
        (low, high), (other_low, other_high) = _limits(self.first, level), _limits(self.second, level)
        first, second = _values(self.first), _values(self.second)
        down = np.hypot(first - low, other_high - second)
        up = np.hypot(high - first, second - other_low)
        return np.column_stack(
            [
                np.where(np.isnan(down), low - other_high, first - second - down),
                np.where(np.isnan(up), high - other_low, first - second + up),
            ]
        )


def difference(first: Estimate | Quantity, second: Estimate | Quantity) -> Difference:
    """The difference of two estimates from independent releases: other records, not other columns of the same ones.

    Arguments:
        first: an estimate, or a quantity made of one.
        second: the same of other records.
    Returns:
        A `Difference`: `values`, `standard_errors`, `interval(0.95)`.
    Raises:
        AlphabetError: estimates of different letters.
    Example:
        >>> import discreet as dc, numpy as np
        >>> from discreet.estimate import difference
        >>> channel = dc.Channel([[0.9, 0.2], [0.1, 0.8]])
        >>> then, now = (dc.estimate(np.array(counts), channel) for counts in ([70, 30], [60, 40]))
        >>> difference(now, then).values.round(3).tolist()
        [-0.143, 0.143]
    """
    return Difference(first, second)


def _functional(one: Estimate | Quantity) -> Functionals | SparseFunctionals:
    return one.functionals if isinstance(one, Estimate) else one.functional


def _letters(one: Estimate | Quantity) -> tuple[Hashable, ...]:
    return one.letters if isinstance(one, Estimate) else ()


def _values(one: Estimate | Quantity) -> Floats:
    return one.frequencies if isinstance(one, Estimate) else np.array([one.value])


def _limits(one: Estimate | Quantity, level: float) -> tuple[Floats, Floats]:
    limits = one.interval(level) if isinstance(one, Estimate) else np.array([one.interval(level)])
    return limits[:, 0], limits[:, 1]
