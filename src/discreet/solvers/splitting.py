"""The prior over the letters, split into permitted rows: what a problem is where no names are needed (theory 1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from discreet.arrays import Floats, Indices
from discreet.notions.notion import Average, Cone


@dataclass(frozen=True, eq=False)
class Splitting:
    """Split `prior` over the input letters into rows of `cone`; the target of letter z is T = `target[z]`.

    A task that the letter does not determine has P(T=t | z) in `shares[t, z]` instead. `average` is what the mechanism
    must satisfy beside its rows. `letters` says which of the `size` letters of the mechanism these are; the others
    carry no mass and no condition mentions them, so every row may treat them as it treats nobody: Q[y, z] = q_y.
    """

    prior: Floats
    target: Indices
    cone: Cone
    letters: Indices
    size: int
    average: Average | None = None
    shares: Floats | None = None

    def reduced(self) -> Splitting:
        """The same without letters of mass zero that occur in no condition.

        Letters of mass zero that do occur (RLDP) stay: they constrain, with zero utility. The rows of a cone with a
        `separate` are not all known; a letter is then silent if neither it alone nor all others without it are refused.
        """
        silent = (self.prior == 0) & ~np.any(self.cone.rows != 0, axis=0)
        if self.cone.separate is not None:
            for z in np.flatnonzero(silent):
                silent[z] = not _weighed(self.cone.separate, len(self.prior), int(z))
        return self.keeping(np.flatnonzero(~silent))

    def keeping(self, keep: Indices) -> Splitting:
        """The same for these letters alone."""
        if len(keep) == len(self.prior):
            return self
        cone = Cone(self.cone.rows[:, keep], _restricted(self.cone.separate, keep, len(self.prior)))
        target = np.unique(self.target[keep], return_inverse=True)[1]
        average = None if self.average is None else replace(self.average, forms=self.average.forms[:, keep])
        shares = None if self.shares is None else self.shares[:, keep]
        return Splitting(self.prior[keep], target, cone, self.letters[keep], self.size, average, shares)


def _weighed(separate: Callable[[Floats], Floats], size: int, z: int) -> bool:
    alone, others = np.zeros(size), np.ones(size)
    alone[z] = 1.0
    others[z] = 0.0
    return len(separate(alone)) > 0 or len(separate(others)) > 0


def _restricted(
    separate: Callable[[Floats], Floats] | None, keep: Indices, size: int
) -> Callable[[Floats], Floats] | None:
    if separate is None:
        return None
    found: Callable[[Floats], Floats] = separate

    def restricted(row: Floats) -> Floats:
        full = np.zeros(size)
        full[keep] = row
        return found(full)[:, keep]

    return restricted
