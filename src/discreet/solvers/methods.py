"""Every way to make a mechanism, by name. Each takes the joint in its form, the notion, the utility and the limits."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from discreet.channel import Channel
from discreet.exceptions import InfeasibleError, ParameterError, UnfinishedError
from discreet.joint import Joint
from discreet.mechanisms.calibrate import Calibrated, Family, calibrate
from discreet.mechanisms.cr import cr
from discreet.mechanisms.forms import robust
from discreet.mechanisms.grr import calibrated_grr
from discreet.mechanisms.ir import calibrated_ir
from discreet.mechanisms.oue import oue
from discreet.mechanisms.robust_cr import calibrated_robust_cr
from discreet.mechanisms.srr import calibrated_srr
from discreet.naming import named_outputs
from discreet.notions import LDP, SRLIP
from discreet.notions.cone import Cone
from discreet.notions.level import Notion
from discreet.notions.polytope import polyopt_cone, polyopt_rows
from discreet.notions.rldp import RLDP
from discreet.solvers import binary, columns, disclosed, nonrobust, product, vertices
from discreet.solvers.problem import Split, Splitting
from discreet.solvers.robust import coupling, curator, exact
from discreet.solvers.robust.bounds import robust_bound
from discreet.solvers.robust.ready import compiled
from discreet.utilities import MutualInformation, Utility

LISTED_ROWS = 2_000
ROBUST_SECONDS, BOUND_SHARE = 60.0, 0.1
ROBUST_GAP = 5e-4
POLYOPT_LETTERS = 16
ROUNDING = 1e-9
DISCLOSED_LETTERS = 60
Progress = Callable[[float, float, float], None]
"""Called now and then with the value so far, the bound so far and the seconds used."""


@dataclass(frozen=True)
class Limits:
    """When to stop: the wanted gap, the seconds, and who wants to watch."""

    gap: float = 1e-6
    time_limit: float | None = None
    progress: Progress | None = None


@dataclass(frozen=True, eq=False)
class Found:
    """A channel, a bound on the utility of every channel that the notion allows (infinite if none is known), and how
    the search ended."""

    channel: Channel
    upper_bound: float
    status: str


Method = Callable[[Joint, Notion, Utility, Limits], Found]


def _splitting(solve: Callable[..., Split]) -> Method:
    """A solver of splitting problems, on the cone of the notion."""

    def method(joint: Joint, notion: Notion, utility: Utility, limits: Limits) -> Found:
        return _solved(solve, joint, Splitting.from_joint(joint, notion, utility), limits)

    return method


def _vertices(joint: Joint, notion: Notion, utility: Utility, limits: Limits) -> Found:
    """The reference: all extreme rows and one linear program. It ends when it ends, so the limits do not apply."""
    return _solved(
        lambda problem, **_: vertices.solve(problem), joint, Splitting.from_joint(joint, notion, utility), limits
    )


def _polyopt(same_secret: bool) -> Method:
    """The best mechanism inside PolyOpt's polytope, which says nothing about the mechanisms outside it."""

    def method(joint: Joint, notion: Notion, utility: Utility, limits: Limits) -> Found:
        notion = robust(notion, "polyopt")
        few = len(joint.letters) ** 2 <= LISTED_ROWS
        cone = Cone(polyopt_rows(joint, notion, same_secret)) if few else polyopt_cone(joint, notion, same_secret)
        problem = Splitting(joint.prior, joint.target_of, cone, utility).reduced()
        found = _solved(columns.solve, joint, problem, limits)
        return Found(found.channel, math.inf, found.status)

    return method


def _solved(solve: Callable[..., Split], joint: Joint, problem: Splitting, limits: Limits) -> Found:
    split = solve(problem, gap=limits.gap, time_limit=limits.time_limit, progress=limits.progress)
    channel = Channel(split.channel_matrix(problem), joint.letters).merged()
    return Found(_named(joint, channel), split.upper_bound, split.status)


def _closed_form(mechanism: Callable[[Joint, Notion], Calibrated]) -> Method:
    """A calibrated mechanism, which says nothing about the others; robust ones leave room for rounding in the proof."""

    def method(joint: Joint, notion: Notion, utility: Utility, limits: Limits) -> Found:
        if isinstance(notion, RLDP):
            notion = replace(notion, epsilon=notion.epsilon * (1 - ROUNDING))
        return Found(mechanism(joint, notion).channel, math.inf, "closed form")

    return method


def _family(family: Family) -> Method:
    return _closed_form(partial(calibrate, family))


def _cr(joint: Joint, notion: Notion, utility: Utility, limits: Limits) -> Found:
    """Conditional Reporting as in funnel-2 for a curator, as in robust-1 where the secret is part of the data."""
    return (METHODS["robust-cr"] if joint.include_secret else _family(cr))(joint, notion, utility, limits)


def _nonrobust(joint: Joint, notion: Notion, utility: Utility, limits: Limits) -> Found:
    if utility is not MutualInformation:
        raise ParameterError("the closed form is for mutual information", where="nr", remedy='Use method="columns".')
    found = nonrobust.solve(joint, notion, gap=limits.gap, time_limit=limits.time_limit, progress=limits.progress)
    return Found(_named(joint, found.channel), found.upper_bound, found.status)


