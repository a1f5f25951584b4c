"""The best mechanism found for thousands of letters, with a bound (theory 10): classes, rows, weights, unfolded.

1. letters of equal posterior become classes (`classes`)
2. the chord bound: Σ_T p_T ln(M_T / p_T), M_T the largest weight that a permitted posterior gives T
3. walks and a master over the classes (`row_search`); of very many in blocks, all rows weighed together at the end
4. up to a few hundred classes exact pricing as in `columns`, at these prices, to smaller and smaller gaps
5. unfolded to letters; a curator treats every secret alike, which is permitted and no worse
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from discreet.arrays import Floats, Integers
from discreet.attribute import Form
from discreet.exceptions import UnfinishedError
from discreet.joint import Joint
from discreet.notions.ldp import LDP
from discreet.notions.lip import LIP
from discreet.notions.notion import Notion
from discreet.solvers.columns.generation import compile_search
from discreet.solvers.columns.pricing import Pricer
from discreet.solvers.problem import Effort, Problem, Solution, Status
from discreet.solvers.tolerances import BOUND_ROUNDING
from discreet.solvers.wide.blocks import improved, split_in_blocks
from discreet.solvers.wide.classes import LetterClasses
from discreet.solvers.wide.plain_mechanisms import PlainMechanism, best_plain
from discreet.solvers.wide.row_search import PosteriorSplit, RowSearch, letter_vertices, weighed
from discreet.solvers.wide.vertex_walk import as_system, compile_walks, proven_weights
from discreet.utilities.utility import MutualInformation

AT_ONCE = 900
"""Classes that one master takes; above it works in blocks."""
EXACT_CLASSES = 600
"""The exact search closes some tenths of a percent within a minute up to about so many."""
SEARCH_SHARE, WEIGH_SHARE = 0.55, 0.8
"""Of the time: for the walks where an exact search follows, and in blocks before all rows are weighed together."""
SECONDS = 120.0
"""Where nobody gave a limit: what comes after adds digits, not percents."""
PLAIN_SHARE = 0.05
"""Of the time, for plain mechanisms."""
GAPS = (5e-3, 2.5e-3, 1e-3, 2e-4, 0.0)
"""The exact search is asked for these shares of the value, one after the other."""
NEARER = 0.99
"""It aims at this part of the gap, so that a bound that is met to rounding counts."""
BOXES = 20_000
"""An exact search that finds nothing is interrupted after so many boxes, then after twice as many."""
MARGIN = 2e-3
"""It keeps boxes this share of the value below what counts, and goes on there when prices have changed a little."""


def refuses_classes(problem: Problem) -> str | None:
    """Why the problem is not one of classes, in words; None if it is."""
    if not isinstance(problem.notion, LDP | LIP):
        return "a notion that sees more of a letter than P(s | x)"
    if problem.joint is None or problem.joint.include_secret:
        return "a mechanism that releases the secret"
    return None if problem.utility is MutualInformation else "a utility other than mutual information"


def compile_classes() -> None:
    compile_walks()
    compile_search()


def search_classes(problem: Problem, effort: Effort) -> Iterator[Solution]:
    """Better and better mechanisms over classes, unfolded, with the chord bound and then exact ones; never one that
    keeps less than the plain ones of `plain_mechanisms`."""
    joint, notion = problem.asked
    effort = effort.unless_told(SECONDS)
    form = ClassProblem(replace(joint, form=Form.FUNNEL), notion)
    size, prior = form.classes.size, form.classes.prior
    bases = letter_vertices(form.conditions, size)
    bound = form.chord_bound(bases)
    effort.tell(0.0, bound)
    plain = best_plain(form.classes, form.joint, notion, effort.share(PLAIN_SHARE))
    exact = size <= EXACT_CLASSES
    search = RowSearch(prior, form.conditions, bases, effort.share(SEARCH_SHARE if exact else WEIGH_SHARE))
    try:
        if size <= AT_ONCE:
            split = _searched(search, form, effort.deadline)
        else:
            split, rows = split_in_blocks(form.classes, form.conditions, effort.share(WEIGH_SHARE))
            split = improved(split, rows, prior, form.conditions, effort.deadline)
    except UnfinishedError:
        yield form.plain_solution(problem, plain, bound)
        return
    if form.value(split) < plain.value:
        yield form.plain_solution(problem, plain, bound)
        return
    if not exact or effort.late():
        yield form.solution(problem, split, bound, Status.GAP)
        return
    yield form.solution(problem, split, bound, Status.SEARCHING)
    yield from _proven(form, problem, search.until(effort), split, bound, effort)


def _searched(search: RowSearch, form: ClassProblem, deadline: float) -> PosteriorSplit:
    """Walks, then weights; a program that fails on the way leaves the rows so far."""
    with suppress(UnfinishedError):
        search.run()
    return weighed(search.rows, form.classes.prior, form.conditions, deadline)


def _proven(
    form: ClassProblem, problem: Problem, search: RowSearch, split: PosteriorSplit, bound: float, effort: Effort
) -> Iterator[Solution]:
    """Exact pricing over classes at the prices of the weights, to smaller and smaller gaps; rows that it finds are
    walked from. No mechanism keeps more than H(T) − β·p + max (β·w − H(w)) + H(X|T), whatever the losses β."""
    prior, inside = form.classes.prior, form.classes.inside
    pricer = Pricer(form.problem)
    pricer.tighten(effort.late)
    shares, most = list(GAPS), BOXES
    while not effort.late():
        wanted = max(effort.gap, shares[0] * form.value(split))
        if bound - form.value(split) <= wanted:
            yield form.solution(problem, split, bound, Status.SEARCHING)
            shares, most = shares[1:] or [0.0], BOXES
            if bound - form.value(split) <= effort.gap:
                break
            continue
        prices = -prior * (split.losses + np.log(prior))
        total, before = float(prices.sum()) + inside, pricer.boxes
        floor = form.value(split) + NEARER * wanted - total
        priced = pricer.price(prices, floor, form.classes.size, effort.late, MARGIN * form.value(split), most)
        bound = min(bound, total + priced.bound)
        effort.tell(form.value(split), bound)
        if not len(priced.rows):
            most = 2 * most if pricer.boxes - before > most else most
            continue
        if not search.learn(priced.rows * prior):
            break
        try:
            search.run(split.losses)
            found = weighed(search.rows, prior, form.conditions, effort.deadline)
        except UnfinishedError:
            break
        split = found if form.value(found) >= form.value(split) else replace(split, losses=found.losses)
    yield form.solution(problem, split, bound, Status.GAP)


@dataclass(frozen=True, eq=False)
class ClassProblem:
    """A joint that is read by X alone, and LDP or LIP, over its classes."""

    joint: Joint
    notion: Notion

    @cached_property
    def classes(self) -> LetterClasses:
        return LetterClasses.of(self.joint)

    @cached_property
    def problem(self) -> Problem:
        """The same problem with classes for letters."""
        masses = (self.classes.posteriors * self.classes.prior[:, None]).T
        return Problem.of(Joint(masses / masses.sum()), self.notion)

    @cached_property
    def conditions(self) -> Floats:
        """G with G w ≤ 0 for permitted posteriors w; for LDP with one more variable τ: τ ≤ t_s ≤ e^ε τ."""
        likelihoods = self.classes.posteriors.T / self.joint.secret_prior[self.joint.seen][:, None]
        most, ones = np.exp(self.notion.epsilon), np.ones((len(likelihoods), 1))
        if isinstance(self.notion, LIP):
            return np.vstack([likelihoods - most, 1 / most - likelihoods])
        return np.vstack([np.hstack([likelihoods, -most * ones]), np.hstack([-likelihoods, ones])])

    def chord_bound(self, bases: Integers) -> float:
        """I(X;Y) ≤ Σ_T p_T ln(M_T / p_T) + H(X|T): P(T | y) ≤ M_T, so w ln w ≤ w ln M_T for every T."""
        size, prior = self.classes.size, self.classes.prior
        largest = np.exp(self.notion.epsilon) * np.abs(self.conditions).max()
        others = np.full(
            len(self.conditions) + self.conditions.shape[1] - size, (1 + np.exp(self.notion.epsilon)) * largest
        )
        most = proven_weights(as_system(self.conditions, size), bases, others)
        bound = float(prior @ np.log(most / prior)) + self.classes.inside
        return bound + BOUND_ROUNDING * (1 + abs(bound))

    def value(self, split: PosteriorSplit) -> float:
        """I(X;Y) = H(T) − Σ_y q_y H(w_y) + H(X|T)"""
        prior = self.classes.prior
        return float(-prior @ np.log(prior)) - split.entropy + self.classes.inside

    def plain_solution(self, problem: Problem, plain: PlainMechanism, bound: float) -> Solution:
        """A plain mechanism on letters, with the bound on all."""
        return self._on_letters(problem, *plain.make(), plain.value, bound, Status.GAP)

    def solution(self, problem: Problem, split: PosteriorSplit, bound: float, status: Status) -> Solution:
        """The mechanism on letters; a curator's treats every secret alike."""
        rows, weights = self.classes.unfolded(split.rows, split.weights)
        return self._on_letters(problem, rows, weights, self.value(split), bound, status)

    def _on_letters(
        self, problem: Problem, rows: sparse.csr_array, weights: Floats, value: float, bound: float, status: Status
    ) -> Solution:
        joint, _ = problem.asked
        if joint.reads_secret:
            letters = problem.letters % self.joint.size
            place = np.full(self.joint.size, -1)
            place[self.classes.letters] = np.arange(len(self.classes.letters))
            rows = sparse.csr_array(rows[:, place[letters]])
            bound = joint.entropy
        return Solution(problem, rows, weights, value, max(bound, value), status)
