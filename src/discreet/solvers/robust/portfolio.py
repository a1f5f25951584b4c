"""Robust LDP as methods: the best closed form, PolyOpt, bands and polish for any size, and the certified optimum.

No one of them is the best everywhere, so a robust search is a portfolio: what is written down comes first, then a bound
on everything, then the search that suits the form of the joint, each with its share of the effort.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from discreet.attribute import Form
from discreet.exceptions import InfeasibleError, UnfinishedError
from discreet.joint import Joint
from discreet.mechanisms import CLOSED_FORMS
from discreet.mechanisms.calibration import ROBUST_ONLY, robust
from discreet.notions import LDP, LIP
from discreet.notions.notion import Cone, Notion
from discreet.notions.polyopt import polyopt_cone, polyopt_rows
from discreet.notions.rldp import RLDP
from discreet.notions.rlip import RLIP
from discreet.solvers.columns.generation import generate_columns
from discreet.solvers.driver import Search, better, solve
from discreet.solvers.problem import Effort, Problem, Solution, Status, named
from discreet.solvers.robust.bands.search import BOUND_SHARE, search_bands
from discreet.solvers.robust.curator import polish_curator
from discreet.solvers.robust.funnel import BEGINNING, begin_with_letters, polish_funnel
from discreet.solvers.robust.optimum import search_optimum
from discreet.solvers.robust.rescaling import provable, robust_bound
from discreet.solvers.tolerances import PROOF_MARGIN
from discreet.uncertainty.confidence import Confidence
from discreet.uncertainty.intervals import IntervalSet
from discreet.uncertainty.sets import ball_around
from discreet.utilities.utility import MutualInformation

LISTED_ROWS = 2_000
"""PolyOpt's conditions are listed up to so many, and beyond handed out when they are broken."""
ROBUST_SECONDS = 60.0
"""What a robust search gets unless it is told otherwise: it has no end of its own."""
ROBUST_GAP = 5e-4
"""The smallest gap that cuts reach: the cone of the bound is 1e-4 too large in the end."""
POLYOPT_LETTERS = 16
"""Up to so many letters PolyOpt ends within its third of the time."""
CLOSED_SHARE = 0.5
"""The share of the time in which closed forms must be calibrated and proven, or fewer outputs are taken."""
STARTING_SHARE = 1 / 3
"""The share of the time that PolyOpt gets, and the share that bands get where the optimum itself is searched for."""
FIRST_FORMS = {
    Form.FUNNEL: ("grr",),
    Form.RELEASES_SECRET: ("grr", "srr", "ir", "robust-cr"),
    Form.CURATOR: ("grr", "cr"),
}


def refuses_robust(problem: Problem) -> str | None:
    if isinstance(problem.notion, RLDP) and isinstance(problem.notion.uncertainty, Confidence):
        return "this method is made for Rényi balls; over Confidence the methods are auto, intervals and columns"
    return None if isinstance(problem.notion, RLDP) else ROBUST_ONLY


def refuses_simple(problem: Problem) -> str | None:
    """Closed forms on (S, U) are for robust LDP."""
    joint, _ = problem.asked
    return refuses_robust(problem) if joint.form is Form.RELEASES_SECRET else None


def closed_form(name: str) -> Search:
    """A calibrated mechanism, which says nothing about the others; robust ones leave room for rounding in the proof."""

    def search(problem: Problem, effort: Effort) -> Iterator[Solution]:
        joint, notion = problem.asked
        if isinstance(notion, (RLDP, RLIP)):
            notion = replace(notion, epsilon=notion.epsilon * (1 - PROOF_MARGIN))
        found = CLOSED_FORMS[name].calibrated(joint, notion)
        yield Solution.of_channel(problem, found.channel, status=Status.CLOSED_FORM)

    return search


def polyopt(same_secret: bool) -> Search:
    """The best mechanism inside PolyOpt's polytope, which says nothing about the mechanisms outside it."""

    def search(problem: Problem, effort: Effort) -> Iterator[Solution]:
        joint, asked = problem.asked
        notion = robust(asked, "polyopt")
        few = len(joint.letters) ** 2 <= LISTED_ROWS
        cone = Cone(polyopt_rows(joint, notion, same_secret)) if few else polyopt_cone(joint, notion, same_secret)
        inside = Problem.of_rows(joint.prior, cone, joint.target_of, problem.utility, joint).reduced()
        found = solve(generate_columns, inside, effort)
        yield Solution.of_channel(problem, found.channel, status=found.status)

    return search


def best_closed_form(problem: Problem, effort: Effort) -> Iterator[Solution]:
    """The best closed form that suits the joint. The best mechanism for P̂ alone bounds every robust one."""
    limited = isinstance(problem.notion, RLDP)
    best = _few_outputs(problem, effort.share(CLOSED_SHARE)) if limited else None
    if best is None:
        for found in _closed_forms(problem, effort):
            best = better(best, found)
    assert best is not None
    yield replace(best, upper_bound=nonrobust(problem, effort.unless_told(ROBUST_SECONDS)), status=Status.CLOSED_FORM)


