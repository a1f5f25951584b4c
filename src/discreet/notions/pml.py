"""ε-PML, pointwise maximal leakage (Saeidian, Cervia, Oechtering and Skoglund 2023): LIP without its lower side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.channel import Channel
from discreet.joint import Joint
from discreet.notions.notion import Cone, Level, Notion, Witness, Words, check_fits, log_ratio, registered
from discreet.phrases import names, times


def _promise(_: PML, joint: Joint, epsilon: float) -> str:
    return (
        f"Whoever sees a released record finds no value of {names(joint.secrets)}, and nothing that follows from it, "
        f"more than {times(epsilon)} times as likely as in the whole population. Values may be ruled out."
    )


def likeliest_value(epsilon: float) -> tuple[str, str]:
    """What the level means where values may become less likely by more, or be ruled out."""
    return "as likely is the most any value of the secret can become", f"× {times(epsilon)}"


@registered
@dataclass(frozen=True)
class PML(Notion):
    """P(y | s) ≤ e^ε P(y) for every output and every secret that occurs; secrets may be ruled out (theory 9.2).

    Arguments:
        epsilon: the largest ln P(s | y) / P(s), in nats.
    Raises:
        ParameterError: an epsilon that is not a positive number.
    Example:
        >>> import discreet as dc
        >>> joint = dc.Joint.from_counts([[1, 3], [3, 1]])
        >>> channel = dc.Channel([[0.7, 0.3], [0.3, 0.7]])
        >>> round(dc.PML(1).level(channel, joint).epsilon, 4), round(dc.LIP(1).level(channel, joint).epsilon, 4)
        (0.1823, 0.2231)
    """

    epsilon: float
    words = Words(
        name="PML",
        command="pml",
        title="pointwise maximal leakage",
        row="pointwise maximal leakage",
        symbol="ε-PML",
        over="and secret s",
        formula="P(y|s)/P(y) ≤ e^ε",
        promise=_promise,
        headline=likeliest_value,
    )

    def cone(self, joint: Joint) -> Cone:
        """p_{Z|s}·v ≤ e^ε p_Z·v"""
        return Cone(joint.letter_given_secret - np.exp(self.epsilon) * joint.prior)

    def level(self, channel: Channel, joint: Joint) -> Level:
        check_fits(channel, joint)
        moves = log_ratio(channel.rows @ joint.letter_given_secret.T, (channel.rows @ joint.prior)[:, None])
        y, s = np.unravel_index(int(moves.argmax()), moves.shape)
        return Level(max(float(moves[y, s]), 0.0), Witness(channel.outputs[y], joint.secret_letters[joint.seen[s]]))
