"""(ε, F)-RLIP: ε-LIP for every distribution P of an uncertainty set F with limits for conditionals and masses.

With A_s and B_s the largest and the smallest P(y|s) over F, and masses π that move freely of the conditionals,

    A_s ≤ e^ε min_π (π_s A_s + Σ_{t≠s} π_t B_t)   and   max_π (π_s B_s + Σ_{t≠s} π_t A_t) ≤ e^ε B_s      (theory 5.3).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from discreet.arrays import Floats
from discreet.channel import Channel
from discreet.exceptions import ParameterError
from discreet.joint import Joint
from discreet.notions.notion import Cone, Level, Notion, Witness, Words, check_fits, log_ratio, registered
from discreet.notions.rldp import level_over
from discreet.phrases import names, times
from discreet.uncertainty.confidence import Confidence
from discreet.uncertainty.extremes import Extreme
from discreet.uncertainty.filling import largest_fill, smallest_fill
from discreet.uncertainty.intervals import IntervalSet
from discreet.uncertainty.uncertainty import Uncertainty, UncertaintySet, set_words

VIOLATED = 1e-12
"""A condition broken by less than this share of its terms is broken by rounding."""


def _promise(notion: RLIP, joint: Joint, epsilon: float) -> str:
    return (
        f"Whoever sees a released record finds no value of {names(joint.secrets)} more than {times(epsilon)} times as "
        f"likely, or as unlikely, as in the whole population. "
        f"{set_words(notion.uncertainty).holds(notion.uncertainty)}"
    )


@registered
@dataclass(frozen=True)
class RLIP(Notion):
    """e^−ε ≤ P(y | s) / P(y) ≤ e^ε for every output, every secret and every P in F.

    Arguments:
        epsilon: the largest |ln P(s | y) / P(s)| under any P of the set, in nats.
        uncertainty: the set F, `Confidence(0.95)` around the counts if not given.

    Raises:
        ParameterError: when it is used on a joint without counts.

    Example:
        >>> import discreet
        >>> joint = discreet.Joint.from_counts([[300, 100], [100, 300]])
        >>> robust, plain = discreet.design(joint, discreet.RLIP(0.3)), discreet.design(joint, discreet.LIP(0.3))
        >>> robust.utility < plain.utility
        True
    """

    epsilon: float
    uncertainty: Uncertainty = field(default_factory=Confidence)
    words = Words(
        name="RLIP",
        command="rlip",
        title="robust local information privacy",
        row="robust (RLIP)",
        symbol="(ε, F)-RLIP",
        over="and secret s, and every distribution P in the set F",
        formula="e^{−ε} ≤ P(y|s)/P(y) ≤ e^ε",
        promise=_promise,
        at_prior=False,
    )

    @classmethod
    def asked(cls, epsilon: float, confidence: float) -> RLIP:
        return cls(epsilon, Confidence(confidence))

    @classmethod
    def audited(cls, uncertainty: Uncertainty | None) -> RLIP | None:
        return cls(1.0, uncertainty) if isinstance(uncertainty, Confidence) else None

    def known(self, joint: Joint) -> IntervalSet:
        """F, with limits for the masses."""
        if not isinstance(self.uncertainty, Confidence):
            raise ParameterError(
                "robust LIP needs limits for the masses of secrets as well",
                where=type(self.uncertainty).__name__,
                remedy="Use dc.RLIP(epsilon, dc.Confidence(0.95)), or RLDP with this set.",
            )
        return self.uncertainty.with_masses(joint)

    def apart(self, channel: Channel, joint: Joint) -> float:
        """The largest ln P(y|s)/P(y|s') over F: whoever's prior is whatever it is, k rows move no chance by more than k
        times that. The limits are those of F, wider than the ones that RLDP takes for conditionals alone."""
        return level_over(self.known(joint), channel, joint).epsilon

    def cone(self, joint: Joint) -> Cone:
        """The conditions at the masses and conditionals that a row breaks most; those at P̂ to begin with."""
        known, price = self.known(joint), float(np.exp(self.epsilon))

        def separate(v: Floats) -> Floats:
            return broken_rows(joint, known, price, v)

        return Cone(rows_at(joint, known, price), separate)

    def level(self, channel: Channel, joint: Joint) -> Level:
        check_fits(channel, joint)
        known = self.known(joint)
        most, least = extreme_means(channel, joint, known)
        worst, at = 0.0, (-1, 0, False)
        for s in range(most.shape[1]):
            below, above = extreme_averages(known, most, least, s)
            for moved, raised in (
                (log_ratio(most[:, s], below.value), True),
                (log_ratio(above.value, least[:, s]), False),
            ):
                y = int(moved.argmax())
                if moved[y] > worst:
                    worst, at = float(moved[y]), (y, s, raised)
        y, s, raised = at
        if y < 0:
            return Level(0.0)
        distribution = _worst_distribution(known, joint.expand(channel.row(y, joint.prior)), s, raised=raised)
        return Level(worst, Witness(channel.outputs[y], joint.secret_letters[s], distribution=distribution))


def extreme_means(channel: Channel, joint: Joint, known: UncertaintySet) -> tuple[Floats, Floats]:
    """A_s and B_s, the largest and the smallest P(y|s) over F, one row per output."""
    most, least = zip(*(known.told(joint.expand(rows)) for _, rows in channel.blocks(joint.prior)), strict=True)
    return np.concatenate(most), np.concatenate(least)


class Averages(NamedTuple):
    """P(y) where it is least against P(y|s) and where it is most, with the masses π that make it so."""

    value: Floats
    attained_at: Floats


def extreme_averages(known: IntervalSet, most: Floats, least: Floats, s: int) -> tuple[Averages, Averages]:
    """min_π (π_s A_s + Σ π_t B_t) and max_π (π_s B_s + Σ π_t A_t), for every row of A and B."""
    low, high = known.limits.masses
    mine = np.arange(most.shape[-1]) == s
    below = smallest_fill(np.where(mine, most, least), low, high)
    above = largest_fill(np.where(mine, least, most), low, high)
    return Averages(*below), Averages(*above)


def largest_change(known: IntervalSet, rows: Floats, price: float) -> float:
    """The largest left side minus `price` times the right side over rows v(row, secret, letter), secrets and F."""
    most, least = known.told(rows)
    worst = -np.inf
    for s in range(most.shape[-1]):
        below, above = extreme_averages(known, most, least, s)
        worst = max(worst, float((most[..., s] - price * below.value).max()))
        worst = max(worst, float((above.value - price * least[..., s]).max()))
    return worst


def broken_rows(joint: Joint, known: IntervalSet, price: float, v: Floats, tolerance: float = VIOLATED) -> Floats:
    """The conditions that v breaks by more than this share of their terms, at the worst conditionals and masses."""
    most, least, up, down = known.drawn(joint.expand(v)[None])
    blocks = []

    def cut(own: tuple[Extreme, Floats], others: tuple[Extreme, Floats], masses: Floats, *change: Any) -> None:
        block = _change(own[0].attained_at[0], others[0].attained_at[0], masses, *change)
        drawn = _change(own[1][0][:, None], others[1][0][:, None], masses, *change).sum()
        blocks.append(block + drawn * joint.table)

    for s in range(most.value.shape[1]):
        below, above = extreme_averages(known, most.value, least.value, s)
        highest, lowest = float(most.value[0, s]), float(least.value[0, s])
        if highest - price * below.value[0] > tolerance * (highest + price * below.value[0]):
            cut((most, up), (least, down), below.attained_at[0], s, 1.0, -price)
        if above.value[0] - price * lowest > tolerance * (above.value[0] + price * lowest):
            cut((least, down), (most, up), above.attained_at[0], s, -price, 1.0)
    return _over_letters(joint, np.array(blocks).reshape(-1, *joint.table.shape))


def rows_at(joint: Joint, known: IntervalSet, price: float) -> Floats:
    """The conditions at one distribution of F."""
    p, masses = known.conditional, known.attained({}).sum(axis=1)
    blocks = [
        _change(p, p, masses, s, alone, together)
        for s in range(len(p))
        for alone, together in ((1.0, -price), (-price, 1.0))
    ]
    return _over_letters(joint, np.array(blocks))


def _change(own: Floats, others: Floats, masses: Floats, s: int, alone: float, together: float) -> Floats:
    """alone · R_s·v_s + together · (π_s R_s·v_s + Σ_{t≠s} π_t R_t·v_t), as a block [secret, letter]."""
    block = together * masses[:, None] * others
    block[s] = (alone + together * masses[s]) * own[s]
    return np.asarray(block)


def _over_letters(joint: Joint, blocks: Floats) -> Floats:
    return blocks.reshape(len(blocks), joint.table.size) if joint.reads_secret else np.asarray(blocks.sum(axis=1))


def _worst_distribution(known: IntervalSet, row: Floats, s: int, *, raised: bool) -> Floats:
    """A P in F at which the row v(secret, letter) moves the chance of s the most."""
    most, least = known.ranges(row[None])
    below, above = extreme_averages(known, most.value, least.value, s)
    own, others, masses = (most, least, below) if raised else (least, most, above)
    conditional = others.attained_at[0].copy()
    conditional[s] = own.attained_at[0, s]
    return np.asarray(masses.attained_at[0][:, None] * conditional)
