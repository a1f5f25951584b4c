"""The best mechanism over confidence intervals: plan, glue, weigh, polish, bound (theory 5.5 to 5.7).

On (S, U) rows of three levels and kinds of outputs are enough to plan; what is planned can be glued. Small tables,
mechanisms that read X only and robust LIP are searched by whole rows. Nothing here is trusted: the finished channel is
brought to level ε, and proven elsewhere.

A secret that nobody has still constrains, with limits 0 and 1. It is planned for as if a few people had it; a bound
leaves its conditions out, which makes it larger, never smaller.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.special import xlogy

from discreet.arrays import Floats
from discreet.attribute import Form
from discreet.compiling import example
from discreet.exceptions import ParameterError, UnfinishedError
from discreet.joint import Joint
from discreet.notions import LDP, LIP
from discreet.notions.rldp import RLDP
from discreet.notions.rlip import RLIP
from discreet.solvers.columns.generation import generate_columns
from discreet.solvers.driver import better, solve
from discreet.solvers.known_joint.refinement import best_report
from discreet.solvers.problem import Effort, Problem, Solution, Status, named
from discreet.solvers.restricted_master import GrowingProgram
from discreet.solvers.robust.funnel import begin_with_letters
from discreet.solvers.robust.intervals.bounding import upper_bound
from discreet.solvers.robust.intervals.gluing import glued
from discreet.solvers.robust.intervals.lists import Secret
from discreet.solvers.robust.intervals.plan import Kind, Plan
from discreet.solvers.robust.intervals.polishing import best_outputs, climbed_outputs
from discreet.solvers.robust.optimum import compile_robust_search, search_optimum
from discreet.solvers.robust.rescaling import at_level
from discreet.uncertainty.confidence import Confidence
from discreet.uncertainty.intervals import Intervals, IntervalSet
from discreet.utilities.utility import MutualInformation

SECONDS = 60.0
"""What a search gets unless it is told otherwise: it has no end of its own."""
INSIDE = 1e-7
"""Designed at ε(1 − 1e-7): what scaling sums to one moves stays below ε."""
KINDS = (0.15, 0.3, 0.45, 0.65)
"""Exponents of ρ = e^(ε·x): outputs that single a secret out."""
STAGES = (((), 0.2), (KINDS, 0.3))
"""Kinds beside the even one, and the part of the time that is left for planning with them."""
POLISHED = (0.0, 0.1, 0.2, 0.3, 0.4, 0.55, 0.7, 0.9)
"""Exponents of ρ that polishing tries."""
POLISHING = 0.35
"""The part of the time that is left then; what follows is for the bound."""
LEAST_GAIN = 1e-7
STALE = 2e-6
"""Outputs that gain less, and rounds that gain less than this share, are not worth another one."""
USED = 1e-9
WHOLE = 24
"""Up to so many letters (s, u) the optimum is also looked for, and bounded, by whole rows."""
CURATED = 64
"""The same for curators; beyond, their bound is that of an ordinary mechanism."""
GAP = 5e-4
"""Relative to the value: what a search by whole rows may leave open."""
BOUND_SHARE = 0.2
"""The part of the time in which an ordinary mechanism bounds every robust one."""
RAREST = 1e-7
"""The mass of a secret that nobody has, while planning."""


def search_intervals(problem: Problem, effort: Effort) -> Iterator[Solution]:
    """Better and better mechanisms, then a bound on all of them."""
    joint, notion = problem.asked
    effort = effort.unless_told(SECONDS)
    pairs = isinstance(notion, RLDP) and problem.utility is MutualInformation
    if pairs and joint.form is Form.RELEASES_SECRET:
        return _search_pairs(problem, effort)
    if pairs and joint.form is Form.CURATOR:
        return _search_curators(problem, effort)
    return search_whole_rows(problem, effort)


def search_whole_rows(problem: Problem, effort: Effort) -> Iterator[Solution]:
    """From one output per letter on, by cuts and columns (theory 5.7)."""
    joint, notion = problem.asked
    assert isinstance(notion, (RLDP, RLIP))
    effort = effort.unless_told(SECONDS)
    begun = Solution.of_channel(problem, named(joint, begin_with_letters(joint, notion)), status=Status.BEGUN)
    yield begun
    yield from _by_whole_rows(problem, effort, begun, ordinary_bound(problem, effort.share(BOUND_SHARE)))


def ordinary_bound(problem: Problem, effort: Effort) -> float:
    """What a mechanism keeps that takes P̂ for the truth: more than any robust one if P̂ lies in F."""
    joint, notion = problem.asked
    if not known_set(joint, notion).inside:
        return math.inf
    ordinary = LIP(notion.epsilon) if isinstance(notion, RLIP) else LDP(notion.epsilon)
    try:
        found = solve(generate_columns, Problem.of(joint, ordinary, problem.utility), effort.quiet(GAP))
    except UnfinishedError:
        return math.inf
    return found.upper_bound


def known_set(joint: Joint, notion: object) -> IntervalSet:
    if isinstance(notion, RLIP):
        return notion.known(joint)
    if not (isinstance(notion, RLDP) and isinstance(notion.uncertainty, Confidence)):
        raise ParameterError("no confidence intervals", where="intervals", remedy="Use RLDP or RLIP over Confidence.")
    return notion.uncertainty.around(joint)


def _by_whole_rows(problem: Problem, effort: Effort, best: Solution, bound: float) -> Iterator[Solution]:
    found = solve(
        search_optimum,
        problem,
        replace(effort, gap=max(effort.gap, GAP * best.value)),
        known_bound=bound,
        begin_with=[best.channel],
    )
    status = Status.GAP if found.status is Status.OPTIMAL and found.gap > effort.gap else found.status
    yield replace(better(best, found), status=status, upper_bound=max(best.value, found.upper_bound))


# ---- X = (S, U) -----------------------------------------------------------------------------------------------------


def _search_pairs(problem: Problem, effort: Effort) -> Iterator[Solution]:
    joint, notion = problem.asked
    known = known_set(joint, notion)
    secrets, price = secrets_of(known), float(np.exp(notion.epsilon * (1 - INSIDE)))
    outputs = OutputWeights(secrets)
    best: Solution | None = None
    for exponents, share in STAGES:
        kinds = [Kind(price, 1.0, even=True)]
        kinds += [Kind(price * ratio, ratio) for ratio in price ** np.array(exponents)]
        plan = Plan(secrets, price, kinds, effort.share(share))
        outputs.add(glued(plan.planned(plan.generate()), secrets, kinds))
        best = better(best, settled_solution(problem, outputs))
        yield best
        if effort.late():
            return
    _polish(outputs, known, price, effort.share(POLISHING))
    best = better(best, settled_solution(problem, outputs))
    yield best
    bound, small = math.inf, joint.table.size <= WHOLE
    if known.inside:
        report = best_report(joint, LDP(notion.epsilon), effort.share(BOUND_SHARE).quiet())
        turn = effort.share(0.5) if small else effort
        bound = upper_bound(secrets_of(known, seen_only=True), math.exp(notion.epsilon), report.upper_bound, turn)
    best = replace(best, upper_bound=max(bound, best.value))
    yield best
    if small and not effort.late():
        yield from _by_whole_rows(problem, effort, best, bound)
    else:
        yield replace(best, status=Status.TIME_LIMIT if effort.late() else Status.GAP)


def _search_curators(problem: Problem, effort: Effort) -> Iterator[Solution]:
    joint, notion = problem.asked
    known = known_set(joint, notion)
    secrets, price = secrets_of(known), float(np.exp(notion.epsilon * (1 - INSIDE)))
    kinds = [Kind(price, 1.0, even=True)]
    plan = Plan(secrets, price, kinds, effort.share(STAGES[0][1]))
    planned = plan.planned(plan.generate())
    outputs = OutputWeights(secrets, curator=True)
    outputs.add(np.concatenate([glued(planned, secrets, kinds, by_letter=each) for each in (True, False)]))
    best = settled_solution(problem, outputs)
    yield best
    climb_curator(outputs, known.limits, price, price ** np.array(POLISHED), effort.share(0.5))
    best = better(best, settled_solution(problem, outputs))
    yield best
    bound = ordinary_bound(problem, effort.share(BOUND_SHARE))
    if joint.table.size <= CURATED and not effort.late():
        yield from _by_whole_rows(problem, effort, best, bound)
    else:
        yield replace(best, upper_bound=max(bound, best.value), status=Status.LOCAL)


def secrets_of(known: IntervalSet, *, seen_only: bool = False) -> list[Secret]:
    """One entry per secret, its conditional within the limits."""
    masses = known.mass if seen_only else np.maximum(known.mass, RAREST)
    chosen = np.flatnonzero(masses > 0)
    return [
        Secret(float(masses[s] / masses.sum()), known.conditional[s], known.limits.low[s], known.limits.high[s])
        for s in chosen
    ]


def _polish(outputs: OutputWeights, known: IntervalSet, price: float, effort: Effort) -> None:
    """Outputs in use are climbed from at the prices of all, until little is gained."""
    ratios, limits = price ** np.array(POLISHED), known.limits
    value, weights, alpha = outputs.solve()
    while not effort.late():
        before = value
        more, gains = climbed_outputs(
            outputs.outputs[weights > USED], outputs.prior, alpha, limits.low, limits.high, price, ratios,
            outputs.curator,
        )  # fmt: skip
        if not outputs.add(more[gains > LEAST_GAIN]):
            break
        value, weights, alpha = outputs.solve()
        if value - before < STALE * abs(value):
            break


def settled_solution(problem: Problem, outputs: OutputWeights) -> Solution:
    """The weights in use solved again, what is left scaled away, and the channel brought to level ε."""
    joint, notion = problem.asked
    assert isinstance(notion, (RLDP, RLIP))
    _, weights, _ = outputs.solve()
    used = weights > USED
    flat = outputs.outputs[used].reshape(int(used.sum()), -1)
    exact = np.linalg.lstsq(flat.T, np.ones(flat.shape[1]), rcond=None)[0]
    chosen: Floats = np.asarray(exact if (exact > 0).all() else weights[used], dtype=np.float64)
    matrix = chosen[:, None] * flat
    sums = matrix.sum(axis=0)
    if np.abs(sums - 1).max() > INSIDE:
        raise UnfinishedError("weights that do not add up", where="intervals", remedy="Merge rare secrets.")
    matrix = matrix / sums
    widths = matrix @ joint.prior
    channel = at_level(joint, notion, widths, matrix / widths[:, None], grow=True)
    return Solution.of_channel(problem, named(joint, channel))


@example("the search over intervals")
def compile_interval_search() -> None:
    """Small designs in two forms, and robust LIP."""
    compile_robust_search()
    joint = Joint.from_counts(np.array([[90, 30, 50], [30, 60, 70]]), include_secret=True)
    for form, notion in ((Form.RELEASES_SECRET, RLDP(0.5)), (Form.CURATOR, RLDP(0.5)), (Form.FUNNEL, RLIP(0.5))):
        problem = Problem.of(replace(joint, form=form), notion)
        solve(search_intervals, problem, Effort.within(SECONDS, gap=0.1))


# Weights for given outputs: the linear program of theory 1.3, one equation per letter, and its prices.


class OutputWeights:
    """Outputs v[y, s, u] and the best weights w with Σ_y w_y v_y = 1."""

    def __init__(self, secrets: list[Secret], *, curator: bool = False) -> None:
        self.curator = curator
        self.prior = np.array([secret.mass * secret.estimate for secret in secrets])
        self._program = GrowingProgram(np.ones(self.prior.size), np.ones(self.prior.size))
        self.outputs = np.zeros((0, *self.prior.shape))
        self._seen: set[bytes] = set()

    def worth(self, outputs: Floats) -> Floats:
        """Σ p(s,u) v ln v − h(t̄) of every output; for a curator the same of v̄_u = Σ_s P̂(s|u) v_{s,u}."""
        means = np.einsum("ysu,su->y", outputs, self.prior)
        if self.curator:
            letters = self.prior.sum(axis=0)
            together = np.einsum("ysu,su->yu", outputs, self.prior)
            told = np.divide(together, letters, out=np.ones_like(together), where=letters > 0)
            return np.asarray(xlogy(together, told).sum(axis=1) - means * np.log(means))
        logs = np.log(np.where(outputs > 0, outputs, 1.0))
        return np.asarray(np.einsum("ysu,ysu,su->y", outputs, logs, self.prior) - means * np.log(means))

    def add(self, outputs: Floats) -> int:
        fresh = [i for i, output in enumerate(outputs) if self._new(output)]
        if fresh:
            more = outputs[fresh]
            self._program.add_columns(self.worth(more), more.reshape(len(more), -1))
            self.outputs = np.concatenate([self.outputs, more])
        return len(fresh)

    def _new(self, output: Floats) -> bool:
        key = np.round(output, 9).tobytes()
        fresh = key not in self._seen
        self._seen.add(key)
        return fresh

    def solve(self) -> tuple[float, Floats, Floats]:
        """The value, the weights, and the prices of the letters."""
        found = self._program.solve()
        return found.value, np.maximum(found.x, 0.0), found.prices.reshape(self.prior.shape)


# Curators over intervals: a mechanism that reads (S, X) and is judged by I(X;Y) (theory 1.10, 5.7).
#
# A plan for (S, X), glued in the order of letters, is a beginning. Outputs in use, mixtures of two, and others are
# climbed from at the prices of all; every secret has its best row for the slope, exactly.


STALE_ROUNDS, SETTLED = 6, 1e-5
"""Climbing ends after so many rounds that gained fewer nats: starts are drawn, and one bad round says little."""
STARTS = 40
"""Mixtures, and as many starts from anywhere, in each round."""
NOISE = (-3.0, 1.0)
"""Logarithms of how far from the prices of all a start may be, relative to the masses of letters."""


def climb_curator(outputs: OutputWeights, intervals: Intervals, price: float, ratios: Floats, effort: Effort) -> None:
    """More outputs, until little is gained or time is up."""
    prior, rng = outputs.prior, np.random.default_rng(0)
    k = prior.shape[1]
    limits = (intervals.low, intervals.high)
    value, weights, alpha = outputs.solve()
    stale = 0
    while stale < STALE_ROUNDS and not effort.late():
        used = outputs.outputs[weights > USED]
        first, second = (used[rng.integers(len(used), size=STARTS)] for _ in range(2))
        share = rng.uniform(0.2, 0.8, (STARTS, 1, 1))
        size = np.exp(rng.uniform(*NOISE, (STARTS, 1, 1)))
        anywhere = best_outputs(size * rng.normal(size=(STARTS, 1, k)) * prior - alpha, *limits, price, ratios)
        starts = np.concatenate([used, share * first + (1 - share) * second, anywhere])
        more, gains = climbed_outputs(starts, prior, alpha, *limits, price, ratios, True)
        before = value
        outputs.add(more[gains > LEAST_GAIN])
        value, weights, alpha = outputs.solve()
        stale = stale + 1 if value - before <= SETTLED else 0
