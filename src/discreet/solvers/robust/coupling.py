"""The robust mechanism for large alphabets: bands under one curve, glued by a shared uniform draw (theory 1.8).

What counts is the finished channel. Its exact level over F is computed, and its rows are moved away from the constant
row, or towards it, until that level is ε: the curve is kept on a grid only, and gluing leaves some room.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.channel import Channel
from discreet.exceptions import ParameterError
from discreet.information import utility
from discreet.joint import Joint
from discreet.notions.rldp import RLDP
from discreet.solvers.robust.bounds import nonrobust_bound
from discreet.solvers.robust.curve import State, evaluate, first_curve, improve, refined, splits
from discreet.solvers.robust.gluing import Glued, glue
from discreet.solvers.robust.private import at_level
from discreet.solvers.robust.shapes import Secret
from discreet.solvers.robust.splitter import Splitter
from discreet.uncertainty.ball import Ball

Floats = NDArray[np.float64]
Progress = Callable[[float, float, float], None]
STAGES = ((20, False, 0.05, 8), (20, False, 0.03, 8), (20, True, 0.03, 8), (20, True, 0.03, 8), (60, True, 0.01, 5))
"""The size of the grid, whether rows move freely, the first trust region, and the number of steps."""


@dataclass(frozen=True, eq=False)
class Coupled:
    """The channel on (s, u), what it keeps, a proven bound on every other mechanism, and how the search ended."""

    channel: Channel
    value: float
    upper_bound: float
    status: str


def solve(joint: Joint, notion: RLDP, *, time_limit: float | None = None, progress: Progress | None = None) -> Coupled:
    """The best robust mechanism that bands and gluing find, for a joint with `include_secret`."""
    ball = notion.uncertainty.ball(joint)
    if not joint.include_secret or ball.radius in (0.0, np.inf):
        raise ParameterError(
            "coupling is for X = (S, U) and a set F between a point and everything",
            where="coupling",
            remedy="Use include_secret=True; for Exactly() use method nr, for Everything() srr.",
        )
    started = time.monotonic()

    def late() -> bool:
        return time_limit is not None and time.monotonic() - started > 0.8 * time_limit

    price, bound = float(np.exp(notion.epsilon)), nonrobust_bound(joint, notion)
    grid = splits(ball, STAGES[0][0])
    splitters = [Splitter(Secret(ball, int(s), grid)) for s in np.flatnonzero(ball.mass > 0)]
    state = evaluate(splitters, price, first_curve(len(grid), price), rounds=12)
    for size, free, region, steps in STAGES:
        if progress is not None:
            progress(state.value, bound, time.monotonic() - started)
        if size != len(state.phi):
            splitters, state = refined(splitters, state, size)
        state = improve(splitters, state, free=free, region=region, steps=steps, late=late)
    glued = _glued(ball, splitters, state)
    channel = at_level(joint, notion, glued.widths, glued.rows.reshape(len(glued.widths), -1), grow=True)
    return Coupled(channel, utility(joint, channel), bound, "time limit" if late() else "local optimum")


def _glued(ball: Ball, splitters: list[Splitter], state: State) -> Glued:
    """All secrets on all letters. A secret never seen has constant rows; so it is with letters never seen with one."""
    c, k = ball.estimate.shape
    weights, rows = [np.ones(1)] * c, [np.ones((1, k))] * c
    for splitter, part in zip(splitters, state.parts, strict=True):
        secret = splitter.secret
        full = np.repeat((part.rows @ secret.p)[:, None], k, axis=1)
        full[:, secret.letters] = part.rows
        weights[secret.index], rows[secret.index] = part.weights, full
    return glue(ball.mass, weights, rows)
