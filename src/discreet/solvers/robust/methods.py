"""Robust LDP as methods: closed forms, PolyOpt, bands under one curve, and the optimum."""

from __future__ import annotations

import math
import time
from contextlib import suppress

from discreet.channel import Channel
from discreet.exceptions import InfeasibleError, UnfinishedError
from discreet.joint import Joint
from discreet.mechanisms.forms import robust
from discreet.notions import LDP
from discreet.notions.cone import Cone
from discreet.notions.level import Notion
from discreet.notions.polytope import polyopt_cone, polyopt_rows
from discreet.notions.rldp import RLDP
from discreet.solvers import columns
from discreet.solvers.closed import CLOSED
from discreet.solvers.method import Found, Limits, Method, Progress, named, solved, splitting
from discreet.solvers.problem import Splitting
from discreet.solvers.robust import blind, coupling, curator, exact
from discreet.solvers.robust.bounds import robust_bound
from discreet.solvers.robust.ready import compiled
from discreet.utilities import MutualInformation, Utility

LISTED_ROWS = 2_000
ROBUST_SECONDS = 60.0
ROBUST_GAP = 5e-4
POLYOPT_LETTERS = 16


def polyopt(same_secret: bool) -> Method:
    """The best mechanism inside PolyOpt's polytope, which says nothing about the mechanisms outside it."""

    def method(joint: Joint, notion: Notion, utility: Utility, limits: Limits) -> Found:
        notion = robust(notion, "polyopt")
        few = len(joint.letters) ** 2 <= LISTED_ROWS
        cone = Cone(polyopt_rows(joint, notion, same_secret)) if few else polyopt_cone(joint, notion, same_secret)
        problem = Splitting(joint.prior, joint.target_of, cone, utility).reduced()
        found = solved(columns.solve, joint, problem, limits)
        return Found(found.channel, math.inf, found.status)

    return method


def _closed_forms(joint: Joint, notion: Notion, utility: Utility, limits: Limits) -> list[Channel]:
    """The closed forms that suit the joint and have a member that is private enough."""
    names = [
        "grr",
        *(["srr", "ir", "robust-cr"] if joint.include_secret else []),
        *(["cr"] if joint.sees_secret else []),
    ]
    found = []
    for name in names:
        with suppress(InfeasibleError):
            found.append(CLOSED[name](joint, notion, utility, limits).channel)
    return found


def _simpler(joint: Joint, notion: Notion, utility: Utility, seconds: float) -> list[Channel]:
    """The closed forms, and PolyOpt where it is small enough to finish."""
    limits = Limits(ROBUST_GAP, seconds / 3)
    small = joint.include_secret and len(joint.letters) <= POLYOPT_LETTERS
    boxed = [polyopt(same_secret=False)(joint, notion, utility, limits).channel] if small else []
    return [*_closed_forms(joint, notion, utility, limits), *boxed]


def _best_of(joint: Joint, utility: Utility, channels: list[Channel]) -> Channel:
    return max(channels, key=lambda channel: utility.of(joint, channel))


def simple(joint: Joint, notion: Notion, utility: Utility, limits: Limits) -> Found:
    """The best closed form that suits the joint. The best non-robust mechanism bounds every robust one."""
    best = _best_of(joint, utility, _closed_forms(joint, notion, utility, limits))
    return Found(best, _bound(joint, notion, utility, limits), "closed form")


def coupled(joint: Joint, notion: Notion, utility: Utility, limits: Limits) -> Found:
    """Bands under one curve, or for a mechanism that reads X only one output a letter, polished; the best closed form,
    or PolyOpt where it is small enough, where those keep more."""
    notion = robust(notion, "coupling")
    compiled()
    seconds, started = limits.time_limit or ROBUST_SECONDS, time.monotonic()
    others = _simpler(joint, notion, utility, seconds)
    bound = _bound(joint, notion, utility, limits)
    left = max(seconds - (time.monotonic() - started), seconds / 3)
    large = _large(joint, notion, left, bound, limits.progress)
    best = _best_of(joint, utility, [*(found.channel for found in large), *others])
    for found in large:
        if found.channel is best:
            return Found(named(joint, best), bound, found.status)
    return Found(best, bound, "closed form" if large else "stalled")


def _large(joint: Joint, notion: RLDP, seconds: float, bound: float, progress: Progress | None = None) -> list[Found]:
    """What is found for alphabets of any size; nothing if a linear program fails on the way, which costs utility."""
    started = time.monotonic()

    def tell(value: float) -> None:
        if progress is not None:
            progress(value, bound, time.monotonic() - started)

    try:
        if joint.include_secret:
            found = coupling.solve(joint, notion, time_limit=seconds, progress=progress, known_bound=bound)
            return [Found(found.channel, found.upper_bound, found.status)]
        solve = curator.solve if joint.sees_secret else blind.solve
        return [Found(solve(joint, notion, time_limit=seconds, tell=tell), math.inf, "local optimum")]
    except UnfinishedError:
        return []


def _bound(joint: Joint, notion: Notion, utility: Utility, limits: Limits) -> float:
    """What no robust mechanism can exceed: what one keeps that takes P̂ for the truth, or less where that is known."""
    seconds = coupling.BOUND_SHARE * (limits.time_limit or ROBUST_SECONDS)
    if isinstance(notion, RLDP) and joint.include_secret and utility is MutualInformation:
        return robust_bound(joint, notion, seconds)
    return splitting(columns.solve)(joint, LDP(notion.epsilon), utility, Limits(ROBUST_GAP, seconds)).upper_bound


def optimum(joint: Joint, notion: RLDP, utility: Utility, limits: Limits) -> Found:
    """The robust optimum, from the best of everything else on. It gets a minute unless told otherwise, and a gap that
    cuts can reach."""
    compiled()
    started, seconds = time.monotonic(), limits.time_limit or ROBUST_SECONDS
    starts, bound = _simpler(joint, notion, utility, seconds), _bound(joint, notion, utility, limits)
    starts += [found.channel for found in _large(joint, notion, seconds / 3, bound)]
    found = exact.solve(
        joint,
        notion,
        utility,
        gap=max(limits.gap, ROBUST_GAP),
        time_limit=max(seconds - (time.monotonic() - started), 1.0),
        progress=limits.progress,
        known_bound=bound,
        begin_with=starts,
    )
    status = "gap" if found.status == "optimal" and found.gap > limits.gap else found.status
    best = _best_of(joint, utility, [found.channel, *starts])
    return Found(named(joint, best) if best is found.channel else best, found.upper_bound, status)
