"""Averages proven in integers, held against sixty-digit decimals and fractions that share no code with the proof."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

import discreet as dc
from discreet.certify import PROVERS, level_upper_bound, prove, round_columns
from discreet.certify.average_proofs import SecretMasses, information_above
from discreet.exceptions import ProofError
from discreet.testing import joints_with_channels

BITS = 30


def masses(joint: dc.Joint, weights: np.ndarray) -> list[list[Fraction]]:
    """P(s, y) as fractions, by the definition."""
    counts, n = joint.table * joint.n, joint.n
    letters = range(weights.shape[1])
    return [
        [sum(Fraction(round(counts[s, x]) * int(row[x]), n << BITS) for x in letters) for row in weights]
        for s in range(len(counts))
    ]


def information(together: list[list[Fraction]]) -> Decimal:
    with localcontext() as context:
        context.prec = 60
        p, q = [sum(row) for row in together], [sum(column) for column in zip(*together, strict=True)]
        total = Decimal(0)
        for s, row in enumerate(together):
            for y, mass in enumerate(row):
                if mass:
                    ratio = mass / (p[s] * q[y])
                    logarithm = (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()
                    total += Decimal(mass.numerator) / Decimal(mass.denominator) * logarithm
        return total


@settings(max_examples=40, deadline=None)
@given(joints_with_channels())
def test_the_bounds_are_the_truth_rounded_up(case: tuple[dc.Joint, dc.Channel]) -> None:
    joint, channel = case
    weights = round_columns(channel.matrix, BITS)
    together = masses(joint, weights)
    truth = information(together)
    bound = information_above(SecretMasses.of(weights, joint))
    with localcontext() as context:
        context.prec = 60
        above = Decimal(bound.numerator) / Decimal(bound.denominator) - truth
    assert Decimal("-1e-50") <= above < Decimal("1e-30")
    guesses = sum(max(column) for column in zip(*together, strict=True))
    largest = sum(
        max(mass / sum(row) for mass, row in zip(column, together, strict=True) if sum(row))
        for column in zip(*together, strict=True)
    )
    levels = {
        dc.Funnel(1.0): float(truth),
        dc.Guess(1.0): float(guesses),
        dc.MaximalLeakage(1.0): float(np.log(float(largest))),
    }
    for notion, level in levels.items():
        proven = level_upper_bound(weights, BITS, joint, notion)
        assert level - 1e-12 <= proven <= level + 2.1e-9
        assert abs(notion.level(dc.Channel(weights / 2.0**BITS), joint).epsilon - max(level, 0.0)) < 1e-9


JOINT = dc.Joint.from_counts([[30, 10, 5], [5, 20, 40], [9, 9, 2]])
WEIGHTS = round_columns(np.array([[0.7, 0.3, 0.2], [0.3, 0.7, 0.8]]), BITS)


@pytest.mark.parametrize("kind", [dc.Funnel, dc.MaximalLeakage, dc.Guess])
def test_what_is_a_little_too_much_is_refused(kind: type) -> None:
    level = level_upper_bound(WEIGHTS, BITS, JOINT, kind(1.0))
    assert prove(WEIGHTS, BITS, JOINT, kind(level)).epsilon == level
    for less in (level - 2e-9, level / 1.01):
        with pytest.raises(ProofError):
            prove(WEIGHTS, BITS, JOINT, kind(less))


def test_a_limit_that_is_one_percent_too_large_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted fault: the proof allows 1.01 M. The decimals say what it lets through."""
    truth = information(masses(JOINT, WEIGHTS))
    asked = dc.Funnel(float(truth) / 1.005)
    faulty = replace(PROVERS[dc.Funnel], limit=lambda nats: nats * Fraction(101, 100))  # type: ignore[type-var]
    monkeypatch.setitem(PROVERS, dc.Funnel, faulty)
    assert prove(WEIGHTS, BITS, JOINT, asked).epsilon == asked.nats
    assert truth > Decimal(asked.nats)


def test_ceilings_are_proven_too() -> None:
    channel = dc.Channel(np.array([[0.7, 0.3, 0.2], [0.3, 0.7, 0.8]]), JOINT.letters)
    made = dc.Protocol.make(channel, JOINT, dc.Funnel(0.5, ceiling=dc.LIP(2.0)))
    assert made.epsilon < 0.2
    with pytest.raises(ProofError):
        dc.Protocol.make(channel, JOINT, dc.Funnel(0.5, ceiling=dc.LIP(0.1)))
    with pytest.raises(ProofError):
        dc.Protocol.make(channel, JOINT, dc.Funnel(0.01, ceiling=dc.LIP(2.0)))
