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
"""

from __future__ import annotations

import numpy as np

from discreet.estimate.sample import Floats, Sample

RECORDS = 0.5
STEPS = 60
CLOSE = 1e-4
TINY = 1e-12
APART = 1e3
"""p z stays within this factor of ε, so that Newton's matrix is never singular (Wächter and Biegler 2006)."""


def given_statistic(
    sample: Sample, weights: Floats, scores: Floats, statistic: Floats, start: Floats, most: float
) -> Floats:
    """The fitted p for many combinations at once, a row each; every row of `start` is positive and has w·p = θ.

    `most` is z². The primal-dual interior point method with a fixed barrier ε. In Newton's matrix the part of −ln f_T
    that is convex in p is replaced by its tangent, so that the matrix is positive definite and no step goes down.
    A row that does not settle is left at its start, which is under the hypothesis too.
    """
    each = RECORDS / sample.matrix.shape[1]
    sides = np.stack([1 - weights, weights], axis=2)
    wanted = (sides * start[:, :, None]).sum(axis=1)
    diagonal = np.arange(sample.matrix.shape[1])
    p, z = start, each / start
    for _ in range(STEPS):
        q = np.maximum(p @ sample.matrix.T, 1e-300)
        mean, variance, rise = _spread(sample, scores, q)
        surprise = np.minimum((statistic - mean) ** 2 / variance, most)
        slope = p * ((sample.counts / q) @ sample.matrix + ((1 - surprise) / 2)[:, None] * rise) + each
        roots = sample.matrix * (np.sqrt(sample.counts) / q)[:, :, None] * p[:, None, :]
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
        if settled.all():
            break
    held = (np.abs((sides * p[:, :, None]).sum(axis=1) - wanted) <= 1e-6 * wanted + TINY).all(axis=1)
    return np.where((settled & held)[:, None], p / p.sum(axis=1, keepdims=True), start)


def _spread(sample: Sample, scores: Floats, q: Floats) -> tuple[Floats, Floats, Floats]:
    """E T, V = Var T, and the gradient of ln V in p, up to a constant (which Σ p = 1 takes up)."""
    mean = np.add.reduceat(scores * q, sample.starts, axis=1) / np.add.reduceat(q, sample.starts, axis=1)
    squares = (scores - mean[:, sample.wave]) ** 2 * sample.sizes[sample.wave]
    variance = np.maximum((squares * q).sum(axis=1), 1e-300)
    return mean @ sample.sizes, variance, squares @ sample.matrix / variance[:, None]


def _moved(values: Floats, change: Floats) -> Floats:
    """A step that keeps every value positive."""
    room = np.where(change < 0, -0.95 * values / np.where(change < 0, change, -1.0), np.inf).min(axis=1)
    return np.asarray(values + np.minimum(room, 1.0)[:, None] * change)