def search_large(problem: Problem, effort: Effort) -> Iterator[Solution]:
    """Bands under one curve, or for a mechanism that reads X only one output per letter, polished; or the best closed
    form, or PolyOpt where it is small enough, where those keep more."""
    effort = effort.unless_told(ROBUST_SECONDS)
    few = _few_outputs(problem, effort.share(BEGINNING))
    if few is None:
        yield from _simpler(problem, effort)
    else:
        yield few
    yield from _large(problem, effort, nonrobust(problem, effort))


def robust_optimum(problem: Problem, effort: Effort) -> Iterator[Solution]:
    """The robust optimum, from the best of everything else on. It gets a minute unless told otherwise, and a gap that
    cuts can reach."""
    effort = effort.unless_told(ROBUST_SECONDS)
    whole = effort.left()
    starts = []
    for found in _simpler(problem, effort):
        starts.append(found)
        yield found
    bound = nonrobust(problem, effort)
    part = min(1.0, STARTING_SHARE * whole / max(effort.left(), STARTING_SHARE * whole))
    with suppress(UnfinishedError):
        for found in _large(problem, effort.share(part).quiet(), bound):
            starts.append(found)
            yield found
    found = solve(
        search_optimum,
        problem,
        replace(effort, gap=max(effort.gap, ROBUST_GAP)),
        known_bound=bound,
        begin_with=[start.channel for start in starts],
    )
    status = Status.GAP if found.status is Status.OPTIMAL and found.gap > effort.gap else found.status
    for start in starts:
        found = better(start, found)
    yield replace(found, status=status)


def _few_outputs(problem: Problem, effort: Effort) -> Solution | None:
    """One output for several letters, where there is no time to prove one for each, as closed forms need it."""
    joint, asked = problem.asked
    notion = robust(asked, "coupling")
    most = provable(ball_around(notion.uncertainty, joint), effort.left())
    if len(joint.letters) <= most:
        return None
    return Solution.of_channel(problem, named(joint, begin_with_letters(joint, notion, most)))


def _closed_forms(problem: Problem, effort: Effort) -> Iterator[Solution]:
    """The closed forms that suit the joint and have a member that is private enough."""
    joint, _ = problem.asked
    for name in FIRST_FORMS[joint.form]:
        with suppress(InfeasibleError):
            yield from closed_form(name)(problem, effort)


def _simpler(problem: Problem, effort: Effort) -> Iterator[Solution]:
    """The closed forms, and PolyOpt where it is small enough to finish."""
    joint, _ = problem.asked
    yield from _closed_forms(problem, effort)
    if joint.include_secret and len(joint.letters) <= POLYOPT_LETTERS:
        found = solve(polyopt(same_secret=False), problem, effort.share(STARTING_SHARE).quiet(ROBUST_GAP))
        yield replace(found, status=Status.CLOSED_FORM)


def _large(problem: Problem, effort: Effort, bound: float) -> Iterator[Solution]:
    """What is found for alphabets of any size."""
    joint, _ = problem.asked
    if joint.include_secret:
        yield from search_bands(problem, effort, known_bound=bound)
        return
    search = polish_curator if joint.form is Form.CURATOR else polish_funnel
    for found in search(problem, effort.below(bound)):
        yield replace(found, upper_bound=max(bound, found.value))


def nonrobust(problem: Problem, effort: Effort) -> float:
    """What no mechanism of the notion can exceed: for a robust one what is kept where P̂ is taken for the truth, or less
    where that is known. Infinite where P̂ is not in the set, and where conditions are too many to be listed."""
    joint, notion = problem.asked
    part = effort.share(BOUND_SHARE).quiet()
    whole = joint.include_secret and problem.utility is MutualInformation
    if whole and isinstance(notion, RLDP) and not isinstance(notion.uncertainty, Confidence):
        return robust_bound(joint, notion, part)
    known = _at_estimate(notion, joint)
    if known is None:
        return math.inf
    at_estimate = problem if known is notion else Problem.of(joint, known, problem.utility)
    if not at_estimate.cone.complete:
        return math.inf
    return solve(generate_columns, at_estimate, part.quiet(ROBUST_GAP)).upper_bound


def _at_estimate(notion: Notion, joint: Joint) -> Notion | None:
    """What a notion asks at P̂; None where a set does not contain it, which noise can bring about."""
    if not isinstance(notion, (RLDP, RLIP)):
        return notion
    known = notion.known(joint) if isinstance(notion, RLIP) else notion.uncertainty.around(joint)
    if isinstance(known, IntervalSet) and not known.inside:
        return None
    return LIP(notion.epsilon) if isinstance(notion, RLIP) else LDP(notion.epsilon)
