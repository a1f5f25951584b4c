"""The permitted rows {v ∈ K : p·v = 1} as a linear program, with bounds that hold whatever the LP solver says.

Inside, a row is x_z = σ_z v_z with σ_z = p_z (the posterior; 1 for letters of mass zero), so that everything is of order one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.exceptions import InfeasibleError, UnfinishedError
from discreet.solvers.lp import INFINITE, Program, Solution
from discreet.solvers.problem import Splitting

Floats = NDArray[np.float64]
ROUNDING = 1e-11
"""Added to every bound: far above the rounding of a sum of a few thousand terms of order one."""
INSIDE = 1e-13
"""A condition counts as met when it is violated by no more than this, relative to its largest entry."""


class Body:
    """K cut by p·v = 1, as conditions over x. Grows when a lazy cone hands out further conditions."""

    def __init__(self, problem: Splitting) -> None:
        self.problem = problem
        self.scale = np.where(problem.prior > 0, problem.prior, 1.0)
        self.massive = (problem.prior > 0).astype(float)
        self.conditions = np.zeros((0, len(problem.prior)))
        self.targets = len(problem.target_prior)
        self.programs: list[Program] = []
        self.top = np.where(self.massive > 0, 1.0, INFINITE)
        self.target_top = np.ones(self.targets)
        self._learn(problem.cone.rows)
        self._tighten()

    # ---- programs -------------------------------------------------------------------------------------------

    def program(self, *, primal: bool = False) -> Program:
        """The row polytope: normalisation first, then (unless T = Z) the posterior of each target, then the conditions."""
        rows = [self.massive[None, :]]
        lower, upper = [1.0], [1.0]
        if not self.problem.one_to_one:
            posterior = np.zeros((self.targets, len(self.scale)))
            posterior[self.problem.target, np.arange(len(self.scale))] = self.massive
            rows.append(posterior)
            lower += [0.0] * self.targets
            upper += [1.0] * self.targets
        matrix = np.vstack([*rows, self.conditions])
        low = np.concatenate([lower, np.full(len(self.conditions), -INFINITE)])
        high = np.concatenate([upper, np.zeros(len(self.conditions))])
        built = Program(np.zeros(len(self.scale)), self.top, matrix, low, high, primal=primal)
        self.programs.append(built)
        return built

    def row(self, solution: Solution) -> Floats:
        """The row v of an LP point, rounding dust removed, p·v = 1."""
        x = np.where(solution.point > 1e-13, solution.point, 0.0)
        mass = float(self.massive @ x)
        return np.asarray(x / (mass * self.scale)) if mass > 0 else np.zeros_like(x)

    # ---- proofs ---------------------------------------------------------------------------------------------

    def proven(
        self, cost: Floats, solution: Solution, lower: Floats, upper: Floats, target_lower: Floats, target_upper: Floats
    ) -> float:
        """An upper bound on max cost·x over the body with x in [lower, upper] (and target posteriors in their box).

        Weak duality: for every λ, every η and every y ≥ 0, cost·x ≤ λ + Σ_t max over the box of η_t π_t +
        Σ_z max over [lower, upper] of (cost − λ − η − y·A)_z x_z, because Σ x = 1, π_t = Σ_{f(z)=t} x_z and A x ≤ 0.
        The prices of the LP make it tight; wrong prices make it loose, never wrong.
        """
        prices = solution.prices
        level = prices[0]
        rest = cost - level * self.massive
        bound = level
        first = 1
        if not self.problem.one_to_one:
            eta = prices[1 : 1 + self.targets]
            rest = rest - eta[self.problem.target] * self.massive
            bound += float(np.maximum(eta * target_lower, eta * target_upper).sum())
            first += self.targets
        y = np.maximum(prices[first : first + len(self.conditions)], 0.0)
        rest = rest - y @ self.conditions
        return float(bound + np.maximum(rest * lower, rest * upper).sum() + ROUNDING)

    # ---- membership -----------------------------------------------------------------------------------------

    def inside(self, row: Floats) -> Floats | None:
        """The row itself, moved towards the constant row if need be until every condition holds; None if it cannot be.

        The constant row lies in every K, so v + τ(1 − v) meets a condition that v misses once τ is large enough.
        """
        excess = self.conditions @ (row * self.scale)
        if excess.max(initial=-1.0) <= INSIDE:
            return row
        slack = -(self.conditions @ self.scale)
        wrong = excess > INSIDE
        if (slack[wrong] <= 0).any():
            return None
        step = float((excess[wrong] / (excess[wrong] + slack[wrong])).max()) * (1 + 1e-9)
        return None if step > 1e-3 else np.asarray(row + step * (1 - row))

    def cut(self, row: Floats) -> bool:
        """Whether the lazy part of the cone refuses the row; what it says is learned by every program."""
        separate = self.problem.cone.separate
        return separate is not None and self._learn(separate(row)) > 0

    def _learn(self, rows: Floats) -> int:
        """Take in conditions that v ≥ 0 does not imply, scaled to a largest entry of one."""
        scaled = rows / self.scale
        scaled = scaled[(scaled > 0).any(axis=1)]
        if len(scaled):
            scaled = np.unique(scaled / np.abs(scaled).max(axis=1, keepdims=True), axis=0)
            for program in self.programs:
                program.add_rows(scaled, np.full(len(scaled), -INFINITE), np.zeros(len(scaled)))
            self.conditions = np.vstack([self.conditions, scaled])
        return len(scaled)

    # ---- what every row obeys -------------------------------------------------------------------------------

    def _exclude_weightless_rows(self) -> Floats:
        """Make sure that no permitted row lives on letters of mass zero alone, so that the body is bounded.

        Returns the proof: y ≥ 0 with (y·A)_z ≥ 1 for every letter of mass zero.
        """
        weightless = 1.0 - self.massive
        while weightless.any():
            limits = np.zeros(len(self.conditions))
            program = Program(np.zeros(len(self.scale)), weightless, self.conditions, limits - INFINITE, limits)
            program.set_cost(weightless)
            solution = program.solved()
            if solution.point.max() <= 1e-7:
                y = np.maximum(solution.prices, 0.0)
                least = (y @ self.conditions)[weightless > 0].min()
                if least > 0:
                    return np.asarray(y / least)
            if solution.point.max() <= 1e-7 or not self.cut(solution.point):
                raise InfeasibleError(
                    "a row may be concentrated on letters that never occur",
                    where="cone",
                    remedy="Leave these letters out, or use a cone that weighs them.",
                )
        return np.zeros(len(self.conditions))

    def _tighten(self) -> None:
        """Proven upper bounds on the entries that pricing branches on, and on the letters of mass zero."""
        n = len(self.scale)
        proof = self._exclude_weightless_rows()
        program = self.program(primal=True)
        letters = range(n) if self.problem.one_to_one else np.flatnonzero(self.massive == 0)
        for z in letters:
            cost = np.zeros(n)
            cost[z] = 1.0
            self.top[z] = min(self.top[z], self._maximum(program, cost, proof))
        for t in range(0 if self.problem.one_to_one else self.targets):
            cost = np.where(self.problem.target == t, self.massive, 0.0)
            self.target_top[t] = min(1.0, self._maximum(program, cost, proof))
        self.programs.remove(program)
        if self.problem.one_to_one:
            self.target_top = np.where(self.massive > 0, self.top, 0.0)
        if self.top.max() >= INFINITE:
            raise UnfinishedError("the rows of the cone could not be bounded", remedy="Drop letters of mass zero.")

    def _maximum(self, program: Program, cost: Floats, proof: Floats) -> float:
        """A proven bound on cost·x. Letters of mass zero have no upper bound yet, so their reduced cost is made ≤ 0."""
        program.set_cost(cost)
        solution = program.solve()
        if solution is None:
            return INFINITE
        first = len(solution.prices) - len(self.conditions)
        y = np.maximum(solution.prices[first:], 0.0)
        weightless = self.massive == 0
        miss = float((cost - y @ self.conditions)[weightless].max(initial=0.0))
        prices = np.concatenate([solution.prices[:first], y + miss * (1 + 1e-9) * proof])
        top = np.where(weightless, 0.0, self.top)
        box = np.zeros(self.targets), self.target_top
        return self.proven(cost, Solution(solution.point, prices), np.zeros_like(top), top, *box)
