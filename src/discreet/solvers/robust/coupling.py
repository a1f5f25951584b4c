"""The robust mechanism for large alphabets: bands under one curve, glued by a shared uniform draw (theory 1.8).

What counts is the finished channel. Its exact level over F is computed, and its rows are moved away from the constant
row, or towards it, until that level is ε: the curve is kept on a grid only, and gluing leaves some room.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from discreet.exceptions import ParameterError, UnfinishedError
from discreet.information import utility
from discreet.joint import Joint
from discreet.notions.rldp import RLDP
from discreet.solvers.nonrobust import Coupled
from discreet.solvers.robust.bounds import robust_bound
from discreet.solvers.robust.curve import Curves, splits
from discreet.solvers.robust.gluing import Glued, glue, together
from discreet.solvers.robust.polish import polished
from discreet.solvers.robust.private import at_level, proof_seconds
from discreet.solvers.robust.ready import compiled
from discreet.solvers.robust.shapes import Secret
from discreet.solvers.robust.splitter import Splitter
from discreet.solvers.robust.state import State, again, pruned, refined, split, start, with_kinds
from discreet.solvers.robust.steps import improve
from discreet.uncertainty.ball import Ball

Floats = NDArray[np.float64]
Progress = Callable[[float, float, float], None]
COARSE, FINE, FINEST = 20, 40, 160
"""How many splits of the budget the curves are kept at, while searching and in the end."""

FEW_CLIMBS, MANY_CLIMBS = 6, 30
"""From so many rows of each secret and kind climbs start, at first and once that settles."""

TILT, PROMISING = 0.15, 0.997
"""How much steeper and flatter curves become when a kind of outputs is made into two, and the share of the value that
two kinds must reach soon to be pursued."""

SMALLEST_SHARE = 1e-6
SETTLED = 2e-4
LEAST_FOR_PROOF = 0.15
BOUND_SHARE = 0.1
POLISHED = 100


def solve(
    joint: Joint,
    notion: RLDP,
    *,
    time_limit: float | None = None,
    progress: Progress | None = None,
    kinds: bool = True,
    known_bound: float | None = None,
) -> Coupled:
    """The best robust mechanism that bands and gluing find, for a joint with `include_secret`.

    A linear program that fails on the way ends the search with what it has.
    With only one kind of output any row of one secret may meet any row of another. `known_bound` was proven elsewhere.
    """
    ball = notion.uncertainty.ball(joint)
    if not joint.include_secret or ball.radius in (0.0, np.inf):
        raise ParameterError(
            "coupling is for X = (S, U) and a set F between a point and everything",
            where="coupling",
            remedy="Use include_secret=True; for Exactly() use method nr, for Everything() srr.",
        )
    compiled()
    started = time.monotonic()
    limit = np.inf if time_limit is None else time_limit
    bound = robust_bound(joint, notion, BOUND_SHARE * limit) if known_bound is None else known_bound
    search = _Search(ball, float(np.exp(notion.epsilon)), started, limit, kinds)
    states = search.states()
    state = next(states)
    with suppress(UnfinishedError):
        for state in states:
            if progress is not None:
                progress(state.value, bound, time.monotonic() - started)
    glued = _glued(ball, search.splitters, state)
    best = at_level(joint, notion, glued.widths, glued.rows.reshape(len(glued.widths), -1), grow=True)
    if kinds and len(joint.letters) <= POLISHED:
        best = polished(joint, notion, best, started + limit)
    return Coupled(best, utility(joint, best), bound, "local optimum" if search.settled else "time limit")


class _Search:
    """Better and better states. Of the time that is given, the last third is for the finer grid, and some of that for
    the proof."""

    def __init__(self, ball: Ball, price: float, started: float, limit: float, kinds: bool) -> None:
        self.ball, self.price, self._started, self._limit, self._kinds = ball, price, started, limit, kinds
        self.splitters = [Splitter(Secret(ball, int(s), splits(ball, COARSE))) for s in np.flatnonzero(ball.mass > 0)]
        self.settled = False

    def states(self) -> Iterator[State]:
        """One kind of output first, then further ones."""
        late = self.after(0.65)
        state = start(self.splitters, Curves.first(COARSE, self.price, int(self.ball.mass.argmax())), self.after(0.3))
        yield state
        state = improve(self.splitters, state, free=False, region=0.05, steps=8, late=late)
        yield state
        if self._kinds:
            state = with_kinds(self.splitters, state, [state.curves.alone()], late)
            state = self._better(state, late)
            yield state
            two = split(self.splitters, state, TILT, late)
            two = improve(self.splitters, two, free=False, region=0.05, steps=8, late=late)
            if two.value > PROMISING * state.value:
                two = self._better(two, late)
            state = pruned(self.splitters, max(state, two, key=lambda one: one.value))
            yield state
        for climbs in (FEW_CLIMBS, MANY_CLIMBS):
            self.settled = False
            while not (late() or self.settled):
                before = state.value
                state = self._better(state, late, climbs)
                self.settled = state.value < before * (1 + SETTLED)
                yield state
        late = self.after(1.0, outputs=sum(len(part.weights) for part in state.parts))
        self.splitters, state = refined(self.splitters, state, FINE, late)
        state = improve(self.splitters, state, free=True, region=0.02, steps=6, late=late)
        yield state
        self.splitters, state = refined(self.splitters, state, FINEST, late)
        yield state

    def _better(self, state: State, late: Callable[[], bool], climbs: int = FEW_CLIMBS) -> State:
        state = improve(self.splitters, state, free=False, region=0.03, steps=4, late=late)
        state = improve(self.splitters, state, free=True, region=0.03, steps=3, late=late)
        return again(self.splitters, state, rounds=2, late=late, climbs=climbs)

    def after(self, share: float, outputs: int = 0) -> Callable[[], bool]:
        """Whether this share of the time is over, with so many outputs still to be proven."""
        proof = max(proof_seconds(self.ball, outputs), LEAST_FOR_PROOF * self._limit) if outputs else 0.0
        end = self._started + share * self._limit - proof
        return lambda: time.monotonic() > end


def _glued(ball: Ball, splitters: list[Splitter], state: State) -> Glued:
    """All secrets on all letters, kind by kind. A secret never seen has constant rows; so it is with letters never seen
    with one."""
    c, k = ball.estimate.shape
    glued = []
    for kind in np.flatnonzero(state.draw.shares > SMALLEST_SHARE):
        weights, rows, means = [np.ones(1)] * c, [np.ones((1, k))] * c, [np.ones(1)] * c
        for splitter, part in zip(splitters, state.parts, strict=True):
            secret, own = splitter.secret, part.kind == kind
            mean = part.rows[own] @ secret.p
            full = np.repeat(mean[:, None], k, axis=1)
            full[:, secret.letters] = part.rows[own][:, secret.group]
            weights[secret.index], rows[secret.index], means[secret.index] = part.weights[own], full, mean
        glued.append(glue(ball.mass, weights, rows, means))
    return together(state.draw.shares[state.draw.shares > SMALLEST_SHARE], glued)
