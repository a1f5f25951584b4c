"""Probabilities at the end of floating point are proven as whole numbers, however large these become."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import discreet as dc

SMALL = np.array([[9.09080788e-321, 9.09e-16], [9.09e-2, 0], [9.09080788e-321, 9.09080788e-321], [0, 9.09e-301]])
SMALL[1, 1] = 1 - SMALL.sum()
NO_ZERO = np.array([[1, 1, 1, 2, 1, 4, 3, 1], [4, 6, 6, 5, 5, 3, 2, 6], [3, 1, 1, 1, 2, 1, 3, 1]])
WITH_ZERO = np.array([[0, 0, 0, 0, 0, 2, 0, 0], [0, 2, 2, 1, 1, 0, 2, 1], [2, 0, 0, 1, 1, 0, 0, 1]])


def srlip_level(prior: np.ndarray, weights: np.ndarray) -> float:
    """With nothing known, and with x known, in fractions."""
    cells = [[Fraction(cell) for cell in row] for row in prior.tolist()]
    worst = 0.0
    for row in weights.reshape(len(weights), *prior.shape).tolist():
        for known in ([0, 1], [0], [1]):
            told = [
                (sum(p[x] * int(w[x]) for x in known), sum(p[x] for x in known))
                for p, w in zip(cells, row, strict=True)
            ]
            whole = Fraction(sum(m for m, _ in told), sum(p for _, p in told))
            worst = max([worst, *(abs(math.log(m / p / whole)) for m, p in told if p)])
    return worst


def test_side_channels_of_the_smallest_probabilities() -> None:
    """Once an output that nobody with a letter has was a small integer beside one that no float is as large as."""
    joint = dc.Joint(SMALL, sees_secret=True)
    assert dc.Protocol(NO_ZERO, 3, joint, dc.SRLIP(9.0)).epsilon == pytest.approx(srlip_level(SMALL, NO_ZERO), abs=2e-9)
    with pytest.raises(dc.ProofError, match="SRLIP is not proven"):
        dc.Protocol(WITH_ZERO, 1, joint, dc.SRLIP(9e5))
