"""ε-LIP (funnel-2, Definition 2): no output moves the odds of any secret by more than a factor e^ε."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.channel import Channel
from discreet.joint import Joint
from discreet.notions.cone import Cone, Floats
from discreet.notions.level import Level, Witness, check_fits, checked_epsilon, log_ratio


@dataclass(frozen=True)
class LIP:
    """e^−ε ≤ P(y | s) / P(y) ≤ e^ε, which by Bayes is the change from prior to posterior of S (eq. 4)."""

    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))

    def cone(self, joint: Joint) -> Cone:
        """e^−ε p_Z·v ≤ p_{Z|s}·v ≤ e^ε p_Z·v"""
        return Cone(two_sided(joint.letter_given_secret, joint.prior, self.epsilon))

    def level(self, channel: Channel, joint: Joint) -> Level:
        """funnel-2, eq. 27"""
        check_fits(channel, joint)
        likelihoods = channel.matrix @ joint.letter_given_secret.T
        moves = np.abs(log_ratio(likelihoods, (channel.matrix @ joint.prior)[:, None]))
        y, s = np.unravel_index(int(moves.argmax()), moves.shape)
        return Level(float(moves[y, s]), Witness(channel.outputs[y], joint.secret_letters[joint.seen[s]]))


def two_sided(conditionals: Floats, average: Floats, epsilon: float) -> Floats:
    """The rows of e^−ε average·v ≤ conditional·v ≤ e^ε average·v, for every conditional."""
    return np.vstack([conditionals - np.exp(epsilon) * average, np.exp(-epsilon) * average - conditionals])
