"""A release for a purpose: what it tells about another column T of the table (theory 8.6).

Nobody releases T. A mechanism reads z = X, or (S, X), and T – z – Y: given the letter, the output tells nothing more
about T. A row v has the task marginal w_t = Σ_z p(z|t) v_z, and is judged by the same functions as a target: for
information Σ_t p_t w_t ln w_t, which is I(T;Y); for guesses max_t p_t w_t. T = X is what the other utilities judge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Floats
from discreet.information import mutual_information
from discreet.utilities.utility import MutualInformation, PiecewiseLinear, Separable

if TYPE_CHECKING:
    from discreet.channel import Channel
    from discreet.joint import Joint


@dataclass(frozen=True)
class Task:
    """Useful for one column: I(T;Y), or with `measure=CorrectGuess` how often the best guess of T is right.

    Arguments:
        column: the column T; the joint must know it: `Joint.from_table(…, task="income")`.
        measure: `MutualInformation` if not given, `ChiSquareInformation` or `CorrectGuess`.
    Raises:
        ParameterError: a joint that does not know the column.
    Example:
        >>> import discreet as dc
        >>> from discreet.datasets import adult
        >>> joint = dc.Joint.from_table(adult(), secret="sex", release="education", task="income")
        >>> found = dc.design(joint, dc.LIP(0.1), utility=dc.Task("income"))
        >>> found.is_optimal()
        True
    """

    column: str
    measure: Separable | PiecewiseLinear = MutualInformation

    @property
    def name(self) -> str:
        return f"{self.measure.name} about {self.column}"

    def shares(self, joint: Joint) -> Floats:
        """P(t | z), one line per value of T."""
        return joint.task(self.column).given_letter(joint)

    def values(self, marginals: Floats, target_prior: Floats) -> Floats:
        return self.measure.values(marginals, target_prior)

    def gradient(self, marginals: Floats, target_prior: Floats) -> Floats:
        return self.measure.gradient(marginals, target_prior)

    def judged(self, joint: Joint, channel: Channel) -> TaskValue:
        """What the release is worth for the task, beside what its data would be."""
        released, everything = self._together(joint, channel.matrix), self._together(joint, np.eye(len(joint.letters)))
        blind = float(everything.sum(axis=1).max())  # sums of floats may end a little lower, and be rounded apart
        return TaskValue(
            self.column,
            mutual_information(released),
            mutual_information(everything),
            max(float(released.max(axis=0).sum()), blind),
            max(float(everything.max(axis=0).sum()), blind),
            blind,
            area_under_curve(released),
            area_under_curve(everything),
        )

    def most(self, joint: Joint) -> float:
        """What publishing the letters as they are would be worth."""
        return self._worth(self._together(joint, np.eye(len(joint.letters))))

    def _together(self, joint: Joint, matrix: Floats) -> Floats:
        """P(t, y)"""
        return np.asarray((self.shares(joint) * joint.prior) @ matrix.T)

    def of(self, joint: Joint, channel: Channel) -> float:
        """What a channel tells about T."""
        return self._worth(self._together(joint, channel.matrix))

    def _worth(self, together: Floats) -> float:
        p, q = together.sum(axis=1), together.sum(axis=0)
        seen, used = p > 0, q > 0
        marginals = (together[np.ix_(seen, used)] / np.outer(p[seen], q[used])).T
        return float(q[used] @ self.measure.values(marginals, p[seen]))


@dataclass(frozen=True)
class TaskValue:
    """Nats about T, shares of correct guesses, and areas under the curve, of the release and of the data behind it.

    `blind` is how often the commonest value of T is right; the areas are None unless T has two values.
    """

    column: str
    information: float
    possible_information: float
    correct: float
    possible_correct: float
    blind: float
    area: float | None
    possible_area: float | None

    @property
    def share(self) -> float:
        """What is kept of I(T;X)."""
        return self.information / self.possible_information if self.possible_information > 0 else 1.0


def area_under_curve(together: Floats) -> float | None:
    """How often a random record of the second value of T scores above one of the first, ties by halves; the score of an
    output is P(t|y). None unless two values occur."""
    rows = together[together.sum(axis=1) > 0]
    if len(rows) != 2:
        return None
    first, second = rows / rows.sum(axis=1, keepdims=True)
    total = rows.sum(axis=0)
    score = np.divide(rows[1], total, out=np.zeros_like(total), where=total > 0)
    order = np.argsort(score, kind="stable")
    _, group = np.unique(score[order], return_inverse=True)
    low, high = np.bincount(group, first[order]), np.bincount(group, second[order])
    below = np.cumsum(low) - low
    return float(high @ (below + low / 2))
