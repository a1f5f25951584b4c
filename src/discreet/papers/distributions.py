"""The random distributions of the synthetic experiments. A draw is named by its number, so it can be repeated."""

from __future__ import annotations

import numpy as np

from discreet.joint import Joint

ADULT_SIZE = 32_561


def uniform(number: int, *sizes: int) -> Joint:
    """Every p(s, x) uniform on [0, 1], then normalised (funnel-1 section VI)."""
    cells = np.random.default_rng(number).random(sizes)
    return Joint(cells / cells.sum())


def jeffreys(number: int, *sizes: int) -> Joint:
    """The Jeffreys prior: the Dirichlet distribution with every parameter 1/2 (funnel-2 section VIII-D)."""
    cells = np.random.default_rng(number).dirichlet(np.full(int(np.prod(sizes)), 0.5))
    return Joint(cells.reshape(sizes))


def observed(number: int, c: int, k: int, n: int = ADULT_SIZE) -> tuple[Joint, Joint]:
    """P̂ from n records drawn from P*, and P* itself, drawn from the Jeffreys prior (robust-2 section 8.2)."""
    rng = np.random.default_rng(number)
    truth = rng.dirichlet(np.full(c * k, 0.5))
    counts = rng.multinomial(n, truth).reshape(c, k)
    return Joint.from_counts(counts, include_secret=True), Joint(truth.reshape(c, k), include_secret=True)
