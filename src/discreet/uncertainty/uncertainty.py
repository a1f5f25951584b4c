"""What an uncertainty set is: a statement about the unknown P(s, x), and the set F that it becomes around an estimate.

A steward states an `Uncertainty` ("the 95 % confidence set"); with a joint it becomes an `UncertaintySet`. Where the
secrets share one budget κ (a Rényi ball, theory 1.7), a worst case for one of them leaves less for the others. Where
`budget` is None nothing is shared: every conditional P(·|s) moves within its own set F_{U|s}, whatever the others do.
`SETS` has every kind of statement by its name in files, with the sentence that tells a board what it means; proofs over
it are in `certify.PROVERS`. A kind that is not registered is refused everywhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import numpy as np

from discreet.arrays import Floats, Indices
from discreet.exceptions import ParameterError
from discreet.joint import Joint
from discreet.uncertainty.extremes import Extreme

BETWEEN_0_AND_1 = {"between": (0, 1)}
"""Metadata of a field, for the schema of files: without it a parameter is a positive number."""


@dataclass(frozen=True)
class SetWords:
    """`name` stands in files and digests and never changes; `holds(stated)` says for which distributions one does."""

    name: str
    holds: Callable[[Any], str] = field(repr=False)


@dataclass(frozen=True)
class Uncertainty(ABC):
    """What is stated about the distribution: a frozen dataclass whose fields are numbers."""

    words: ClassVar[SetWords]
    estimate_only: ClassVar[bool] = False
    """Whether F is the estimate and nothing else, whatever the estimate: such a promise is not robust."""

    @abstractmethod
    def around(self, joint: Joint) -> UncertaintySet:
        """F around the estimate of this joint."""

    def ball(self, joint: Joint) -> UncertaintySet:
        """`around` by its name in 0.1, when every set was a ball."""
        return self.around(joint)


class UncertaintySet(ABC):
    """A set F of distributions P(s, u) around an estimate P̂, by what secrets may say about the letters."""

    estimate: Floats
    """P̂(s, u), one row per secret."""

    @property
    @abstractmethod
    def conditional(self) -> Floats:
        """P̂_{U|s}, one row per secret; any distribution for a secret that was never seen."""

    @property
    @abstractmethod
    def mass(self) -> Floats:
        """P̂_s"""

    @property
    def compared(self) -> Indices:
        """The secrets that some P in F distinguishes: all of them, unless F knows better."""
        return np.arange(len(self.estimate))

    @property
    def budget(self) -> float | None:
        """κ, what the conditionals of all secrets may cost together; None if nothing is shared."""
        return None

    @property
    def masses(self) -> tuple[Floats, Floats] | None:
        """The least and the largest P(s) in F; None where F does not bound them."""
        return None

    @property
    def everything(self) -> bool:
        """Whether F is the whole simplex."""
        return False

    @property
    def single(self) -> bool:
        """Whether F is {P̂}."""
        return False

    @abstractmethod
    def ranges(self, rows: Floats) -> tuple[Extreme, Extreme]:
        """The largest and the smallest mean of rows v(…, secret, letter), each over the projection F_{U|s}."""

    def told(self, rows: Floats) -> tuple[Floats, Floats]:
        """The largest and the smallest P(y|s) that rows come to, letters that were never met included."""
        most, least, _, _ = self.drawn(rows)
        return most.value, least.value

    def drawn(self, rows: Floats) -> tuple[Extreme, Extreme, Floats, Floats]:
        """`ranges`, and what share of each extreme is drawn from the law of all outputs instead: nothing, but where
        letters were met (`IntervalSet`)."""
        most, least = self.ranges(rows)
        return most, least, np.zeros_like(most.value), np.zeros_like(least.value)

    @abstractmethod
    def contains(self, distribution: Floats, tolerance: float = 1e-9) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Whether P(…, s, u) lies in F, up to rounding."""

    def attained(self, conditionals: dict[int, Floats]) -> Floats:
        """A P in F with these conditionals of some secrets, each in its F_{U|s}; for sets without a budget.

        A conditional shows itself only under positive mass; where F does not bound masses, a secret without any gets
        what all secrets have on average.
        """
        mass = np.where(self.mass > 0, self.mass, 1 / len(self.mass))
        distribution = (mass / mass.sum())[:, None] * self.conditional
        for secret, conditional in conditionals.items():
            distribution[secret] = distribution[secret].sum() * conditional
        return np.asarray(distribution)


# ---- the registry ----------------------------------------------------------------------------------------------------

SETS: dict[str, type[Uncertainty]] = {}
"""Every kind of uncertainty by its name in files."""

Kind = TypeVar("Kind", bound=Uncertainty)


def registered_set(kind: type[Kind]) -> type[Kind]:
    """Class decorator: from here on files and pages know this kind of uncertainty."""
    if kind.words.name in SETS:
        raise ParameterError(f"two sets are called {kind.words.name}", where="SETS", remedy="Rename one.")
    SETS[kind.words.name] = kind
    return kind


def set_words(uncertainty: Uncertainty) -> SetWords:
    """The words of this very type; ParameterError if it is not registered."""
    words = getattr(type(uncertainty), "words", None)
    if not isinstance(words, SetWords) or SETS.get(words.name) is not type(uncertainty):
        raise ParameterError(
            f"{type(uncertainty).__name__} is not an uncertainty set that discreet knows",
            where="SETS",
            remedy="Use Confidence, ChiSquare, Renyi, Everything or Exactly, or register a set as CONTRIBUTING says.",
        )
    return words
