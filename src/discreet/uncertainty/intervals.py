"""Limits l_s ≤ P(·|s) ≤ u_s for every secret, in whole numbers over 2^40, and the set F that they leave (theory 5.2).

There is no budget to share between secrets: every conditional moves within its own limits, and its extremes are greedy
fills. Where the masses P(s) have limits too (RLIP), they move freely of the conditionals.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.exceptions import InfeasibleError, ParameterError
from discreet.uncertainty.extremes import Extreme
from discreet.uncertainty.filling import largest_fill, most_likely_fill, smallest_fill
from discreet.uncertainty.tails import ONE
from discreet.uncertainty.uncertainty import UncertaintySet


@dataclass(frozen=True, eq=False)
class Intervals:
    """l_s ≤ P(·|s) ≤ u_s, one row per secret, as whole numbers over 2^40; limits of the masses P(s) where they matter.

    `counts` are what the limits rest on, noisy ones perhaps. Where letters were met rather than declared, P(·|s) is the
    law of those who have one of them, and `unmet` is at most what share of each secret has others (theory 5.1).
    """

    lower: Integers
    upper: Integers
    counts: Integers
    mass_lower: Integers | None = None
    mass_upper: Integers | None = None
    unmet: Integers | None = None

    def __post_init__(self) -> None:
        rows = [(self.lower, self.upper)]
        if self.mass_lower is not None and self.mass_upper is not None:
            rows.append((self.mass_lower[None, :], self.mass_upper[None, :]))
        for low, high in rows:
            possible = (low.sum(axis=1) <= ONE) & (high.sum(axis=1) >= ONE) & (low <= high).all(axis=1)
            if not (possible.all() and (low >= 0).all() and (high <= ONE).all()):
                raise InfeasibleError(
                    "no distribution lies within the limits",
                    where="Confidence",
                    remedy="With noisy counts this happens by chance; use a larger ε0 or a higher confidence.",
                )

    @cached_property
    def low(self) -> Floats:
        return np.asarray(self.lower / ONE)

    @cached_property
    def high(self) -> Floats:
        return np.asarray(self.upper / ONE)

    @cached_property
    def masses(self) -> tuple[Floats, Floats]:
        if self.mass_lower is None or self.mass_upper is None:
            raise ParameterError(
                "no limits for the masses of secrets", where="Intervals", remedy="Build them with masses=True."
            )
        return np.asarray(self.mass_lower / ONE), np.asarray(self.mass_upper / ONE)

    @cached_property
    def estimate(self) -> Floats:
        """P(u|s) for the design, one row per secret: the shares counted, moved into F where noise left it."""
        return most_likely_fill(self.counts.astype(float), self.low, self.high)


@dataclass(frozen=True, eq=False)
class IntervalSet(UncertaintySet):
    """F = {P : l_s ≤ P(·|s) ≤ u_s for every s}, and the masses within their limits where there are any.

    A secret that nobody has may look like anything: its limits are 0 and 1, and it is compared all the same.
    """

    limits: Intervals
    estimate: Floats

    @property
    def conditional(self) -> Floats:
        return self.limits.estimate

    @cached_property
    def mass(self) -> Floats:
        return np.asarray(self.estimate.sum(axis=1))

    @property
    def masses(self) -> tuple[Floats, Floats] | None:
        return None if self.limits.mass_lower is None else self.limits.masses

    @property
    def inside(self) -> bool:
        """Whether the estimate lies in F; it does unless noise moved it out."""
        return bool(self.contains(self.estimate))

    def ranges(self, rows: Floats) -> tuple[Extreme, Extreme]:
        found = (fill(rows, self.limits.low, self.limits.high) for fill in (largest_fill, smallest_fill))
        most, least = (Extreme(one.value, one.attained_at, np.zeros_like(one.value)) for one in found)
        return most, least

    def drawn(self, rows: Floats) -> tuple[Extreme, Extreme, Floats, Floats]:
        """The same as `ranges`, but a share `unmet` of a secret is drawn from the law of all outputs, that of the
        estimate, where this is worse (theory 5.1): how much of each extreme that is, and what is left of its law."""
        most, least = self.ranges(rows)
        law = (rows * self.estimate).sum(axis=(-2, -1))[..., None]
        up, down = (np.where(worse, self.unmet, 0.0) for worse in (law > most.value, law < least.value))
        return self._mixed(most, law, up), self._mixed(least, law, down), up, down

    @property
    def unmet(self) -> Floats:
        """At most what share of each secret has letters that were never met."""
        return np.zeros(len(self.estimate)) if self.limits.unmet is None else self.limits.unmet / ONE

    def _mixed(self, extreme: Extreme, law: Floats, share: Floats) -> Extreme:
        value = extreme.value + share * (law - extreme.value)
        return Extreme(value, (1 - share)[..., None] * extreme.attained_at, extreme.rate)

    def contains(self, distribution: Floats, tolerance: float = 1e-9) -> np.ndarray[Any, np.dtype[np.bool_]]:
        cells = np.asarray(distribution, dtype=float)
        masses = cells.sum(axis=-1, keepdims=True)
        conditional = np.divide(
            cells, masses, out=np.broadcast_to(self.conditional, cells.shape).copy(), where=masses > 0
        )
        good = ((conditional >= self.limits.low - tolerance) & (conditional <= self.limits.high + tolerance)).all(
            axis=-1
        )
        if self.masses is not None:
            low, high = self.masses
            good &= (masses[..., 0] >= low - tolerance) & (masses[..., 0] <= high + tolerance)
        return np.asarray(good.all(axis=-1))

    def attained(self, conditionals: dict[int, Floats]) -> Floats:
        """As for every set without a budget; the masses are those of the estimate where they have limits."""
        if self.masses is None:
            return super().attained(conditionals)
        chosen = self.conditional.copy()
        for secret, conditional in conditionals.items():
            chosen[secret] = conditional
        return np.asarray(most_likely_fill(self.mass, *self.masses)[:, None] * chosen)
