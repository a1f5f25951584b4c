"""Polishing on the whole problem: column generation over outputs with curves of their own (theory 1.3, 1.4 and 1.8).

An output is a row v over all (s, u) with P̂·v = 1. It is private if two curves φ₀ ≤ φ₁ lie between its secrets as
`curve` says, whichever secret goes beyond. What it tells about a target T, (S, U) or U alone, is Σ_t P̂_t w_t ln w_t
with w_t = P(t | y) / P(t), linear in v. At the prices α of the letters that less α·v is convex, so a linear program
over v and its two curves, with the conditionals that are worst now as conditions, climbs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import xlogy

from discreet.arrays import Floats, Indices
from discreet.channel import Channel
from discreet.information import utility
from discreet.joint import Joint
from discreet.linear_program import INFINITE, solve_once
from discreet.notions.rldp import RLDP
from discreet.solvers.columns.simplex import THREADS
from discreet.solvers.driver import Ending
from discreet.solvers.problem import Effort, Status
from discreet.solvers.restricted_master import RestrictedMaster
from discreet.solvers.robust.bands.curves import splits
from discreet.solvers.robust.rescaling import at_level, merged_to, proof_seconds, provable, weaker
from discreet.uncertainty.extremes import Extreme, largest, smallest
from discreet.uncertainty.renyi_ball import RenyiBall
from discreet.uncertainty.sets import ball_around

SIZE = 24
"""Splits of the budget that the curves of an output are kept at."""
WIDEST = 50.0
"""The curves of an output of mean one lie below e^ε; beyond 50 nothing binds."""
LEAST_FOR_PROOF = 0.1
"""The share of the time that is kept for bringing the outputs to level ε and proving it."""
REGION, SHORTEST = 0.3, 0.01
"""How far an entry moves at first, relative to 0.2 and itself, and when moving it is no longer worth a program."""
GAINED = 1e-8
"""A row that gains less does not move the master, which knows costs to 1e-9."""
USED = 1e-9
"""Outputs rarer than this are left out: each costs a proof over all pairs of secrets."""
FLAT = 1e-13
"""Rows that move less than this over F are constant but for rounding."""
LOWEST = 1e-6
"""Slopes of w ln w are taken no lower than here: at zero they are infinite."""


def polished(joint: Joint, notion: RLDP, channel: Channel, effort: Effort) -> tuple[Channel, Status]:
    """This private channel or a better one, proof included before the deadline; itself if a secret was never seen, or
    if anything is possible. A linear program that fails ends it as if it had settled."""
    ball, widths, last = ball_around(notion.uncertainty, joint), channel.matrix @ joint.prior, None
    if not (ball.mass > 0).all() or ball.radius == np.inf:
        return channel, Status.LOCAL
    proof = max(proof_seconds(ball, len(widths)), LEAST_FOR_PROOF * max(effort.left(), 0.0))
    search = effort.keeping(proof) if effort.deadline < np.inf else effort
    with (ending := Ending()):
        for last in _outputs(_Whole(joint, notion), channel.matrix / widths[:, None], search.late):
            effort.tell(last.value, np.inf)
    status = Status.INTERRUPTED if ending.status is Status.INTERRUPTED else Status.LOCAL
    if last is None:
        return channel, status
    widths, rows = last.widths, last.rows
    if len(widths) > (most := provable(ball, max(proof, effort.left()))):
        widths, rows = merged_to(joint, widths, rows, most)
    found = at_level(joint, notion, widths, rows, grow=True)
    return max(channel, found, key=lambda one: utility(joint, one)), status


@dataclass(frozen=True, eq=False)
class _Outputs:
    """Their weights and rows over the input letters, and what they tell about the target in nats."""

    widths: Floats
    rows: Floats
    value: float


def _outputs(whole: _Whole, rows: Floats, late: Callable[[], bool]) -> Iterator[_Outputs]:
    """Better and better outputs, the best mixture of these rows first."""
    pool = rows[:, whole.own]
    master = RestrictedMaster(np.ones(len(whole.p)))
    master.add(pool, whole.worth(pool))
    region = REGION
    while True:
        weighing = master.weigh()
        used = weighing.used(USED)
        weights = weighing.weights[used] / weighing.weights[used].sum()
        rows = pool[used] / (weights @ pool[used])
        yield _Outputs(weights, whole.over_letters(rows), float(weights @ whole.worth(rows)))
        if region < SHORTEST or late():
            return
        fresh = whole.all_moved(pool[used], weighing.prices, region, late)
        fresh = fresh[whole.worth(fresh) - fresh @ weighing.prices > GAINED]
        region = region if len(fresh) else region / 3
        if len(fresh):
            master.add(fresh, whole.worth(fresh))
            pool = np.vstack([pool, fresh])


@dataclass(frozen=True, eq=False)
class _Whole:
    """All seen letters of all secrets at once."""

    joint: Joint
    notion: RLDP

    @cached_property
    def ball(self) -> RenyiBall:
        return ball_around(self.notion.uncertainty, self.joint)

    @cached_property
    def price(self) -> float:
        return float(np.exp(self.notion.epsilon))

    @cached_property
    def letter(self) -> Indices:
        """The input letter of every (s, u)."""
        return np.arange(self.ball.estimate.size) % len(self.joint.letters)

    @cached_property
    def own(self) -> Indices:
        """The letters with an entry of their own: where the secret is read, those that were seen."""
        return np.flatnonzero(self.joint.prior > 0) if self.joint.reads_secret else np.arange(len(self.joint.letters))

    @cached_property
    def p(self) -> Floats:
        return np.asarray(self.joint.prior[self.own])

    @cached_property
    def _joint(self) -> sparse.csr_array:
        """P̂ of every seen letter, in the column of its target."""
        _, column = np.unique(self.joint.target_of[self.own], return_inverse=True)
        return sparse.csr_array((self.p, (np.arange(len(self.p)), column)))

    @cached_property
    def _masses(self) -> Floats:
        """P̂_t, and anything for a target that was never seen."""
        total = np.asarray(self._joint.sum(axis=0), dtype=float)
        return np.where(total > 0, total, 1.0)

    def worth(self, rows: Floats) -> Floats:
        return np.asarray(xlogy(w := rows @ self._joint / self._masses, w) @ self._masses)

    def slope(self, row: Floats) -> Floats:
        return np.asarray(self._joint @ (np.log(np.maximum(row @ self._joint / self._masses, LOWEST)) + 1))

    def over_letters(self, rows: Floats) -> Floats:
        """Rows over all input letters; those not seen with a secret get the mean of the row of that secret."""
        full = np.zeros((len(rows), len(self.joint.letters)))
        full[:, self.own] = rows
        if self.joint.reads_secret:
            means = np.einsum("ysu,su->ys", self.joint.expand(full), self.ball.conditional)
            full = np.where(self.joint.prior > 0, full, np.repeat(means, self.ball.estimate.shape[1], axis=1))
        return full

    def spread(self, row: Floats) -> Floats:
        """v[s, u] of one row."""
        return np.asarray(self.joint.expand(self.over_letters(row[None]))[0])

    @cached_property
    def _radii(self) -> tuple[Floats, Floats]:
        grid, every = splits(self.ball, SIZE)[None, :], np.arange(len(self.ball.mass))[:, None]
        return self.ball.reach(grid, every), self.ball.reach(self.ball.budget - grid, every)

    def _extremes(self, v: Floats) -> tuple[Extreme, Extreme]:
        (up, down), p = self._radii, self.ball.conditional[:, None, :]
        return largest(v[:, None], p, up, self.ball.order), smallest(v[:, None], p, down, self.ball.order)

    def all_moved(self, rows: Floats, prices: Floats, region: float, late: Callable[[], bool]) -> Floats:
        """Better rows near these, as far as they are found in time."""
        with ThreadPoolExecutor(THREADS) as pool:
            moved = pool.map(lambda row: None if late() else self.moved(row, prices, region), rows)
            return np.array([row for row in moved if row is not None]).reshape(-1, len(self.p))

    def moved(self, row: Floats, prices: Floats, region: float) -> Floats | None:
        """A better row near this one, at these prices; None if the linear program was not solved."""
        c, k = self.ball.estimate.shape
        high, low = self._extremes(self.spread(row))
        special = np.arange(c) == int((high.value / low.value).max(axis=1).argmax())
        s, i, u = (index.ravel() for index in np.indices((c, SIZE, k)))
        s_, i_ = (index.ravel() for index in np.indices((c, SIZE)))
        half, first = c * SIZE, len(self.joint.letters)
        up_to, down_to = first + np.where(special[s_], SIZE, 0) + i_, first + np.where(special[s_], 0, SIZE) + i_
        line, entry, count = s * SIZE + i, self.letter[s * k + u], np.arange(half)
        conditions = sparse.csr_array(
            (
                np.r_[high.attained_at.ravel(), np.full(half, -self.price), -low.attained_at.ravel(), np.ones(half)],
                (np.r_[line, count, half + line, half + count], np.r_[entry, up_to, entry, down_to]),
            ),
            shape=(2 * half, first + 2 * SIZE),
        )[:, np.append(self.own, first + np.arange(2 * SIZE))]
        eye, n = sparse.eye_array(SIZE), len(self.p)
        ordered = sparse.hstack([sparse.csr_array((SIZE, n)), eye, -eye])
        total = sparse.csr_array(np.append(self.p, np.zeros(2 * SIZE))[None])
        matrix = sparse.csr_array(sparse.vstack([conditions, total] if c == 2 else [conditions, ordered, total]))
        height = matrix.shape[0]
        slope, radius = self.slope(row) - prices, region * (0.2 + row)
        solution = solve_once(
            np.append(slope, np.zeros(2 * SIZE)),
            np.append(np.maximum(row - radius, 0.0), np.zeros(2 * SIZE)),
            np.append(row + radius, np.full(2 * SIZE, WIDEST)),
            matrix,
            np.append(np.full(height - 1, -INFINITE), 1.0),
            np.append(np.zeros(height - 1), 1.0),
            presolve=False,
        )
        if solution is None:
            return None
        if self.joint.reads_secret:
            return self._inside(solution.point[:n], solution.point[n:].reshape(2, SIZE), special)
        row = np.maximum(solution.point[:n], 0.0)
        return np.asarray(weaker(self.joint, self.notion, row[None] / (row @ self.p))[0])

    def _inside(self, row: Floats, phi: Floats, special: NDArray[np.bool_]) -> Floats | None:
        """The same row, every secret as weak as its side of the curves asks for."""
        v = self.spread(row)
        high, low = self._extremes(v)
        ceiling = self.price * np.where(special[:, None], phi[1], phi[0])
        floor = np.where(special[:, None], phi[0], phi[1])
        mean = (v * self.ball.conditional).sum(axis=1, keepdims=True)
        level = np.clip(mean, floor.max(axis=1, keepdims=True), ceiling.min(axis=1, keepdims=True))
        rise, fall = high.value - mean, mean - low.value
        weakest = np.ones(rise.shape)
        np.divide(ceiling - level, rise, out=weakest, where=rise > FLAT)
        np.minimum(weakest, np.divide(level - floor, fall, out=np.ones(fall.shape), where=fall > FLAT), out=weakest)
        strength = weakest.min(axis=1, keepdims=True)
        inside = np.maximum(level + np.clip(strength, 0.0, 1.0) * (v - mean), 0.0).ravel()[self.own]
        total = float(inside @ self.p)
        return inside / total if total > 0 else None
