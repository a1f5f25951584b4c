"""The curves that every band hangs on (theory 1.8).

If A_s(v_s; x) ≤ e^ε φ(x) and φ(x) ≤ B_s(v_s; κ − x) for every secret and split x, a row is (ε, F)-RLDP, since no P
in F can spend the budget twice. Given φ the problem falls apart into one splitting a secret.

No secret is compared with itself, so one of them may go beyond: with two curves φ₀ ≤ φ₁ the others stay between φ₁ and
e^ε φ₀, and it between φ₀ and e^ε φ₁. (Nothing more is to be had at one x: the largest A_s and the smallest B_t either
belong to two secrets, and one curve lies between them, or to one secret, and two curves do.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.solvers.robust.shapes import Band
from discreet.uncertainty.ball import Ball

Floats = NDArray[np.float64]


def splits(ball: Ball, size: int) -> Floats:
    """The grid of splits, denser at both ends where the bands are steep."""
    grid = ball.budget * np.sin(np.linspace(0, np.pi / 2, size)) ** 2
    grid[-1] = ball.budget
    return np.asarray(grid)


@dataclass(frozen=True, eq=False)
class Curves:
    """φ[kind, 0 or 1, split], and for every kind the secret that may go beyond."""

    price: float
    phi: Floats
    special: tuple[int, ...]

    @classmethod
    def first(cls, size: int, price: float, heaviest: int) -> Curves:
        """φ₀ = φ₁ = a (1 − b (1 − x/κ)^½): near enough to be improved, at all privacy levels."""
        curve = price**-0.2 * (1 - (1 - price**-0.53) * np.cos(np.linspace(0, np.pi / 2, size)))
        return cls(price, np.stack([curve, curve])[None], (heaviest,))

    def tilted(self, by: float) -> Floats:
        """The first curves, steeper or (by < 0) flatter."""
        tilt = np.exp(by * (np.linspace(0, 2, self.size) - 1))
        return np.asarray(np.clip(self.phi[0] * tilt, 1 / self.price, 1.0))

    def joined(self, others: list[Floats]) -> Curves:
        """Further kinds, in which the same secret may go beyond."""
        phi = np.concatenate([self.phi, np.array(others)])
        return replace(self, phi=phi, special=self.special + self.special[:1] * len(others))

    def take(self, kinds: NDArray[np.intp]) -> Curves:
        return replace(self, phi=self.phi[kinds], special=tuple(self.special[kind] for kind in kinds))

    def alone(self) -> Floats:
        """Curves that leave nearly all of e^2ε to the secret that may go beyond."""
        rest = np.cos(np.linspace(0, np.pi / 2, self.size)) ** 0.6
        return np.stack([np.full(self.size, 1 / self.price), 1 - 0.1 * rest])

    @property
    def size(self) -> int:
        return int(self.phi.shape[2])

    def refined(self, size: int) -> Curves:
        old, new = (np.linspace(0, 1, n) for n in (self.size, size))
        between = np.array([np.interp(new, old, curve) for curve in self.phi.reshape(-1, self.size)])
        return replace(self, phi=between.reshape(*self.phi.shape[:2], size))

    def sides(self, secret: int) -> list[tuple[int, int]]:
        """For every kind which of its curves is under the ceiling of this secret, and which is its floor."""
        return [(1, 0) if secret == special else (0, 1) for special in self.special]

    def bands(self, secret: int) -> list[Band]:
        return [Band(self.price * phi[c], phi[f]) for phi, (c, f) in zip(self.phi, self.sides(secret), strict=True)]
