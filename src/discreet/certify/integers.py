"""The estimate and the weights as integers, and their products without rounding.

The prior enters every notion only through ratios, so integers proportional to it will do: the counts themselves, or
the floats of a given distribution, each of which is an integer times a power of two.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.joint import Joint

Integers = NDArray[Any]
"""Arrays of Python integers, as wide as they need to be."""
MANTISSA = 53


def exact_prior(joint: Joint) -> Integers:
    """Integers proportional to P(s, x1, …, xm), in the shape of `joint.probabilities`."""
    if joint.counts is not None:
        return joint.counts.astype(object)
    mantissas, exponents = np.frexp(joint.probabilities)
    whole = np.ldexp(mantissas, MANTISSA).astype(np.int64).astype(object)
    lowest = exponents[joint.probabilities > 0].min()
    return np.asarray(whole << np.maximum(exponents - lowest, 0).astype(object))


def exact_products(left: Integers, right: NDArray[np.int64]) -> Integers:
    """left @ right.T for integers ≥ 0, exact.

    Both sides are cut into limbs so narrow that a sum of products of limbs stays below 2^53: floating-point matrix
    products of such limbs are exact in whatever order they are added.
    """
    width = (MANTISSA - int(left.shape[1]).bit_length()) // 2
    left_limbs, right_limbs = _limbs(left, width), _limbs(right, width)
    totals = np.zeros((len(left_limbs) + len(right_limbs) - 1, len(left), len(right)), dtype=np.int64)
    for i, first in enumerate(left_limbs):
        for j, second in enumerate(right_limbs):
            totals[i + j] += (first @ second.T).astype(np.int64)
    result: Integers = totals[-1].astype(object)
    for part in totals[-2::-1]:
        result = (result << width) + part
    return result


def _limbs(whole: NDArray[np.int64] | Integers, width: int) -> list[NDArray[np.float64]]:
    """Σ_i 2^(width·i) limb_i = whole, each limb a float below 2^width."""
    count = max(1, -(-int(whole.max()).bit_length() // width))
    mask = (1 << width) - 1
    small = whole.astype(np.int64) if int(whole.max()) < 2**62 else whole
    return [((small >> width * i) & mask).astype(np.float64) for i in range(count)]


def secret_weights(weights: NDArray[np.int64], joint: Joint, prior: Integers) -> Integers:
    """Σ_x prior[s, x] weights[y, (s, x)], a row a secret and a column an output: P(s, y) up to a common factor."""
    cells = prior.reshape(len(prior), -1)
    if not joint.reads_secret:
        return exact_products(cells, weights)
    by_secret = weights.reshape(len(weights), *cells.shape)
    return np.vstack([exact_products(cells[s : s + 1], by_secret[:, s]) for s in range(len(cells))])
