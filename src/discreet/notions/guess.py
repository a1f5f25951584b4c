"""How often the best guess of the secret is right: Σ_y max_s P(s, y) ≤ b.

Without a release the best guess is the commonest secret, so b is at least its share. It is an average over outputs: one
of them may give its secret away.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats
from discreet.exceptions import InfeasibleError, ParameterError
from discreet.joint import Joint
from discreet.notions.average import OnAverage
from discreet.notions.notion import Average, Notion, Words, registered_average
from discreet.phrases import names, percent, rounded_up


def _promise(_: Guess, joint: Joint, epsilon: float) -> str:
    return (
        f"Whoever guesses {names(joint.secrets)} from each released record is right for at most "
        f"{_percent(epsilon)} of them; for single records the guess may be better."
    )


def _percent(share: float) -> str:
    return percent(float(rounded_up(share)))


@registered_average
@dataclass(frozen=True)
class Guess(OnAverage):
    """The best guess of S from Y is right with at most this probability, under any notion as a ceiling.

    Arguments:
        probability: how often the best guess may be right; at least the share of the commonest secret.
        ceiling: what every single output keeps as well, such as `LIP(1)`; nothing if not given.
    Raises:
        ParameterError: a probability that is not between 0 and 1.
        InfeasibleError: in a design, a probability below the share of the commonest secret.
    Example:
        >>> import discreet as dc
        >>> joint = dc.Joint.from_counts([[30, 10, 5], [5, 20, 40]])
        >>> dc.design(joint, dc.Guess(0.65)).protocol.epsilon <= 0.65
        True
    """

    probability: float
    number = "probability"
    words = Words(
        name="Guess",
        command="guess",
        title="a bound on correct guesses",
        row="correct guesses of the secret, on average",
        symbol="guesses at most ε",
        over="",
        formula="Σ_y max_s P(s,y) ≤ ε",
        promise=_promise,
        measure="probability",
        headline=lambda share: ("is how often the best guess of the secret is right, at most", _percent(share)),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.probability > 1:
            raise ParameterError("a probability above 1", where="Guess", remedy="Try 0.5.")

    @property
    def epsilon(self) -> float:
        """The probability: what the share of correct guesses may be at most."""
        return self.probability

    @classmethod
    def asked(cls, epsilon: float, confidence: float) -> Notion:
        return cls(epsilon)

    def at(self, epsilon: float) -> Guess:
        """At another probability, none above 1."""
        return super().at(min(epsilon, 1.0))

    def average(self, joint: Joint) -> Average:
        from discreet.utilities.utility import CorrectGuess

        masses = joint.secret_prior[joint.seen]
        if masses.max() > self.probability:
            raise InfeasibleError(
                "the commonest secret is guessed more often than that without any release",
                where="Guess",
                remedy="Ask for at least its share of the records.",
            )
        return Average(joint.letter_given_secret, masses, CorrectGuess, self.probability)

    def measured(self, likelihoods: Floats, joint: Joint) -> float:
        return float(np.asarray(likelihoods * joint.secret_prior[joint.seen]).max(axis=1).sum())
