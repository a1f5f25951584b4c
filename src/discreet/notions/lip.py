"""ε-LIP (funnel-2, Definition 2): no output changes the chance of any secret by more than a factor e^ε."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats
from discreet.channel import Channel
from discreet.joint import Joint
from discreet.notions.notion import Cone, Level, Notion, Witness, Words, check_fits, log_ratio, registered
from discreet.phrases import names, times


def _promise(_: LIP, joint: Joint, epsilon: float) -> str:
    return (
        f"Whoever sees a released record finds no value of {names(joint.secrets)} more than {times(epsilon)} times as "
        "likely, or as unlikely, as in the whole population."
    )


@registered
@dataclass(frozen=True)
class LIP(Notion):
    """e^−ε ≤ P(y | s) / P(y) ≤ e^ε, which by Bayes is the change from prior to posterior of S (eq. 4).

    Arguments:
        epsilon: the largest |ln P(s | y) / P(s)|, in nats.

    Example:
        >>> import discreet
        >>> joint = discreet.Joint.from_counts([[1, 3], [3, 1]])
        >>> round(discreet.LIP(1).level(discreet.Channel([[0.7, 0.3], [0.3, 0.7]]), joint).epsilon, 4)
        0.2231

    Raises:
        ParameterError: an epsilon that is not a positive number.
    """

    epsilon: float
    words = Words(
        name="LIP",
        command="lip",
        title="local information privacy",
        row="local information privacy",
        symbol="ε-LIP",
        over="and secret s",
        formula="e^{−ε} ≤ P(y|s)/P(y) ≤ e^ε",
        promise=_promise,
    )

    def cone(self, joint: Joint) -> Cone:
        """e^−ε p_Z·v ≤ p_{Z|s}·v ≤ e^ε p_Z·v"""
        return Cone(information_rows(joint.letter_given_secret, joint.prior, self.epsilon))

    def level(self, channel: Channel, joint: Joint) -> Level:
        """funnel-2, eq. 27"""
        check_fits(channel, joint)
        likelihoods = channel.rows @ joint.letter_given_secret.T
        moves = np.abs(log_ratio(likelihoods, (channel.rows @ joint.prior)[:, None]))
        y, s = np.unravel_index(int(moves.argmax()), moves.shape)
        return Level(float(moves[y, s]), Witness(channel.outputs[y], joint.secret_letters[joint.seen[s]]))


def information_rows(conditionals: Floats, average: Floats, epsilon: float) -> Floats:
    """The rows of e^−ε average·v ≤ conditional·v ≤ e^ε average·v, for every conditional."""
    return np.vstack([conditionals - np.exp(epsilon) * average, np.exp(-epsilon) * average - conditionals])
