"""The weights of a robust proof as rows over u, and the multipliers ν that a float search proposes for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.certify.integers import Integers
from discreet.certify.linear import Weights
from discreet.joint import Joint
from discreet.uncertainty.ball import Ball
from discreet.uncertainty.support import Extreme, largest, smallest

Indices = NDArray[np.intp]
Floats = NDArray[np.float64]
VALUE_BITS = 44
SMALLEST = 1e-18
"""A radius of zero has no best ν; a tiny one has, and it is finite where the row is constant on the support of P̂."""


@dataclass(frozen=True, eq=False)
class Rows:
    """[output, secret, u]: exact in units of 2^−unit, and as floats divided by the largest entry of the output."""

    exact: Integers
    floats: Floats
    scale: Floats
    unit: int


def rows_of(weights: Weights, bits: int, joint: Joint) -> Rows:
    c, k = joint.table.shape
    cells = weights.reshape(-1, c, k) if joint.reads_secret else np.broadcast_to(weights[:, None], (len(weights), c, k))
    scale = np.maximum(cells.max(axis=(1, 2)), 1).astype(float)
    return Rows(cells.astype(object) << VALUE_BITS, cells / scale[:, None, None], scale, bits + VALUE_BITS)


def rising_multiplier(rows: Rows, ball: Ball, y: Indices, s: Indices, radius: Floats) -> Integers:
    """A good ν ≥ max v_s for the largest mean over the ball of this radius, in units of 2^−unit."""
    found = largest(rows.floats[y, s], ball.conditional[s], np.maximum(radius, SMALLEST), ball.order)
    return _proposed(found.value, found, rows.scale[y], rows.exact[y, s].max(axis=1))


def falling_multiplier(rows: Rows, ball: Ball, y: Indices, t: Indices, radius: Floats) -> Integers:
    """A good ν' ≥ −min v_t for the smallest mean."""
    found = smallest(rows.floats[y, t], ball.conditional[t], np.maximum(radius, SMALLEST), ball.order)
    return _proposed(-found.value, found, rows.scale[y], -rows.exact[y, t].min(axis=1))


def _proposed(value: Floats, found: Extreme, scale: Floats, least: Integers) -> Integers:
    """The optimal ν is the value plus the rate at which the radius buys it."""
    nu = np.nan_to_num(value + found.rate, nan=0.0, posinf=1.0)
    return np.maximum(integers(nu * scale, VALUE_BITS), least)


def integers(values: Floats, bits: int) -> Integers:
    """Whole numbers near 2^bits times the values."""
    return np.asarray(np.frompyfunc(int, 1, 1)(np.ldexp(values, bits)), dtype=object)
