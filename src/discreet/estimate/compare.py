"""Differences between groups or waves that were released independently."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from discreet.estimate.functionals import Functionals
from discreet.estimate.result import Estimate, Quantity
from discreet.estimate.sample import Floats
from discreet.exceptions import AlphabetError


@dataclass(frozen=True, eq=False)
class Difference:
    """first − second, letter by letter, or of two quantities."""

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
    """The difference of two estimates from independent releases: other records, not other columns of the same ones."""
    return Difference(first, second)


def _functional(one: Estimate | Quantity) -> Functionals:
    return one.functionals if isinstance(one, Estimate) else one.functional


def _letters(one: Estimate | Quantity) -> tuple[Hashable, ...]:
    return one.letters if isinstance(one, Estimate) else ()


def _values(one: Estimate | Quantity) -> Floats:
    return one.frequencies if isinstance(one, Estimate) else np.array([one.value])


def _limits(one: Estimate | Quantity, level: float) -> tuple[Floats, Floats]:
    limits = one.interval(level) if isinstance(one, Estimate) else np.array([one.interval(level)])
    return limits[:, 0], limits[:, 1]
