"""Climbing along edges to rows where the list is too long: it finds, and proves nothing (theory 1.4).

A convex function of the row is maximised from vertex to vertex. While some edge rises along the tangent, the largest
gain is taken: the function lies above its tangent. Where none does, every neighbour is valued by the function itself. A
vertex where this ends is a local maximum in a stronger sense than one where tangents stall.
"""

from __future__ import annotations

import time

import numpy as np

from discreet.compiling import compiled
from discreet.solvers.vertices.design_space import DesignSpace
from discreet.solvers.vertices.listed_rows import PricedPosteriors
from discreet.solvers.vertices.moment_bound import MomentBound
from discreet.solvers.vertices.pivots import NOTHING, Floats, Whole, factorised, leaving, pivot
from discreet.solvers.vertices.walk import RowPolyhedron, first_basis, permitted_rows

GAIN = 1e-9
"""Relative gain below which a neighbour is no better."""
MOST_PIVOTS = 3_000
AFRESH = 50
"""Pivots between two dictionaries made afresh."""
EMPTY = 1e-12
"""Share of a letter's prior below which its logarithm is cut off, for the tangent only."""
BATCH = 16
"""Climbs between two looks at the clock."""
HINTS = 4
TILT = 0.15
"""First climbs by the hint, and how far letters are scaled at random in all but the first, so that they end apart."""
NEAR = 2
"""Known rows near which climbs start, as a multiple of the number of letters."""
NEW_ROWS = 2
"""Rows handed on in one round, as a multiple of the number of letters."""


class ClimbedRows:
    """Rows found by climbing from the bases met so far. `most` of its answers is what was met, not a bound."""

    def __init__(
        self,
        space: DesignSpace,
        polyhedron: RowPolyhedron,
        seconds: float,
        hint: MomentBound | None = None,
        seed: int = 1,
    ) -> None:
        """`hint` has prices to begin with: those of the moment bound are near the best ones."""
        self.space, self.polyhedron, self._hint = space, polyhedron, hint
        self._until = time.monotonic() + seconds
        self._random = np.random.default_rng(seed)
        prior = space.target_prior
        self._member = np.eye(len(prior)) if space.averaging is None else space.averaging * prior / space.prior[:, None]
        self._bases = first_basis(polyhedron)[None, :]
        self._met: dict[bytes, int] = {}

    def first_rows(self) -> Floats:
        """For every letter a row that raises it most, and for every target one that raises all of its letters."""
        letters = len(self.space.prior)
        aims = np.vstack([np.eye(letters), self._member.T, self._random.normal(size=(letters, letters))])
        bases, _ = self._climb(self._bases[[0] * len(aims)], np.zeros((letters, letters)), -aims, 0.0, one_aim=False)
        fresh = self._new(bases)
        self._bases = fresh if len(fresh) else self._bases  # asked again, every one of them may have been met
        if self._hint is not None:
            for tilted in range(HINTS):
                tilt = 1.0 + (TILT * self._random.normal(size=letters) if tilted else np.zeros(letters))
                curvature = self._hint.curvature * np.outer(tilt, tilt)
                climbs, _ = self._climb(bases.copy(), curvature, (self._hint.linear * tilt)[None, :], 0.0, one_aim=True)
                self._bases = np.vstack([self._bases, self._new(climbs)])
        return self._posteriors(self._bases)

    def towards(self, posteriors: Floats) -> None:
        """Start the next climbs also from vertices near these rows."""
        if not len(posteriors):
            return
        letters = len(self.space.prior)
        aims = (posteriors / self.space.prior)[: NEAR * letters]
        if not len(aims):
            return
        bases, _ = self._climb(self._bases[[0] * len(aims)], np.zeros((letters, letters)), -aims, 0.0, one_aim=False)
        self._bases = np.vstack([self._bases, self._new(bases)])

    def best(self, curvature: Floats, linear: Floats, eta: float) -> PricedPosteriors:
        values = self._values(self._bases, curvature, linear, eta)
        order = np.argsort(-values)[: 3 * len(self.space.prior)]
        others = self._random.permutation(len(self._bases))[: len(self.space.prior)]
        starts = self._bases[np.unique(np.concatenate([order, others]))]
        bases, reached = self._climb(starts, curvature, linear[None, :], eta, one_aim=True)
        most = float(reached.max(initial=-np.inf))
        order = np.argsort(-reached)
        ranked = bases[order][np.sort(np.unique(np.sort(bases[order], axis=1), axis=0, return_index=True)[1])]
        self._bases = np.vstack([self._bases, self._new(ranked)])
        return PricedPosteriors(self._posteriors(ranked[: NEW_ROWS * len(self.space.prior)]), most, False)

    def _new(self, bases: Whole) -> Whole:
        """Those that were not met before, in their order."""
        fresh = []
        for basis in bases:
            key = np.sort(basis).tobytes()
            if key not in self._met:
                self._met[key] = len(self._met)
                fresh.append(basis)
        return np.array(fresh, dtype=np.int64).reshape(-1, bases.shape[1])

    def _posteriors(self, bases: Whole) -> Floats:
        if not len(bases):
            return np.zeros((0, len(self.space.prior)))
        return np.asarray(permitted_rows(self.polyhedron, bases) * self.space.prior)

    def _values(self, bases: Whole, curvature: Floats, linear: Floats, eta: float) -> Floats:
        rows = self._posteriors(bases)
        values = np.einsum("ij,ij->i", rows @ curvature, rows) - rows @ linear
        if eta:
            targets = rows @ self._member
            shares = np.maximum(targets / self.space.target_prior, np.finfo(float).tiny)
            values = values + eta * (targets * np.log(shares)).sum(axis=1)
        return np.asarray(values)

    def _climb(
        self, bases: Whole, curvature: Floats, linear: Floats, eta: float, *, one_aim: bool
    ) -> tuple[Whole, Floats]:
        """Where climbs from these bases end, as many of them as the time allows and at least one batch."""
        found, reached = [], []
        prior, member = self.space.target_prior, self._member
        for at in range(0, len(bases), BATCH):
            here = slice(at, at + BATCH)
            aims = np.repeat(linear, len(bases[here]), axis=0) if one_aim else linear[here]
            ends = bases[here].astype(np.int64).copy()
            values = climbed(
                self.polyhedron.coefficients, self.polyhedron.right, ends, curvature, aims, eta, prior, member
            )
            found.append(ends[np.isfinite(values)])
            reached.append(values[np.isfinite(values)])
            if time.monotonic() > self._until:
                break
        return np.vstack(found), np.concatenate(reached)


