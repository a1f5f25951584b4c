"""A bound on accuracy without pricing: second moments of the conditions (theory 6.4).

Every condition is f_i = 1 + h_i·w ≥ 0, and Σ q w = 0. For two of them E f_i f_j = 1 + h_iᵀWh_j ≥ 0. So for every N ≥ 0,
zero on the diagonal, with B = −Σ N_ij h_i h_jᵀ every permitted mechanism has tr(B W) ≤ Σ N, and if B ⪰ TᵀAT with A ⪰ 0,
T the averaging of w to w̄, then

    ψ ≥ [tr (C^½ A C^½)^½]² / Σ N.

Any N proves; the search only makes it good. B ≻ 0 is seen by one Cholesky, and the best A is the Schur complement of B
on the averages. N_xx' = (p_x + p_x')/2 on pairs of letters gives B = 1 at the price a − 1, and mends an N that fails.
*Search.* min tr(C W̄⁻¹) subject to the moment conditions: by Newton's method with a logarithmic barrier in W for short
alphabets; above by alternating directions, where a step is one eigenvalue problem and four products.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, cholesky, eigh

from discreet.solvers.vertices.design_space import DesignSpace
from discreet.solvers.vertices.pivots import Floats, Whole
from discreet.solvers.vertices.walk import RowPolyhedron

NEWTON = 24
"""Letters up to which Newton's method is used: a(a − 1)/2 unknowns. At 32 alternating directions are faster."""
BARRIER_FALL = 0.2
BARRIER_END = 1e-5
"""The barrier falls by this factor until it is this share of ψ per condition."""
STEPS_PER_LEVEL = 12
MOST_TURNS = 3_000
LOOK = 25
"""Turns of alternating directions between two evaluations of the bound."""
STALLED = 5e-4
PATIENCE = 6
"""Alternating directions end when the bound gained less than this share over this many looks."""
STIFFNESS = 3.0
"""Penalty of alternating directions, times the median eigenvalue of W to the power −3."""
FIRST_GUESS = 0.3
"""Where alternating directions begin: the information of records worth three tenths of clean ones."""
RELAXED = 1.6
STIFFER = 2.0
"""Overrelaxation, and the largest change of the penalty at a look: it balances the two residuals (Boyd 2011, 3.4)."""
ROUNDED = 1e-9
"""Share by which a bound is lowered for the rounding of its own evaluation, and B raised before its Cholesky."""


def moment_bound(space: DesignSpace, polyhedron: RowPolyhedron, seconds: float) -> MomentBound:
    """A lower bound on ψ of every permitted mechanism, and prices that climbing may start from."""
    problem = _Moments(space, polyhedron)
    until = time.monotonic() + seconds
    moment = FIRST_GUESS * np.eye(len(space.prior) - 1)
    if len(space.prior) <= NEWTON and space.averaging is None:
        _newton(problem, until)
    else:
        _alternate(problem, moment, until)
    return problem.answer()


@dataclass(frozen=True, eq=False)
class MomentBound:
    """`lower_bound` holds for every permitted mechanism; yᵀ curvature y − linear·y is large at good posteriors y."""

    lower_bound: float
    curvature: Floats
    linear: Floats


