"""What several rows tell together: against brute force in fractions, and against the finished channel of a person."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import discreet as dc
from discreet.datasets import adult
from discreet.notions import rows_together
from discreet.notions.rows_together import informed_level, largest_row_level, rows_level, unassumed_level
from discreet.records.persons import Rule, WhoseRows


def brute(weights, counts, rows, *, informed):
    """ln of the worst ratio over all outputs of all rows, in fractions; nothing of the package is asked."""
    n, sizes = sum(map(sum, counts)), [sum(row) for row in counts]
    given = [[Fraction(sum(c * w for c, w in zip(row, out, strict=True)), size) for out in weights]
             for row, size in zip(counts, sizes, strict=True)]  # fmt: skip
    prior = [Fraction(size, n) for size in sizes]
    worst = Fraction(1)
    for seen in product(range(len(weights)), repeat=rows):
        together = [math.prod((p[y] for y in seen), start=Fraction(1)) for p in given]
        if not any(together):
            continue
        average = sum(p * t for p, t in zip(prior, together, strict=True))
        pairs = [(t, average) for t in together] if informed else list(product(together, together))
        for one, other in pairs:
            if one == 0 or other == 0:
                return math.inf
            worst = max(worst, one / other, other / one)
    return math.log(worst)


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_levels_are_those_of_all_outputs_together(rows):
    rng = np.random.default_rng(rows)
    for _ in range(15):
        counts = rng.integers(1, 9, (3, 3))
        matrix = rng.dirichlet(np.ones(3), 3).T
        weights = np.rint(matrix * 2**20).astype(int)
        joint, channel = dc.Joint.from_counts(counts), dc.Channel(weights / weights.sum(axis=0), (0, 1, 2))
        scaled = [[Fraction(int(w), int(weights[:, x].sum())) for x, w in enumerate(out)] for out in weights]
        for notion, informed in ((dc.LIP(1.0), True), (dc.LDP(1.0), False)):
            expected = brute(scaled, counts.tolist(), rows, informed=informed)
            found = rows_level(notion, channel, joint, rows)
            assert expected <= found + 1e-12
            assert found == pytest.approx(expected, abs=2e-9)


def test_the_bound_for_many_rows_is_one_and_close(monkeypatch):
    rng = np.random.default_rng(5)
    for _ in range(10):
        joint = dc.Joint.from_counts(rng.integers(1, 30, (4, 5)))
        channel = dc.Channel(rng.dirichlet(np.ones(5) * 3, 5).T, joint.letters)
        exact = informed_level(channel, joint, 4)
        with monkeypatch.context() as patched:
            patched.setattr(rows_together, "MOST_COMBINATIONS", 0)
            bound = informed_level(channel, joint, 4)
        assert exact - 1e-12 <= bound <= exact + 0.05 * (1 + exact)


def test_adult_households():
    joint = dc.Joint.from_table(adult(), secret="marital-status", release="education")
    channel = dc.design(joint, dc.LIP(0.5)).protocol.channel
    levels = [rows_level(dc.LIP(0.5), channel, joint, rows) for rows in (2, 3, 4)]
    assert levels == pytest.approx([1.118, 1.825, 2.609], abs=1e-3)
    assert levels[1] > 3 * 0.5, "the levels of rows do not even add up"
    assert unassumed_level(channel, joint, 2) > 60


@pytest.mark.parametrize(("rows", "level", "kept"), [(2, 0.230, 0.710), (3, 0.148, 0.610), (4, 0.108, 0.551)])
def test_the_level_of_a_row_follows_from_that_of_a_household(rows, level, kept):
    counted = dc.Joint.from_table(adult(), secret="marital-status", release="education")
    whose = WhoseRows("household", "hh", Rule.independent, counted.n, rows * counted.n, rows)
    joint = dc.Joint.from_counts(counted.counts, counted.secrets, counted.releases, rows=whose)
    protocol = dc.design(joint, dc.LIP(0.5)).protocol
    assert protocol.notion.epsilon == pytest.approx(level, abs=0.003)
    assert protocol.utility / joint.entropy >= kept
    assert protocol.statement.rows.epsilon == 0.5
    assert rows_level(protocol.notion, protocol.channel, joint, rows) <= 0.5
    with pytest.raises(dc.ProofError):
        protocol.stating(type(protocol.statement)(rows=whose.holding(0.49)))


def test_a_household_is_held_on_the_finished_channel():
    """The attack: weights and counts of a file, all outputs of two rows, in fractions."""
    rng = np.random.default_rng(11)
    for case in range(8):
        counts = rng.integers(1, 12, (2, 3))
        whose = WhoseRows("household", "hh", Rule.independent, int(counts.sum()), 2 * int(counts.sum()), 2)
        joint = dc.Joint.from_counts(counts, rows=whose)
        notion = (dc.LIP, dc.LDP)[case % 2](0.4)
        protocol = dc.design(joint, notion).protocol
        weights = [[Fraction(int(w), 2**protocol.bits) for w in row] for row in protocol.weights]
        assert brute(weights, counts.tolist(), 2, informed=case % 2 == 0) <= 0.4 + 1e-9


def test_robust_rows_are_held_for_every_distribution_of_the_set():
    counts = np.array([[300, 100, 50], [120, 220, 160]])
    whose = WhoseRows("person", "id", Rule.independent, 950, 1900, 2)
    protocol = dc.design(dc.Joint.from_counts(counts, rows=whose), dc.RLDP(0.5)).protocol
    assert protocol.notion.epsilon == pytest.approx(0.25, abs=1e-3)
    limits = protocol.notion.uncertainty.limits(protocol.joint, masses=False)  # type: ignore[attr-defined]
    rng = np.random.default_rng(0)
    for _ in range(300):
        rows = []
        for low, high in zip(limits.low, limits.high, strict=True):
            order, left, row = rng.permutation(3), 1 - low.sum(), low.copy()
            for u in order:
                step = min(left, high[u] - low[u])
                row[u], left = row[u] + step, left - step
            rows.append(row)
        given = protocol.matrix @ np.array(rows).T
        assert 2 * np.abs(np.log(given[:, 0] / given[:, 1])).max() <= 0.5 + 1e-9


def test_a_search_that_finds_nothing_says_so():
    with pytest.raises(dc.InfeasibleError):
        largest_row_level(lambda level: math.inf, 0.5, 2)
    assert largest_row_level(lambda level: level, 0.5, 2) == pytest.approx(0.5, rel=3e-3)


def test_notions_that_ask_about_the_secret_only():
    rng = np.random.default_rng(2)
    joint = dc.Joint.from_counts(rng.integers(1, 9, (3, 4)))
    channel = dc.Channel(rng.dirichlet(np.ones(3), 4).T, joint.letters)
    for notion in (dc.PML(1.0), dc.Shift(0.5), dc.MaximalLeakage(1.0)):
        alone, together = (rows_level(notion, channel, joint, rows) for rows in (1, 2))
        assert alone == pytest.approx(notion.level(channel, joint).epsilon, abs=2e-9)
        assert alone < together <= max(2 * alone, 1.0) + 1e-9
    given = channel.matrix @ joint.release_given_secret.T
    pairs = (given[:, None] * given[None]).reshape(-1, 3)
    assert rows_level(dc.PML(1.0), channel, joint, 2) == pytest.approx(
        np.log(pairs.max(axis=1) / (pairs @ joint.secret_prior)).max(), abs=2e-9
    )
    assert rows_level(dc.Perfect(), channel, joint, 2) == rows_level(dc.LIP(1.0), channel, joint, 2)
