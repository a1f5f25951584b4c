"""Released values that are values: outputs are the letters of X, the law of X is kept, and most of them are true.

    maximise   Σ_z p_z Q[f(z), z]        (or minus Σ_z Σ_y p_z d(f(z), y) Q[y, z])
    subject to Σ_y Q[y, z] = 1,   Σ_z p_z Q[y, z] = p_T(y),   every row Q[y, ·] in the cone K

is one linear program where K has finitely many conditions, and a sequence of them with cuts where it has not. It has a
solution: the constant rows Q[y, ·] = p_T(y) tell nothing. The program is written in the masses p_z Q[y, z], each
divided by min(p_T(y), p_z), the most it can be, so that rare letters are as large as common ones; without that a
program of 300 letters is called infeasible.

The bound holds for every such mechanism whatever the prices λ are, by weak duality over cells between 0 and 1:

    value ≤ λ·b + Σ_cells max(0, c − Aᵀλ),      λ ≥ 0 on conditions "≤".
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from discreet.arrays import Floats, Indices, whole
from discreet.attribute import Form
from discreet.channel import Channel
from discreet.exceptions import DiscreetError, UnfinishedError
from discreet.linear_program import INFINITE, ProgramSolution, solve_once
from discreet.mechanisms.calibration import calibrate
from discreet.mechanisms.randomised_response import keep_or_draw
from discreet.notions.notion import Cone
from discreet.solvers.driver import solve
from discreet.solvers.problem import Effort, Problem, Solution, Status
from discreet.utilities.agreement import Agreement

MOST_ENTRIES = 50_000_000  # of the program's conditions: more do not fit into a gigabyte
CUT_ROUNDS = 60  # each adds the worst conditions of every output; RLDP on 16 letters needs about ten
VIOLATED = 1e-7  # a condition broken by less than the linear program's own tolerance is not worth a cut
STEP = 1 / 64  # how closely the last permitted mechanism on the way to an optimum is looked for
AGREED = 1e-6  # a bound this close to the value is the same to six digits
MENDS = 60  # steps of mixing with rows that tell nothing
LESS_SHARE, LESS_SECONDS = 0.5, 15.0  # for the mechanism that reads X only, of a limit or without one
CALIBRATED_SECONDS = 1e-6  # for every entry of a mechanism whose strength is looked for
PROGRAM_SHARE = 0.85  # of the time for the program; the rest is for a bound without it
SMALLEST_SHARE = 1e-14  # mixed in at least, so that what is left of the law is a distribution


@dataclass(frozen=True, eq=False)
class Agreeing:
    """Q[y, z] with one output for each letter of the target, what it is worth, and what nothing exceeds."""

    matrix: Floats
    value: float
    upper_bound: float
    finished: bool


def most_agreeing(
    prior: Floats,
    target: Indices,
    cone: Cone,
    gain: Floats,
    effort: Effort | None = None,
    inside: Floats | None = None,
) -> Agreeing:
    """The best mechanism from z to the letters of T that keeps T's law; `gain[t, y]` is what y is worth for t.

    Letters of T without mass are never released. An input without mass that no condition mentions draws from the law.
    """
    *_, found = agreeing_rounds(prior, target, cone, gain, effort or Effort(), inside)
    return found


def agreeing_rounds(
    prior: Floats, target: Indices, cone: Cone, gain: Floats, effort: Effort, inside: Floats | None
) -> Iterator[Agreeing]:
    """Better and better mechanisms, each permitted up to rounding, and bounds that hold for every one.

    A round solves the program with the conditions known so far. Where its optimum breaks others, the last permitted
    mechanism on the way to it from `inside` is handed on and is the next `inside`; what the optimum breaks, and what is
    broken just beyond that point, is added (Ben-Ameur and Neto 2007). `inside` is a permitted mechanism to begin with,
    constant rows if there is none. A program that is not solved in time ends it with the bound of single outputs.
    """
    law = np.bincount(target, weights=prior, minlength=len(gain)).astype(np.float64)
    outputs = np.flatnonzero(law > 0)
    kept = np.repeat(law[outputs, None], len(prior), axis=1) if inside is None else inside[outputs]
    worth = gain[target].T[outputs] * prior

    def told(matrix: Floats, bound: float, finished: bool) -> Agreeing:
        full = np.zeros((len(gain), len(prior)))
        full[outputs] = matrix
        return Agreeing(full, float(np.sum(worth * matrix)), bound, finished)

    whole_time, effort, bound = effort, effort.share(PROGRAM_SHARE), np.inf
    cells = len(outputs) * len(prior) * (len(cone.rows) + 1)
    program = _CellProgram(prior, target, law[outputs], gain[:, outputs], cone.rows) if cells <= MOST_ENTRIES else None
    for _ in range(CUT_ROUNDS):
        solution = None if program is None or effort.late() else program.solved(effort.deadline)
        if program is None or solution is None:
            break
        matrix, bound = program.matrix(solution), min(bound, program.bound(solution))
        cuts = _cuts(cone, matrix)
        if not cuts:
            yield told(matrix, bound, finished=True)
            return
        share = _permitted_share(cone, kept, matrix, effort)
        beyond = kept + min(1.0, share + STEP) * (matrix - kept)
        kept = kept + share * (matrix - kept)
        yield told(kept, bound, finished=False)
        for y, found in [*cuts, *_cuts(cone, beyond)]:
            program.cut(y, found)
    if np.isinf(bound):
        bound = single_outputs(prior, law[outputs], worth, cone, whole_time)
    yield told(kept, bound, finished=False)


def _cuts(cone: Cone, matrix: Floats) -> list[tuple[int, Floats]]:
    """What every output breaks."""
    return [(y, found) for y, row in enumerate(matrix) if len(found := _broken(cone, row))]


def _permitted_share(cone: Cone, inside: Floats, outside: Floats, effort: Effort) -> float:
    """How far it is from a permitted mechanism to the first condition broken on the way to another, by halving."""
    low, high = 0.0, 1.0
    while high - low > STEP and not effort.late():
        middle = (low + high) / 2
        broken = any(len(_broken(cone, row)) for row in inside + middle * (outside - inside))
        low, high = (low, middle) if broken else (middle, high)
    return low


def single_outputs(prior: Floats, law: Floats, worth: Floats, cone: Cone, effort: Effort) -> float:
    """A bound without the whole program: each output by itself, its row permitted and of the right mass.

    Σ_y of the largest worth_y·Q[y, ·] over rows with prior·Q[y, ·] = p_y and 0 ≤ Q ≤ 1: the inputs' own equations are
    left out, so nothing is worth more. An output for which no time is left counts with the conditions left out too.
    """
    total = 0.0
    rows = sparse.csr_array(np.vstack([prior, cone.rows]))
    for y, mass in enumerate(law):
        unit = np.minimum(1.0, np.divide(mass, prior, out=np.ones_like(prior), where=prior > 0))
        found: ProgramSolution | None = None
        if not effort.late():
            low = np.concatenate([[mass], np.full(len(cone.rows), -INFINITE)])
            high = np.concatenate([[mass], np.zeros(len(cone.rows))])
            found = solve_once(worth[y], np.zeros(len(prior)), unit, rows, low, high, deadline=effort.deadline)
        if found is None:
            total += float(np.maximum(worth[y], 0.0) @ unit)
            continue
        prices = np.concatenate([found.prices[:1], np.maximum(found.prices[1:], 0.0)])
        total += float(prices[0] * mass + np.maximum(worth[y] - rows.T @ prices, 0.0) @ unit)
    return total


def _broken(cone: Cone, row: Floats) -> Floats:
    """Conditions that this row breaks by more than rounding."""
    if cone.separate is None:
        return np.zeros((0, len(row)))
    rows = cone.separate(row)
    return rows[rows @ row > VIOLATED * (np.abs(rows) @ row)]


class _CellProgram:
    """The program over cells (y, z), y-major, in units of the largest mass that a cell can have."""

    def __init__(self, prior: Floats, target: Indices, law: Floats, gain: Floats, rows: Floats) -> None:
        self._law, self._prior = law, prior
        mass = np.where(prior > 0, prior, np.inf)
        unit = np.minimum(law[:, None], mass[None, :])
        self._q_per_unit = unit / np.where(prior > 0, prior, 1.0)  # Q[y, z] of a full cell
        self._unit = np.where(prior > 0, unit, 0.0)  # its mass
        self._gain = gain[target].T * self._unit
        k, n = unit.shape
        cells = np.arange(k * n).reshape(k, n)
        each_input = sparse.csr_array(
            (self._q_per_unit.T.ravel(), (np.repeat(np.arange(n), k), cells.T.ravel())), shape=(n, k * n)
        )
        share = self._unit / law[:, None]
        each_output = sparse.csr_array((share.ravel(), (np.repeat(np.arange(k), n), cells.ravel())), shape=(k, k * n))
        self._equal = sparse.vstack([each_input, each_output], format="csr")
        listed = sparse.csr_array(rows)
        self._blocks = [self._conditions(y, listed) for y in range(k)]

    def _conditions(self, y: int, rows: sparse.csr_array) -> sparse.csr_array:
        """Conditions on the row of output y, each scaled to entries of at most one."""
        k, n = self._unit.shape
        entries = rows.data * self._q_per_unit[y][rows.indices]
        sizes = np.diff(rows.indptr)
        used = np.flatnonzero(sizes)
        largest = np.maximum.reduceat(np.abs(entries), rows.indptr[used]) if len(used) else np.zeros(0)
        entries /= np.repeat(largest, sizes[used])
        starts = rows.indptr[np.append(used, len(sizes))]
        return sparse.csr_array((entries, rows.indices + y * n, starts), shape=(len(used), k * n))

    def cut(self, y: int, rows: Floats) -> None:
        if len(rows):
            self._blocks.append(self._conditions(y, sparse.csr_array(rows)))

    def solved(self, deadline: float = INFINITE) -> ProgramSolution | None:
        """The optimum; None where the time was not enough."""
        k, n = self._unit.shape
        conditions = sparse.vstack(self._blocks, format="csr")
        rows = sparse.csr_array(sparse.vstack([self._equal, conditions], format="csr"))
        ones = np.ones(n + k)
        low = np.concatenate([ones, np.full(conditions.shape[0], -INFINITE)])
        high = np.concatenate([ones, np.zeros(conditions.shape[0])])
        self._rows, self._right = rows, high
        found = solve_once(self._gain.ravel(), np.zeros(k * n), np.full(k * n, 1.0), rows, low, high, deadline=deadline)
        if found is None and time.monotonic() < deadline:
            raise UnfinishedError(
                "the linear program for agreement was not solved",
                remedy="Group rare letters, or design for information instead.",
            )
        return found

    def matrix(self, solution: ProgramSolution) -> Floats:
        cells = np.clip(solution.point.reshape(self._unit.shape), 0.0, None) * self._q_per_unit
        return np.asarray(cells / cells.sum(axis=0))

    def bound(self, solution: ProgramSolution) -> float:
        """What every permitted mechanism is worth at most, from these prices, cells being between 0 and 1."""
        equal = self._equal.shape[0]
        prices = solution.prices.copy()
        prices[equal:] = np.maximum(prices[equal:], 0.0)
        reduced = self._gain.ravel() - self._rows.T @ prices
        return float(prices @ self._right + np.maximum(reduced, 0.0).sum())


# ---- as a method ----------------------------------------------------------------------------------------------------


def refuses_agreement(problem: Problem) -> str | None:
    return None if isinstance(problem.utility, Agreement) else "a utility that is not agreement"


def agree(problem: Problem, effort: Effort) -> Iterator[Solution]:
    """The best mechanism that releases letters and keeps their law exactly; before it, what needs no program."""
    joint, _ = problem.asked
    utility = problem.utility
    assert isinstance(utility, Agreement)
    targets = np.unique(joint.target_of[problem.letters])
    gain = utility.gain(joint)[np.ix_(targets, targets)]
    law = problem.target_prior
    occurs = np.flatnonzero(law > 0)
    outputs = tuple(joint.target_letters[targets[t]] for t in occurs)

    def made(rows: Floats, bound: float, status: Status) -> Solution:
        matrix = np.repeat(law[occurs, None], problem.size, axis=1)
        matrix[:, problem.letters] = kept_law(problem, rows, law[occurs])
        channel = Channel(matrix / matrix.sum(axis=0), joint.letters, outputs)
        return Solution.of_channel(problem, channel, bound, status)

    best = made(np.repeat(law[occurs, None], len(problem.letters), axis=1), np.inf, Status.BEGUN)
    for begun in _known_mechanisms(problem, effort, outputs):
        try:
            one = made(begun[:, problem.letters], np.inf, Status.BEGUN)
        except UnfinishedError:
            continue
        best = one if one.value > best.value else best
    yield best
    inside = np.zeros((len(law), len(problem.prior)))
    inside[occurs] = whole(best.matrix)[:, problem.letters]
    for found in agreeing_rounds(problem.prior, problem.target, problem.cone, gain, effort, inside):
        status = Status.SEARCHING if found.finished or not effort.late() else Status.TIME_LIMIT
        best = made(found.matrix[occurs], found.upper_bound, status)
        yield best
    yield replace(best, status=Status.OPTIMAL if best.gap <= AGREED else _unproven(effort))


def _unproven(effort: Effort) -> Status:
    return Status.TIME_LIMIT if effort.late() else Status.GAP


def _known_mechanisms(problem: Problem, effort: Effort, outputs: tuple[Hashable, ...]) -> Iterator[Floats]:
    """Q[y, z] of mechanisms that release letters and need no program of this size: the value or a draw, and for a
    curator the best one found that reads X only."""
    joint, notion = problem.asked
    place = {letter: y for y, letter in enumerate(outputs)}
    searches: list[Callable[[], Channel]] = []
    if CALIBRATED_SECONDS * len(outputs) * problem.size < effort.left():
        searches.append(lambda: calibrate(keep_or_draw, joint, notion).channel)
    if joint.form is Form.CURATOR:
        less = Problem.of(replace(joint, form=Form.FUNNEL), notion, problem.utility)
        part = effort.share(LESS_SHARE).unless_told(LESS_SECONDS).quiet()
        searches.append(lambda: solve(agree, less, part).channel)
    for search in searches:
        try:
            channel = search()
        except DiscreetError:
            continue
        matrix = np.zeros((len(outputs), channel.matrix.shape[1]))
        matrix[[place[output] for output in channel.outputs if output in place]] = channel.matrix[
            [output in place for output in channel.outputs]
        ]
        if matrix.sum(axis=0).min() > 0:
            wide = matrix if matrix.shape[1] == problem.size else np.tile(matrix, len(joint.table))
            yield np.asarray(wide / wide.sum(axis=0))


def kept_law(problem: Problem, matrix: Floats, law: Floats) -> Floats:
    """The same mixed with rows that tell nothing, so that the law is kept to rounding and every listed condition holds.

    (1 − η)Q + η r 1ᵀ has the law p if r = (p − (1 − η) Q p) / η, which is a distribution as soon as η is at least
    1 − min p_y / (Q p)_y. A constant row lies inside every condition, by as much as it is large.
    """
    share = float((1 - law / (matrix @ problem.prior)).max())
    rows = problem.cone.rows
    room = -(rows @ np.ones(rows.shape[1])) if len(rows) else np.ones(0)
    together = rows @ matrix.T if rows.size * len(matrix) > MOST_ENTRIES else None  # one product, not one per row
    for y, row in enumerate(matrix):
        if len(rows):
            excess = np.maximum(rows @ row if together is None else together[:, y], 0.0)
            share = max(share, float((excess / np.maximum(excess + law[y] * room, np.finfo(float).tiny)).max()))
    share = min(1.0, 2 * max(share, SMALLEST_SHARE))
    for _ in range(MENDS):
        mixed = (1 - share) * matrix + (law - (1 - share) * (matrix @ problem.prior))[:, None]
        needed = _needed(problem.cone, mixed, law)
        if needed == 0.0:
            return np.asarray(mixed)
        share = min(1.0, share + 1.1 * (1 - share) * needed)
    raise UnfinishedError(
        "the values found could not be brought inside the notion", where="agreement", remedy="Allow more time."
    )


def _needed(cone: Cone, matrix: Floats, law: Floats) -> float:
    """The share of constant rows that would mend the worst of the conditions that are not listed."""
    if cone.separate is None:
        return 0.0
    worst = 0.0
    for y, row in enumerate(matrix):
        new = cone.separate(row)
        if len(new):
            excess, room = new @ row, -new.sum(axis=1) * law[y]
            worst = max(worst, float((excess / np.maximum(excess + room, np.finfo(float).tiny)).max()))
    return worst
