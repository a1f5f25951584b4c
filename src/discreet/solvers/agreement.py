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

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from discreet.arrays import Floats, Indices
from discreet.channel import Channel
from discreet.exceptions import UnfinishedError
from discreet.linear_program import INFINITE, ProgramSolution, solve_once
from discreet.notions.notion import Cone
from discreet.solvers.problem import Effort, Problem, Solution, Status
from discreet.utilities.agreement import Agreement

CUT_ROUNDS = 60  # each adds the worst conditions of every output; RLDP on 16 letters needs about ten
VIOLATED = 1e-7  # a condition broken by less than the linear program's own tolerance is not worth a cut
AGREED = 1e-6  # a bound this close to the value is the same to six digits
MENDS = 60  # steps of mixing with rows that tell nothing
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
    late: Callable[[], bool] = lambda: False,
) -> Agreeing:
    """The best mechanism from z to the letters of T that keeps T's law; `gain[t, y]` is what y is worth for t.

    Letters of T without mass are never released. An input without mass that no condition mentions draws from the law.
    """
    law = np.bincount(target, weights=prior, minlength=len(gain)).astype(np.float64)
    outputs = np.flatnonzero(law > 0)
    program = _CellProgram(prior, target, law[outputs], gain[:, outputs], cone.rows)
    best: tuple[Floats, float] | None = None
    for round_ in range(CUT_ROUNDS):
        solution = program.solved()
        matrix, bound = program.matrix(solution), program.bound(solution)
        best = matrix, bound if best is None else min(bound, best[1])
        cuts = [(y, _broken(cone, row)) for y, row in enumerate(matrix)]
        if not sum(len(found) for _, found in cuts) or (round_ and late()):
            break
        for y, found in cuts:
            program.cut(y, found)
    assert best is not None
    finished = not any(len(found) for _, found in cuts)
    full = np.zeros((len(gain), len(prior)))
    full[outputs] = best[0]
    value = float(np.sum(gain[target].T * full * prior))
    return Agreeing(full, value, best[1], finished)


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
        self._blocks = [self._conditions(y, rows) for y in range(k)]

    def _conditions(self, y: int, rows: Floats) -> sparse.csr_array:
        """Conditions on the row of output y, each scaled to entries of at most one."""
        k, n = self._unit.shape
        scaled = rows * self._q_per_unit[y]
        largest = np.abs(scaled).max(axis=1, initial=0.0)
        scaled = scaled[largest > 0] / largest[largest > 0, None]
        found = sparse.csr_array(scaled)
        left, right = sparse.csr_array((len(scaled), y * n)), sparse.csr_array((len(scaled), (k - y - 1) * n))
        return sparse.hstack([left, found, right], format="csr")

    def cut(self, y: int, rows: Floats) -> None:
        if len(rows):
            self._blocks.append(self._conditions(y, rows))

    def solved(self) -> ProgramSolution:
        k, n = self._unit.shape
        conditions = sparse.vstack(self._blocks, format="csr")
        rows = sparse.csr_array(sparse.vstack([self._equal, conditions], format="csr"))
        ones = np.ones(n + k)
        low = np.concatenate([ones, np.full(conditions.shape[0], -INFINITE)])
        high = np.concatenate([ones, np.zeros(conditions.shape[0])])
        self._rows, self._right = rows, high
        found = solve_once(self._gain.ravel(), np.zeros(k * n), np.full(k * n, 1.0), rows, low, high)
        if found is None:
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
    """The best mechanism that releases letters and keeps their law exactly."""
    joint, _ = problem.asked
    utility = problem.utility
    assert isinstance(utility, Agreement)
    targets = np.unique(joint.target_of[problem.letters])
    gain = utility.gain(joint)[np.ix_(targets, targets)]
    found = most_agreeing(problem.prior, problem.target, problem.cone, gain, effort.late)
    law = problem.target_prior
    occurs = np.flatnonzero(law > 0)
    matrix = np.repeat(law[occurs, None], problem.size, axis=1)
    matrix[:, problem.letters] = kept_law(problem, found.matrix[occurs], law[occurs])
    outputs = tuple(joint.target_letters[targets[t]] for t in occurs)
    channel = Channel(matrix / matrix.sum(axis=0), joint.letters, outputs)
    status = Status.SEARCHING if found.finished else Status.TIME_LIMIT
    made = Solution.of_channel(problem, channel, found.upper_bound, status)
    yield replace(made, status=Status.OPTIMAL if made.gap <= AGREED else Status.GAP)


def kept_law(problem: Problem, matrix: Floats, law: Floats) -> Floats:
    """The same mixed with rows that tell nothing, so that the law is kept to rounding and every listed condition holds.

    (1 − η)Q + η r 1ᵀ has the law p if r = (p − (1 − η) Q p) / η, which is a distribution as soon as η is at least
    1 − min p_y / (Q p)_y. A constant row lies inside every condition, by as much as it is large.
    """
    share = float((1 - law / (matrix @ problem.prior)).max())
    rows = problem.cone.rows
    room = -(rows @ np.ones(rows.shape[1])) if len(rows) else np.ones(0)
    for y, row in enumerate(matrix):
        if len(rows):
            excess = rows @ row
            share = max(share, float((excess / np.maximum(excess + law[y] * room, np.finfo(float).tiny)).max()))
    share = min(1.0, 2 * max(share, SMALLEST_SHARE))
    for _ in range(MENDS):
        mixed = (1 - share) * matrix + (law - (1 - share) * (matrix @ problem.prior))[:, None]
        needed = _needed(problem.cone, mixed, law)
        if needed == 0.0:
            return np.asarray(mixed)
        share += 1.1 * (1 - share) * needed
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
