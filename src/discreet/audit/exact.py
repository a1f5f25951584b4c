"""The level of a channel under every notion, its worst cases, and what an attacker believes after each output."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet import information
from discreet.audit.words import in_words
from discreet.channel import Channel
from discreet.exceptions import AlphabetError, DistributionError
from discreet.joint import Joint
from discreet.notions import LDP, LIP, SRLIP, OrdinaryLDP
from discreet.notions.level import Level, Notion
from discreet.notions.rldp import RLDP
from discreet.uncertainty import ChiSquare, Uncertainty


@dataclass(frozen=True, eq=False)
class Audit:
    """What a channel guarantees at this joint. Levels and informations in nats; `rldp` is None without a set F.

    `witnesses` says for every notion which output is worst, for whom; `posterior[y, s]` is P(S = s | Y = y).
    """

    levels: Mapping[str, Level]
    witnesses: Mapping[str, str]
    mutual_information: float
    leakage: float
    outputs: tuple[Hashable, ...]
    secrets: tuple[Hashable, ...]
    prior: NDArray[np.float64]
    posterior: NDArray[np.float64]
    uncertainty: Uncertainty | None
    proven: float | None = None

    @property
    def ldp(self) -> float:
        return self.levels["LDP"].epsilon

    @property
    def lip(self) -> float:
        return self.levels["LIP"].epsilon

    @property
    def srlip(self) -> float:
        return self.levels["SRLIP"].epsilon

    @property
    def ordinary(self) -> float:
        """Ordinary LDP, with respect to the letters themselves."""
        return self.levels["OrdinaryLDP"].epsilon

    @property
    def rldp(self) -> float | None:
        return self.levels["RLDP"].epsilon if "RLDP" in self.levels else None


def audit_channel(
    channel: Channel, joint: Joint, uncertainty: Uncertainty | None = None, proven: float | None = None
) -> Audit:
    """Every notion's level for this channel at this joint; RLDP over F, by default the 95 % confidence set if n is
    known."""
    channel = aligned(channel, joint)
    chosen = uncertainty or (ChiSquare() if joint.n is not None else None)
    notions: dict[str, Notion] = {
        "LDP": LDP(1.0),
        "LIP": LIP(1.0),
        "SRLIP": SRLIP(1.0),
        "OrdinaryLDP": OrdinaryLDP(1.0),
    }
    levels = {name: notion.level(channel, joint) for name, notion in notions.items()}
    if chosen is not None:
        levels["RLDP"] = RLDP(1.0, chosen).level(channel, joint)
    together = information.secret_with_output(joint, channel).T
    totals = together.sum(axis=1, keepdims=True)
    posterior = np.where(totals > 0, together / np.where(totals > 0, totals, 1.0), joint.secret_prior)
    return Audit(
        levels,
        {name: _words(name, level, channel, joint) for name, level in levels.items()},
        information.utility(joint, channel),
        information.leakage(joint, channel),
        channel.outputs,
        joint.secret_letters,
        joint.secret_prior,
        posterior,
        chosen,
        proven,
    )


def realised_level(channel: Channel, joint: Joint, distribution: ArrayLike | Joint) -> Level:
    """ε*, the level that the channel turns out to have at another distribution P(s, x) (robust-2 section 8.3, where the
    logarithm is missing)."""
    cells = distribution.probabilities if isinstance(distribution, Joint) else np.asarray(distribution, dtype=float)
    if cells.size != joint.probabilities.size:
        raise DistributionError(
            f"{cells.size} cells, a joint with {joint.probabilities.size}", remedy="Give P(s, x) on the same letters."
        )
    other = Joint(
        cells.reshape(joint.probabilities.shape),
        joint.secrets,
        joint.releases,
        include_secret=joint.include_secret,
        sees_secret=joint.sees_secret,
    )
    return LDP(1.0).level(aligned(channel, joint), other)


def aligned(channel: Channel, joint: Joint) -> Channel:
    """The channel with its inputs in the order of the joint's letters: by name, by written name, or as it is if it has
    no names."""
    inputs, letters = channel.inputs, joint.letters
    if inputs == letters or (inputs == tuple(range(len(inputs))) and len(inputs) == len(letters)):
        return Channel(channel.matrix, letters, channel.outputs)
    for key in (lambda letter: letter, str):
        position = {key(name): i for i, name in enumerate(inputs)}
        wanted = [key(letter) for letter in letters]
        if len(position) == len(inputs) == len(letters) and set(wanted) == set(position):
            return Channel(channel.matrix[:, [position[name] for name in wanted]], letters, channel.outputs)
    raise AlphabetError(
        f"a channel that reads {len(inputs)} letters, a joint with {len(letters)}, and their names differ",
        remedy="Name the inputs like the letters of the joint, or leave them unnamed and in the same order.",
    )


def _words(name: str, level: Level, channel: Channel, joint: Joint) -> str:
    raised = True
    if level.witness is not None and level.witness.other is None:
        raised = _raised(level, channel, joint)
    return in_words(level, raised=raised, robust=name == "RLDP")


def _raised(level: Level, channel: Channel, joint: Joint) -> bool:
    """Whether the output makes the secret likelier, given what is known beforehand."""
    assert level.witness is not None
    y, s = channel.outputs.index(level.witness.output), joint.secret_letters.index(level.witness.secret)
    place: list[slice | int] = [slice(None)] * len(joint.shape)
    for name, value in level.witness.side_channel:
        j = next(j for j, attribute in enumerate(joint.releases) if attribute.name == name)
        place[j] = joint.releases[j].letters.index(value)
    masses = joint.probabilities[(slice(None), *place)]
    seen = (joint.expand(channel.matrix[y]).reshape(joint.probabilities.shape) * joint.probabilities)[
        (slice(None), *place)
    ]
    return float(seen[s].sum() * masses.sum()) >= float(seen.sum() * masses[s].sum())
