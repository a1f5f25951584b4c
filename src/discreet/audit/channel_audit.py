"""`audit`: the level of a mechanism under every notion, its worst cases, and what an attacker believes afterwards.

One entrance for protocols, matrices, files and samplers. Levels are those of the notions themselves, computed for the
channel as it is; nothing here knows how a mechanism was designed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet import information
from discreet.audit.matrix_file import read_matrix
from discreet.audit.sampler_audit import SamplerAudit, audit_sampler
from discreet.channel import Channel
from discreet.exceptions import AlphabetError, DistributionError, ParameterError
from discreet.given_columns import Stratum
from discreet.joint import Joint
from discreet.notions import LDP, NOTIONS, Level
from discreet.protocol import Protocol
from discreet.protocol.strata import StratifiedProtocol
from discreet.uncertainty import ChiSquare, Confidence, Uncertainty
from discreet.uncertainty.confidence import MOST_RECORDS
from discreet.wording import in_words

LIMITED_CELLS = 5_000
"""Exact limits of so many cells take some ten seconds; an audit that nobody asked them of takes no longer."""


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
    channel = in_order_of(channel, joint)
    chosen = uncertainty or default_set(joint)
    notions = {name: kind.audited(chosen) for name, kind in NOTIONS.items()}
    levels = {name: notion.level(channel, joint) for name, notion in notions.items() if notion is not None}
    together = information.secret_with_output(joint, channel).T
    totals = together.sum(axis=1, keepdims=True)
    posterior = np.where(totals > 0, together / np.where(totals > 0, totals, 1.0), joint.secret_prior)
    return Audit(
        levels,
        {name: _words(level, channel, joint) for name, level in levels.items()},
        information.utility(joint, channel),
        information.leakage(joint, channel),
        channel.outputs,
        joint.secret_letters,
        joint.secret_prior,
        posterior,
        chosen,
        proven,
    )


def default_set(joint: Joint) -> Uncertainty | None:
    """What an audit takes for F where nothing is stated: exact limits where counts are known and few, the chi-square
    set where only n is, or where limits would take longer than everything else."""
    if joint.n is None:
        return None
    few = joint.counts is not None and joint.counts.size <= LIMITED_CELLS and joint.n <= MOST_RECORDS
    return Confidence() if few else ChiSquare()


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
        form=joint.form,
    )
    return LDP(1.0).level(in_order_of(channel, joint), other)


def in_order_of(channel: Channel, joint: Joint) -> Channel:
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


def _words(level: Level, channel: Channel, joint: Joint) -> str:
    raised = True
    if level.witness is not None and level.witness.other is None:
        raised = _raised(level, channel, joint)
    return in_words(level, raised=raised)


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


# ---- one entrance ----------------------------------------------------------------------------------------------------


@overload
def audit(
    mechanism: Protocol | Channel | ArrayLike | str | os.PathLike[str],
    joint: Joint | None = None,
    uncertainty: Uncertainty | None = None,
) -> Audit: ...


@overload
def audit(
    mechanism: Callable[..., Any], joint: Joint | None = None, uncertainty: Uncertainty | None = None
) -> SamplerAudit: ...


def audit(mechanism: Any, joint: Joint | None = None, uncertainty: Uncertainty | None = None) -> Audit | SamplerAudit:
    """What a mechanism guarantees at `joint`.

    A protocol, or the path of its file, brings its own joint; another one gives the levels it has there (ε* of robust-2
    section 8.3 is `.ldp`). A channel, a matrix Q[y, x] or the path of a CSV need one. A callable that turns a list of
    input letters into a list of outputs is sampled: the result is a lower bound, for more see `audit_sampler`.
    """
    if isinstance(mechanism, str | os.PathLike):
        path = Path(mechanism)
        mechanism = Protocol.load(path) if path.suffix.lower() == ".json" else read_matrix(path)
    if isinstance(mechanism, Protocol):
        uncertainty = uncertainty or next(
            (found for one in mechanism.notion.promises if (found := getattr(one, "uncertainty", None))), None
        )
        return audit_channel(mechanism.channel, joint or mechanism.joint, uncertainty, mechanism.epsilon)
    if joint is None:
        raise ParameterError("a mechanism without a joint", where="joint", remedy="Give the joint P(S, X) to audit at.")
    if callable(mechanism):
        return audit_sampler(mechanism, joint)
    return audit_channel(mechanism if isinstance(mechanism, Channel) else Channel(mechanism), joint, uncertainty)


def audit_strata(protocol: StratifiedProtocol) -> dict[Stratum, Audit]:
    """Every notion's level within each stratum of the given columns."""
    return {key: audit(one) for key, one in protocol.strata.items()}
