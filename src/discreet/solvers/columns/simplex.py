"""A small dense simplex method for thousands of similar linear programs a second, compiled by numba.

    maximise cost·x   subject to   r = R x,   lower ≤ (x, r) ≤ upper      (all bounds finite)

The dictionary x_B = D x_N has no constants, and with finite bounds every basis is dual feasible once each nonbasic
variable sits at the bound its reduced cost prefers. So the dual simplex method starts warm from any basis, whatever
changed, and *every* iterate carries multipliers y of the rows that give a valid bound. Callers bound by weak duality
with these y and check every point themselves: an error here can cost tightness, never truth.

A program is left, with status LOW, once its multipliers prove that it does not reach its floor. Arrays are filled one
entry at a time: assignments of whole lines take seconds to compile. Divisions follow NumPy's rules, so that the
compiler can do several at once.

Why it is written by hand: programs of 6 to 20 letters, as the search for LIP has them, take 1 to 4 µs each. HiGHS, warm
as well, takes 37 to 69, which is 19 to 32 times as long (`benchmarks/small_programs.py`, x86_64).

Dictionaries of the simplex method, kept: a program that resembles an earlier one starts where that one ended.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats
from discreet.compiling import compiled

OPTIMAL, INFEASIBLE, UNFINISHED, LOW = 0, 1, 2, 3
FEASIBLE = 1e-13
PIVOT = 1e-8
"""Bounds are met up to rounding; entries below this are too small to be divided by."""
NOTHING = 1e-14
"""Smaller entries are rounding: with many letters two fifths of a column."""
FRESH_AFTER = 500
"""Pivots after which a dictionary is made again from the rows."""


@compiled(nogil=True)
def batch(rows, halt, D, basic, nonbasic, at_high, age, own, starts, keeps, costs, lows, highs, floors, points, prices):  # type: ignore[no-untyped-def]
    """Solve one program per line of `costs` on the dictionary in place `own`; from and to other places where ≥ 0.

    Work is done on a copy: dictionaries of two threads side by side would share lines of the processors' caches.
    """
    statuses = np.zeros(len(costs), dtype=np.int64)
    states = D, basic, nonbasic, at_high, age
    state = dictionary_at(places(1, *rows.shape), 0)
    copy(dictionary_at(states, own), state)
    for b in range(len(costs)):
        if starts[b] >= 0:
            copy(dictionary_at(states, starts[b]), state)
        refreshed(rows, state, halt)
        statuses[b] = optimise(state, costs[b], lows[b], highs[b], floors[b], halt, points[b], prices[b])
        if keeps[b] >= 0 and statuses[b] != LOW:
            copy(state, dictionary_at(states, keeps[b]))
    copy(state, dictionary_at(states, own))
    return statuses


@compiled()
def places(size, m, n):  # type: ignore[no-untyped-def]
    """Room for so many dictionaries."""
    basic, nonbasic = np.empty((size, m), np.int64), np.empty((size, n), np.int64)
    return np.empty((size, m, n)), basic, nonbasic, np.empty((size, n), np.bool_), np.empty(size, np.int64)


@compiled()
def dictionary_at(states, at):  # type: ignore[no-untyped-def]
    D, basic, nonbasic, at_high, age = states
    return D[at], basic[at], nonbasic[at], at_high[at], age[at : at + 1]


@compiled()
def copy(source, target):  # type: ignore[no-untyped-def]
    m, n = source[0].shape
    for i in range(m):
        target[1][i] = source[1][i]
        for k in range(n):
            target[0][i, k] = source[0][i, k]
    for k in range(n):
        target[2][k], target[3][k] = source[2][k], source[3][k]
    target[4][0] = source[4][0]


@compiled()
def optimise(state, cost, low, high, floor, halt, point, price):  # type: ignore[no-untyped-def]
    """Solve one program from the dictionary as it is; `point` and `price` are given as zeros; `halt` ends it."""
    D, basic, nonbasic, at_high, age = state
    m, n = D.shape
    d = np.zeros(n)
    for k in range(n):
        if nonbasic[k] < n:
            d[k] = cost[nonbasic[k]]
    for i in range(m):
        if basic[i] < n:
            c = cost[basic[i]]
            for k in range(n):
                d[k] += c * D[i, k]
    tiny = 0.0
    for z in range(n):
        tiny = max(tiny, 1e-12 * (1.0 + abs(cost[z])))
    x = np.zeros(n)
    for k in range(n):
        if d[k] > tiny:
            at_high[k] = True
        elif d[k] < -tiny:
            at_high[k] = False
        x[k] = high[nonbasic[k]] if at_high[k] else low[nonbasic[k]]
    values = D @ x
    weights, column, pivot = np.ones(m), np.empty(m), np.empty(n)
    used, ratio = np.zeros(n, dtype=np.bool_), np.zeros(n)
    status = UNFINISHED
    least, most, score = np.empty(m), np.empty(m), np.empty(m)
    for i in range(m):
        least[i], most[i] = low[basic[i]], high[basic[i]]
    for _ in range(50 + 5 * (m + n)):
        out = _leaving(values, least, most, weights, score)
        if out < 0:
            status = OPTIMAL
            break
        if d @ x < floor:
            status = LOW
            break
        if halt[0]:
            break
        sign = 1.0 if values[out] > high[basic[out]] else -1.0
        bound = high[basic[out]] if sign > 0 else low[basic[out]]
        entering = _entering(D[out], d, nonbasic, at_high, low, high, sign * (values[out] - bound), sign, used, ratio)
        if entering < 0:
            nearest = 0.0
            for k in range(n):
                nearest += D[out, k] * (low[nonbasic[k]] if sign * D[out, k] > 0 else high[nonbasic[k]])
            if sign * (nearest - bound) <= FEASIBLE:
                break
            status = INFEASIBLE
            push = 1e4 / (nearest - bound)
            for k in range(n):
                d[k] -= push * D[out, k]
            if basic[out] >= n:
                price[basic[out] - n] = push
            break
        for k in range(n):
            if used[k]:
                now = high[nonbasic[k]] if at_high[k] else low[nonbasic[k]]
                for i in range(m):
                    values[i] += D[i, k] * (now - x[k])
                x[k] = now
        for i in range(m):
            column[i] = D[i, entering]
        step = (bound - values[out]) / column[out]
        weight = weights[out] / (column[out] * column[out])
        for i in range(m):
            values[i] += column[i] * step
            weights[i] = max(weights[i], column[i] * column[i] * weight)
        weights[out] = max(weight, 1.0)
        values[out], x[entering] = x[entering] + step, bound
        _pivot(D, out, entering, column, pivot)
        push = d[entering]
        d[entering] = 0.0
        for k in range(n):
            d[k] += push * pivot[k]
        basic[out], nonbasic[entering] = nonbasic[entering], basic[out]
        at_high[entering] = sign > 0
        age[0] += 1
        least[out], most[out] = low[basic[out]], high[basic[out]]
    if status != LOW:
        values = D @ x
    for k in range(n):
        if nonbasic[k] < n:
            point[nonbasic[k]] = x[k]
        else:
            price[nonbasic[k] - n] = d[k]
    for i in range(m):
        if basic[i] < n:
            point[basic[i]] = values[i]
    return status


@compiled()
def _leaving(values, least, most, weights, score):  # type: ignore[no-untyped-def]
    """The basic variable furthest outside its bounds, by its weight; −1 if all are inside or nothing is a number."""
    for i in range(len(values)):
        away = max(max(values[i] - most[i], least[i] - values[i]), FEASIBLE) - FEASIBLE
        score[i] = away * away / weights[i]
    out, best = -1, 0.0
    for i in range(len(values)):
        if score[i] > best:
            out, best = i, score[i]
    return out


@compiled()
def _entering(row, d, nonbasic, at_high, low, high, miss, sign, used, ratio):  # type: ignore[no-untyped-def]
    """The long-step ratio test: pass breakpoints, flipping their variables, while the dual objective still falls."""
    n = len(row)
    for j in range(n):
        g = sign * row[j] if at_high[j] else -sign * row[j]
        used[j] = False
        ratio[j] = abs(d[j]) / g if g >= PIVOT else np.inf
    left = miss
    while True:
        least = np.inf
        for j in range(n):
            least = min(least, ratio[j])
        if not least < np.inf:
            return -1
        k, size = -1, 0.0
        for j in range(n):
            if ratio[j] <= least + 1e-12 and abs(row[j]) > size:
                k, size = j, abs(row[j])
        left -= abs(row[k]) * (high[nonbasic[k]] - low[nonbasic[k]])
        if left <= 0:
            return k
        used[k], ratio[k] = True, np.inf
        at_high[k] = not at_high[k]


@compiled(fastmath={"contract"})
def _pivot(D, i, k, column, pivot):  # type: ignore[no-untyped-def]
    """Exchange the basic variable of row i and the nonbasic one of `column` k; `pivot` becomes the new row.

    Copies of the row and the column let the compiler see that nothing overlaps: three times as fast.
    """
    m, n = D.shape
    inverse = 1.0 / D[i, k]
    for j in range(n):
        pivot[j] = -D[i, j] * inverse
    pivot[k] = inverse
    for r in range(m):
        D[r, k] = 0.0
    for r in range(m):
        f = column[r]
        if abs(f) > NOTHING:
            for j in range(n):
                D[r, j] += f * pivot[j]
    for j in range(n):
        D[i, j] = pivot[j]


@compiled()
def refreshed(rows, state, halt):  # type: ignore[no-untyped-def]
    """Once in a while, the dictionary of the same basis from the original rows: rounding does not pile up."""
    D, basic, nonbasic, _, age = state
    if age[0] <= FRESH_AFTER:
        return
    age[0] = 0
    m, n = rows.shape
    wanted = np.zeros(n + m, dtype=np.bool_)
    for i in range(m):
        wanted[basic[i]] = True
    for i in range(m):
        basic[i] = n + i
        for k in range(n):
            D[i, k] = rows[i, k]
    for k in range(n):
        nonbasic[k] = k
    pivot = np.empty(n)
    for k in range(n):
        if wanted[k] and not halt[0]:
            i, size = -1, PIVOT
            for r in range(m):
                if not wanted[basic[r]] and abs(D[r, k]) > size:
                    i, size = r, abs(D[r, k])
            if i >= 0:
                _pivot(D, i, k, D[:, k].copy(), pivot)
                basic[i], nonbasic[k] = nonbasic[k], basic[i]


# ---- dictionaries of the simplex method, kept: a program that resembles an earlier one starts where that -------------


Answer = TypeVar("Answer")
Places = NDArray[np.int64]
Dictionary = tuple[NDArray[np.generic], ...]
"""A dictionary: its matrix, the basic and the nonbasic variables, which of these are at their upper bound, its age."""
KEPT, KEPT_BYTES = 2_000, 256_000_000
THREADS = min(4, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
WORTH_A_THREAD = 200_000
"""Entries of all dictionaries of a batch: less is done by one thread."""
LOOK_SECONDS = 0.05
"""How often the clock is looked at while programs run."""
NOWHERE = -1  # no place: of no kept dictionary


def never() -> bool:
    """For those who have all the time in the world."""
    return False


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
        self.halt = np.zeros(1, dtype=np.bool_)
        self.forget_all()

    def own(self, thread: int) -> Dictionary:
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
        late: Callable[[], bool] = never,
    ) -> tuple[Floats, Floats, Places, Places]:
        """Points, multipliers and statuses of one program per line of `costs` (bounds likewise, one line each).

        With `starts` (NOWHERE: wherever the last program ended) every program that reaches its floor is kept; the
        fourth answer says where, NOWHERE for the others. Once it is `late`, large programs end where they are.
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
        statuses = self._threaded(given, late) if size * m * n > WORTH_A_THREAD else self._solved(0, given)
        kept = np.where(keeps >= 0, keeps + self._base, NOWHERE)
        self.forget(kept[statuses == LOW])
        return points, prices, statuses, np.where(statuses == LOW, NOWHERE, kept)

    def _solved(self, own: int, given: tuple[NDArray[np.generic], ...]) -> Places:
        state = self._matrix, self._basic, self._nonbasic, self._high, self._age
        return np.asarray(batch(self.rows, self.halt, *state, own, *given))

    def _threaded(self, given: tuple[NDArray[np.generic], ...], late: Callable[[], bool]) -> Places:
        """Each thread takes its share of the lines; the answers are written where they belong."""
        cuts = np.linspace(0, len(given[0]), THREADS + 1).astype(int)
        shares = [tuple(part[i:j] for part in given) for i, j in pairwise(cuts)]
        return np.concatenate(self.each(self._solved, range(THREADS), shares, late=late))

    def each(
        self, work: Callable[..., Answer], *given: Iterable[Any], late: Callable[[], bool] = never
    ) -> list[Answer]:
        """What `work` answers, one thread each; nobody works on a dictionary when this has returned or was broken off.

        Threads are kept: to start them takes longer than many programs. Once it is `late`, every program is told to
        halt: its multipliers still give a bound, its point need not be permitted.
        """
        under_way = [self._threads.submit(work, *one) for one in zip(*given, strict=True)]
        try:
            while late is not never and wait(under_way, LOOK_SECONDS).not_done:
                self.halt[0] = late()
            return [each.result() for each in under_way]
        finally:
            wait(under_way)
            self.halt[0] = False

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(THREADS)
