"""`audit`: the level of a mechanism under every notion, its worst cases, and what an attacker believes afterwards.

One entrance for protocols, matrices, files and samplers. Levels are those of the notions themselves, computed for the
channel as it is; nothing here knows how a mechanism was designed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import rel_entr

from discreet import information
from discreet.arrays import Floats
from discreet.attribute import Form
from discreet.audit.letter_order import check_spoken, columns_filled, in_columns_of, in_order_of
from discreet.audit.matrix_file import read_matrix
from discreet.audit.sampler_audit import SamplerAudit, audit_sampler
from discreet.channel import Channel
from discreet.exceptions import DistributionError, ParameterError
from discreet.given_columns import Stratum
from discreet.joint import Joint
from discreet.notions import LDP, NOTIONS, Level, Notion, words_of
from discreet.notions.notion import AVERAGES, BEFORE
from discreet.phrases import percent, quoted, times
from discreet.protocol import Protocol
from discreet.protocol.public import PublicProtocol, StratifiedPublic
from discreet.protocol.public_file import load_either
from discreet.protocol.strata import StratifiedProtocol
from discreet.uncertainty import ChiSquare, Confidence, Uncertainty
from discreet.uncertainty.confidence import MOST_RECORDS
from discreet.wording import in_words

LIMITED_CELLS = 5_000
"""Exact limits of so many cells take some ten seconds; an audit that nobody asked them of takes no longer."""
MOST_PAIRED = 2_000
"""Secrets whose pairs are compared over a chi-square set; for more of them an audit leaves the set out."""


@dataclass(frozen=True, eq=False)
class Audit:
    """What a channel guarantees at this joint. Levels and informations in nats; `rldp` is None without a set F.

    `levels` has averages as well: I(S;Y) (Funnel), maximal leakage, and the share of correct guesses (Guess).
    `witnesses` says for every notion which output is worst, for whom; `posterior[y, s]` is P(S = s | Y = y).

    Attributes:
        levels: by the name of a notion, its `Level`; `ldp`, `lip`, `srlip`, `rldp` and `ordinary` are the epsilons.
        witnesses: by the name of a notion, the worst output in words.
        mutual_information: I(X;Y), or of what the release is about, in nats.
        leakage: I(S;Y), in nats.
        outputs: the names of the outputs.
        secrets: the values of the secret.
        prior: P(s).
        posterior: P(s | y), one row per output.
        uncertainty: the set behind the robust level, or None.
        proven: the level of a protocol that was proven, or None.
    Example:
        >>> import discreet as dc
        >>> joint = dc.Joint.from_counts([[1, 3], [3, 1]])
        >>> found = dc.audit([[0.7, 0.3], [0.3, 0.7]], joint)
        >>> sorted(found.levels)[:3], found.posterior.round(2).tolist()
        (['Funnel', 'Guess', 'LDP'], [[0.4, 0.6], [0.6, 0.4]])
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
    channel: Channel,
    joint: Joint,
    uncertainty: Uncertainty | None = None,
    proven: float | None = None,
    promised: Sequence[Notion] = (),
) -> Audit:
    """Every notion's level for a channel at a joint. `audit` calls it, and takes matrices, files and code as well.

    Arguments:
        channel: Q[y, z], for the letters of the joint.
        joint: P(S, X).
        uncertainty: the set F of RLDP; by default the 95 % confidence set, if n is known.
        proven: the level that was proven, to be shown beside the others.
        promised: notions with numbers of their own, to be held against the channel as well.
    Returns:
        An `Audit`.
    Raises:
        AlphabetError: a channel that reads other letters than the joint has.
    Example:
        >>> import discreet as dc
        >>> from discreet.audit import audit_channel
        >>> joint = dc.Joint.from_counts([[1, 3], [3, 1]])
        >>> found = audit_channel(dc.Channel([[0.7, 0.3], [0.3, 0.7]]), joint, promised=[dc.ALIP(0.3, 0.7)])
        >>> "ALIP" in found.levels
        True
    """
    channel = in_order_of(channel, joint)
    check_spoken(channel, joint)
    chosen = uncertainty or default_set(joint)
    notions = {name: kind.audited(chosen) for name, kind in NOTIONS.items()}
    notions |= {words_of(one).name: one for one in promised if notions.get(words_of(one).name, one) is None}
    levels = {name: notion.level(channel, joint) for name, notion in notions.items() if notion is not None}
    averages = {name: kind.asked(1.0, confidence=0.5).level(channel, joint) for name, kind in AVERAGES.items()}
    together = information.secret_with_output(joint, channel).T
    totals = together.sum(axis=1, keepdims=True)
    posterior = np.where(totals > 0, together / np.where(totals > 0, totals, 1.0), joint.secret_prior)
    beliefs = channel.outputs, joint.secret_letters, joint.secret_prior, posterior, totals[:, 0]
    words = {name: _words(notions[name], level, channel, joint) for name, level in levels.items()}
    return Audit(
        levels | averages,
        words | {name: average_told(name, *beliefs) for name in averages},
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
    set where only n is, where the counts chose the groups, or where limits would take longer than everything else;
    nothing for very many secrets."""
    if joint.n is None:
        return None
    learnt = any(one.grouping is not None and one.grouping.learnt for one in joint.secrets + joint.releases)
    if not learnt and joint.counts is not None and joint.counts.size <= LIMITED_CELLS and joint.n <= MOST_RECORDS:
        return Confidence()
    return ChiSquare() if len(joint.seen) <= MOST_PAIRED else None


def realised_level(channel: Channel, joint: Joint, distribution: ArrayLike | Joint) -> Level:
    """ε*, the level that the channel turns out to have at another distribution P(s, x) (robust-2 section 8.3, where the
    logarithm is missing).

    Arguments:
        channel: Q[y, z], for the letters of the joint.
        joint: the joint that the channel was made for.
        distribution: the other P(s, x): a joint, matched by the names of columns and letters, or an array of its shape.
    Returns:
        A `Level`: `epsilon` and its `witness`.
    Raises:
        DistributionError: an array of another shape.
        AlphabetError: a joint of other columns or letters.
    Example:
        >>> import discreet as dc
        >>> from discreet.audit import realised_level
        >>> joint = dc.Joint.from_counts([[1, 3], [3, 1]])
        >>> channel = dc.Channel([[0.7, 0.3], [0.3, 0.7]])
        >>> round(realised_level(channel, joint, [[0.5, 0], [0, 0.5]]).epsilon, 4)
        0.8473
    """
    read = in_order_of(channel, joint)
    if isinstance(distribution, Joint):
        other = replace(distribution, form=joint.form)
        read = in_order_of(in_columns_of(read, joint.reads, other), other)
        check_spoken(read, other)
        return LDP(1.0).level(read, other)
    cells = np.asarray(distribution, dtype=float)
    if cells.shape not in (joint.probabilities.shape, joint.table.shape):
        raise DistributionError(
            f"cells of shape {cells.shape}, a joint of {joint.probabilities.shape}",
            remedy="Give P(s, x) on the same letters.",
        )
    other = Joint(cells.reshape(joint.probabilities.shape), joint.secrets, joint.releases, form=joint.form)
    check_spoken(read, other)
    return LDP(1.0).level(read, other)


def _words(notion: Notion | None, level: Level, channel: Channel, joint: Joint) -> str:
    """The worst case as the notion tells it, or as a ratio of chances."""
    told = None if notion is None else words_of(notion).worst
    if told is not None and level.witness is not None and level.epsilon > 0:
        return told(level)
    raised = True
    if level.witness is not None and level.witness.other is BEFORE:
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
    seen = (joint.expand(channel.row(y, joint.prior)).reshape(joint.probabilities.shape) * joint.probabilities)[
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

    A protocol, or the path of its file, brings its own joint; another one, of the same columns and letters in any
    order, gives the levels it has there (ε* of robust-2 section 8.3 is `.ldp`). A channel, a matrix Q[y, x] or the path
    of a CSV need one. A callable that turns a list of input letters into a list of outputs is sampled: the result is a
    lower bound, for more see `audit_sampler`.

    Arguments:
        mechanism: a protocol, a channel, a matrix, a callable, or the path of a file.
        joint: P(S, X) to audit at; that of the protocol if not given.
        uncertainty: the set for robust levels; exact limits of the counts if not given.

    Returns:
        An `Audit`: `ldp`, `lip`, `rldp`, …, `witnesses` in words, the attacker's `posterior`. Of a callable, a
        `SamplerAudit`.

    Raises:
        ParameterError: no joint for a mechanism that brings none.
        ChannelError: a matrix that is no mechanism, or says nothing of a letter that people have.
        AlphabetError: columns or letters that are not those of the joint, by name.
        ProofError: a protocol file whose promise does not hold.

    Example:
        >>> import discreet
        >>> joint = discreet.Joint.from_counts([[1, 3], [3, 1]])
        >>> round(discreet.audit([[0.7, 0.3], [0.3, 0.7]], joint).ldp, 4)
        0.4055
    """
    if not isinstance(joint, Joint | None):
        raise ParameterError(
            f"a {type(joint).__name__} is no joint", where="joint", remedy="Count a table with dc.Joint.from_table."
        )
    if isinstance(mechanism, str | os.PathLike):
        path = Path(mechanism)
        mechanism = load_either(path) if path.suffix.lower() == ".json" else read_matrix(path)
    if isinstance(mechanism, PublicProtocol | StratifiedPublic | StratifiedProtocol):
        mechanism = _its_own_channel(mechanism, joint)
    if isinstance(mechanism, Protocol):
        uncertainty = uncertainty or next(
            (found for one in mechanism.notion.promises if (found := getattr(one, "uncertainty", None))), None
        )
        at = mechanism.joint if joint is None else joint
        channel = mechanism.channel if joint is None else _everywhere(mechanism)
        channel = in_columns_of(channel, mechanism.joint.reads, at)
        return audit_channel(channel, at, uncertainty, mechanism.epsilon, mechanism.notion.promises)
    if joint is None:
        raise ParameterError("a mechanism without a joint", where="joint", remedy="Give the joint P(S, X) to audit at.")
    if callable(mechanism):
        return audit_sampler(mechanism, joint)
    return audit_channel(mechanism if isinstance(mechanism, Channel) else Channel(mechanism), joint, uncertainty)


def _everywhere(protocol: Protocol) -> Channel:
    """The channel for other people than were counted: letters that nobody had are drawn from the law that the outputs
    had then, as a release draws them."""
    channel = columns_filled(protocol.channel, protocol.channel.silent, protocol.marginal / 2.0**protocol.bits)
    return protocol.channel if channel is None else channel


def _its_own_channel(given: PublicProtocol | StratifiedPublic | StratifiedProtocol, joint: Joint | None) -> Channel:
    """The channel of a public file where that is the mechanism itself, one for all records; in the joint's columns."""
    if not isinstance(given, PublicProtocol):
        raise ParameterError("several mechanisms, one per stratum", where="given columns", remedy="Audit each stratum.")
    if given.form is not Form.FUNNEL:
        raise ParameterError(
            "a mechanism that reads the secret, of which the public file does not say all that an audit needs",
            where="form",
            remedy="Audit the full protocol file.",
        )
    channel = Channel(given.matrix, given.inputs, given.outputs)
    return channel if joint is None else in_columns_of(channel, given.reads, joint)


def audit_strata(protocol: StratifiedProtocol) -> dict[Stratum, Audit]:
    """Every notion's level within each stratum of the given columns.

    Arguments:
        protocol: one with given columns.
    Returns:
        By the letters of the given columns, an `Audit`.
    Raises:
        AlphabetError: never for a protocol that was loaded or designed; its channels have the letters of their joints.
    Example:
        >>> import discreet as dc, pyarrow as pa
        >>> from discreet.audit import audit_strata
        >>> rows = [("a", "x", "k")] * 300 + [("a", "y", "m")] * 200 + [("b", "y", "k")] * 300 + [("b", "x", "m")] * 200
        >>> table = pa.table(dict(zip(("s", "x", "given"), zip(*rows), strict=True)))
        >>> joint = dc.Joint.from_table(table, secret="s", release="x", given="given")
        >>> audits = audit_strata(dc.design(joint, dc.LIP(0.5)).protocol)
        >>> sorted(audits)
        [('k',), ('m',)]
    """
    return {key: audit(one) for key, one in protocol.strata.items()}


# What a mechanism tells on average, in words: information about the secret, maximal leakage, the best guess.
#
# An average says nothing about a single record, so each is told with the output that is worst for it: the one that
# tells most nats, the one that makes a secret likeliest against what it was, the one after which a guess is surest.


def average_told(
    name: str,
    outputs: Sequence[Hashable],
    secrets: Sequence[Hashable],
    prior: Floats,
    posterior: Floats,
    shares: Floats,
) -> str:
    """The worst output of an average in words; `posterior[y, s]` is P(s|y), `shares[y]` is P(y)."""
    occurs = np.flatnonzero(shares > 0)
    after = posterior[occurs]
    if name == "Funnel":
        told = np.asarray(rel_entr(after, prior)).sum(axis=1)
        y = int(told.argmax())
        return f"on average; most is told by output {quoted(outputs[occurs[y]])}: {told[y]:.4g} nats"
    if name == "MaximalLeakage":
        rise = np.divide(after, prior, out=np.zeros_like(after), where=prior > 0)
        y, s = (int(i) for i in np.unravel_index(int(rise.argmax()), rise.shape))
        factor = times(float(np.log(max(rise[y, s], 1.0))))
        return f"on average; output {quoted(outputs[occurs[y]])} makes {quoted(secrets[s])} {factor} times as likely"
    if name == "Guess":
        y, s = (int(i) for i in np.unravel_index(int(after.argmax()), after.shape))
        before = percent(round(float(prior.max()), 4))
        surest = (
            f"{quoted(secrets[s])} after output {quoted(outputs[occurs[y]])}, {percent(round(float(after[y, s]), 4))}"
        )
        return f"of all records, {before} without the release; surest is {surest}"
    return "on average over the outputs"
