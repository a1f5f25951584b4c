"""Accuracy, the largest design effect, and the balance with information, as methods for every notion and form.

Ratios of secrets (LDP) and of letters (ordinary LDP) are lifted: τ ≤ t ≤ e^ε τ has two conditions for each instead of
one for every two. Where a cone has more conditions than are listed (RLDP, SRLIP on many attributes), those that the
rows found break are added and the search repeated: the cone is too large until then, so every bound holds. What is
still outside in the end is mixed with the constant row, which lies inside every condition.

A curator can do what a mechanism that reads X only can: its search starts from that one's rows and ends no worse.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from threadpoolctl import threadpool_limits

from discreet.arrays import Floats, whole
from discreet.exceptions import ParameterError, UnfinishedError
from discreet.notions import LDP
from discreet.notions.notion import Cone
from discreet.notions.ordinary_ldp import OrdinaryLDP
from discreet.notions.perfect import Perfect
from discreet.solvers.nested import curator_starts, permitted_starts
from discreet.solvers.problem import Effort, Problem, Solution, Status
from discreet.solvers.vertices.accurate_rows import AccurateRows, RowSource, climbed_rows, rounds, settled_rows
from discreet.solvers.vertices.balance_curve import BalanceCurve
from discreet.solvers.vertices.design_space import DesignSpace
from discreet.solvers.vertices.edge_climb import ClimbedRows
from discreet.solvers.vertices.largest_effect import smallest_largest
from discreet.solvers.vertices.listed_rows import ListedRows, shared_draws
from discreet.solvers.vertices.moment_bound import moment_bound
from discreet.solvers.vertices.walk import (
    MOST_VERTICES,
    RowPolyhedron,
    lifted_ratios,
    list_vertices,
    polyhedron_of,
)
from discreet.utilities.accuracy import Accuracy, Balance
from discreet.utilities.utility import MutualInformation

SECONDS = 60.0
"""What a search gets unless it is told otherwise."""
FIRST_HALF = 0.5
"""The part of a curator's time for a search from shared draws; one from mechanisms that are better has the rest."""
SHARE_FOR_MOMENTS = 0.25
"""The part of the time for the bound on the largest effect, where rows are climbed to."""
WALKING, MOST_WALKING = 0.3, 8.0
"""The part of the time that a walk may take, and seconds after which few lists still end."""
MOST_CUTS = 25
CUT_SHARE = 0.3
"""Rounds of cuts, and the part of the time left that each of them may take."""
BROKEN = 1e-9
"""A condition broken by less than this share of its terms is mended by mixing."""
UNSEEN = 1e-7
"""Mass that letters of probability zero receive together, where conditions mention them."""
MENDS = 60
CLOSER = 1.1
MOST_MENDED = 0.9
"""Steps of mixing with the constant row, each this much more than the condition asks for, and the largest of them."""


def refuses_accuracy(problem: Problem) -> str | None:
    if not isinstance(problem.utility, Accuracy | Balance):
        return "a utility that is not accuracy"
    return "perfect privacy, whose rows are a face without an interior" if isinstance(problem.notion, Perfect) else None


def refuses_walk(problem: Problem) -> str | None:
    """The list is for mutual information here, and for finitely many conditions."""
    if problem.utility is not MutualInformation:
        return "a utility that is not mutual information"
    return None if problem.cone.complete else "a set of conditions that cannot be listed"


def accurate_mechanism(problem: Problem, effort: Effort) -> Iterator[Solution]:
    """The most accurate mechanism found, with the bound of theory 6 on the accuracy of every other."""
    until = time.monotonic() + min(effort.left(), SECONDS)
    if not problem.reads_more:
        with threadpool_limits(limits=1, user_api="blas"):
            yield _Search(problem, None, until).solution()
        return
    starts = curator_starts(problem, effort.unless_told(SECONDS), _last)
    yield from starts
    best = max((one.value for one in starts), default=0.0)
    known = _shared_rows(problem)
    first = time.monotonic() + FIRST_HALF * (until - time.monotonic())
    with threadpool_limits(limits=1, user_api="blas"):
        found = _Search(problem, known, first).solution()
        yield found
        if found.value < best:
            yield _Search(problem, np.vstack([known, permitted_starts(problem, starts)]), until).solution()


def listed_information(problem: Problem, effort: Effort) -> Iterator[Solution]:
    """Information by one linear program over all extreme rows: an exact solver with a proof of its own."""
    with threadpool_limits(limits=1, user_api="blas"):
        search = _Search(problem, None, time.monotonic() + min(effort.left(), SECONDS))
        polyhedron = search.polyhedron(np.zeros((0, len(search.prior))))
        vertices = list_vertices(polyhedron, MOST_VERTICES, min(effort.left(), SECONDS))
        rows, weights, value, bound = BalanceCurve(search.space, ListedRows(search.space, vertices)).informative
    yield search.as_solution(rows, weights, bound if search.everybody else np.inf, value)


