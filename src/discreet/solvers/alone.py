"""The best mechanism on one attribute that is itself the secret, by columns whose pricing is a knapsack (theory 1.6).

What a notion permits on S alone is a `Family`: it can relax a node of the search to something solved by one sort,
which bounds the gain μ(v) − α·v of all its rows, and it can split the node where the relaxation is not exact.
Best-first search over such nodes is exact pricing; the rest is column generation as for any other problem (theory
1.3).
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from discreet.solvers.lp import Program
from discreet.solvers.problem import Split

Floats = NDArray[np.float64]
Progress = Callable[[float, float, float], None]
Node = TypeVar("Node")

ROUNDING = 1e-13
CLOSED = 1e-12
USED = 1e-12
STABLE = 0.5
"""How much of the best prices so far is mixed into the next ones: plain prices swing, and their bounds with them."""


@dataclass(frozen=True, eq=False)
class Relaxed(Generic[Node]):
    """What is known of a node: a bound on the gain of its rows, the best gain of the permitted `rows` met on the way,
    and how to split the node, None if the bound is attained.

    Gains may be in units of the family's own, as long as the gain μ(v) − α·v of a normalised row is never above them
    where they are positive.
    """

    bound: float
    best: float
    rows: Floats
    split: Callable[[], tuple[Node, Node]] | None


class Family(Protocol[Node]):
    """The permitted rows v on one attribute of prior p > 0, normalised to p·v = 1."""

    @property
    def prior(self) -> Floats: ...

    def starts(self) -> Floats:
        """Some permitted rows."""
        ...

    def root(self) -> Node:
        """All permitted rows."""
        ...

    def relax(self, node: Node, prices: Floats) -> Relaxed[Node]: ...


def solve_alone(
    family: Family[Node], *, gap: float = 1e-6, time_limit: float | None = None, progress: Progress | None = None
) -> Split:
    """The best split of the prior into rows of the family, or the best so far when time is up."""
    started = time.monotonic()

    def late() -> bool:
        return time_limit is not None and time.monotonic() - started > time_limit

    known = _KnownRows(family.prior, np.vstack([np.ones((1, len(family.prior))), family.starts()]))
    split, alpha = known.best()
    bound, centre, trust = np.inf, alpha, 0.0
    try:
        while True:
            prices = trust * centre + (1 - trust) * alpha
            total = float(prices.sum())
            rows, dearest = _priced(family, prices, max(0.0, split.value + gap / 2 - total), late)
            reached = total + dearest + ROUNDING * (1 + float(np.abs(prices).sum()))
            if reached < bound:
                bound, centre = reached, prices
            if progress is not None:
                progress(split.value, bound, time.monotonic() - started)
            if bound - split.value <= gap or late():
                status = "optimal" if bound - split.value <= gap else "time limit"
                break
            useful = rows[known.values(rows) - rows @ alpha > gap / 100]
            if len(useful):
                known.add(useful)
                split, alpha = known.best()
            elif trust == 0:
                status = "stalled"
                break
            trust = STABLE if len(useful) else 0.0
    except KeyboardInterrupt:
        status = "interrupted"
    return replace(split, upper_bound=max(bound, split.value), status=status)


class _KnownRows:
    """The linear program over the rows known so far."""

    def __init__(self, prior: Floats, rows: Floats) -> None:
        n = len(prior)
        self._prior, self._rows = prior, np.zeros((0, n))
        self._program = Program(np.zeros(0), np.zeros(0), np.zeros((n, 0)), np.ones(n), np.ones(n), primal=True)
        self.add(rows)

    def values(self, rows: Floats) -> Floats:
        """μ(v) = Σ_s p_s v_s ln v_s"""
        return np.asarray(xlogy(rows, rows) @ self._prior)

    def add(self, rows: Floats) -> None:
        self._program.add_columns(rows, self.values(rows))
        self._rows = np.vstack([self._rows, rows])

    def best(self) -> tuple[Split, Floats]:
        """The best split into known rows, refined beyond the LP's tolerance, and the prices of the letters."""
        solution = self._program.solved()
        used = np.flatnonzero(solution.point > USED)
        rows, weights = self._rows[used], solution.point[used]
        weights = np.maximum(weights + np.linalg.lstsq(rows.T, 1 - weights @ rows, rcond=None)[0], 0.0)
        return Split(rows, weights, float(weights @ self.values(rows)), np.inf, "unfinished"), solution.prices


def _priced(family: Family[Node], prices: Floats, floor: float, stop: Callable[[], bool]) -> tuple[Floats, float]:
    """Rows met in a best-first search, and a proven bound on μ(v) − prices·v, exact above `floor` ≥ 0."""
    order = count()
    best = floor
    met: list[Floats] = []
    heap: list[tuple[float, int, Callable[[], tuple[Node, Node]]]] = []
    waiting: tuple[Node, ...] = (family.root(),)
    while True:
        for node in waiting:
            relaxed = family.relax(node, prices)
            if relaxed.best > best or not met:
                best = max(best, relaxed.best)
                met.append(relaxed.rows)
            if relaxed.split is not None:
                heapq.heappush(heap, (-relaxed.bound, next(order), relaxed.split))
        if not heap or -heap[0][0] <= best + CLOSED or stop():
            break
        waiting = heapq.heappop(heap)[2]()
    return np.vstack(met), max(best + CLOSED, -heap[0][0] if heap else floor)
