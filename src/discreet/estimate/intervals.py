"""The other frequencies while one combination θ = w·p is tested: fitted to what the release says besides T.

The law of the statistic T under θ depends on all of p, and that p has to be fitted. A fit to all of the release uses T
twice. An unusual T is itself evidence for a large variance of T; where that variance comes from a few records it is
most of the evidence, and the variance is fitted too large just when T is in a tail. A fit that is not held to w·p = θ
errs in the other direction. So p is fitted under the hypothesis, to the likelihood of the release *given T* (the
conditional predictive test of Bayarri and Berger 2000):

    maximise  Σ_y N_y ln (Q p)_y − ln f_T(T; p) + ε Σ_x ln p_x   over p with w·p = θ,

where f_T is the normal density with mean and variance V(p) of T, so that −ln f_T = ½ ln V + c/2 with c = (T − E T)²/V.
Beyond c = z² at the limits asked for, f_T falls like a power of V instead: else V → 0 would explain everything. The ε
are half a record, spread evenly over the letters: a letter that was not seen may exist, and may make variance.

Confidence limits for a linear combination θ = w·p from the linear statistic T = Σ_i l(y_i) / n, with l Q = w.

A value θ is inside the interval when T is not in a tail of its law under θ. That law depends on all of p; `nuisance`
fits it under the hypothesis w·p = θ, from the tilted fit p ∝ p̂ e^{s w} on, which parametrises θ by s. T is a sum of
independent scores, so its tail comes from the saddlepoint formula of Lugannani and Rice in Barndorff-Nielsen's form

    r* = r + ln(u/r)/r,   r = sign(t) √(2(t T − K(t))),  u = t √K''(t),  K'(t) = T,
    K(t) = Σ_k n_k ln Σ_y (Q_k p)_y e^{t l_y},

which is compared with the normal quantile. For counts it is close to the mid-p tail, neither of the two half-open ones.
Where T is the smallest or the largest value that it can have, the tail is exact: half of P(T = that value).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from discreet.arrays import Floats
from discreet.estimate.fitting import Sample

RECORDS = 0.5
STEPS = 60
CLOSE = 1e-4
TINY = 1e-12
APART = 1e3
"""p z stays within this factor of ε, so that Newton's matrix is never singular (Wächter and Biegler 2006)."""


def given_statistic(
    sample: Sample,
    weights: Floats,
    scores: Floats,
    statistic: Floats,
    start: Floats,
    most: float,
    groups: LetterGroups | None = None,
) -> Floats:
    """The fitted p for many combinations at once, a row each; every row of `start` is positive and has w·p = θ.

    `most` is z². The primal-dual interior point method with a fixed barrier ε. In Newton's matrix the part of −ln f_T
    that is convex in p is replaced by its tangent, so that the matrix is positive definite and no step goes down.
    A row that does not settle is left at its start, which is under the hypothesis too. With `groups` letters of one
    group keep their proportions of the start.
    """
    whole, matrix, each = start, sample.matrix[None], np.full(start.shape[1], RECORDS / start.shape[1])[None]
    if groups is not None:
        matrix, weights, each, start = groups.summed(sample.matrix, weights, start)
    found, where, counts = start.copy(), np.arange(len(start)), sample.counts
    sides = np.stack([1 - weights, weights], axis=2)
    wanted = (sides * start[:, :, None]).sum(axis=1)
    diagonal = np.arange(start.shape[1])
    p, z = start, each / start
    for _ in range(STEPS):
        q = np.maximum((matrix @ p[:, :, None])[:, :, 0], 1e-300)
        mean, variance, squares = _spread(sample, scores, q)
        rise = (squares[:, None, :] @ matrix)[:, 0] / variance[:, None]
        surprise = np.minimum((statistic - mean) ** 2 / variance, most)
        pulled = ((counts / q)[:, None, :] @ matrix)[:, 0]
        slope = p * (pulled + ((1 - surprise) / 2)[:, None] * rise) + each
        roots = matrix * (np.sqrt(counts) / q)[:, :, None] * p[:, None, :]
        rise = p * rise
        curvature = roots.transpose(0, 2, 1) @ roots + 0.5 * rise[:, :, None] * rise[:, None, :]
        curvature[:, diagonal, diagonal] += z * p
        masses = p[:, :, None] * sides
        sizes = np.linalg.norm(masses, axis=1) + TINY
        masses, missing = masses / sizes[:, None], (wanted - masses.sum(axis=1)) / sizes
        solved = np.linalg.solve(curvature, np.concatenate([slope[:, :, None], masses], axis=2))
        reached = masses.transpose(0, 2, 1) @ solved
        prices = np.linalg.solve(reached[:, :, 1:] + TINY * np.eye(2), reached[:, :, :1] - missing[:, :, None])
        relative = solved[:, :, 0] - (solved[:, :, 1:] @ prices)[:, :, 0]
        change, dual = p * relative, each / p - z * (1 + relative)
        p = _moved(p, change)
        z = np.clip(_moved(z, dual), each / (APART * p), APART * each / p)
        settled = (np.abs(change) <= CLOSE * np.sqrt(p)).all(axis=1)
        if settled.any():
            held = (np.abs((sides * p[:, :, None]).sum(axis=1) - wanted) <= 1e-6 * wanted + TINY).all(axis=1)
            good = settled & held
            found[where[good]] = p[good] / p[good].sum(axis=1, keepdims=True)
            left = ~settled
            if not left.any():
                break
            where, p, z, sides, wanted = where[left], p[left], z[left], sides[left], wanted[left]
            scores, statistic = scores[left], statistic[left]
            if groups is not None:
                matrix, each = matrix[left], each[left]
    return found if groups is None else groups.spread_out(found, whole)


