"""The list of all extreme rows by a walk along the edges of their polytope, with a proof that none is missing.

*The polytope.* {v ≥ 0 : rows·v ≤ 0, p·v = 1}, each condition scaled so that its slack is 1 at the constant row, then
pushed outwards by a number of its own between 1e-7 and 2e-7. It contains every permitted row, so the maximum of a
convex function over its vertices bounds that function over the permitted rows. Letters need no push: where a letter is
basic and zero, an arbitrarily small change of the pushes makes it positive, so the polytope is simple all the same.
*The proof.* The graph of a polytope is connected (Balinski 1961). If every basis of a list is strictly feasible, and
each of its d edges leads to another basis of the list, the list is complete: a strictly feasible basis that differs in
one place is the other end of that edge, whatever the rounding of the ratios that proposed it. So the only thing that
rounding can spoil is "strictly feasible": the walk records the least slack and the least pivot it met, measures its own
rounding against dictionaries made afresh, and refuses the list where they come near each other.
*Lifted cones.* Auxiliary columns are free variables; the vertices of a projection are images of vertices. ε-LDP about c
secrets has c(c − 1) conditions and 2c lifted ones, τ ≤ t_s ≤ e^ε τ.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discreet.compiling import compiled
from discreet.exceptions import InfeasibleError, UnfinishedError
from discreet.solvers.vertices.pivots import NOTHING, PIVOT, Floats, Whole, factorised, leaving, pivot

PUSH = 1e-7
"""How far conditions are pushed: far above rounding (1e-13), far below what a certificate is asked for (1e-5)."""
INTERIOR = 1e-9
"""Least slack of the constant row, relative to the size of a condition: below it the polytope has no interior."""
MARGIN = 100.0
"""Slacks and pivots must exceed the measured rounding this many times."""
ROUNDING = 1e-14
"""What is taken for rounding where less was measured."""
TOUCHING = 1e-14
"""A condition missed by no more than this is met: it is the rounding of one product, and zeros stay zeros."""
MOST_VERTICES = 2_000_000
MOST_SECONDS = 5.0
CHUNK = 20_000
"""Vertices between two looks at the clock."""
AFRESH = 100
"""Pivots between two dictionaries made afresh from the conditions."""
DONE, FULL, GOING, BROKEN = 0, 1, 2, 3  # how a piece of the walk ended, for compiled code a number


@dataclass(frozen=True, eq=False)
class RowPolyhedron:
    """The permitted rows in standard form (see `pivots`): letters, then `lifted` free columns, then slacks."""

    prior: Floats
    coefficients: Floats
    push: Floats
    lifted: int

    @property
    def columns(self) -> int:
        return int(self.coefficients.shape[1])

    @property
    def right(self) -> Floats:
        return np.concatenate([[1.0], self.push])


@dataclass(frozen=True, eq=False)
class VertexList:
    """All vertices of the pushed polytope: `posteriors` y = p∘v, one per line, and the basic variables of each."""

    polyhedron: RowPolyhedron
    posteriors: sparse.csr_array
    bases: Whole
    least_slack: float
    least_pivot: float
    rounding: float
    seconds: float

    def __len__(self) -> int:
        return len(self.bases)

    def permitted(self, which: Whole) -> Floats:
        """The rows v of these vertices, inside the cone that was not pushed."""
        return permitted_rows(self.polyhedron, self.bases[which])


def polyhedron_of(prior: Floats, rows: Floats, start: Floats | None = None) -> RowPolyhedron:
    """Conditions `rows`·(v, aux) ≤ 0, scaled and pushed. `start` holds the auxiliary numbers of the constant row."""
    if (prior <= 0).any():
        raise InfeasibleError(
            "a letter without mass has no posterior", where="vertices", remedy="Leave out letters of probability zero."
        )
    extra = np.zeros(0) if start is None else start
    inside = np.concatenate([np.ones(len(prior)), extra])
    slack = -rows @ inside
    if (slack <= INTERIOR * (np.abs(rows) @ np.abs(inside))).any():
        raise InfeasibleError(
            "the constant row lies on the boundary of the cone",
            where="vertices",
            remedy="Ask for a positive epsilon; at zero use a method that takes equations.",
        )
    scaled = np.concatenate([rows[:, : len(prior)] / prior, rows[:, len(prior) :]], axis=1) / slack[:, None]
    normal = np.concatenate([np.ones(len(prior)), np.zeros(len(extra))])
    push = PUSH * np.random.default_rng(1961).uniform(1.0, 2.0, len(rows))
    return RowPolyhedron(prior, np.vstack([normal, scaled]), push, len(extra))


def lifted_ratios(forms: Floats, epsilon: float) -> tuple[Floats, Floats]:
    """Rows and start of τ ≤ t_s ≤ e^ε τ, where t_s = forms[s]·v is 1 at the constant row: ε-LDP with 2c conditions."""
    low = np.concatenate([-forms, np.ones((len(forms), 1))], axis=1)
    high = np.concatenate([forms, np.full((len(forms), 1), -np.exp(epsilon))], axis=1)
    return np.vstack([low, high]), np.array([2.0 / (1.0 + np.exp(epsilon))])


def list_vertices(polyhedron: RowPolyhedron, most: int = MOST_VERTICES, seconds: float = MOST_SECONDS) -> VertexList:
    """All vertices, or UnfinishedError: too many, too slow, or too close to a tie to be proven complete."""
    began = time.monotonic()
    basis = first_basis(polyhedron)
    walk = _Walk(polyhedron, basis)
    state = GOING
    while state in (GOING, FULL):
        if walk.count >= most or time.monotonic() - began > seconds:
            raise UnfinishedError(
                f"more extreme rows than were asked for ({walk.count} seen)",
                where="vertices",
                remedy="Allow more rows or more time, or climb.",
            )
        state = walk.advance(min(walk.count + CHUNK, most))
    watch = walk.watch
    if state == BROKEN or watch[0] <= MARGIN * watch[2] or watch[1] <= MARGIN * watch[2]:
        raise UnfinishedError(
            "the extreme rows nearly coincide, so that no list of them can be proven complete",
            where="vertices",
            remedy="Climb instead, or merge letters that hardly differ.",
        )
    return walk.listed(time.monotonic() - began)


class _Walk:
    """The arrays of a walk: dictionary, path back, table of the bases met, and the vertices written down."""

    def __init__(self, polyhedron: RowPolyhedron, basis: Whole) -> None:
        rows, columns = polyhedron.coefficients.shape
        self.polyhedron = polyhedron
        self.words = (columns + rows - 1 + 63) // 64
        self.count = 0
        self.watch = np.array([np.inf, np.inf, ROUNDING])
        self.state = np.zeros(4, np.int64)
        self.is_basic = np.zeros(columns + rows - 1, np.bool_)
        self.is_basic[basis] = True
        self.basic = basis.astype(np.int64)
        self.zero = np.flatnonzero(~self.is_basic).astype(np.int64)
        solved, self.values, self.table = factorised(
            polyhedron.coefficients, polyhedron.right, self.is_basic, self.basic, self.zero
        )
        if not solved:
            raise UnfinishedError("no first extreme row", where="vertices", remedy="Climb instead.")
        self._make_room(4 * CHUNK)

    def _make_room(self, room: int) -> None:
        rows = len(self.polyhedron.coefficients)
        bases, path = np.zeros((room, rows), np.int32), np.zeros((room, 2), np.int32)
        masks, sizes = np.zeros((room, self.words), np.uint64), np.zeros((room, rows))
        if self.count:
            old = slice(0, self.count)
            bases[old], masks[old], sizes[old], path[old] = (
                self.bases[old],
                self.masks[old],
                self.sizes[old],
                self.path[old],
            )
        self.bases: NDArray[np.int32] = bases
        self.masks: NDArray[np.uint64] = masks
        self.sizes: Floats = sizes
        self.path: NDArray[np.int32] = path
        self.places = np.full(1 << int(2 * room - 1).bit_length(), NOTHING, np.int64)
        rehash(self.places, self.masks, self.count)

    def advance(self, until: int) -> int:
        if until + 1 >= len(self.bases):
            self._make_room(2 * len(self.bases))
        polyhedron = self.polyhedron
        state = walk_on(
            polyhedron.coefficients, polyhedron.right, len(polyhedron.prior), until, self.values, self.table,
            self.basic, self.zero, self.is_basic, self.bases, self.masks, self.sizes, self.path, self.places,
            self.state, self.watch,
        )  # fmt: skip
        self.count = int(self.state[0])
        return int(state)

    def listed(self, seconds: float) -> VertexList:
        letters = len(self.polyhedron.prior)
        bases, sizes = self.bases[: self.count], self.sizes[: self.count]
        inside = bases < letters
        starts = np.concatenate([[0], np.cumsum(inside.sum(axis=1))])
        table = sparse.csr_array((sizes[inside], bases[inside], starts), shape=(self.count, letters))
        slack, least, rounding = (float(number) for number in self.watch)
        return VertexList(self.polyhedron, table, bases.astype(np.int64), slack, least, rounding, seconds)


@compiled()
def hashed_mask(mask: NDArray[np.uint64]) -> int:
    """A place for a set in the table, from all of its words."""
    total = np.uint64(1469598103934665603)
    for word in mask:
        total = (total ^ word) * np.uint64(0x9E3779B97F4A7C15)
        total ^= total >> np.uint64(29)
        total *= np.uint64(0xBF58476D1CE4E5B9)
        total ^= total >> np.uint64(32)
    return int(total & np.uint64(0x7FFFFFFFFFFFFFFF))


@compiled()
def found_at(places: Whole, masks: NDArray[np.uint64], mask: NDArray[np.uint64]) -> tuple[bool, int]:
    """Whether a set is known, and the place where it stands or would stand. Sets are compared word by word."""
    last = len(places) - 1
    at = hashed_mask(mask) & last
    while places[at] != NOTHING:
        same = True
        for word in range(len(mask)):
            if masks[places[at], word] != mask[word]:
                same = False
                break
        if same:
            return True, at
        at = (at + 1) & last
    return False, at


@compiled()
def rehash(places: Whole, masks: NDArray[np.uint64], count: int) -> None:
    for k in range(count):
        _, at = found_at(places, masks, masks[k])
        places[at] = k


@compiled()
def walk_on(
    coefficients: Floats, right: Floats, letters: int, until: int, values: Floats, table: Floats, basic: Whole,
    zero: Whole, is_basic: NDArray[np.bool_], bases: NDArray[np.int32], masks: NDArray[np.uint64], sizes: Floats,
    path: NDArray[np.int32], places: Whole, state: Whole, watch: Floats,
) -> int:  # fmt: skip
    """Depth first along the edges, from where the last call stopped. `state` is (count, depth, next edge, pivots)."""
    columns = coefficients.shape[1]
    count, depth, edge, pivots = state[0], state[1], state[2], state[3]
    one, six, low = np.uint64(1), np.uint64(6), np.uint64(63)
    mask = np.zeros(masks.shape[1], np.uint64)
    for i in range(len(basic)):
        mask[np.uint64(basic[i]) >> six] |= one << (np.uint64(basic[i]) & low)
    if count == 0:
        _, at = found_at(places, masks, mask)
        places[at] = 0
        masks[0], bases[0], sizes[0] = mask, basic, values
        for i in range(len(values)):
            if basic[i] < letters or basic[i] >= columns:
                watch[0] = min(watch[0], values[i])
        count = 1
    while True:
        moved = False
        while edge < len(zero):
            row = leaving(values, table[edge], basic, letters, columns)
            if row == NOTHING:
                return BROKEN
            gone, come = np.uint64(basic[row]), np.uint64(zero[edge])
            mask[gone >> six] ^= one << (gone & low)
            mask[come >> six] ^= one << (come & low)
            known, at = found_at(places, masks, mask)
            if not known:
                if count >= until:
                    state[0], state[1], state[2], state[3] = count, depth, edge, pivots
                    return GOING
                moved = True
                break
            mask[gone >> six] ^= one << (gone & low)
            mask[come >> six] ^= one << (come & low)
            edge += 1
        if moved:
            watch[1] = min(watch[1], abs(table[edge, row]))
            path[depth, 0], path[depth, 1] = edge, row
            depth += 1
        else:
            if depth == 0:
                state[0], state[1], state[2], state[3] = count, depth, edge, pivots
                return DONE
            depth -= 1
            edge, row = path[depth, 0], path[depth, 1]
            gone, come = np.uint64(basic[row]), np.uint64(zero[edge])
            mask[gone >> six] ^= one << (gone & low)
            mask[come >> six] ^= one << (come & low)
        is_basic[basic[row]] = False
        is_basic[zero[edge]] = True
        pivot(values, table, basic, zero, edge, row)
        pivots += 1
        if pivots % AFRESH == 0:
            solved, fresh_values, fresh_table = factorised(coefficients, right, is_basic, basic, zero)
            if not solved:
                return BROKEN
            watch[2] = max(watch[2], np.abs(fresh_values - values).max())
            for j in range(len(zero)):
                size = max(1.0, np.abs(fresh_table[j]).max())
                watch[2] = max(watch[2], np.abs(fresh_table[j] - table[j]).max() / size)
            values[:] = fresh_values
            table[:] = fresh_table
        if moved:
            places[at] = count
            masks[count], bases[count], sizes[count] = mask, basic, values
            for i in range(len(values)):
                if basic[i] < letters or basic[i] >= columns:
                    watch[0] = min(watch[0], values[i])
            if watch[0] <= 0.0:
                return BROKEN
            count += 1
            edge = 0
        else:
            edge += 1


def first_basis(polyhedron: RowPolyhedron) -> Whole:
    """A basis of some vertex: from the constant row, go along one free direction after another until a wall is met."""
    prior, matrix, lifted = polyhedron.prior, polyhedron.coefficients[1:], polyhedron.lifted
    letters = len(prior)
    moves = np.zeros((letters + lifted, letters + lifted - 1))
    moves[:letters, : letters - 1] = np.linalg.qr(np.column_stack([np.ones(letters), np.eye(letters)[:, 1:]]))[0][:, 1:]
    moves[letters:, letters - 1 :] = np.eye(lifted)
    moves[:letters] *= np.sqrt(prior)[:, None]
    moves[:letters] -= np.outer(prior, moves[:letters].sum(axis=0))
    walls = np.vstack([moves[:letters], -matrix @ moves])
    slack = np.concatenate([prior, 1.0 + polyhedron.push])
    names = np.concatenate([np.arange(letters), np.arange(len(matrix)) + letters + lifted])
    met: list[int] = []
    for step in range(walls.shape[1]):
        open_walls = np.setdiff1d(np.arange(len(names)), met)
        line = walls[open_walls, step]
        line = line / max(float(np.abs(line).max()), np.finfo(float).tiny)
        if -line.min() < line.max():
            walls[:, step] *= -1
        fall = -walls[open_walls, step]
        usable = fall > PIVOT * max(1.0, float(np.abs(fall).max()))
        ratios = np.where(usable, slack[open_walls] / np.where(usable, fall, 1.0), np.inf)
        hit = int(open_walls[int(ratios.argmin())])
        slack = slack + ratios.min() * walls[:, step]
        slack[hit] = 0.0
        met.append(hit)
        others = np.arange(walls.shape[1]) != step
        factor = np.where(others, walls[hit] / walls[hit, step], 0.0)
        walls = walls - np.outer(walls[:, step], factor)
    zero = names[met]
    return np.setdiff1d(np.arange(letters + lifted + len(matrix)), zero).astype(np.int64)


def permitted_rows(polyhedron: RowPolyhedron, bases: Whole) -> Floats:
    """The rows v of some bases, solved on the conditions before they were pushed, and mixed with the constant row where
    that is still a rounding outside."""
    letters, columns = len(polyhedron.prior), polyhedron.columns
    rows = np.zeros((len(bases), columns))
    inner = (bases < columns).sum(axis=1)
    for size in np.unique(inner):
        which = np.flatnonzero(inner == size)
        chosen = np.sort(bases[which], axis=1)
        used = chosen[:, :size]
        tight = np.ones((len(which), len(polyhedron.coefficients)), dtype=bool)
        slacks = chosen[:, size:] - columns + 1
        np.put_along_axis(tight, slacks, False, axis=1)
        conditions = np.nonzero(tight)[1].reshape(len(which), size)
        systems = polyhedron.coefficients[conditions[:, :, None], used[:, None, :]]
        right = np.zeros((len(which), size, 1))
        right[:, 0] = 1.0
        rows[which[:, None], used] = np.linalg.solve(systems, right)[:, :, 0]
    return mixed_inside(polyhedron, rows[:, :letters], rows[:, letters:])


def mixed_inside(polyhedron: RowPolyhedron, posteriors: Floats, lifted: Floats) -> Floats:
    """Rows v of posteriors, each mixed with the constant row by as little as brings it inside every condition.

    A slack of −e becomes (1 − η)(−e) + η ≥ 0 for a share η = e/(1 + e) of the constant row, where every slack is 1.
    """
    outside = (-posteriors / polyhedron.prior).max(axis=1)
    excess = np.hstack([posteriors, lifted]) @ polyhedron.coefficients[1:].T
    outside = np.maximum(outside, excess.max(axis=1, initial=0.0))
    share = np.where(outside > TOUCHING, (outside + ROUNDING) / (1.0 + outside), 0.0)[:, None]
    return np.asarray(np.maximum(posteriors / polyhedron.prior * (1.0 - share) + share, 0.0))
