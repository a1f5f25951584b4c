"""The methods of the robust papers, and those they lacked, on one joint X = (S, U) with a chi-square set."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats
from discreet.channel import Channel
from discreet.information import utility
from discreet.joint import Joint
from discreet.mechanisms.conditional_reporting import calibrated_robust_cr
from discreet.mechanisms.randomised_response import grr, srr
from discreet.notions.notion import Cone
from discreet.notions.polyopt import polyopt_rows
from discreet.notions.rldp import RLDP
from discreet.papers.experiment import Role, Series, TimedSolution, Workload, mean_curve, optimum_in, scaled
from discreet.papers.formulas import cr_information, distance_bound, ir_information, radius_bounds
from discreet.solvers.driver import solve
from discreet.solvers.known_joint.refinement import refine
from discreet.solvers.problem import Effort, Problem, Solution
from discreet.solvers.robust.bands.search import search_bands
from discreet.solvers.robust.optimum import search_optimum
from discreet.uncertainty import ChiSquare, Exactly

Curves = dict[str, list[float]]
POLYOPT_LETTERS = 12
PAPER = ("GRR", "SRR", "IR", "CR", "PolyOpt")
SEARCHES = ("coupling", "exact")
PROVEN = 0.02  # of H(X): how close to its bound a search must end to be drawn as the optimum
EXACT_GAP = 1e-3  # nats, which cuts reach within the seconds of a figure


@dataclass(frozen=True)
class RobustCase:
    """P̂, the level, and 1 − β."""

    joint: Joint
    epsilon: float
    confidence: float = 0.95

    @property
    def notion(self) -> RLDP:
        return RLDP(self.epsilon, ChiSquare(self.confidence))

    @property
    def small(self) -> bool:
        """Whether PolyOpt can be solved: the paper could do 10 letters, not 240."""
        return len(self.joint.letters) <= POLYOPT_LETTERS


def nr_channel(at: RobustCase) -> Channel:
    """The non-robust optimum, P̂ taken for the truth; closed form, so at any size."""
    return _known(at, Effort()).channel


def _known(at: RobustCase, effort: Effort) -> Solution:
    return solve(refine, Problem.of(at.joint, RLDP(at.epsilon, Exactly())), effort)


def coupled(at: RobustCase, seconds: float) -> Channel:
    """A robust mechanism at any size, from bands and a shared uniform draw; not the best possible."""
    return solve(search_bands, Problem.of(at.joint, at.notion), Effort.within(seconds)).channel


def solved_polyopt(at: RobustCase, *, as_printed: bool = True, time_limit: float = 120.0) -> TimedSolution:
    """Theorem 3, with the rows for s = s' that the paper asks for or without them."""
    cone = Cone(polyopt_rows(at.joint, at.notion, same_secret=as_printed))
    return optimum_in(at.joint, cone, time_limit=time_limit)


def _nr(at: RobustCase, _: float) -> float:
    return _known(at, Effort.within(30, gap=1e-5)).value


def _grr(at: RobustCase, _: float) -> float:
    return utility(at.joint, grr(at.joint, at.epsilon))


def _srr(at: RobustCase, _: float) -> float:
    return utility(at.joint, srr(at.joint, at.epsilon))


def _ir(at: RobustCase, _: float) -> float:
    """robust-2 Theorem 5 with the d of (62)."""
    return ir_information(at.joint, at.epsilon, distance_bound(ChiSquare(at.confidence).around(at.joint)))


def _cr(at: RobustCase, _: float) -> float:
    """robust-1 Theorem 5."""
    return cr_information(at.joint, at.epsilon, radius_bounds(ChiSquare(at.confidence).around(at.joint)))


def _cr_exact(at: RobustCase, _: float) -> float:
    """With its exact level over F in place of the bound of Theorem 5."""
    return utility(at.joint, calibrated_robust_cr(at.joint, at.notion).channel)


def _polyopt(at: RobustCase, _: float) -> float:
    return solved_polyopt(at).value


def _freer_polyopt(at: RobustCase, _: float) -> float:
    return solved_polyopt(at, as_printed=False).value


def _coupling(at: RobustCase, seconds: float) -> float:
    return utility(at.joint, coupled(at, seconds))


def _exact(at: RobustCase, seconds: float) -> float:
    """The robust optimum for F itself, if a bound shows that little is missing."""
    start, known = coupled(at, seconds), _nr(at, seconds)
    problem, effort = Problem.of(at.joint, at.notion), Effort.within(seconds, gap=EXACT_GAP)
    found = solve(search_optimum, problem, effort, known_bound=known, begin_with=(start,))
    best = max(found.value, _freer_polyopt(at, seconds))
    return best if min(found.upper_bound, known) - best <= PROVEN * at.joint.entropy else math.nan


METHODS: Mapping[str, Callable[[RobustCase, float], float]] = {
    "NR": _nr,
    "GRR": _grr,
    "SRR": _srr,
    "IR": _ir,
    "CR": _cr,
    "CR, exact level": _cr_exact,
    "PolyOpt": _polyopt,
    "PolyOpt, s ≠ s'": _freer_polyopt,
    "coupling": _coupling,
    "exact": _exact,
}
"""I(X;Y) of every method by the name it has in the figures. The last two search for so many seconds."""


def curves(at: Sequence[RobustCase], names: Iterable[str], seconds: float) -> Curves:
    """I(X;Y) / H(X) of the named methods in every setting."""
    return {name: [METHODS[name](one, seconds) / one.joint.entropy for one in at] for name in names}


def rising(found: Curves) -> Curves:
    """For settings in the order of ε: what is private at a lower ε is private at this one, so no search does worse."""
    return {name: list(np.fmax.accumulate(nmi)) if name in SEARCHES else nmi for name, nmi in found.items()}


@dataclass(frozen=True)
class DrawPlan:
    """How many of the first draws each method gets, and the seconds of one search."""

    draws: Mapping[str, int]
    seconds: float

    def names(self, number: int) -> tuple[str, ...]:
        return tuple(name for name, count in self.draws.items() if number < count)


def draw_plan(effort: Workload, draws: int, *, small: bool, closed: Sequence[str], seconds: float) -> DrawPlan:
    """All draws for the closed forms and PolyOpt, fewer for what the papers do not have."""
    counts = dict.fromkeys(closed, draws)
    counts["NR"] = draws if small else effort.draws(10, 2)
    counts["coupling"] = effort.draws(10, 2) if small else effort.draws(2, 1)
    if small:
        counts |= {"PolyOpt": draws, "PolyOpt, s ≠ s'": effort.draws(20, 3), "exact": effort.draws(2, 1)}
    return DrawPlan(counts, effort.seconds(seconds))


def gathered(found: Sequence[Curves]) -> dict[str, Floats]:
    """[draw, place] of every method; what only the first draws have is scaled by what NR keeps of those."""
    samples = {name: np.array([one[name] for one in found if name in one]) for name in found[0]}
    most = len(found)
    return {name: few if len(few) == most else scaled(few, samples["NR"]) for name, few in samples.items()}


def drawn(x: Floats, samples: Mapping[str, Floats], *, small: bool) -> tuple[Series, ...]:
    return tuple(mean_curve(name, x, values, role(name, small=small)) for name, values in samples.items())


def role(name: str, *, small: bool) -> Role:
    """NR is in the papers for small alphabets only. IR with a single u is no mechanism to use, see the errata."""
    if name == "NR":
        return "reference" if small else "new"
    if name == "IR, single u":
        return "reference"
    return "paper" if name in PAPER else "new"