def _spread(sample: Sample, scores: Floats, q: Floats) -> tuple[Floats, Floats, Floats]:
    """E T, V = Var T, and the squares whose mean it is: their mean under a letter is the gradient of V in p, up to a
    constant (which Σ p = 1 takes up)."""
    mean = np.add.reduceat(scores * q, sample.starts, axis=1) / np.add.reduceat(q, sample.starts, axis=1)
    squares = (scores - mean[:, sample.wave]) ** 2 * sample.sizes[sample.wave]
    variance = np.maximum((squares * q).sum(axis=1), 1e-300)
    return mean @ sample.sizes, variance, squares


@dataclass(frozen=True, eq=False)
class LetterGroups:
    """For every combination the letters that its test depends on most, by themselves, and all others as one group.

    `number[i, x]` is the group of letter x for combination i. Var T is Σ_x p_x v_x; what is tested moves p along the
    direction d = (Qᵀ diag(n/q) Q)⁻¹ w. Letters with the largest p_x v_x and d_x²/p_x, as shares of their sums, are kept
    apart. The variance of T comes from few letters where the normal approximation fails: that is what fails.
    """

    number: NDArray[np.intp]
    count: int

    @classmethod
    def of(cls, sample: Sample, weights: Floats, scores: Floats, support: Floats, kept: int) -> LetterGroups:
        kept = min(kept, len(support))
        q = np.maximum(sample.matrix @ support, 1e-300)
        _, _, squares = _spread(sample, scores, np.repeat(q[None], len(scores), axis=0))
        varied = (squares @ sample.matrix) * support
        fisher = (sample.matrix.T * (sample.sizes[sample.wave] / q)) @ sample.matrix
        fisher[np.diag_indices_from(fisher)] += RECORDS / len(support) / support**2
        moved = np.linalg.solve(fisher, weights.T).T ** 2 / support
        shares = [part / np.maximum(part.sum(axis=1, keepdims=True), 1e-300) for part in (varied, moved)]
        order = np.argsort(-np.maximum(*shares), axis=1, kind="stable")[:, : kept - 1]
        number = np.full(weights.shape, kept - 1, np.intp)
        np.put_along_axis(number, order, np.arange(kept - 1)[None], axis=1)
        return cls(number, kept)

    def summed(self, matrix: Floats, weights: Floats, start: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Channel, combination, barrier and start over groups, a leading axis for the combinations."""
        member = self.number[:, :, None] == np.arange(self.count)
        masses = (member * start[:, :, None]).sum(axis=1)
        within = member * (start / np.take_along_axis(masses, self.number, axis=1))[:, :, None]
        each = member.sum(axis=1) * (RECORDS / start.shape[1])
        return matrix @ within, (weights[:, None, :] @ within)[:, 0], each, masses

    def spread_out(self, masses: Floats, start: Floats) -> Floats:
        """Letters from groups, in the proportions of the start."""
        before = np.zeros_like(masses)
        np.add.at(before, (np.arange(len(masses))[:, None], self.number), start)
        return np.asarray(start * np.take_along_axis(masses / before, self.number, axis=1))


def _moved(values: Floats, change: Floats) -> Floats:
    """A step that keeps every value positive."""
    room = np.where(change < 0, -0.95 * values / np.where(change < 0, change, -1.0), np.inf).min(axis=1)
    return np.asarray(values + np.minimum(room, 1.0)[:, None] * change)


# ---- confidence limits for a linear combination θ = w·p from the linear statistic T = Σ_i l(y_i) / n, ----------------


UNEVEN = 0.05
"""Up to this Berry–Esseen ratio Σ E|l − E l|³ / (Σ Var l)^{3/2} the law of T is taken for normal."""
FLOOR = 1e-12
FURTHEST_TILT = 1e5
FURTHEST_SADDLEPOINT = 2e3
MOST_CORRECTION = 0.52
"""The largest r* − r that a mid-p tail needs: that of the value 0 of a Poisson count, over all means λ the largest of
Φ⁻¹(e^{−λ}/2) + √(2λ). Where T is a count and very little noise, the formula can give much more, and is wrong there."""
ROUNDS = 60
MET = 1e-7
"""Standard errors by which a test may miss its level: twins that differ in the last bits then agree to 1e-9."""
BLOCK = 4_000_000
MANY_LETTERS = 100
KEPT_LETTERS = 24
"""With more, a fit of all of them for every combination would take minutes: so many groups are fitted instead."""


def is_uneven(sample: Sample, frequencies: Floats, scores: Floats) -> NDArray[np.bool_]:
    """Where the normal approximation fails: where few records make most of the variance of T."""
    probabilities = sample.matrix @ frequencies
    means = np.add.reduceat(scores * probabilities, sample.starts, axis=1)
    centred = scores - means[:, sample.wave]
    mass = probabilities * sample.sizes[sample.wave]
    second, third = (centred**2) @ mass, (np.abs(centred) ** 3) @ mass
    return np.asarray(third > UNEVEN * second**1.5)


def confidence_limits(sample: Sample, fitted: Floats, lower: Floats, upper: Floats, level: float) -> Floats:
    """A lower limit from every row of scores `lower`, an upper one from the same row of `upper`.

    They are within the range that the combination has on the simplex.
    """
    z = float(ndtri((1 + level) / 2))
    limits = np.empty((len(lower), 2))
    block = max(1, BLOCK // (2 * sample.matrix.size))
    for start in range(0, len(lower), block):
        part = slice(start, start + block)
        both = np.concatenate([lower[part], upper[part]])
        targets = np.repeat([z, -z], len(both) // 2)
        test = _TiltTest.of(sample, fitted, both, z**2)
        tilts = _root(test.signed_of, targets, test.step)
        limits[part] = test.theta(tilts).reshape(2, -1).T
    return limits


@dataclass(frozen=True, eq=False)
class _TiltTest:
    """The test of every tilt s, for m combinations at once; scores and combinations are scaled to [0, 1]."""

    sample: Sample
    log_fitted: Floats
    weights: Floats
    lowest: Floats
    width: Floats
    scores: Floats
    statistic: Floats
    at_bottom: NDArray[np.bool_]
    at_top: NDArray[np.bool_]
    step: Floats
    most: float
    groups: LetterGroups | None

    @classmethod
    def of(cls, sample: Sample, fitted: Floats, scores: Floats, most: float) -> _TiltTest:
        weights = scores @ sample.scaled
        lowest, width = weights.min(axis=1), np.maximum(np.ptp(weights, axis=1), FLOOR)
        weights = (weights - lowest[:, None]) / width[:, None]
        spread = np.maximum(np.ptp(scores, axis=1), FLOOR)
        scores = (scores - scores.min(axis=1)[:, None]) / spread[:, None]
        seen = sample.counts > 0
        low = np.minimum.reduceat(scores, sample.starts, axis=1)[:, sample.wave]
        high = np.maximum.reduceat(scores, sample.starts, axis=1)[:, sample.wave]
        support = (sample.n * fitted + RECORDS / len(fitted)) / (sample.n + RECORDS)
        mean = weights @ support
        variance = np.maximum((weights - mean[:, None]) ** 2 @ support, FLOOR)
        noise = np.sqrt(np.diag(sample.covariance(scores, sample.matrix @ support))) * spread / width
        many = len(fitted) > MANY_LETTERS
        groups = LetterGroups.of(sample, weights, scores, support, KEPT_LETTERS) if many else None
        return cls(
            sample, np.log(support), weights, lowest, width, scores, scores @ sample.counts,
            np.all((scores <= low + FLOOR) | ~seen, axis=1), np.all((scores >= high - FLOOR) | ~seen, axis=1),
            np.clip(noise / variance, 1e-9, 1.0), most, groups,
        )  # fmt: skip

    def only(self, rows: NDArray[np.intp]) -> _TiltTest:
        """The test of some of the combinations."""
        groups = None if self.groups is None else replace(self.groups, number=self.groups.number[rows])
        return _TiltTest(
            self.sample, self.log_fitted, self.weights[rows], self.lowest[rows], self.width[rows], self.scores[rows],
            self.statistic[rows], self.at_bottom[rows], self.at_top[rows], self.step[rows], self.most, groups,
        )  # fmt: skip

    def signed_of(self, tilt: Floats, rows: NDArray[np.intp]) -> Floats:
        return self.only(rows).signed(tilt)

    def hypothesis(self, tilt: Floats) -> Floats:
        """The p under which T is judged, one row per combination."""
        start = np.maximum(self.tilted(tilt), FLOOR)
        return given_statistic(self.sample, self.weights, self.scores, self.statistic, start, self.most, self.groups)

    def tilted(self, tilt: Floats) -> Floats:
        """p ∝ p̂ e^{s w}"""
        exponents = self.log_fitted + tilt[:, None] * self.weights
        masses = np.exp(exponents - exponents.max(axis=1, keepdims=True))
        return np.asarray(masses / masses.sum(axis=1, keepdims=True))

    def theta(self, tilt: Floats) -> Floats:
        """The combination's value at a tilt; the ends of its range at infinite ones."""
        inside = (self.tilted(np.clip(tilt, -FURTHEST_TILT, FURTHEST_TILT)) * self.weights).sum(axis=1)
        inside = np.where(tilt == -np.inf, 0.0, np.where(tilt == np.inf, 1.0, inside))
        return np.asarray(self.lowest + self.width * inside)

    def signed(self, tilt: Floats) -> Floats:
        """r* of the observed T: large where T is larger than the hypothesis explains. Falls as the tilt grows."""
        probabilities = self.hypothesis(tilt) @ self.sample.matrix.T
        logs = np.log(np.maximum(probabilities, 1e-300))
        mean, variance = self._cumulants(logs, np.zeros(len(logs)))[1:]
        t = self._saddlepoint(logs, (self.statistic - mean) / variance)
        total, _, curvature = self._cumulants(logs, t)
        r = np.sign(t) * np.sqrt(2 * np.maximum(t * self.statistic - total, 0))
        u = t * np.sqrt(curvature)
        plain = (self.statistic - mean) / np.sqrt(variance)
        with np.errstate(divide="ignore", invalid="ignore"):
            more = np.clip(np.log(np.maximum(u / r, 1e-300)) / r, -MOST_CORRECTION, MOST_CORRECTION)
            star = np.where(np.abs(r) > 1e-3, r + more, plain)
        star = np.where(self.at_bottom, ndtri(self._all_at(probabilities, np.minimum) / 2), star)
        return np.where(self.at_top, -ndtri(self._all_at(probabilities, np.maximum) / 2), star)

    def _cumulants(self, logs: Floats, t: Floats) -> tuple[Floats, Floats, Floats]:
        """K(t), K'(t), K''(t)"""
        sample = self.sample
        exponents = logs + t[:, None] * self.scores
        tops = np.maximum.reduceat(exponents, sample.starts, axis=1)
        masses = np.exp(exponents - tops[:, sample.wave])
        zeroth = np.add.reduceat(masses, sample.starts, axis=1)
        first = np.add.reduceat(masses * self.scores, sample.starts, axis=1) / zeroth
        second = np.add.reduceat(masses * self.scores**2, sample.starts, axis=1) / zeroth
        variance = np.maximum((second - first**2) @ sample.sizes, 1e-300)
        return (np.log(zeroth) + tops) @ sample.sizes, first @ sample.sizes, variance

    def _saddlepoint(self, logs: Floats, t: Floats) -> Floats:
        """t with K'(t) = T, by Newton's method inside a shrinking bracket. At an end of T's range there is none."""
        ended = self.at_bottom | self.at_top
        low = np.full(len(t), -FURTHEST_SADDLEPOINT)
        high = -low
        t = np.clip(t, low, high)
        for _ in range(ROUNDS):
            _, mean, variance = self._cumulants(logs, t)
            short = self.statistic - mean
            done = ended | (np.abs(short) <= 1e-6 * np.sqrt(variance))
            if done.all():
                break
            low, high = np.where(short > 0, t, low), np.where(short > 0, high, t)
            moved = t + np.clip(short / variance, -1 - np.abs(t), 1 + np.abs(t))
            t = np.where(done, t, np.where((moved > low) & (moved < high), moved, (low + high) / 2))
        return t

    def _all_at(self, probabilities: Floats, extreme: np.ufunc) -> Floats:
        """The probability that every record has the extreme score of its wave."""
        ends = extreme.reduceat(self.scores, self.sample.starts, axis=1)[:, self.sample.wave]
        inside = np.where(np.abs(self.scores - ends) <= FLOOR, probabilities, 0.0)
        masses = np.clip(np.add.reduceat(inside, self.sample.starts, axis=1), 1e-300, 1.0)
        return np.asarray(np.exp(np.log(masses) @ self.sample.sizes))


def _root(function: Callable[[Floats, NDArray[np.intp]], Floats], target: Floats, step: Floats) -> Floats:
    """Where falling functions meet their targets, for many at once: a growing bracket from 0, then Illinois' method.

    `function(x, rows)` has the values of some of them. −∞ where one is below its target everywhere, +∞ where above.
    """
    here = np.zeros(len(step))
    value = function(here, np.arange(len(step))) - target
    towards = np.where(value > 0, 1.0, -1.0)
    there, other = here.copy(), value.copy()
    while len(rows := np.flatnonzero((other * towards > 0) & (np.abs(there) < FURTHEST_TILT))):
        here[rows], value[rows] = there[rows], other[rows]
        further = towards[rows] * 4 * np.maximum(np.abs(there[rows]), step[rows])
        there[rows] = np.clip(further, -FURTHEST_TILT, FURTHEST_TILT)
        other[rows] = function(there[rows], rows) - target[rows]
    bracketed = other * towards <= 0
    kept = np.zeros(len(step), dtype=bool)
    for _ in range(ROUNDS):
        apart = np.abs(there - here) > 1e-7 * np.maximum(np.abs(there), step)
        rows = np.flatnonzero(bracketed & apart & (np.abs(other) > MET))
        if not len(rows):
            break
        x, y, f, g = here[rows], there[rows], value[rows], other[rows]
        with np.errstate(divide="ignore", invalid="ignore"):
            middle = y - g * (y - x) / (g - f)
        inside = np.isfinite(middle) & (middle > np.minimum(x, y)) & (middle < np.maximum(x, y))
        middle = np.where(inside, middle, (x + y) / 2)
        found = function(middle, rows) - target[rows]
        crossed = found * g < 0
        here[rows], value[rows] = np.where(crossed, y, x), np.where(crossed, g, np.where(kept[rows], f / 2, f))
        kept[rows] = ~crossed
        there[rows], other[rows] = middle, found
    return np.where(bracketed, there, np.where(towards > 0, np.inf, -np.inf))