class _Moments:
    """The conditions as unit vectors in coordinates whose first ones are the averages, scaled by C^½."""

    def __init__(self, space: DesignSpace, polyhedron: RowPolyhedron) -> None:
        self.space = space
        count = len(space.prior)
        conditions = unlifted(polyhedron)
        slopes = np.vstack([np.eye(count), -conditions])
        centre = np.concatenate([space.prior, -conditions @ space.prior])
        moves = space.prior[:, None] * space.balance
        forms = (slopes @ moves) / centre[:, None]
        averages = np.linalg.lstsq(space.balance, space.judged, rcond=None)[0]
        self.size = averages.shape[1]
        rest = np.linalg.svd(averages.T)[2][self.size :].T
        values, vectors = np.linalg.eigh(space.weight)
        self.root = (vectors * np.sqrt(values)) @ vectors.T
        self.frame = np.hstack([averages @ self.root, rest])
        unscaled = forms @ self.frame
        self.lengths = np.linalg.norm(unscaled, axis=1)
        self.forms = unscaled / self.lengths[:, None]
        self.floor = -np.outer(1 / self.lengths, 1 / self.lengths)
        np.fill_diagonal(self.floor, -np.inf)
        self.letters = count
        self.proven, self.pairs = 0.0, np.zeros_like(self.floor)
        inverse = np.linalg.inv(self.root)
        self.exact = inverse @ space.exact_weight @ inverse

    def inside(self, moment: Floats) -> Floats:
        """W in these coordinates: frame·W'·frameᵀ = W."""
        back = np.linalg.inv(self.frame)
        return np.asarray(back @ moment @ back.T)

    def answer(self) -> MomentBound:
        """The best bound met, with its B and λ = 2 Σ N_ij h_i: wᵀBw − λ·w = Σ N − Σ N_ij f_i f_j is largest for rows
        that lie on one of every two conditions that N pairs."""
        back = np.linalg.inv(self.frame)
        curvature = back.T @ (-self.forms.T @ self.pairs @ self.forms) @ back
        price = back.T @ (2.0 * self.forms.T @ (self.pairs @ (1.0 / self.lengths)))
        balance = self.space.balance
        return MomentBound(self.proven, balance @ curvature @ balance.T, balance @ price)

    def bound(self, pairs: Floats) -> float:
        """The bound of any N ≥ 0 (of the unit vectors), mended if its B is not positive definite."""
        pairs = np.maximum((pairs + pairs.T) / 2, 0.0)
        np.fill_diagonal(pairs, 0.0)
        price = float(-(pairs * np.where(np.isfinite(self.floor), self.floor, 0.0)).sum())
        if price <= 0:
            return 0.0
        matrix = -self.forms.T @ pairs @ self.forms
        mend = self.frame.T @ self.frame
        lowest = float(eigh((matrix + matrix.T) / 2, mend, eigvals_only=True, subset_by_index=[0, 0])[0])
        scale = float(np.abs(matrix).max())
        best = 0.0
        for share in (0.0, *np.geomspace(1e-6, 1e-1, 11)):
            add = max(0.0, -lowest) * (1 + 1e-6) + share * scale if share or lowest <= 0 else 0.0
            best = max(best, self._proven(matrix + add * mend, price + add * (self.letters - 1)))
            if best > 0 and lowest > 0:
                break
        if best > self.proven:
            self.proven, self.pairs = best, pairs
        return best

    def _proven(self, matrix: Floats, price: float) -> float:
        try:
            shifted = matrix - ROUNDED * float(np.abs(matrix).max()) * np.eye(len(matrix))
            cholesky(shifted, lower=True)
            schur = shifted[: self.size, : self.size]
            if len(matrix) > self.size:
                cross = shifted[: self.size, self.size :]
                schur = schur - cross @ cho_solve(cho_factor(shifted[self.size :, self.size :]), cross.T)
        except LinAlgError:
            return 0.0
        values, vectors = np.linalg.eigh(self.exact)
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        total = float(np.sqrt(np.maximum(np.linalg.eigvalsh(root @ schur @ root), 0.0)).sum())
        return total**2 / price * (1.0 - ROUNDED)


def unlifted(polyhedron: RowPolyhedron) -> Floats:
    """Conditions over the letters alone. One auxiliary number is eliminated by adding conditions that bound it from
    above to those that bound it from below (Fourier and Motzkin); with more of them only letters are used."""
    letters, coefficients = len(polyhedron.prior), polyhedron.coefficients[1:]
    if polyhedron.lifted == 0:
        return coefficients
    if polyhedron.lifted > 1:
        return np.zeros((0, letters))
    aux = coefficients[:, -1]
    scaled = coefficients[:, :letters] / np.where(aux == 0, 1.0, np.abs(aux))[:, None]
    pairs = (scaled[aux > 0][:, None, :] + scaled[aux < 0][None, :, :]).reshape(-1, letters)
    return np.vstack([scaled[aux == 0], pairs])


def _newton(problem: _Moments, until: float) -> None:
    """min tr W⁻¹ − τ Σ ln(1 + h_iᵀWh_j): at its minimum N_ij = τ/(1 + h_iᵀWh_j) has B = W⁻² exactly."""
    size = len(problem.frame)
    rows, columns = (index.astype(np.int64) for index in np.triu_indices(size))
    double = np.where(rows == columns, 1.0, 2.0)
    first, second = np.triu_indices(len(problem.forms), 1)
    floor = problem.floor[first, second]
    forms = problem.forms
    linear = (forms[first][:, rows] * forms[second][:, columns] + forms[first][:, columns] * forms[second][:, rows]) / 2
    linear *= double
    point = 0.5 * _centre(problem)
    level = float(np.trace(np.linalg.inv(point))) / len(floor)
    end = level * BARRIER_END
    while level > end and time.monotonic() < until:
        for _ in range(STEPS_PER_LEVEL):
            slack = linear @ point[rows, columns] - floor
            inverse = np.asarray(np.linalg.inv(point), dtype=np.float64)
            square = inverse @ inverse
            gradient = -(square[rows, columns] * double) - level * (linear.T @ (1 / slack))
            hessian = level * (linear.T * (1 / slack**2)) @ linear + _curvature(square, inverse, rows, columns)
            try:
                step = -cho_solve(cho_factor(hessian), gradient)
            except LinAlgError:
                return
            fall = float(-gradient @ step)
            length = _length(point, step, rows, columns, linear @ step / slack)
            point = point + length * _symmetric(step, rows, columns, size)
            if fall < 1e-8 * level * len(floor):
                break
        slack = linear @ point[rows, columns] - floor
        pairs = np.zeros((len(forms), len(forms)))
        pairs[first, second] = level / slack / 2
        problem.bound(pairs + pairs.T)
        level *= BARRIER_FALL