@compiled()
def climbed(
    coefficients: Floats, right: Floats, bases: Whole, curvature: Floats, linear: Floats, eta: float, prior: Floats,
    member: Floats,
) -> Floats:  # fmt: skip
    """Climbs from every basis, in place; the value reached, or −∞ where the arithmetic failed."""
    reached = np.full(len(bases), -np.inf)
    for k in range(len(bases)):
        reached[k] = one_climb(coefficients, right, bases[k], curvature, linear[k], eta, prior, member)
    return reached


@compiled()
def told(y: Floats, prior: Floats, member: Floats) -> float:
    """Σ ȳ ln(ȳ/p̄), ȳ = y·member."""
    targets = np.zeros(len(prior))
    for z in range(len(y)):
        if y[z] != 0.0:
            for t in range(len(prior)):
                targets[t] += y[z] * member[z, t]
    total = 0.0
    for t in range(len(prior)):
        if targets[t] > 0.0:
            total += targets[t] * np.log(targets[t] / prior[t])
    return total


@compiled()
def tangent(y: Floats, curvature: Floats, linear: Floats, eta: float, prior: Floats, member: Floats) -> Floats:
    """The gradient of yᵀ curvature y − linear·y + η μ, its logarithms cut off at empty letters."""
    slope = -linear.copy()
    for z in range(len(y)):
        if y[z] != 0.0:
            for x in range(len(y)):
                slope[x] += 2.0 * y[z] * curvature[z, x]
    if eta != 0.0:
        targets = np.zeros(len(prior))
        for z in range(len(y)):
            if y[z] != 0.0:
                for t in range(len(prior)):
                    targets[t] += y[z] * member[z, t]
        logs = np.log(np.maximum(targets / prior, EMPTY)) + 1.0
        for z in range(len(y)):
            for t in range(len(prior)):
                if member[z, t] != 0.0:
                    slope[z] += eta * member[z, t] * logs[t]
    return slope


