"""Brute force over F: random members, and local optimisation from many starts. Knows nothing of the oracle."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from discreet.uncertainty.renyi_ball import RenyiBall

Floats = NDArray[np.float64]


def random_ball(rng: np.random.Generator, order: float, kind: int) -> RenyiBall:
    """A small ball; every third has an empty cell, every fourth a secret that was never seen."""
    c, k = rng.integers(2, 5, size=2)
    cells = rng.dirichlet(np.full(c * k, 0.7)).reshape(c, k)
    if kind % 4 == 0:
        cells[0] = 0
    if kind % 3 == 0:
        cells[rng.integers(c), rng.integers(k)] = 0
    if cells.sum() == 0:
        cells[-1] = 1
    return RenyiBall(cells / cells.sum(), order, float(10 ** rng.uniform(-4, 0.5)))


def members(ball: RenyiBall, count: int, rng: np.random.Generator) -> Floats:
    """Members of F, most of them on its boundary: from P̂ towards random targets, as far as F goes."""
    shape = ball.estimate.shape
    concentration = rng.choice([0.05, 0.3, 1.0], size=count)
    targets = np.array([rng.dirichlet(np.full(ball.estimate.size, a)) for a in concentration]).reshape(count, *shape)
    targets = targets * (rng.random((count, shape[0], 1)) < 0.7) + 1e-9
    targets /= targets.sum(axis=(1, 2), keepdims=True)
    return _inside(ball, targets)


def climb(ball: RenyiBall, goal: Callable[[Floats], float], start: Floats) -> float:
    """The best goal that a local optimiser reaches inside F."""
    shape = start.shape
    first = np.maximum(start, 1e-9).ravel()
    result = minimize(
        lambda z: -goal(z.reshape(shape)),
        first / first.sum(),
        bounds=[(1e-10, 1)] * first.size,
        constraints=[
            {"type": "eq", "fun": lambda z: z.sum() - 1},
            {"type": "ineq", "fun": lambda z: ball.radius - float(ball.divergence(z.reshape(shape)))},
        ],
        method="SLSQP",
        options={"maxiter": 200, "ftol": 1e-12},
    )
    reached = np.maximum(result.x, 1e-12).reshape(1, *shape)
    return goal(_inside(ball, reached / reached.sum())[0])


def ratio(distribution: Floats, rows: Floats, s: int, t: int) -> Floats:
    """P(y | s) / P(y | t) for P(…, s, u) and the row v(s, u) of one output."""
    likelihood = (distribution * rows).sum(axis=-1) / distribution.sum(axis=-1)
    return np.asarray(likelihood[..., s] / likelihood[..., t])


def _inside(ball: RenyiBall, targets: Floats) -> Floats:
    """Each target, or the last member of F on the way to it from P̂."""
    low, high = np.zeros(len(targets)), np.ones(len(targets))
    outside = ball.divergence(targets) > ball.radius
    for _ in range(45):
        middle = (low + high) / 2
        inside = ball.divergence(_between(ball.estimate, targets, middle)) <= ball.radius
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return _between(ball.estimate, targets, np.where(outside, low, 1.0))


def _between(start: Floats, targets: Floats, share: Floats) -> Floats:
    return (1 - share[:, None, None]) * start + share[:, None, None] * targets
