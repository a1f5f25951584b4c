"""Many roots at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def falling_root(
    function: Callable[[Floats], Floats], low: Floats, high: Floats, tolerance: float = 1e-13, rounds: int = 200
) -> Floats:
    """Where each of many falling functions crosses zero between low and high; an end if it never does.

    Chandrupatla's method: inverse quadratic steps where they are safe, bisection where they are not.
    """
    a, b = high.astype(float), low.astype(float)
    fa, fb = function(a), function(b)
    ends = np.where(fa >= 0, a, b)
    settled = (fa >= 0) | (fb <= 0)
    c, fc = a.copy(), fa.copy()
    step = np.full(a.shape, 0.5)
    for _ in range(rounds):
        best = np.where(np.abs(fa) < np.abs(fb), a, b)
        small = np.abs(b - a) <= tolerance * (1 + np.abs(best))
        if (settled | small | (fa == 0) | (fb == 0)).all():
            break
        x = a + step * (b - a)
        fx = function(x)
        same = np.sign(fx) == np.sign(fa)
        c, fc = np.where(same, a, b), np.where(same, fa, fb)
        b, fb = np.where(same, b, a), np.where(same, fb, fa)
        a, fa = x, fx
        step = _step(a, b, c, fa, fb, fc, tolerance)
    best = np.where(np.abs(fa) < np.abs(fb), a, b)
    return np.where(settled, ends, best)


def _step(a: Floats, b: Floats, c: Floats, fa: Floats, fb: Floats, fc: Floats, tolerance: float) -> Floats:
    """The fraction of the way from a to b for the next try."""
    with np.errstate(all="ignore"):
        xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
        safe = (phi**2 < xi) & ((1 - phi) ** 2 < 1 - xi)
        quadratic = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        least = np.minimum(0.5, 0.5 * tolerance * (1 + np.abs(a)) / np.abs(b - a))
    step = np.where(safe & np.isfinite(quadratic), quadratic, 0.5)
    return np.clip(step, np.nan_to_num(least, nan=0.5), 1 - np.nan_to_num(least, nan=0.5))
