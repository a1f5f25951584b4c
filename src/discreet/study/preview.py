"""A release in pictures before it is drawn: what an attacker learns, what stays true, what analysts get.

Everything follows from Q and P, exactly; nothing is drawn. For a protocol with given columns every number is a mean
over its strata, and every range the widest over them.

    learnt      P(s | y) over all possible outputs, beside P(s), what the promise allows, and P(s | x) as it is
    columns     for every letter of a released column: its share before and after, and how much of that is true
    pair        the share of rows whose first two released columns both stay as they are, by their letters
    analysts    n · Var of an estimated share from n released rows, and from n clean ones
    guesses     how often the best guess of the secret is right: knowing nothing, from the release, from the truth
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from discreet.arrays import Floats
from discreet.estimate import forecast
from discreet.given_columns import AnyJoint, StratifiedJoint
from discreet.notions.notion import words_of
from discreet.phrases import shown
from discreet.protocol import Protocol
from discreet.protocol.strata import AnyProtocol, StratifiedProtocol
from discreet.study.thin_combinations import thin_combinations

FEW: Final = 30
"""A combination with fewer people is not held against the release: its P(s | x) would be about single people."""
RATIO_TO_PRIOR: Final = ("LIP", "SRLIP", "RLIP")
"""Notions that bound P(s | y) / P(s); the others bound the ratio of two secrets."""


@dataclass(frozen=True)
class Learnt:
    """Of one secret: the chance before, its range after, the range that is allowed, and that of the table as it is.

    `factors` is the range of P(s | y) / P(s)."""

    secret: str
    before: float
    after: tuple[float, float]
    allowed: tuple[float, float]
    unprotected: tuple[float, float]
    factors: tuple[float, float]


@dataclass(frozen=True)
class Kept:
    """Of one letter of a released column: its share, its share among the released, and the part of that is true."""

    letter: str
    before: float
    after: float
    true: float


@dataclass(frozen=True)
class Expected:
    """Of one letter: its share, and n times the variance of its estimate from n released and from n clean rows."""

    letter: str
    share: float
    variance: float
    clean: float


@dataclass(frozen=True)
class Preview:
    """`columns` and `pair` are there where outputs are values themselves; `unchanged` is then the share of rows that
    stay as they are. `thin` counts combinations of released letters with fewer than 50 people, `thin_named`
    are some that may be told."""

    learnt: tuple[Learnt, ...]
    columns: dict[str, tuple[Kept, ...]]
    pair: tuple[tuple[float | None, ...], ...]
    analysts: dict[str, tuple[Expected, ...]]
    guess_nothing: float
    guess_release: float
    guess_truth: float
    unchanged: float | None
    combinations: int
    thin: int
    thin_named: tuple[tuple[str, ...], ...]

    def facts(self) -> dict[str, Any]:
        return asdict(self)


def preview(protocol: AnyProtocol) -> Preview:
    parts = _parts(protocol)
    columns, pair, unchanged = _kept(parts)
    thin = thin_combinations(protocol.population if isinstance(protocol, StratifiedProtocol) else protocol.joint)
    return Preview(
        learnt=_learnt(parts),
        columns=columns,
        pair=pair,
        analysts=_analysts(protocol, parts),
        guess_nothing=sum(weight * float(one.joint.secret_prior.max()) for weight, one in parts),
        guess_release=sum(weight * float(_with_outputs(one).max(axis=0).sum()) for weight, one in parts),
        guess_truth=sum(weight * float(one.joint.table.max(axis=0).sum()) for weight, one in parts),
        unchanged=unchanged,
        combinations=protocol.joint.table.shape[1],
        thin=thin.count,
        thin_named=thin.named,
    )


Parts = list[tuple[float, Protocol]]


def _parts(protocol: AnyProtocol) -> Parts:
    """Every stratum with its share of the people; one part where nothing is given."""
    if not isinstance(protocol, StratifiedProtocol):
        return [(1.0, protocol)]
    return [((one.joint.n or 0) / protocol.n, one) for one in protocol.strata.values()]


def _with_outputs(protocol: Protocol) -> Floats:
    """P(s, y)"""
    return np.asarray(protocol.joint.matrix @ protocol.matrix.T)


def _learnt(parts: Parts) -> tuple[Learnt, ...]:
    joint = parts[0][1].joint
    before = sum(weight * one.joint.secret_prior for weight, one in parts)
    found = []
    for s, letter in enumerate(joint.secret_letters):
        ranges = [_ranges(one, s) for _, one in parts if one.joint.secret_prior[s] > 0]
        if not ranges:
            continue
        spans = [(min(each[0] for each in many), max(each[1] for each in many)) for many in zip(*ranges, strict=True)]
        found.append(Learnt(shown(letter), float(np.asarray(before)[s]), spans[0], spans[1], spans[2], spans[3]))
    return tuple(found)


def _ranges(protocol: Protocol, s: int) -> tuple[tuple[float, float], ...]:
    """After, allowed, unprotected, factors: of one secret in one stratum."""
    joint, together = protocol.joint, _with_outputs(protocol)
    prior, outputs = float(joint.secret_prior[s]), together.sum(axis=0)
    after = together[s, outputs > 0] / outputs[outputs > 0]
    truth = joint.table.sum(axis=0)
    enough = truth * (joint.n or math.inf) >= FEW if joint.n else truth > 0
    plain = joint.table[s, enough] / truth[enough] if enough.any() else np.array([prior])
    grown = math.exp(min(protocol.epsilon, 700))
    if words_of(protocol.notion.promises[0]).name in RATIO_TO_PRIOR:
        allowed = prior / grown, min(1.0, prior * grown)
    else:
        allowed = prior / (prior + (1 - prior) * grown), prior * grown / (1 - prior + prior * grown)
    span = float(after.min()), float(after.max())
    return span, allowed, (float(plain.min()), float(plain.max())), (span[0] / prior, span[1] / prior)


def _kept(
    parts: Parts,
) -> tuple[dict[str, tuple[Kept, ...]], tuple[tuple[float | None, ...], ...], float | None]:
    """Where every output is a letter of the release."""
    joint = parts[0][1].joint
    place = {letter: i for i, letter in enumerate(joint.target_letters)}
    if not all(output in place for _, one in parts for output in one.outputs):
        return {}, (), None
    moves = np.zeros((len(place), len(place)))
    for weight, one in parts:
        rows = [place[output] for output in one.outputs]
        flow = one.matrix * one.joint.prior
        np.add.at(moves, (one.joint.target_of[None, :], np.array(rows)[:, None]), weight * flow)
    sizes = [len(attribute) for attribute in joint.released]
    codes = np.indices(sizes).reshape(len(sizes), -1)
    columns = {}
    for axis, attribute in enumerate(joint.released):
        flow = np.zeros((sizes[axis], sizes[axis]))
        np.add.at(flow, (codes[axis][:, None], codes[axis][None, :]), moves)
        columns[attribute.name] = tuple(
            Kept(shown(letter), float(flow[i].sum()), float(flow[:, i].sum()), float(flow[i, i]))
            for i, letter in enumerate(attribute.letters)
        )
    return columns, _pair(moves, codes, sizes), float(np.trace(moves))


def _pair(moves: Floats, codes: Any, sizes: list[int]) -> tuple[tuple[float | None, ...], ...]:
    """P(both stay | the letters of the first two columns), None where nobody is."""
    if len(sizes) < 2:
        return ()
    first = codes[0] * sizes[1] + codes[1]
    flow = np.zeros((sizes[0] * sizes[1],) * 2)
    np.add.at(flow, (first[:, None], first[None, :]), moves)
    totals = flow.sum(axis=1)
    stays = [float(flow[i, i] / totals[i]) if totals[i] > 0 else None for i in range(len(totals))]
    return tuple(tuple(stays[i * sizes[1] : (i + 1) * sizes[1]]) for i in range(sizes[0]))


def _analysts(protocol: AnyProtocol, parts: Parts) -> dict[str, tuple[Expected, ...]]:
    """From the whole release, so that one whose law is kept counts as the plain count that it is; a random part of its
    rows tells the same for each row."""
    joint: AnyJoint = protocol.joint
    if isinstance(protocol, StratifiedProtocol):
        joint = StratifiedJoint(protocol.given, {key: one.joint for key, one in protocol.strata.items()})
    n = joint.n or 1
    found = {}
    for attribute in parts[0][1].joint.released:
        one = forecast(protocol, joint, n, names=[attribute.name])
        variances = one.standard_errors**2 * n
        found[attribute.name] = tuple(
            Expected(shown(letter), float(p), float(v), float(p * (1 - p)))
            for letter, p, v in zip(attribute.letters, one.frequencies, variances, strict=True)
        )
    return found
