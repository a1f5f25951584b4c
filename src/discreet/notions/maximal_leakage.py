"""Maximal leakage (Issa, Wagner, Kamath): how much easier it becomes to guess any function of the secret.

    ln Σ_y max_s P(y|s) = ln Σ_y q_y max_s t_s ≤ ε,      t_s = P(y|s) / P(y)

The maximum runs over the secrets that occur. It is an average over outputs: rare ones may tell more than e^ε.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats
from discreet.joint import Joint
from discreet.notions.average import OnAverage
from discreet.notions.notion import Average, Notion, Words, registered_average
from discreet.phrases import names, times


def _promise(_: MaximalLeakage, joint: Joint, epsilon: float) -> str:
    return (
        f"On average over all released records, guessing anything about {names(joint.secrets)} becomes at most "
        f"{times(epsilon)} times as easy; a single record may tell more."
    )


@registered_average
@dataclass(frozen=True)
class MaximalLeakage(OnAverage):
    """Σ_y max_s P(y|s) ≤ e^ε, under any other notion as a ceiling for every output.

    Arguments:
        epsilon: the largest ln Σ_y max_s P(y | s), in nats.
        ceiling: what every single output keeps as well, such as `LIP(1)`; nothing if not given.
    Raises:
        ParameterError: an epsilon that is not a positive number, or an average as the ceiling.
    Example:
        >>> import discreet as dc
        >>> joint = dc.Joint.from_counts([[30, 10, 5], [5, 20, 40]])
        >>> dc.design(joint, dc.MaximalLeakage(0.25)).protocol.epsilon <= 0.25
        True
    """

    epsilon: float
    number = "epsilon"
    words = Words(
        name="MaximalLeakage",
        command="maximal-leakage",
        title="maximal leakage",
        row="maximal leakage, on average",
        symbol="maximal leakage ε",
        over="",
        formula="Σ_y max_s P(y|s) ≤ e^ε",
        promise=_promise,
        headline=lambda epsilon: (
            "as easy is the most any guess about the secret becomes, on average",
            f"× {times(epsilon)}",
        ),
    )

    @classmethod
    def asked(cls, epsilon: float, confidence: float) -> Notion:
        return cls(epsilon)

    def average(self, joint: Joint) -> Average:
        """The largest t_s is one on average only if nothing is told; e^ε is the limit."""
        from discreet.utilities.utility import LargestRatio

        masses = joint.secret_prior[joint.seen]
        return Average(joint.letter_given_secret, masses, LargestRatio, math.exp(self.epsilon))

    def measured(self, likelihoods: Floats, joint: Joint) -> float:
        return max(0.0, math.log(float(np.asarray(likelihoods).max(axis=1).sum())))
