"""Letters that were met rather than declared: limits hold whatever other letters there are (theory 5.1)."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.solvers.robust.intervals.cones import interval_cone
from discreet.solvers.robust.rescaling import largest_miss
from discreet.uncertainty import met_letters
from discreet.uncertainty.met_letters import TAKEN, _evidence, unmet_share
from discreet.uncertainty.tails import ONE, lower_limit_met, upper_limit_met


def tail(n: int, m: int, p: Fraction) -> Fraction:
    return sum((comb(n, b) * p**b * (1 - p) ** (n - b) for b in range(m, n + 1)), Fraction(0))


@pytest.mark.parametrize(("n", "m"), [(5, 2), (30, 4), (30, 30), (200, 1), (200, 17), (60, 0)])
def test_limits_are_the_last_whose_tail_is_their_share(n: int, m: int) -> None:
    share = Fraction(1, 40)
    low, high = lower_limit_met(n, m, share, 0.3), upper_limit_met(n, m, share, 0.3)
    if m < 2:
        assert low == 0
    else:
        p, after = Fraction(low, ONE), Fraction(low + 2, ONE)
        assert tail(n, m, p) <= share * p
        assert tail(n, m, after) > share * after
    p, before = Fraction(high, ONE), Fraction(high - 2, ONE)
    if high < ONE:
        assert 1 - tail(n, m + 1, p) <= share * p
    assert 1 - tail(n, m + 1, before) > share * before


def test_the_tail_is_a_rising_share_below_a_lower_limit_and_a_falling_one_above_an_upper_limit() -> None:
    for n, m in ((5, 2), (12, 3), (12, 12), (40, 9)):
        grid = [Fraction(i, 200) * Fraction(m - 1, n - 1) for i in range(1, 201)]
        shares = [tail(n, m, p) / p for p in grid]
        assert shares == sorted(shares)
    for n, m in ((5, 0), (12, 3), (40, 9)):
        shares = [(1 - tail(n, m + 1, Fraction(i, 100))) / Fraction(i, 100) for i in range(1, 100)]
        assert shares == sorted(shares, reverse=True)


@pytest.mark.parametrize(
    "column", [[[3, 2, 0, 1], [0, 4, 1, 1]], [[0, 0, 5], [2, 2, 0]], [[1, 1, 1], [0, 0, 6]]], ids=str
)
def test_evidence_is_the_mean_over_all_that_might_be_taken_out(column: list[list[int]]) -> None:
    counts, x = np.array(column), Fraction(3, 8)
    own, others = counts[0].tolist(), counts[1:].sum(axis=0).tolist()
    letters = [u for u, n in enumerate(own) for _ in range(n)]
    alone = [n for u, n in enumerate(own) if n and not others[u]]
    shared = sum(n for u, n in enumerate(own) if others[u])
    for taken, (mantissa, exponent) in zip(
        TAKEN, _evidence(int(x * ONE), shared, [(n, 1) for n in alone]), strict=True
    ):
        mean = Fraction(0)
        for out in product((False, True), repeat=len(letters)):
            left = {u for u, gone in zip(letters, out, strict=True) if not gone} | {
                u for u, n in enumerate(others) if n
            }
            new = sum(gone and u not in left for u, gone in zip(letters, out, strict=True))
            chance = taken ** sum(out) * (1 - taken) ** (len(out) - sum(out))
            mean += chance * (0 if new else (1 - x) ** -sum(out))
        found = Fraction(mantissa) * Fraction(2) ** exponent
        assert found <= mean
        assert mean - found <= mean / 2**100


LAWS = {
    "two letters": ([np.full(2, 0.5)] * 2, (20, 20)),
    "ten and a tail": ([np.full(10, 0.1), np.r_[0.7, np.full(9, 0.3 / 9)]], (50, 200)),
    "half of it rare": ([np.r_[0.5, np.full(2000, 0.5 / 2000)], np.r_[0.5, 0.5, np.zeros(1999)]], (300, 300)),
    "ten thousand": ([np.full(10_000, 1e-4), np.r_[1.0, np.zeros(9999)]], (500, 500)),
    "nothing in common": ([np.r_[np.full(50, 0.02), np.zeros(50)], np.r_[np.zeros(50), np.full(50, 0.02)]], (80, 400)),
}


def missed(laws: list[np.ndarray], sizes: tuple[int, ...], *, met: bool, samples: int = 60) -> float:
    """In which share of samples the law of those with a known letter, or the share of the others, is outside."""
    rng, stated, times = np.random.default_rng(7), dc.Confidence(0.8), 0
    for _ in range(samples):
        counts = np.array([rng.multinomial(n, law) for n, law in zip(sizes, laws, strict=True)])
        seen = counts.any(axis=0)
        found = stated.met_intervals(counts[:, seen], (1,)) if met else stated.intervals(counts[:, seen])
        known = np.array([law[seen] / law[seen].sum() for law in laws])
        others = np.array([law[~seen].sum() for law in laws])
        beyond = found.unmet is not None and bool((others > found.unmet / ONE).any())
        times += beyond or bool((known < found.low - 1e-9).any() or (known > found.high + 1e-9).any())
    return times / samples


@pytest.mark.parametrize("name", LAWS)
def test_the_set_contains_the_truth_whatever_other_letters_there_are(name: str) -> None:
    assert missed(*LAWS[name], met=True) <= 0.2


def test_limits_of_declared_letters_do_not_where_most_were_never_met() -> None:
    assert missed(*LAWS["half of it rare"], met=False) == 1.0


def test_a_share_that_forgets_who_is_alone_is_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted fault: nothing is taken off for letters that only one secret has."""
    counts = np.array([[1] * 80 + [80], [0] * 80 + [400]])
    honest = unmet_share(counts, 0, Fraction(1, 20)) / ONE
    monkeypatch.setattr(met_letters, "_less", lambda more, less: more)
    assert unmet_share(counts, 0, Fraction(1, 20)) / ONE < 0.15 < 0.5 <= honest


