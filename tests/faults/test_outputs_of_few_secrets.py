"""Outputs that some secrets never have: once a ratio of zero to zero hid every other one of the same output, and RLDP
over confidence limits was proven for a mechanism that names a secret."""

from itertools import product
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.certify import level_upper_bound
from discreet.certify.interval_proof import WorstRatio, interval_ratios

BITS = 20
COUNTS = np.array([[40, 20], [30, 30], [0, 25]])
BEFORE = [("RLDP", dc.RLDP), ("RLIP", dc.RLIP)]


def curators(size: int, seed: int = 1) -> Any:
    """Weights of mechanisms that read S and X: some have outputs that secrets or cells never have."""
    rng, half = np.random.default_rng(seed), 2 ** (BITS - 1)
    told = np.array([0, 0, 0, 0, half, 0])
    yield np.array([2**BITS - told, told, 0 * told])  # half of a cell that nobody has been seen in is told outright
    for _ in range(size - 1):
        never = np.repeat(rng.random((3, 3)) < rng.choice([0, 0.6]), 2, axis=1) | (
            rng.random((3, 6)) < rng.choice([0, 0.2])
        )
        shares = (rng.random((3, 6)) + 0.1) * ~never
        shares[2] += shares.sum(axis=0) == 0
        weights = np.floor(shares / shares.sum(axis=0) * 2**BITS).astype(np.int64)
        weights[weights.argmax(axis=0), np.arange(COUNTS.size)] += 2**BITS - weights.sum(axis=0)
        yield weights


def joint() -> dc.Joint:
    return dc.Joint.from_counts(COUNTS).curator()


def corners(low: np.ndarray, high: np.ndarray) -> list[np.ndarray]:
    """The distributions between limits that are not between two others."""
    found = []
    for free in range(len(low)):
        for ends in product((0, 1), repeat=len(low) - 1):
            at = np.insert(np.where(ends, np.delete(high, free), np.delete(low, free)), free, 0.0)
            at[free] = 1 - at.sum()
            if low[free] - 1e-12 <= at[free] <= high[free] + 1e-12:
                found.append(at)
    return found


def ratio(above: float, below: float) -> float:
    return 1.0 if above <= 1e-15 else np.inf if below <= 1e-15 else above / below


def by_hand(weights: np.ndarray, kind: type) -> float:
    """The largest ratio over all corners of the set, listed."""
    stated = dc.Confidence(0.9).intervals(COUNTS, masses=kind is dc.RLIP)
    rows, worst = weights.reshape(3, 3, 2) / 2**BITS, 1.0
    each = [corners(low, high) for low, high in zip(stated.low, stated.high, strict=True)]
    masses = corners(*stated.masses) if kind is dc.RLIP else [np.ones(3)]
    for y in range(3):
        given = [[float(at @ rows[y, s]) for at in each[s]] for s in range(3)]
        for values in product(*given):
            if kind is dc.RLDP:
                worst = max(worst, *(ratio(a, b) for a, b in product(values, values)))
                continue
            for mass in masses:
                whole = float(mass @ values)
                worst = max(worst, *(max(ratio(one, whole), ratio(whole, one)) for one in values))
    return float(np.log(worst))


@pytest.mark.parametrize(("name", "kind"), BEFORE)
def test_levels_over_confidence_limits_are_those_of_all_corners(name: str, kind: type) -> None:
    infinite = 0
    for weights in curators(60):
        found, expected = (
            level_upper_bound(weights, BITS, joint(), kind(1.0, dc.Confidence(0.9))),
            by_hand(weights, kind),
        )
        infinite += np.isinf(expected)
        assert found == pytest.approx(expected, abs=1e-8) if np.isfinite(expected) else np.isinf(found)
    assert 10 < infinite < 60


@pytest.mark.parametrize(("name", "kind"), BEFORE)
def test_the_planted_fault_is_noticed(name: str, kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    def absorbed(self: WorstRatio, other: WorstRatio) -> WorstRatio:
        return other if other.numerator * self.denominator > self.numerator * other.denominator else self

    monkeypatch.setattr(WorstRatio, "worse", absorbed)
    limits = dc.Confidence(0.9).limits(joint(), masses=kind is dc.RLIP)
    found = [interval_ratios(one, joint(), limits, informed=kind is dc.RLIP).level for one in curators(60)]
    assert any(level < by_hand(one, kind) - 1e-6 for level, one in zip(found, curators(60), strict=True))


ROBUST = [
    *(kind(1.0, one) for kind in (dc.RLDP, dc.RLIP) for one in (dc.Confidence(0.9),)),
    *(dc.RLDP(1.0, one) for one in (dc.ChiSquare(0.9), dc.Renyi(2.0, 0.01), dc.Everything(), dc.Exactly())),
]


@pytest.mark.parametrize("notion", ROBUST, ids=str)
def test_no_robust_level_is_below_that_of_the_counts_themselves(notion: Any) -> None:
    """The counts are in every set."""
    plain = dc.LIP(1.0) if isinstance(notion, dc.RLIP) else dc.LDP(1.0)
    for weights in curators(40, seed=2):
        least = level_upper_bound(weights, BITS, joint(), plain)
        assert level_upper_bound(weights, BITS, joint(), notion) >= least - 1e-9
