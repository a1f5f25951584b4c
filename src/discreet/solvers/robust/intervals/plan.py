"""What every secret does on its own, planned for all of them in one linear program (theory 5.5 and 5.6).

Scale an output so that the smallest B_s is one; w is its weight, t_s = P̂_{U|s}·v_s, t̄ = Σ p_s t_s. Then

    I(S,U;Y) = Σ_s p_s Σ_y w_y μ(v_{s,y}) − Σ_y w_y h(t̄_y),        h(t) = t ln t.

Some secret t has B_t = 1 and A_t ≤ Eρ, all others lie in [ρ, E], for a ρ between 1 and E: the output's kind. Outputs of
one kind use rows of every secret with the same total weight W, whichever rows go together. Σ w h(t̄) ≥ T ln(T/W) with
T = Σ w t̄ (Jensen), which lies above its tangents T(1 + ln τ) − Wτ: a linear program over rows. Its value is what gluing
aims at, and over wide enough kinds a bound on every mechanism.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats
from discreet.solvers.problem import Effort
from discreet.solvers.restricted_master import GrowingProgram, Optimum
from discreet.solvers.robust.intervals.lists import Secret

TANGENTS = 12
ROUNDS = 60
GAIN = 1e-6
"""Rows that gain less than this, in nats, are not worth another round."""
USED = 1e-10
"""Weights above this are in use."""
MISSED = 1e-7
"""Tangents that are missed by less, in nats, are not worth another one."""


@dataclass(frozen=True)
class Kind:
    """One secret in [1, wide], the others in [narrow, E]; `even` if all are in [1, E] and no secret is singled out."""

    wide: float
    narrow: float
    even: bool = False


@dataclass(frozen=True, eq=False)
class Planned:
    """Rows with weights: whose they are, of which kind, and whether they are the wide ones."""

    rows: Floats
    weights: Floats
    secret: NDArray[np.intp]
    kind: NDArray[np.intp]
    wide: NDArray[np.bool_]
    shares: Floats
    """W of every kind (first axis) and secret that is the wide one; of an even kind in the first place."""


class Plan:
    """The linear program, its rows so far, and what they would gain."""

    def __init__(
        self,
        secrets: list[Secret],
        price: float,
        kinds: list[Kind],
        effort: Effort,
        about_secret: float = np.inf,
    ) -> None:
        """`about_secret` bounds I(S;Y) = Σ w (Σ p_s h(t_s) − h(t̄)), for a bound; a plan need not know it."""
        self.secrets, self.price, self.kinds, self._effort = secrets, price, kinds, effort
        c, k = len(secrets), len(secrets[0].estimate)
        self._c, self._k = c, k
        self._count_row = c * k + 2 * c * np.arange(len(kinds))
        self._mean_row = c * k + 2 * c * len(kinds) + np.arange(len(kinds))
        total = c * k + 2 * c * len(kinds) + len(kinds) + 1
        low, high = np.zeros(total), np.zeros(total)
        low[: c * k] = high[: c * k] = 1.0
        low[-1], high[-1] = -np.inf, about_secret
        self._program = GrowingProgram(low, high)
        self._size = total
        self._kept: list[tuple[Floats, int, int, bool, int]] = []
        self._seen: set[tuple[int, int, bool, bytes]] = set()
        self._shares = np.full((len(kinds), c), -1)
        for g, kind in enumerate(kinds):
            self._begin(g, kind)
        for g, s, wide in self.places():
            self.add(g, s, wide, np.array([np.full(k, level) for level in self.band(g, wide)]))

    def places(self) -> list[tuple[int, int, bool]]:
        """Every (kind, secret, wide or narrow) that has rows of its own."""
        c = self._c
        return [
            (g, s, wide)
            for g, kind in enumerate(self.kinds)
            for s in range(c)
            for wide in ((False,) if kind.even else (False, True))
        ]

    def band(self, g: int, wide: bool) -> tuple[float, float]:
        """The largest A and the smallest B of such rows."""
        kind = self.kinds[g]
        return (kind.wide, 1.0) if wide else (self.price, kind.narrow)

    def _begin(self, g: int, kind: Kind) -> None:
        """Weights of the kinds, T and z; rows of wide secrets follow those of narrow ones."""
        c, first = self._c, self._count_row[g]
        if kind.even:
            weights = np.zeros((1, self._size))
            weights[0, first : first + c] = -1
        else:
            weights = np.zeros((c, self._size))
            weights[:, first : first + c] = np.eye(c) - 1
            weights[:, first + c : first + 2 * c] = -np.eye(c)
        places = self._program.columns + np.arange(len(weights))
        self._shares[g, : len(places)] = places
        self._program.add_columns(np.zeros(len(weights)), weights)
        mean = np.zeros((1, self._size))
        mean[0, self._mean_row[g]] = -1
        self._program.add_columns(np.zeros(1), mean)
        lost = np.zeros((2, self._size))
        lost[:, -1] = 1.0, -1.0
        self._program.add_columns(np.array([1.0, -1.0]), lost)
        for tau in np.geomspace(1.0, self.price, TANGENTS):
            self._tangent(g, float(tau))

    def _tangent(self, g: int, tau: float) -> None:
        """z + T(1 + ln τ) − τ Σ W ≤ 0"""
        weights = self._shares[g][self._shares[g] >= 0]
        mean = weights[-1] + 1
        places = np.concatenate([[mean + 1, mean + 2, mean], weights])
        entries = np.concatenate([[1.0, -1.0, 1.0 + np.log(tau)], np.full(len(weights), -tau)])
        self._program.add_row(-np.inf, 0.0, places, entries)

    def add(self, g: int, s: int, wide: bool, rows: Floats) -> int:
        """New rows of a secret; how many are new."""
        secret = self.secrets[s]
        new: list[Floats] = []
        for row in rows:
            key = (g, s, wide, np.round(row, 10).tobytes())
            if key not in self._seen:
                self._seen.add(key)
                self._kept.append((row, g, s, wide, self._program.columns + len(new)))
                new.append(row)
        if not new:
            return 0
        fresh = np.array(new)
        columns = np.zeros((len(fresh), self._size))
        columns[:, s * self._k : (s + 1) * self._k] = fresh
        columns[:, self._count_row[g] + s + (self._c if wide else 0)] = 1.0
        columns[:, self._mean_row[g]] = secret.mass * (fresh @ secret.estimate)
        columns[:, -1] = secret.mass * secret.told(fresh)
        self._program.add_columns(secret.worth(fresh), columns)
        return len(fresh)

    def prices(self, found: Optimum, g: int, s: int, wide: bool) -> tuple[Floats, float]:
        """α and the price of being used at all: a row gains p_s μ(v) − α·v − that."""
        secret = self.secrets[s]
        alpha = found.prices[s * self._k : (s + 1) * self._k]
        mean = found.prices[self._mean_row[g]] * secret.mass
        counted = found.prices[self._count_row[g] + s + (self._c if wide else 0)]
        return np.asarray(alpha + mean * secret.estimate), float(counted)

    def damping(self, found: Optimum) -> float:
        """The price of what is told about S, at most one."""
        return float(np.clip(found.prices[self._mean_row[-1] + 1], 0.0, 1.0))

    def tangents(self, found: Optimum) -> Floats:
        """The τ of every kind that its price of T stands for: t̄ lies in [1, E], so τ does."""
        damping = self.damping(found)
        if damping >= 1:
            return np.ones(len(self.kinds))
        logs = found.prices[self._mean_row] / (1 - damping) - 1
        return np.asarray(np.exp(np.clip(logs, 0.0, np.log(self.price))))

    def generate(self, tolerance: float = GAIN) -> Optimum:
        """Rows that gain are added until none does, as far as climbing sees, or time is up. Climbing begins at the best
        rows of two levels, too, once it finds nothing without them."""
        found, thorough = self._program.solve(), False
        for _ in range(ROUNDS):
            gained, used = 0.0, [self._used(found, s) for s in range(self._c)]
            damping = self.damping(found)
            for g, s, wide in self.places():
                if self._effort.late():
                    return self._program.solve()
                alpha, base = self.prices(found, g, s, wide)
                rows = self.secrets[s].promising(alpha, *self.band(g, wide), used[s], damping, thorough=thorough)
                gains = self.secrets[s].worth(rows, damping) - rows @ alpha - base
                useful = gains > tolerance * self.secrets[s].mass
                if useful.any() and self.add(g, s, wide, rows[useful]):
                    gained += float(gains.max())
            missed = self.refine(found)
            found = self._program.solve()
            if self._effort.late() or (thorough and gained <= tolerance and not missed):
                break
            thorough = gained <= tolerance
        return found

    def _used(self, found: Optimum, s: int) -> Floats:
        """Rows of a secret in use, of whatever kind."""
        return np.array([row for row, _, of, _, place in self._kept if of == s and found.x[place] > USED])

    def refine(self, found: Optimum) -> bool:
        """Tangents where the plan stands now; whether any was needed."""
        needed = False
        for g in range(len(self.kinds)):
            weights = self._shares[g][self._shares[g] >= 0]
            total, mean = found.x[weights].sum(), found.x[weights[-1] + 1]
            if total > USED and mean > 0:
                tau = float(np.clip(mean / total, 1.0, self.price))
                if found.x[weights[-1] + 2] - found.x[weights[-1] + 3] > -mean * np.log(mean / total) + MISSED:
                    self._tangent(g, tau)
                    needed = True
        return needed

    def planned(self, found: Optimum) -> Planned:
        """The rows in use."""
        used = [entry for entry in self._kept if found.x[entry[4]] > USED]
        rows, g, s, wide, places = (list(part) for part in zip(*used, strict=True))
        shares = np.where(self._shares >= 0, found.x[self._shares], 0.0)
        return Planned(
            np.array(rows), found.x[places], np.array(s), np.array(g), np.array(wide), np.maximum(shares, 0.0)
        )
