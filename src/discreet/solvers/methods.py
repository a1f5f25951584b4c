"""Every way to make a mechanism, by name. Each takes the joint in its form, the notion, the utility and the limits."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from discreet.channel import Channel
from discreet.exceptions import ParameterError
from discreet.joint import Joint
from discreet.mechanisms.calibrate import Calibrated, Family, calibrate
from discreet.mechanisms.cr import cr
from discreet.mechanisms.forms import robust
from discreet.mechanisms.grr import grr
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
from discreet.solvers.robust import coupling
from discreet.utilities import MutualInformation, Utility

LISTED_ROWS = 2_000
ROBUST_SECONDS, BOUND_SECONDS = 60.0, 10.0
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
    """A calibrated mechanism, which says nothing about the others."""

    def method(joint: Joint, notion: Notion, utility: Utility, limits: Limits) -> Found:
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


def _simple(joint: Joint, notion: Notion, utility: Utility, limits: Limits) -> Found:
    """The best closed form that suits the joint. The best non-robust mechanism bounds every robust one."""
    names = [
        "grr",
        *(["srr", "ir", "robust-cr"] if joint.include_secret else []),
        *(["cr"] if joint.sees_secret else []),
    ]
    found = [METHODS[name](joint, notion, utility, limits).channel for name in names]
    best = max(found, key=lambda channel: utility.of(joint, channel))
    return Found(best, robust_bound(joint, notion, utility), "closed form")


def _coupling(joint: Joint, notion: Notion, utility: Utility, limits: Limits) -> Found:
    """Bands under one curve, or the best closed form where that keeps more."""
    notion = robust(notion, "coupling")
    seconds = limits.time_limit or ROBUST_SECONDS
    found = coupling.solve(joint, notion, time_limit=seconds, progress=limits.progress)
    simple = _simple(joint, notion, utility, limits)
    if utility.of(joint, simple.channel) >= utility.of(joint, found.channel):
        return simple
    bound = found.upper_bound if utility is MutualInformation else math.inf
    return Found(_named(joint, found.channel), bound, found.status)


def robust_bound(joint: Joint, notion: Notion, utility: Utility) -> float:
    """What the best mechanism would keep if P̂ were the truth (theory 1.9); infinite where no closed form is known."""
    if not joint.include_secret or utility is not MutualInformation:
        return math.inf
    return nonrobust.solve(joint, LDP(notion.epsilon), time_limit=BOUND_SECONDS).upper_bound


def _columns(joint: Joint, notion: Notion, utility: Utility, limits: Limits) -> Found:
    """Exact pricing always ends for finitely many conditions; for robust LDP it gets a minute unless told otherwise."""
    if isinstance(notion, RLDP) and limits.time_limit is None:
        limits = replace(limits, time_limit=ROBUST_SECONDS)
    known = math.inf
    if isinstance(notion, SRLIP) and utility is MutualInformation and len(joint.letters) > DISCLOSED_LETTERS:
        known = disclosed.bound(joint, notion, time_limit=(limits.time_limit or 2 * ROBUST_SECONDS) / 2)
    return _splitting(partial(columns.solve, known_bound=known))(joint, notion, utility, limits)


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
    "grr": _family(grr),
    "oue": _family(oue),
    "cr": _cr,
    "robust-cr": _closed_form(calibrated_robust_cr),
    "ir": _closed_form(calibrated_ir),
    "srr": _closed_form(calibrated_srr),
}