def _last(problem: Problem, effort: Effort) -> Solution:
    *_, found = accurate_mechanism(problem, effort)
    return found


def _shared_rows(problem: Problem) -> Floats:
    """Shared draws, where the notion permits them (theory 6.7)."""
    joint, _ = problem.asked
    seen = joint.table[joint.seen][:, joint.target_prior > 0]
    full = np.zeros((len(shared := shared_draws(seen)[0]), *joint.table.shape))
    full[np.ix_(np.arange(len(full)), joint.seen, np.flatnonzero(joint.target_prior > 0))] = shared.reshape(
        len(full), *seen.shape
    )
    rows = full.reshape(len(full), -1)[:, problem.letters]
    return rows[[problem.cone.excess(row) <= BROKEN for row in rows]]


@dataclass
class _Search:
    """One problem in the coordinates of theory 6.1, with the conditions it knows so far."""

    problem: Problem
    known: Floats | None
    until: float

    def __post_init__(self) -> None:
        problem = self.problem
        mass = problem.prior.copy()
        self.everybody = bool((mass > 0).all())
        if not self.everybody:
            empty = mass == 0
            mass = (1 - UNSEEN) * mass
            mass[empty] = UNSEEN / empty.sum()
        self.prior = mass / mass.sum()
        self.averaging = None if problem.one_to_one else _averaging(problem, self.prior)
        self.space = DesignSpace(self.prior, self.averaging, self._weighting())

    def _weighting(self) -> Floats:
        joint, utility = self.problem.joint, self.problem.utility
        asked = utility.estimates if isinstance(utility, Balance) else utility
        asked = asked if isinstance(asked, Accuracy) else Accuracy()
        if joint is None:
            raise ParameterError("accuracy without a joint", where="problem", remedy="Use Problem.of.")
        seen = np.unique(joint.target_of[self.problem.letters])
        full = np.zeros((len(seen), len(seen)))
        occurs = np.flatnonzero(joint.target_prior[seen] > 0)
        full[np.ix_(occurs, occurs)] = asked.weighting(joint)
        return full

    def polyhedron(self, cuts: Floats) -> RowPolyhedron:
        """The conditions, lifted where they are ratios, and cuts."""
        joint, notion = self.problem.asked
        forms: Floats | None = None
        if isinstance(notion, LDP):
            forms = joint.letter_given_secret[:, self.problem.letters]
        elif isinstance(notion, OrdinaryLDP):
            forms = np.eye(len(self.prior))
        if forms is None:
            return polyhedron_of(self.prior, np.vstack([self.problem.cone.rows, cuts]))
        rows, start = lifted_ratios(forms, notion.epsilon)
        wide = np.hstack([cuts, np.zeros((len(cuts), 1))])
        return polyhedron_of(self.prior, np.vstack([rows, wide]), start)

    def solution(self) -> Solution:
        """Rounds of cuts, the best of them after mending; the bounds of all of them hold."""
        cone = self.problem.cone
        found, bound = self._once(self.polyhedron(np.zeros((0, len(self.prior)))), self._share(cone.complete))
        if cone.separate is None or isinstance(self.problem.notion, OrdinaryLDP):
            return self.as_solution(found.rows, found.weights, self._upper(bound))
        cuts = np.zeros((0, len(self.prior)))
        best: Solution | None = None
        for _ in range(MOST_CUTS):
            mended = self.as_solution(*_mended(cone, found.rows, found.weights), self._upper(bound))
            best = mended if best is None or mended.value > best.value else best
            new = _broken(cone, found.rows)
            if not len(new) or time.monotonic() > self.until:
                break
            cuts = np.vstack([cuts, new])
            known = whole(mended.rows)
            known = known if self.known is None else np.vstack([self.known, known])
            try:
                found = self._recut(self.polyhedron(cuts), known)
            except UnfinishedError:
                break
        assert best is not None
        return best

    def _share(self, whole: bool) -> float:
        """Seconds for the first search."""
        left = max(self.until - time.monotonic(), 1.0)
        return left if whole else CUT_SHARE * left

    def _recut(self, polyhedron: RowPolyhedron, known: Floats) -> AccurateRows:
        """Climbing with further conditions, from the rows of the last round."""
        seconds = self._share(False)
        until = time.monotonic() + seconds
        source = ClimbedRows(self.space, polyhedron, seconds)
        return settled_rows(self.space, rounds(self.space, source, known, until=until), listed=False, until=until)

    def _upper(self, bound: float) -> float:
        """The bound as one on the utility: at most 1 / ψ, or I."""
        if not self.everybody:
            return np.inf
        utility = self.problem.utility
        if isinstance(utility, Balance) and utility.accuracy is not None:
            return bound
        return 1 / bound if bound > 0 else np.inf

    def as_solution(self, rows: Floats, weights: Floats, upper: float, value: float | None = None) -> Solution:
        """With weights that add up exactly, its value measured from the matrix."""
        found = Solution(self.problem, rows, weights / weights.sum(), 0.0, upper, Status.GAP)
        joint, _ = self.problem.asked
        measured = self.problem.utility.of(joint, found.channel) if value is None else value
        return replace(found, value=measured)

    def _once(self, polyhedron: RowPolyhedron, seconds: float) -> tuple[AccurateRows, float]:
        """What is found on these conditions, and its bound: ψ at least, or for Balance(accuracy=…) I at most."""
        utility, began = self.problem.utility, time.monotonic()
        try:
            vertices = list_vertices(polyhedron, MOST_VERTICES, min(WALKING * seconds, MOST_WALKING))
        except UnfinishedError:
            left = seconds - (time.monotonic() - began)
            return self._climbed(polyhedron, left)
        until = began + seconds
        source = ListedRows(self.space, vertices)
        if isinstance(utility, Balance):
            return self._balanced(source, until - time.monotonic())
        if isinstance(utility, Accuracy) and utility.worst:
            worst = smallest_largest(self.space, source, until - time.monotonic())
            return _as_rows(worst.rows, worst.weights, float(worst.effects.max())), worst.lower_bound
        found = settled_rows(self.space, rounds(self.space, source, self.known, until=until), listed=True, until=until)
        return found, max(found.lower_bound, self.space.clean)

    def _balanced(self, source: RowSource, seconds: float) -> tuple[AccurateRows, float]:
        utility = self.problem.utility
        assert isinstance(utility, Balance)
        curve = BalanceCurve(self.space, source)
        if utility.information is not None:
            found = curve.accurate(utility.information, seconds)
            return found, max(found.lower_bound, self.space.clean)
        assert utility.accuracy is not None
        most = curve.accurate(0.0, seconds / 2).variance / utility.accuracy
        both = curve.informed(most, seconds / 2)
        return both.found, both.most_information

    def _climbed(self, polyhedron: RowPolyhedron, seconds: float) -> tuple[AccurateRows, float]:
        """Where the list is too long: climbing, and a bound by moments."""
        utility = self.problem.utility
        if isinstance(utility, Balance):
            moments = moment_bound(self.space, polyhedron, SHARE_FOR_MOMENTS * seconds)
            left = (1 - SHARE_FOR_MOMENTS) * seconds
            found, bound = self._balanced(ClimbedRows(self.space, polyhedron, left / 2, moments), left)
            return found, bound if utility.information is None else max(bound, moments.lower_bound)
        if isinstance(utility, Accuracy) and utility.worst:
            bound = moment_bound(self.space, polyhedron, SHARE_FOR_MOMENTS * seconds).lower_bound
            source = ClimbedRows(self.space, polyhedron, seconds / 2)
            worst = smallest_largest(self.space, source, seconds / 2)
            return _as_rows(worst.rows, worst.weights, float(worst.effects.max())), max(bound, worst.lower_bound)
        found = climbed_rows(self.space, polyhedron, self.known, seconds)
        return found, max(found.lower_bound, self.space.clean)