@compiled()
def one_climb(
    coefficients: Floats, right: Floats, basis: Whole, curvature: Floats, linear: Floats, eta: float, prior: Floats,
    member: Floats,
) -> float:  # fmt: skip
    columns, letters = coefficients.shape[1], len(linear)
    is_basic = np.zeros(columns + len(right) - 1, np.bool_)
    for i in basis:
        is_basic[i] = True
    zero = np.empty(len(is_basic) - len(basis), np.int64)
    at = 0
    for k in range(len(is_basic)):
        if not is_basic[k]:
            zero[at] = k
            at += 1
    solved, values, table = factorised(coefficients, right, is_basic, basis, zero)
    if not solved or values[0] != values[0]:
        return -np.inf
    y, other = np.zeros(letters), np.zeros(letters)
    for pivots in range(MOST_PIVOTS):
        y[:] = 0.0
        for i in range(len(basis)):
            if basis[i] < letters:
                y[basis[i]] = values[i]
        slope = tangent(y, curvature, linear, eta, prior, member)
        size = max(1e-300, np.abs(slope * y).sum())
        edge, row, most = NOTHING, NOTHING, GAIN * size
        exact = False
        for attempt in range(2):
            exact = attempt == 1
            here = eta * told(y, prior, member) if exact and eta != 0.0 else 0.0
            for j in range(len(zero)):
                line = table[j]
                rate = slope[zero[j]] if zero[j] < letters else 0.0
                for i in range(len(basis)):
                    if basis[i] < letters:
                        rate -= line[i] * slope[basis[i]]
                if rate <= 0.0 and not exact:
                    continue
                out = leaving(values, line, basis, letters, columns)
                if out == NOTHING:
                    continue
                step = values[out] / line[out]
                gain = step * rate
                if exact:
                    gain += step * step * bent(line, basis, zero[j], letters, curvature)
                    if eta != 0.0:
                        gain = step * rate - gain
                        other[:] = y
                        change = 0.0
                        for i in range(len(basis)):
                            if basis[i] < letters:
                                other[basis[i]] -= step * line[i]
                        if zero[j] < letters:
                            other[zero[j]] += step
                        for z in range(letters):
                            if other[z] < 0.0:
                                other[z] = 0.0
                        change = quadratic_value(other, curvature, linear) - quadratic_value(y, curvature, linear)
                        gain = change + eta * told(other, prior, member) - here
                if gain > most:
                    edge, row, most = j, out, gain
            if edge != NOTHING:
                break
        if edge == NOTHING:
            break
        is_basic[basis[row]] = False
        is_basic[zero[edge]] = True
        pivot(values, table, basis, zero, edge, row)
        if pivots % AFRESH == AFRESH - 1:
            solved, values, table = factorised(coefficients, right, is_basic, basis, zero)
            if not solved:
                return -np.inf
    y[:] = 0.0
    for i in range(len(basis)):
        if basis[i] < letters:
            y[basis[i]] = values[i]
    found: float = quadratic_value(y, curvature, linear) + (eta * told(y, prior, member) if eta != 0.0 else 0.0)
    return found


@compiled()
def quadratic_value(y: Floats, curvature: Floats, linear: Floats) -> float:
    """yᵀ curvature y − linear·y."""
    total = 0.0
    for z in range(len(y)):
        if y[z] != 0.0:
            inner = 0.0
            for x in range(len(y)):
                if y[x] != 0.0:
                    inner += curvature[z, x] * y[x]
            total += y[z] * (inner - linear[z])
    return total


@compiled()
def bent(line: Floats, basis: Whole, entering: int, letters: int, curvature: Floats) -> float:
    """dᵀ curvature d along an edge, d its direction."""
    total = curvature[entering, entering] if entering < letters else 0.0
    for i in range(len(basis)):
        if basis[i] < letters and line[i] != 0.0:
            inner = 0.5 * curvature[basis[i], basis[i]] * line[i]
            for k in range(i):
                if basis[k] < letters:
                    inner += curvature[basis[i], basis[k]] * line[k]
            if entering < letters:
                inner -= curvature[basis[i], entering]
            total += 2.0 * line[i] * inner
    return total