def _product(search: Callable[..., product.Found]) -> Method:
    """SRLIP attribute by attribute."""

    def method(joint: Joint, notion: Notion, utility: Utility, limits: Limits) -> Found:
        if not isinstance(notion, SRLIP) or joint.reads_secret:
            raise ParameterError("products are for SRLIP on X", where="product", remedy="Use dc.SRLIP(epsilon).")
        found = search(joint, notion.epsilon, gap=limits.gap, time_limit=limits.time_limit, progress=limits.progress)
        return Found(found.product.channel(joint), math.inf, found.status)

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
            found.append(METHODS[name](joint, notion, utility, limits).channel)
    return found


def _simpler(joint: Joint, notion: Notion, utility: Utility, seconds: float) -> list[Channel]:
    """The closed forms, and PolyOpt where it is small enough to finish."""
    limits = Limits(ROBUST_GAP, seconds / 3)
    small = joint.include_secret and len(joint.letters) <= POLYOPT_LETTERS
    polyopt = [METHODS["polyopt"](joint, notion, utility, limits).channel] if small else []
    return [*_closed_forms(joint, notion, utility, limits), *polyopt]


def _best_of(joint: Joint, utility: Utility, channels: list[Channel]) -> Channel:
    return max(channels, key=lambda channel: utility.of(joint, channel))


def _simple(joint: Joint, notion: Notion, utility: Utility, limits: Limits) -> Found:
    """The best closed form that suits the joint. The best non-robust mechanism bounds every robust one."""
    best = _best_of(joint, utility, _closed_forms(joint, notion, utility, limits))
    return Found(best, _bound(joint, notion, utility, limits), "closed form")


def _coupling(joint: Joint, notion: Notion, utility: Utility, limits: Limits) -> Found:
    """Bands under one curve; the best closed form, or PolyOpt where it is small enough, where those keep more."""
    notion = robust(notion, "coupling")
    compiled()
    seconds, started = limits.time_limit or ROBUST_SECONDS, time.monotonic()
    others = _simpler(joint, notion, utility, seconds)
    bound = _bound(joint, notion, utility, limits)
    left = max(seconds - (time.monotonic() - started), seconds / 3)
    coupled = _coupled(joint, notion, left, bound, limits.progress)
    best = _best_of(joint, utility, [*(found.channel for found in coupled), *others])
    for found in coupled:
        if found.channel is best:
            return Found(_named(joint, best), bound, found.status)
    return Found(best, bound, "closed form" if coupled else "stalled")


def _coupled(joint: Joint, notion: RLDP, seconds: float, bound: float, progress: Progress | None = None) -> list[Found]:
    """What bands and gluing find; nothing if a linear program fails on the way, which costs utility only."""
    try:
        if joint.sees_secret:
            glued = curator.solve(joint, notion, time_limit=seconds, progress=progress)
            return [Found(glued, math.inf, "local optimum")]
        found = coupling.solve(joint, notion, time_limit=seconds, progress=progress, known_bound=bound)
        return [Found(found.channel, found.upper_bound, found.status)]
    except UnfinishedError:
        return []


def _bound(joint: Joint, notion: Notion, utility: Utility, limits: Limits) -> float:
    """What no robust mechanism can exceed: what one keeps that takes P̂ for the truth, or less where that is known."""
    seconds = BOUND_SHARE * (limits.time_limit or ROBUST_SECONDS)
    if isinstance(notion, RLDP) and joint.include_secret and utility is MutualInformation:
        return robust_bound(joint, notion, seconds)
    return METHODS["columns"](joint, LDP(notion.epsilon), utility, Limits(ROBUST_GAP, seconds)).upper_bound


def _columns(joint: Joint, notion: Notion, utility: Utility, limits: Limits) -> Found:
    """Column generation; for robust LDP with cuts, for SRLIP on many letters with a bound from fewer conditions."""
    if isinstance(notion, RLDP) and not notion.cone(joint).complete:
        return _exact(joint, notion, utility, limits)
    known = math.inf
    if isinstance(notion, SRLIP) and utility is MutualInformation and len(joint.letters) > DISCLOSED_LETTERS:
        known = disclosed.bound(joint, notion, time_limit=(limits.time_limit or 2 * ROBUST_SECONDS) / 2)
    return _splitting(partial(columns.solve, known_bound=known))(joint, notion, utility, limits)


def _exact(joint: Joint, notion: RLDP, utility: Utility, limits: Limits) -> Found:
    """The robust optimum, from the best of everything else on. It gets a minute unless told otherwise, and a gap that
    cuts can reach."""
    compiled()
    started, seconds = time.monotonic(), limits.time_limit or ROBUST_SECONDS
    starts, bound = _simpler(joint, notion, utility, seconds), _bound(joint, notion, utility, limits)
    if joint.reads_secret:
        starts += [found.channel for found in _coupled(joint, notion, seconds / 3, bound)]
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
    return Found(_named(joint, best) if best is found.channel else best, found.upper_bound, status)


def _named(joint: Joint, channel: Channel) -> Channel:
    return Channel(channel.matrix, joint.letters, named_outputs(joint, channel.matrix))


METHODS: dict[str, Method] = {
    "vertices": _vertices,
    "columns": _columns,
    "pairs": _splitting(binary.solve),
    "nr": _nonrobust,
    "polyopt": _polyopt(same_secret=False),
    "polyopt-paper": _polyopt(same_secret=True),
    "product": _product(product.audited_product),
    "product-safe": _product(product.safe_product),
    "coupling": _coupling,
    "simple": _simple,
    "grr": _closed_form(calibrated_grr),
    "oue": _family(oue),
    "cr": _cr,
    "robust-cr": _closed_form(calibrated_robust_cr),
    "ir": _closed_form(calibrated_ir),
    "srr": _closed_form(calibrated_srr),
}