def _as_rows(rows: Floats, weights: Floats, largest: float) -> AccurateRows:
    return AccurateRows(rows, weights, largest, 0.0, 0.0, True)


def _averaging(problem: Problem, prior: Floats) -> Floats:
    """P(z | t), one column per target."""
    mass = np.bincount(problem.target, weights=prior)
    found = np.zeros((len(prior), len(mass)))
    found[np.arange(len(prior)), problem.target] = prior / mass[problem.target]
    return found


def _broken(cone: Cone, rows: Floats) -> Floats:
    """For every row the further condition that it breaks most, each once."""
    assert cone.separate is not None
    found = []
    for row in rows:
        new = cone.separate(row)
        size = np.abs(new) @ row
        excess = np.divide(new @ row, size, out=np.zeros(len(new)), where=size > 0)
        if len(new) and excess.max() > BROKEN:
            found.append(new[int(excess.argmax())])
    if not found:
        return np.zeros((0, rows.shape[1]))
    scaled = np.array(found)
    scaled = scaled / np.abs(scaled).max(axis=1, keepdims=True)
    return np.unique(np.round(scaled, 12), axis=0)


def _mended(cone: Cone, rows: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Every row mixed with the constant row by as little as brings it inside.

    v' = 1 + (1 − η)(v − 1), so weights q / (1 − η) balance again.
    """
    assert cone.separate is not None
    kept = np.ones(len(rows))
    for y, row in enumerate(rows):
        for _ in range(MENDS):
            mixed = 1 + kept[y] * (row - 1)
            new = cone.separate(mixed)
            if not len(new):
                break
            excess, room = new @ mixed, -new.sum(axis=1)
            worst = float((excess / np.maximum(excess + room, np.finfo(float).tiny)).max())
            kept[y] *= 1 - min(CLOSER * worst + np.finfo(float).eps, MOST_MENDED)
        else:
            raise UnfinishedError(
                "a row could not be brought inside the notion", where="accuracy", remedy="Allow more time."
            )
    mended = weights / kept
    return 1 + kept[:, None] * (rows - 1), mended / mended.sum()
