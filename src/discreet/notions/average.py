"""Promises about an average over the outputs (theory 8): Σ_y q_y g(v_y) ≤ limit, and a ceiling on every single row.

An average says what a release tells about the secret over many records; single records may tell more. So a ceiling can
stand beside it, any notion of this folder or several: then every output keeps the ceiling as well, and whoever states
the average states the worst record beside it. The average leads: `epsilon` is what its level may be at most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from discreet.arrays import Floats
from discreet.channel import Channel
from discreet.exceptions import ParameterError
from discreet.joint import Joint
from discreet.notions.lip import LIP
from discreet.notions.notion import AVERAGES, INSIDE, Cone, Level, Notion, Witness, check_fits, words_of
from discreet.uncertainty.uncertainty import Uncertainty


@dataclass(frozen=True)
class OnAverage(Notion):
    """An average with its ceiling. A subclass has one number more, called `number`, which is its limit."""

    number: ClassVar[str]
    ceiling: Notion | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        given = getattr(self, self.number)
        if not (np.isfinite(given) and given > 0):
            raise ParameterError(
                f"{self.number} is not a positive number", where=self.words.name, remedy="Smaller hides more."
            )
        if self.number != "epsilon":
            object.__setattr__(self, self.number, float(given))
        if self.ceiling is not None and words_of(self.ceiling).name in AVERAGES:
            raise ParameterError("an average as a ceiling", where=self.words.name, remedy="Give a notion, as LIP(1).")

    @property
    def promises(self) -> tuple[Notion, ...]:
        """The average alone, then what its ceiling consists of."""
        return (replace(self, ceiling=None), *(() if self.ceiling is None else self.ceiling.promises))

    def __and__(self, other: Notion) -> Notion:
        """The same with another ceiling, or one more."""
        return replace(self, ceiling=other if self.ceiling is None else self.ceiling & other)

    def at(self, epsilon: float) -> Self:
        """Another limit under the same ceiling."""
        changed: dict[str, Any] = {self.number: epsilon}
        return replace(self, **changed)

    @classmethod
    def audited(cls, uncertainty: Uncertainty | None) -> Notion | None:
        """Audits state averages beside the levels of rows, whatever was promised."""
        return None

    def cone(self, joint: Joint) -> Cone:
        """That of the ceiling; without one every row is permitted."""
        return Cone(np.zeros((0, len(joint.letters)))) if self.ceiling is None else self.ceiling.cone(joint)

    def level(self, channel: Channel, joint: Joint) -> Level:
        """The average, with the record that tells most; infinite if the ceiling is broken, with what breaks it."""
        check_fits(channel, joint)
        for one in self.promises[1:]:
            found = one.level(channel, joint)
            if found.epsilon > one.epsilon + INSIDE:
                return Level(math.inf, found.witness)
        return Level(self.measured(channel.rows @ joint.letter_given_secret.T, joint), worst_record(channel, joint))

    def measured(self, likelihoods: Floats, joint: Joint) -> float:
        """The average of a channel from P(y|s), one row per output and a column for every secret that occurs."""
        raise NotImplementedError


def worst_record(channel: Channel, joint: Joint) -> Witness | None:
    """The output that moves the chance of a secret furthest."""
    return LIP(1.0).level(channel, joint).witness