@pytest.mark.parametrize("form", ["funnel", "curator", "secret too"])
@pytest.mark.parametrize("kind", [dc.RLDP, dc.RLIP])
def test_what_a_row_misses_is_what_its_conditions_say(kind: Any, form: str) -> None:
    """Conditions at the worst laws, those of letters that were never met included, in both searches."""
    rng = np.random.default_rng(5)
    secret = rng.choice(3, 900, p=[0.5, 0.4, 0.1])
    table = pa.table({"s": secret, "x": (3 * secret + rng.integers(0, 8, 900)).astype(str)})
    joint = dc.Joint.from_table(table, secret="s", release="x", include_secret=form == "secret too", force=True)
    joint = joint.curator() if form == "curator" else joint
    notion, found = kind(0.7), 0
    known = notion.known(joint) if kind is dc.RLIP else notion.uncertainty.around(joint)
    for cone in (notion.cone(joint), interval_cone(joint, notion, 0.0)):
        for v in rng.random((40, len(joint.prior))) ** 3:
            v /= joint.prior @ v
            missed = largest_miss(joint, notion, v[None], float(np.exp(0.7)))
            assert cone.separate is not None
            rows = cone.separate(v)
            assert (rows @ v).max(initial=-np.inf) == pytest.approx(missed if missed > 0 else -np.inf, rel=1e-9)
            found += known.drawn(joint.expand(v)[None])[2].any()
    assert found > 0


def test_masses_are_those_of_people_whose_secret_was_met() -> None:
    """Half of all have one secret, the others ten thousand more, nearly all of them alone in the sample."""
    rng, stated, law = np.random.default_rng(9), dc.Confidence(0.8), np.r_[0.5, np.full(10_000, 0.5 / 10_000)]
    outside = narrow = 0
    for _ in range(40):
        sizes = rng.multinomial(60, law)
        met = sizes > 0
        found = stated.met_intervals(np.column_stack([sizes[met], np.zeros(met.sum(), np.int64)]), (1,), masses=True)
        low, high = found.masses
        known = law[met] / law[met].sum()
        outside += bool(((known < low - 1e-9) | (known > high + 1e-9)).any())
        plain = upper_limit_met(60, int(sizes[0]), Fraction(1, 125), 0.8) / ONE  # the control: as if all had been met
        narrow += bool(known[0] > plain)
    assert outside == 0
    assert narrow > 20
