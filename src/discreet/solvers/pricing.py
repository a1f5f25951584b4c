"""Exact pricing: the largest μ(v) − α·v over the permitted rows, by branch and bound (theory 1.4).

μ is separable and convex, the rows form a polytope. On a box of target posteriors π_t = p_t w_t every h is at most its
chord, so an LP bounds the whole box; cutting the box where the chord is furthest from h makes the bound exact in the end.
The LP point is itself a permitted row, and climbing from it (linearise, solve, repeat) gives good columns on the way.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from discreet.exceptions import ParameterError
from discreet.solvers.body import Body
from discreet.solvers.lp import Program, Solution
from discreet.solvers.problem import Splitting
from discreet.utilities import PiecewiseLinear, Separable

Floats = NDArray[np.float64]
CLIMB_STEPS = 20


@dataclass(frozen=True, eq=False)
class Priced:
    """Rows found on the way with what they gain, and a proven bound on the gain of every row."""

    rows: list[Floats]
    gains: list[float]
    bound: float


@dataclass(frozen=True, eq=False)
class Node:
    """A box of target marginals, the chords of h on it, and the LP point that attains the bound."""

    lower: Floats
    upper: Floats
    slopes: Floats
    offsets: Floats
    bound: float
    marginal: Floats


class Pricer:
    """Warm programs for one problem, used again and again with different prices α."""

    def __init__(self, problem: Splitting) -> None:
        self.problem = problem
        self.body = Body(problem)
        self._bounding = self.body.program()
        self._climbing = self.body.program(primal=True)
        self.nodes = 0

    # ---- climbing -------------------------------------------------------------------------------------------

    def best_row(self, cost: Floats) -> Floats | None:
        """The permitted row that maximises cost·v."""
        self._climbing.set_cost(cost / self.body.scale)
        while (solution := self._climbing.solve()) is not None:
            row = self.body.row(solution)
            if not self.body.cut(row):
                return self.body.inside(row)
        return None

    def climb(self, row: Floats, alpha: Floats) -> tuple[Floats, float]:
        """Linearise and solve until nothing improves: a row that is locally best, and its gain μ(v) − α·v."""
        gain = self.gain(row, alpha)
        for _ in range(CLIMB_STEPS):
            better = self.best_row(self.problem.gradient(row) - alpha)
            reached = -np.inf if better is None else self.gain(better, alpha)
            if better is None or reached <= gain + 1e-12:
                break
            row, gain = better, reached
        return row, gain

    def gain(self, row: Floats, alpha: Floats) -> float:
        return float(self.problem.values(row[None, :])[0] - alpha @ row)

    # ---- the exact maximum ----------------------------------------------------------------------------------

    def price(self, alpha: Floats, floor: float, enough: int, stop: Callable[[], bool]) -> Priced:
        """Search until nothing above `floor` is left, `enough` rows above it were found, or `stop` says so."""
        utility = self.problem.utility
        if isinstance(utility, PiecewiseLinear):
            return self._price_pieces(utility, alpha, floor)
        if isinstance(utility, Separable):
            return self._branch_and_bound(utility, alpha, floor, enough, stop)
        raise ParameterError(
            "a utility that is neither separable nor piecewise linear", where="utility", remedy="Use one of the two."
        )

    def _price_pieces(self, utility: PiecewiseLinear, alpha: Floats, floor: float) -> Priced:
        """max over i of an LP each: exact."""
        problem, body = self.problem, self.body
        found: list[Floats] = []
        bound = -np.inf
        zero, box = np.zeros_like(body.top), (np.zeros(body.targets), body.target_top)
        for piece in utility.pieces(problem.target_prior):
            cost = (piece[problem.target] * problem.given_target - alpha) / body.scale
            self._climbing.set_cost(cost)
            solution = self._climbing.solved()
            while body.cut(body.row(solution)):
                solution = self._climbing.solved()
            bound = max(bound, body.proven(cost, solution, zero, body.top, *box))
            row = body.inside(body.row(solution))
            if row is not None:
                found.append(row)
        gains = [self.gain(row, alpha) for row in found]
        good = [i for i, gain in enumerate(gains) if gain > floor]
        return Priced([found[i] for i in good], [gains[i] for i in good], bound)

    def _branch_and_bound(
        self, utility: Separable, alpha: Floats, floor: float, enough: int, stop: Callable[[], bool]
    ) -> Priced:
        found = _Found(self, alpha, floor)
        order = count()
        p = self.problem.target_prior
        lower = np.zeros(self.body.targets)
        upper = np.divide(self.body.target_top, p, out=np.zeros_like(p), where=p > 0)
        root = self._node(utility, alpha, lower, upper, *utility.secants(lower, upper), np.inf, found)
        heap = [(-root.bound, next(order), root)]
        dropped = floor
        while heap and -heap[0][0] > max(floor, found.best + 1e-8):
            if len(found.rows) >= enough or stop():
                break
            _, _, node = heapq.heappop(heap)
            at = self._furthest(utility, node)
            if at is None:
                dropped = max(dropped, node.bound)
                continue
            for child in self._split(utility, alpha, node, at, found):
                if child.bound > max(floor, found.best + 1e-8):
                    heapq.heappush(heap, (-child.bound, next(order), child))
        bound = max([dropped, found.best, *(-entry[0] for entry in heap[:1])])
        return Priced(found.rows, found.gains, bound)

    def _furthest(self, utility: Separable, node: Node) -> int | None:
        """The target whose chord is furthest above h at the LP point; None if all touch."""
        w = node.marginal
        misses = self.problem.target_prior * (node.slopes * w + node.offsets - utility.h(w))
        at = int(np.argmax(misses))
        inside = node.lower[at] < w[at] < node.upper[at]
        return at if inside and misses[at] > 1e-14 else None

    def _split(
        self, utility: Separable, alpha: Floats, node: Node, at: int, found: _Found
    ) -> list[Node]:
        children = []
        for side in (0, 1):
            lower, upper = node.lower, node.upper
            if side:
                lower = lower.copy()
                lower[at] = node.marginal[at]
            else:
                upper = upper.copy()
                upper[at] = node.marginal[at]
            slope, offset = utility.secants(lower[at : at + 1], upper[at : at + 1])
            slopes, offsets = node.slopes.copy(), node.offsets.copy()
            slopes[at], offsets[at] = slope[0], offset[0]
            children.append(self._node(utility, alpha, lower, upper, slopes, offsets, node.bound, found))
        return children

    def _node(
        self,
        utility: Separable,
        alpha: Floats,
        lower: Floats,
        upper: Floats,
        slopes: Floats,
        offsets: Floats,
        inherited: float,
        found: _Found,
    ) -> Node:
        """Bound a box: the LP over chords, cut until its point is permitted. Without an answer the inherited bound stays."""
        body, problem = self.body, self.problem
        p = problem.target_prior
        cost = (problem.prior * slopes[problem.target] - alpha) / body.scale
        low, high = lower * p, upper * p
        bottom, top = np.zeros_like(body.top), body.top
        if problem.one_to_one:
            bottom, top = np.where(p > 0, low, bottom), np.where(p > 0, high, top)
            self._bounding.set_bounds(bottom, top)
        else:
            self._bounding.set_row_bounds(1, low, high)
        self._bounding.set_cost(cost)
        solution, row = self._permitted()
        self.nodes += 1
        if solution is None or row is None:
            middle = (lower + upper) / 2
            return Node(lower, upper, slopes, offsets, inherited, middle)
        bound = body.proven(cost, solution, bottom, top, low, high) + float(p @ offsets)
        found.consider(row)
        return Node(lower, upper, slopes, offsets, min(bound, inherited), problem.marginals(row))

    def _permitted(self) -> tuple[Solution | None, Floats | None]:
        while (solution := self._bounding.solve()) is not None:
            row = self.body.row(solution)
            if not self.body.cut(row):
                return solution, row
        return None, None


class _Found:
    """Rows above the floor, each climbed to the top and kept once."""

    def __init__(self, pricer: Pricer, alpha: Floats, floor: float) -> None:
        self._pricer, self._alpha, self._floor = pricer, alpha, floor
        self._visited: set[bytes] = set()
        self._kept: set[bytes] = set()
        self.rows: list[Floats] = []
        self.gains: list[float] = []
        self.best = -np.inf

    def consider(self, row: Floats) -> None:
        if self._pricer.gain(row, self._alpha) > self._floor and self._new(row, self._visited):
            permitted = self._pricer.body.inside(row)
            if permitted is not None:
                self.add(*self._pricer.climb(permitted, self._alpha))

    def add(self, row: Floats, gain: float) -> None:
        if gain > self._floor and self._new(row, self._kept):
            self.rows.append(row)
            self.gains.append(gain)
            self.best = max(self.best, gain)

    def _new(self, row: Floats, seen: set[bytes]) -> bool:
        key = np.round(row * self._pricer.body.scale, 9).tobytes()
        fresh = key not in seen
        seen.add(key)
        return fresh
