"""The privacy funnel (problem 1 of funnel-1 and funnel-2): on average an output tells at most so many nats about S.

    I(S;Y) = Σ_y q_y Σ_s p_s t_s ln t_s ≤ M,      t_s = P(y|s) / P(y) = p_{Z|s}·v_y

Alone it says nothing about a single record: an output may rule a secret out, or tell it, if it is rare enough. A
ceiling does: `Funnel(0.016, ceiling=LIP(1))` tells little on average and never much.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import rel_entr

from discreet.arrays import Floats
from discreet.exceptions import ParameterError
from discreet.information import mutual_information
from discreet.joint import Joint
from discreet.notions.average import OnAverage
from discreet.notions.notion import Average, Notion, Words, registered_average
from discreet.phrases import names, rounded_down, rounded_up

SHARE_DIGITS = 4
"""What a file states is read by everybody: sixteen digits of I(S;X) would tell one table from all others."""


def _promise(_: Funnel, joint: Joint, epsilon: float) -> str:
    return (
        f"On average over all released records, one tells at most {rounded_up(epsilon, digits=3)} nats about "
        f"{names(joint.secrets)}; a single record may tell more."
    )


@registered_average
@dataclass(frozen=True)
class Funnel(OnAverage):
    """I(S;Y) ≤ nats, under any other notion as a ceiling for every output.

    Arguments:
        nats: the largest I(S;Y), in nats; `Funnel.share(0.1, joint)` states it as a part of I(S;X).
        ceiling: what every single output keeps as well, such as `LIP(1)`; nothing if not given.
    Raises:
        ParameterError: a number that is not positive, or an average as the ceiling.
    Example:
        >>> import discreet as dc
        >>> joint = dc.Joint.from_counts([[30, 10, 5], [5, 20, 40]])
        >>> both = dc.design(joint, dc.Funnel(0.02, ceiling=dc.LIP(1)))
        >>> dc.audit(both.protocol).leakage <= 0.02
        True
    """

    nats: float
    number = "nats"
    words = Words(
        name="Funnel",
        command="funnel",
        title="the privacy funnel",
        row="information about the secret, on average",
        symbol="ε-funnel",
        over="",
        formula="I(S;Y) ≤ ε",
        promise=_promise,
        measure="nats",
        headline=lambda nats: (
            "nats is the most a record tells about the secret, on average",
            rounded_up(nats, digits=3),
        ),
    )

    @property
    def epsilon(self) -> float:
        """The nats: what I(S;Y) may be at most."""
        return self.nats

    @classmethod
    def share(cls, share: float, joint: Joint, ceiling: Notion | None = None) -> Funnel:
        """At most this share of I(S;X), which is what publishing X as it is would tell, rounded down to four digits.

        Every file states the nats, the public one too, and so tells I(S;X) to four digits; nats of your own do not.
        """
        if not 0 < share <= 1:
            raise ParameterError("a share outside (0, 1]", where="Funnel.share", remedy="Try 0.1.")
        everything = mutual_information(joint.table)
        if not everything > 0:
            raise ParameterError(
                "a release that tells nothing about the secret",
                where="Funnel.share",
                remedy="Publish it as it is, or state nats.",
            )
        return cls(float(rounded_down(share * everything, digits=SHARE_DIGITS)), ceiling=ceiling)

    @classmethod
    def asked(cls, epsilon: float, confidence: float) -> Notion:
        return cls(epsilon)

    def average(self, joint: Joint) -> Average:
        from discreet.utilities.utility import MutualInformation

        masses = joint.secret_prior[joint.seen]
        return Average(joint.letter_given_secret, masses, MutualInformation, self.nats)

    def measured(self, likelihoods: Floats, joint: Joint) -> float:
        masses = joint.secret_prior[joint.seen]
        together: Any = likelihoods * masses
        told = rel_entr(together, together.sum(axis=1, keepdims=True) * masses).sum()
        return max(0.0, float(np.asarray(told)))
