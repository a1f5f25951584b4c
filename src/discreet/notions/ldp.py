"""ε-LDP with respect to S (funnel-2, Definition 1): no output tells two secrets apart by more than a factor e^ε."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.channel import Channel
from discreet.joint import Joint
from discreet.notions.notion import (
    Cone,
    Level,
    Notion,
    Witness,
    Words,
    check_fits,
    log_ratio,
    ordered_pairs,
    registered,
)
from discreet.phrases import names, times


def _promise(_: LDP, joint: Joint, epsilon: float) -> str:
    return (
        f"Whoever sees a released record: the odds between any two values of {names(joint.secrets)} change at most "
        f"{times(epsilon)}-fold."
    )


@registered
@dataclass(frozen=True)
class LDP(Notion):
    """P(y | s) ≤ e^ε P(y | s') for every output and every two secrets. Secrets of probability zero do not count.

    Arguments:
        epsilon: the largest ln P(y | s) / P(y | s'), in nats.

    Example:
        >>> import discreet
        >>> joint = discreet.Joint.from_counts([[1, 3], [3, 1]])
        >>> round(discreet.LDP(1).level(discreet.Channel([[0.7, 0.3], [0.3, 0.7]]), joint).epsilon, 4)
        0.4055

    Raises:
        ParameterError: an epsilon that is not a positive number.
    """

    epsilon: float
    words = Words(
        name="LDP",
        command="ldp",
        title="local differential privacy with respect to the secret",
        row="local differential privacy of the secret",
        symbol="ε-LDP",
        over="and secrets s ≠ s′",
        formula="P(y|s) ≤ e^ε P(y|s′)",
        promise=_promise,
    )

    def cone(self, joint: Joint) -> Cone:
        """p_{Z|s}·v ≤ e^ε p_{Z|s'}·v"""
        conditionals = joint.letter_given_secret
        first, second = ordered_pairs(*conditionals.shape)
        return Cone(conditionals[first] - np.exp(self.epsilon) * conditionals[second])

    def level(self, channel: Channel, joint: Joint) -> Level:
        check_fits(channel, joint)
        likelihoods = channel.rows @ joint.letter_given_secret.T
        first, second = likelihoods.argmax(axis=1), likelihoods.argmin(axis=1)
        rows = np.arange(len(likelihoods))
        ratios = log_ratio(likelihoods[rows, first], likelihoods[rows, second])
        y = int(ratios.argmax())
        names = [joint.secret_letters[joint.seen[s]] for s in (first[y], second[y])]
        return Level(float(ratios[y]), Witness(channel.outputs[y], *names))