def _centre(problem: _Moments) -> Floats:
    """A small multiple of the unit matrix in the letters' own coordinates: inside every moment condition."""
    back = np.linalg.inv(problem.frame)
    unit = back @ back.T
    lowest = float(
        (problem.forms @ unit @ problem.forms.T / np.where(np.isfinite(problem.floor), -problem.floor, np.inf)).min()
    )
    return np.asarray(unit * min(1.0, 1.0 / max(-lowest, 1e-12)))


def _curvature(square: Floats, inverse: Floats, rows: Whole, columns: Whole) -> Floats:
    """The Hessian of tr W⁻¹ in the upper triangle: for symmetric D, E it is tr W⁻²(D W⁻¹ E + E W⁻¹ D)."""

    def term(left: Floats, right: Floats) -> Floats:
        return np.asarray(left[rows][:, rows] * right[columns][:, columns])

    def cross(left: Floats, right: Floats) -> Floats:
        return np.asarray(left[rows][:, columns] * right[columns][:, rows])

    total = term(square, inverse) + term(inverse, square) + cross(square, inverse) + cross(inverse, square)
    half = np.where(rows == columns, 0.5, 1.0)
    total = total * np.outer(half, half)
    return np.asarray(total + total.T)


def _symmetric(step: Floats, rows: Whole, columns: Whole, size: int) -> Floats:
    matrix = np.zeros((size, size))
    matrix[rows, columns] = step
    matrix[columns, rows] = step
    return matrix


def _length(point: Floats, step: Floats, rows: Whole, columns: Whole, relative: Floats) -> float:
    """How far a Newton step may go: 0.9 of the way to the nearest wall, of a condition or of W ⪰ 0."""
    matrix = _symmetric(step, rows, columns, len(point))
    lowest = float(eigh(matrix, point, eigvals_only=True, subset_by_index=[0, 0])[0])
    worst = max(-float(relative.min()), -lowest, np.finfo(float).tiny)
    return min(1.0, 0.9 / worst)


def _alternate(problem: _Moments, moment: Floats, until: float) -> None:
    """Alternating directions for min tr X⁻¹ subject to X = W on the averages and h_iᵀWh_j ≥ floor_ij."""
    forms, floor, size = problem.forms, problem.floor, problem.size
    values, vectors = np.linalg.eigh(forms.T @ forms)
    divide = 1.0 / (1.0 + np.outer(values, values))
    point = problem.inside(moment)
    stiff = STIFFNESS * float(np.median(np.linalg.eigvalsh(point[:size, :size]))) ** -3
    inverse = np.linalg.inv(point[:size, :size])
    copy, dual_copy = point.copy(), np.zeros_like(point)
    dual_copy[:size, :size] = -(inverse @ inverse) / stiff
    wall = np.maximum(forms @ point @ forms.T, floor)
    dual_wall = np.zeros_like(wall)
    looks = [0.0]
    for turn in range(1, MOST_TURNS + 1):
        right = (copy + dual_copy) + forms.T @ (wall + dual_wall) @ forms
        point = vectors @ (vectors.T @ right @ vectors * divide) @ vectors.T
        shown = forms @ point @ forms.T
        ahead, ahead_wall = RELAXED * point + (1 - RELAXED) * copy, RELAXED * shown + (1 - RELAXED) * wall
        before, before_wall = copy, wall
        copy = _nearest(ahead - dual_copy, size, stiff)
        wall = np.maximum(ahead_wall - dual_wall, floor)
        dual_copy = dual_copy + copy - ahead
        dual_wall = dual_wall + wall - ahead_wall
        if turn % LOOK == 0:
            looks.append(max(looks[-1], problem.bound(stiff * np.maximum(dual_wall, 0.0))))
            stalled = len(looks) > PATIENCE and looks[-1] - looks[-PATIENCE] < STALLED * looks[-1]
            if time.monotonic() > until or (looks[-1] > 0 and stalled):
                break
            apart = float(np.linalg.norm(copy - point) + np.linalg.norm(wall - shown))
            moving = float(np.linalg.norm(copy - before) + np.linalg.norm(wall - before_wall))
            factor = float(np.clip(np.sqrt(apart / max(moving, np.finfo(float).tiny)), 1 / STIFFER, STIFFER))
            stiff, dual_copy, dual_wall = stiff * factor, dual_copy / factor, dual_wall / factor


def _nearest(matrix: Floats, size: int, stiff: float) -> Floats:
    """The proximal point of tr X⁻¹ on the averages: each eigenvalue v becomes the root of x³ − v x² = 1/stiff."""
    result = matrix.copy()
    block = matrix[:size, :size]
    values, vectors = np.linalg.eigh((block + block.T) / 2)
    root = np.maximum(values, stiff ** (-1 / 3))
    for _ in range(60):
        change = (root**3 - values * root**2 - 1 / stiff) / (3 * root**2 - 2 * values * root)
        root = root - change
        if float(np.abs(change / root).max()) < 1e-14:
            break
    result[:size, :size] = (vectors * root) @ vectors.T
    return result
