"""Dictionaries of the simplex method, kept: a program that resembles an earlier one starts where that one ended."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.solvers.simplex import LOW, batch

Answer = TypeVar("Answer")
Floats = NDArray[np.float64]
Places = NDArray[np.int64]
State = tuple[NDArray[np.generic], ...]
"""A dictionary: its matrix, the basic and the nonbasic variables, which of these are at their upper bound, its age."""
KEPT, KEPT_BYTES = 2_000, 256_000_000
THREADS = min(4, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
WORTH_A_THREAD = 200_000
"""Entries of all dictionaries of a batch: less is done by one thread."""
NOWHERE = -1


class Dictionaries:
    """The rows R, one dictionary for each thread to work on, and places to keep others, as many as memory allows.

    Places are numbered from `base` on. Those of dictionaries with other rows have lower numbers and are as NOWHERE.
    """

    def __init__(self, rows: Floats, base: int = 0) -> None:
        self.rows = np.ascontiguousarray(rows)
        m, n = rows.shape
        places = THREADS + min(KEPT, KEPT_BYTES // (8 * (m * n + m + 2 * n) + 1))
        self._matrix = np.empty((places, m, n))
        self._basic, self._nonbasic = np.empty((places, m), dtype=np.int64), np.empty((places, n), dtype=np.int64)
        self._high, self._age = np.empty((places, n), dtype=np.bool_), np.empty(places, dtype=np.int64)
        self._matrix[:THREADS] = self.rows
        self._basic[:THREADS], self._nonbasic[:THREADS] = np.arange(n, n + m), np.arange(n)
        self._high[:THREADS], self._age[:THREADS] = False, 0
        self._base, self.end = base, base + places
        self.forget_all()

    def own(self, thread: int) -> State:
        """The dictionary that a thread works on."""
        state = self._matrix, self._basic, self._nonbasic, self._high
        return *(part[thread] for part in state), self._age[thread : thread + 1]

    def forget_all(self) -> None:
        self._free = list(range(len(self._age) - 1, THREADS - 1, -1))

    def forget(self, places: Places) -> None:
        self._free.extend((places[places >= self._base] - self._base).tolist())

    def maximise(
        self,
        costs: Floats,
        lower: Floats,
        upper: Floats,
        row_lower: Floats,
        row_upper: Floats,
        floors: Floats,
        starts: Places | None = None,
    ) -> tuple[Floats, Floats, Places, Places]:
        """Points, multipliers and statuses of one program a line of `costs` (bounds likewise, one line each).

        With `starts` (NOWHERE: wherever the last program ended) every program that reaches its floor is kept; the
        fourth answer says where, NOWHERE for the others.
        """
        size, (m, n) = len(costs), self.rows.shape
        points, prices = np.zeros((size, n)), np.zeros((size, m))
        low, high = np.hstack([lower, row_lower]), np.hstack([upper, row_upper])
        keeps = np.full(size, NOWHERE, dtype=np.int64)
        if starts is None:
            starts = keeps
        else:
            starts = np.maximum(starts - self._base, NOWHERE)
            taken = min(size, len(self._free))
            keeps[:taken] = [self._free.pop() for _ in range(taken)]
        given = starts, keeps, np.ascontiguousarray(costs), low, high, floors.copy(), points, prices
        statuses = self._threaded(given) if size * m * n > WORTH_A_THREAD else self._solved(0, given)
        kept = np.where(keeps >= 0, keeps + self._base, NOWHERE)
        self.forget(kept[statuses == LOW])
        return points, prices, statuses, np.where(statuses == LOW, NOWHERE, kept)

    def _solved(self, own: int, given: tuple[NDArray[np.generic], ...]) -> Places:
        state = self._matrix, self._basic, self._nonbasic, self._high, self._age
        return np.asarray(batch(self.rows, *state, own, *given))

    def _threaded(self, given: tuple[NDArray[np.generic], ...]) -> Places:
        """Each thread takes its share of the lines; the answers are written where they belong."""
        cuts = np.linspace(0, len(given[0]), THREADS + 1).astype(int)
        shares = [tuple(part[i:j] for part in given) for i, j in pairwise(cuts)]
        return np.concatenate(self.each(self._solved, range(THREADS), shares))

    def each(self, work: Callable[..., Answer], *given: Iterable[Any]) -> list[Answer]:
        """What `work` answers, a thread each; nobody works on a dictionary any more when this returns or is broken off.

        Threads are kept: to start them takes longer than many programs.
        """
        under_way = [self._threads.submit(work, *one) for one in zip(*given, strict=True)]
        try:
            return [each.result() for each in under_way]
        finally:
            wait(under_way)

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(THREADS)
