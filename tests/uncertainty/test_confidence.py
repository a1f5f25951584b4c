"""Confidence intervals: limits proven in integers, coverage, the greedy fill."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import beta, binom

from discreet.exceptions import DistributionError, InfeasibleError, ParameterError
from discreet.uncertainty.confidence import Confidence
from discreet.uncertainty.filling import largest_fill, most_likely_fill, range_of_sets, smallest_fill
from discreet.uncertainty.intervals import Intervals
from discreet.uncertainty.tail_guesses import closed_tail
from discreet.uncertainty.tails import ONE, Decay, lower_limit, noise_reach, tail_upper, upper_limit

TAIL = Fraction(1, 20) / 480


def noise_mass(a: float, reach: int) -> np.ndarray:
    z = np.arange(-reach, reach + 1)
    return (1 - a) / (1 + a) * a ** np.abs(z)


def exact_tail(n: int, m: int, limit: int) -> Fraction:
    """P(B ≥ m), without any rounding."""
    p = Fraction(limit, ONE)
    return sum((comb(n, b) * p**b * (1 - p) ** (n - b) for b in range(max(m, 0), n + 1)), Fraction(0))


@pytest.mark.parametrize(("n", "m"), [(1, 1), (7, 3), (20, 1), (40, 39), (40, 40)])
def test_a_limit_is_the_last_one_whose_tail_is_small_in_rational_arithmetic(n, m):
    limit = lower_limit(n, m, TAIL, None, 0.5)
    assert exact_tail(n, m, limit) <= TAIL < exact_tail(n, m, limit + 1)
    assert limit / ONE == pytest.approx(beta.ppf(float(TAIL), m, n - m + 1), abs=2e-12)


@pytest.mark.parametrize(("n", "m"), [(32_561, 10), (32_561, 16_000), (4_000, 1_200), (250_000, 3)])
def test_limits_of_large_tables_agree_with_the_beta_quantile(n, m):
    assert lower_limit(n, m, TAIL, None, 0.1) / ONE == pytest.approx(beta.ppf(float(TAIL), m, n - m + 1), abs=2e-12)
    assert upper_limit(n, m, TAIL, None, 0.1) / ONE == pytest.approx(beta.isf(float(TAIL), m + 1, n - m), abs=2e-12)


def test_the_guess_changes_nothing():
    decay = Decay.of(Fraction(1, 2))
    for guess in (0.0, 0.2, 0.3, 1.0):
        assert lower_limit(900, 250, TAIL, decay, guess) == lower_limit(900, 250, TAIL, decay, 0.25)


@pytest.mark.parametrize("rate", [Fraction(1, 20), Fraction(1, 2), Fraction(3, 2)])
@pytest.mark.parametrize(("n", "m"), [(30, -4), (30, 0), (30, 11), (30, 33), (1_500, 700), (1_500, 20)])
def test_the_tail_with_noise_is_the_convolution(rate, n, m):
    a, limit = float(np.exp(-float(rate))), ONE // 3
    mass = np.convolve(binom.pmf(np.arange(n + 1), n, limit / ONE), noise_mass(a, 1_500))
    convolved = mass[max(m + 1_500, 0) :].sum()
    assert float(closed_tail(n, m, limit / ONE, a)) == pytest.approx(convolved, rel=1e-9, abs=1e-13)
    bound = float(tail_upper(n, m, limit, Decay.of(rate)))
    assert bound == (pytest.approx(convolved, rel=1e-9, abs=1e-13) if m > n / 3 else 1.0)


def test_the_tail_in_integers_is_above_the_rational_one():
    for n, m, limit in ((12, 5, ONE // 7), (30, 2, 12345), (25, 25, ONE - ONE // 9)):
        assert (
            exact_tail(n, m, limit)
            <= tail_upper(n, m, limit, None)
            <= exact_tail(n, m, limit) * (1 + Fraction(1, 2**80))
        )


@pytest.mark.parametrize("noise", [None, Fraction(1)])
@pytest.mark.parametrize("n", [1, 2, 9, 50])
def test_one_cell_is_covered_for_every_probability(n, noise):
    """By enumeration; a tail twice as large is not kept somewhere, so the test can fail."""
    tail, decay = Fraction(1, 40), None if noise is None else Decay.of(noise / 2)
    reach = 0 if noise is None else 40
    outcomes = range(-reach, n + reach + 1)
    lower = np.array([lower_limit(n, m, tail, decay, 0.5) for m in outcomes]) / ONE
    upper = np.array([upper_limit(n, m, tail, decay, 0.5) for m in outcomes]) / ONE
    worst = 0.0
    for p in np.linspace(0.0, 1.0, 301):
        mass = binom.pmf(np.arange(n + 1), n, p)
        if noise is not None:
            mass = np.convolve(mass, noise_mass(float(np.exp(-float(noise) / 2)), reach))
        assert mass @ (lower > p + 1e-12) <= float(tail) + 1e-9
        assert mass @ (upper < p - 1e-12) <= float(tail) + 1e-9
        worst = max(worst, float(mass @ (lower > p + 1e-12)))
    assert n < 9 or worst > float(tail) / 2


@pytest.mark.parametrize("rate", [Fraction(1, 4), Fraction(3, 2)])
def test_the_reach_of_a_sum_of_noise_is_the_smallest(rate):
    a, tail = float(np.exp(-float(rate))), Fraction(1, 1500)
    one, total = noise_mass(a, 300), np.ones(1)
    for _ in range(7):
        total = np.convolve(total, one)
    reach, middle = noise_reach(7, Decay.of(rate), tail), len(total) // 2
    distance = np.abs(np.arange(len(total)) - middle)
    assert total[distance > reach].sum() <= float(tail) < total[distance > reach - 1].sum()


def test_the_fill_is_the_linear_program():
    rng = np.random.default_rng(1)
    for _ in range(100):
        k = int(rng.integers(2, 9))
        p = rng.dirichlet(np.ones(k))
        lower, upper = p * rng.uniform(0, 1, k), np.minimum(p + rng.uniform(0, 0.3, k), 1.0)
        v = rng.choice([0.0, 1.0, 2.5], k) if rng.random() < 0.3 else rng.normal(size=k)
        for filled, sign in ((largest_fill(v, lower, upper), -1), (smallest_fill(v, lower, upper), 1)):
            program = linprog(sign * v, A_eq=np.ones((1, k)), b_eq=[1], bounds=list(zip(lower, upper, strict=True)))
            assert filled.value == pytest.approx(sign * program.fun, abs=1e-12)
            assert filled.attained_at.sum() == pytest.approx(1, abs=1e-12)
            assert (filled.attained_at >= lower - 1e-15).all()
            assert (filled.attained_at <= upper + 1e-15).all()


def test_ranges_of_sets_are_the_fills_of_indicators():
    counts = np.array([[40, 3, 0, 17, 9]])
    intervals = Confidence(0.9).intervals(counts)
    most, least = range_of_sets(intervals.low[0], intervals.high[0])
    for chosen in range(32):
        indicator = (chosen >> np.arange(5) & 1).astype(float)
        assert most[chosen] == pytest.approx(float(largest_fill(indicator, intervals.low[0], intervals.high[0]).value))
        assert least[chosen] == pytest.approx(
            float(smallest_fill(indicator, intervals.low[0], intervals.high[0]).value)
        )


def test_counted_shares_are_inside_and_empty_cells_count():
    counts = np.array([[50, 0, 7], [3, 0, 0], [0, 0, 0]])
    intervals = Confidence(0.95).intervals(counts, masses=True)
    shares = counts[:2] / counts[:2].sum(axis=1, keepdims=True)
    assert intervals.estimate[:2] == pytest.approx(shares, abs=1e-12)
    assert (intervals.lower[2] == 0).all()
    assert (intervals.upper[2] == ONE).all()
    tail = Confidence(0.95).tail(9, 3, noisy=False, masses=True)
    assert tail == Fraction(1, 20) / 24
    assert intervals.upper[0, 1] / ONE == pytest.approx(1 - float(tail) ** (1 / 57), abs=1e-11)
    low, high = intervals.masses
    assert (low <= counts.sum(axis=1) / 60).all()
    assert (counts.sum(axis=1) / 60 <= high).all()


def test_noise_makes_every_interval_wider():
    rng = np.random.default_rng(3)
    counts = rng.integers(0, 400, (4, 6))
    plain = Confidence(0.95).intervals(counts)
    noisy = Confidence(0.95).intervals(counts, noise=Fraction(1, 2), records=int(counts.sum()))
    assert (noisy.lower <= plain.lower).all()
    assert (noisy.upper >= plain.upper).all()


def test_what_cannot_be_counted_is_refused():
    with pytest.raises(DistributionError, match="negative"):
        Confidence().intervals(np.array([[3, -1]]))
    with pytest.raises(ParameterError, match="no records"):
        Confidence().intervals(np.array([[3, -1]]), noise=Fraction(1), records=0)
    with pytest.raises(InfeasibleError, match="within the limits"):
        Intervals(np.array([[ONE, ONE]]), np.array([[ONE, ONE]]), np.array([[1, 1]]))
    for confidence in (0.0, 1.0, float("nan")):
        with pytest.raises(ParameterError):
            Confidence(confidence)


def test_the_estimate_lies_in_the_set_even_where_noise_left_it():
    low, high = np.array([0.1, 0.0, 0.2]), np.array([0.5, 0.2, 0.9])
    for counts in ([-3.0, 0.0, 0.0], [0.0, 9.0, 0.0], [1.0, 1.0, 1.0]):
        found = most_likely_fill(np.array(counts), low, high)
        assert found.sum() == pytest.approx(1, abs=1e-12)
        assert (found >= low - 1e-12).all()
        assert (found <= high + 1e-12).all()


def test_simultaneous_coverage_where_the_chi_square_set_fails():
    """240 cells of which all but one have nP = 0.003; nine of 40 draws at 95 % miss with probability 1e-4."""
    truth = np.full((15, 16), 3e-6)
    truth[0, 0] = 1 - 239 * 3e-6
    assert _missed(truth, 1000, 0.95) <= 8


def test_a_low_confidence_misses_often():
    """The control: at 20 % a good part of the draws must miss, at 95 % few."""
    truth = np.random.default_rng(5).dirichlet(np.ones(48)).reshape(6, 8)
    assert _missed(truth, 2000, 0.95) <= 8
    assert _missed(truth, 2000, 0.2) >= 9


def _missed(truth: np.ndarray, n: int, confidence: float) -> int:
    rng = np.random.default_rng(7)
    conditional, missed = truth / truth.sum(axis=1, keepdims=True), 0
    for _ in range(40):
        intervals = Confidence(confidence).intervals(rng.multinomial(n, truth.ravel()).reshape(truth.shape))
        missed += bool(((conditional < intervals.low) | (conditional > intervals.high)).any())
    return missed
