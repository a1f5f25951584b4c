"""Both bounds of T over a Rényi ball lie outside the truth, in every order (theory 1.7)."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from discreet.certify import ball_terms
from discreet.certify.ball_terms import BUDGET_BITS, ExactBall, terms

CASES = 3000
ORDERS = [
    Fraction(n, d) for n, d in ((1, 50), (1, 10), (3, 10), (1, 2), (7, 10), (1, 1), (5, 4), (3, 2), (2, 1), (7, 1))
]
UNIT = 104
DIGITS = 120


def truth(order, counts, gaps, spent, records):
    """T_s(x) in the units of the gaps, to about a hundred digits."""
    mass = sum(counts)
    if mass == 0:
        return Decimal(0)
    shares = [(Decimal(n) / mass, Decimal(gap)) for n, gap in zip(counts, gaps, strict=True) if n]
    cost = Decimal(spent) * records / mass / 2**BUDGET_BITS
    if order == 1:
        if any(gap == 0 for _, gap in shares):
            return Decimal(0)
        return (sum(p * gap.ln() for p, gap in shares) - cost).exp()
    beta = (Decimal(order.numerator) - order.denominator) / order.numerator
    rho = 1 + (cost if beta > 0 else -cost)
    if rho <= 0 or (beta < 0 and any(gap == 0 for _, gap in shares)):
        return Decimal(0)
    mean = sum(p * (gap.ln() * beta).exp() for p, gap in shares if gap)
    return Decimal(0) if mean == 0 else ((mean / rho).ln() / beta).exp()


def case(rng, order):
    counts = rng.integers(0, 50, (2, int(rng.integers(1, 6)))).astype(object)
    counts[1, 0] += 1
    gaps = [
        int(2.0 ** rng.uniform(-20, 1) * 2**44) * 2 ** (UNIT - 44) * int(rng.random() > 0.1)
        for _ in range(counts.shape[1])
    ]
    spent = int(rng.random() ** 3 * 2**BUDGET_BITS) * int(rng.random() > 0.1)
    return ExactBall(counts, order, spent), gaps, spent


def outside(rng, order):
    """By how much the truth lies outside the bounds, and how wide they are, both relative to the largest gap."""
    ball, gaps, spent = case(rng, order)
    found = terms(ball, np.array([0]), np.array([gaps], dtype=object), np.array([spent], dtype=object), UNIT)
    with localcontext() as context:
        context.prec = DIGITS
        exact = truth(order, ball.cells[0].tolist(), gaps, spent, ball.records)
        slack = Decimal(10) ** (50 - DIGITS)
        low, high = Decimal(int(found.low[0])), Decimal(int(found.high[0]))
        return max(low - exact, exact - high) > slack * max(1, *gaps), float((high - low) / max(1, *gaps))


def test_the_bounds_enclose_the_truth_and_are_close_to_it():
    rng = np.random.default_rng(0)
    found = [outside(rng, ORDERS[i % len(ORDERS)]) for i in range(CASES)]
    assert not any(wrong for wrong, _ in found)
    assert sum(width < 1e-12 for _, width in found) > 0.95 * CASES


def test_roots_rounded_down_on_both_sides_are_noticed(monkeypatch):
    """The planted fault: the upper bound that once was."""

    def square(counts, gaps, left):
        roots = np.frompyfunc(math.isqrt, 1, 1)(gaps << 2 * ball_terms.ROOT_BITS)
        quotient = ((counts * roots).sum(axis=1) << BUDGET_BITS) // left
        return quotient**2 >> 2 * ball_terms.ROOT_BITS, ((quotient + 1) ** 2 >> 2 * ball_terms.ROOT_BITS) + 1

    monkeypatch.setattr(ball_terms, "_square", square)
    rng = np.random.default_rng(0)
    assert any(outside(rng, Fraction(2))[0] for _ in range(300))


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_what_a_distance_costs_is_enclosed_as_well(order):
    rng = np.random.default_rng(1)
    for _ in range(20):
        ball, gaps, spent = case(rng, order)
        found = terms(ball, np.array([0]), np.array([gaps], dtype=object), np.array([spent], dtype=object), UNIT)
        distance = np.array([int(rng.integers(1, 2**60))], dtype=object)
        assert found.fall_low(distance)[0] <= found.fall_high(distance)[0]
