"""Rows of one person: the factor is a bound, and intervals hold what they say; without it they do not."""

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet.estimate.row_clusters import at_most, clusters_of, widest
from discreet.protocol.statement import Statement, stated_rows
from discreet.records.persons import Rule, WhoseRows

LAW = np.array([[0.30, 0.14, 0.06], [0.08, 0.17, 0.25]])
PERSONS = 400


@pytest.fixture(scope="module")
def protocol() -> dc.Protocol:
    return dc.design(dc.Joint.from_counts((LAW * 20_000).astype(int)), dc.LIP(0.5)).protocol


def stating(protocol: dc.Protocol, rule: Rule, sizes: np.ndarray) -> dc.Protocol:
    """The same with rows of persons. An independent rule states what its rows tell together."""
    most = int(sizes.max())
    epsilon = protocol.rows_level(most) if rule is Rule.independent else None
    whose = WhoseRows("person", "pid", rule, len(sizes), int(sizes.sum()), most, epsilon)
    return protocol.stating(Statement.about(whose), "data")


def released(protocol: dc.Protocol, rule: Rule, sizes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Counts of outputs. All rows of a person have one value: the most alike that rows can be."""
    law = LAW.sum(axis=0)
    values = rng.choice(len(law), len(sizes), p=law)
    each = np.repeat(values, 1 if rule is Rule.tied else sizes)
    ends = protocol.matrix.cumsum(axis=0)[:, each]
    drawn = (rng.random(len(each)) > ends).sum(axis=0)
    drawn = np.repeat(drawn, sizes) if rule is Rule.tied else drawn
    return np.bincount(np.minimum(drawn, len(protocol.outputs) - 1), minlength=len(protocol.outputs))


def covered(protocol: dc.Protocol, rule: Rule, sizes: np.ndarray, *, told: bool, method: str = "linear") -> float:
    rng, hits, trials, law = np.random.default_rng(4), 0, 400, LAW.sum(axis=0)
    asked = stating(protocol, rule, sizes) if told else protocol
    for _ in range(trials):
        found = dc.estimate(released(protocol, rule, sizes, rng), asked, method=method, assume="nothing")
        limits = found.interval(0.95)
        hits += int(((limits[:, 0] <= law) & (law <= limits[:, 1])).sum())
    return hits / trials / len(law)


@pytest.mark.parametrize("method", ["linear", "likelihood"])
@pytest.mark.parametrize("rule", [Rule.tied, Rule.independent])
def test_intervals_cover_where_the_factor_is_exact(protocol, rule, method) -> None:
    sizes = np.full(PERSONS, 3)
    assert 0.93 <= covered(protocol, rule, sizes, told=True, method=method) <= 0.97


def test_intervals_are_cautious_where_the_factor_is_a_bound(protocol) -> None:
    sizes = np.random.default_rng(0).integers(1, 6, PERSONS)
    assert covered(protocol, Rule.tied, sizes, told=True) >= 0.93


@pytest.mark.parametrize("rule", [Rule.tied, Rule.independent])
def test_without_the_factor_they_do_not_cover(protocol, rule) -> None:
    assert covered(protocol, rule, np.full(PERSONS, 6), told=False) < 0.92


def test_the_factor_is_never_below_that_of_any_sizes() -> None:
    rng = np.random.default_rng(1)
    for _ in range(2000):
        sizes = rng.integers(1, rng.integers(2, 9), rng.integers(1, 12))
        if sizes.max() == 1:
            continue
        whose = WhoseRows("person", "id", Rule.tied, len(sizes), int(sizes.sum()), int(sizes.max()))
        factor = clusters_of(whose, int(sizes.sum()), part=False).factor
        assert (sizes**2).sum() / sizes.sum() <= factor + 1e-12
        assert factor <= sizes.max() + 1e-12
        if set(sizes.tolist()) <= {1, int(sizes.max())}:
            assert factor == pytest.approx((sizes**2).sum() / sizes.sum())
        assert clusters_of(whose, int(sizes.sum()), part=True).factor == sizes.max()
        assert clusters_of(whose, int(sizes.sum()) + 1, part=False).factor == sizes.max()


def test_what_is_told_and_what_is_not(protocol) -> None:
    sizes = np.full(100, 2)
    counts = released(protocol, Rule.tied, sizes, np.random.default_rng(2))
    plain = dc.estimate(counts, protocol, assume="nothing")
    tied = dc.estimate(counts, stating(protocol, Rule.tied, sizes), assume="nothing")
    alone = dc.estimate(counts, stating(protocol, Rule.independent, sizes), assume="nothing")
    stated = dc.estimate(counts, protocol, assume="nothing", rows_per_person=2)
    assert tied.frequencies == pytest.approx(plain.frequencies, abs=1e-12), "values stay, errors grow"
    assert tied.standard_errors == pytest.approx(plain.standard_errors * np.sqrt(2), rel=0.01)
    assert stated.standard_errors == pytest.approx(tied.standard_errors, rel=1e-12)
    assert (plain.standard_errors < alone.standard_errors).all()
    assert (alone.standard_errors < tied.standard_errors).all(), "draws of their own are evidence of their own"
    assert "share one draw" in " ".join(tied.notes)
    assert "by itself" in " ".join(alone.notes)
    assert not any("rows" in note for note in plain.notes)
    assert tied.n == 200
    assert tied.effective_sample_size == pytest.approx(plain.effective_sample_size / 2, rel=0.02)
    public = dc.estimate(counts, stating(protocol, Rule.tied, sizes).public(), assume="nothing")
    assert public.standard_errors == pytest.approx(tied.standard_errors, rel=1e-9), "the public file says it too"
    with pytest.raises(dc.ParameterError, match="number of rows"):
        at_most(0)
    assert widest([at_most(1)]) is None
    assert stated_rows(protocol) is None


def test_whole_way_with_strata_and_groups() -> None:
    rng = np.random.default_rng(8)
    sizes = rng.integers(1, 4, 900)
    s, k = rng.integers(0, 2, 900), rng.integers(0, 2, 900)
    x = (s + (rng.random(900) < 0.4)) % 3
    frame = pd.DataFrame({"pid": np.arange(900), "s": s, "k": k, "x": x}).loc[np.repeat(np.arange(900), sizes)]
    joint = dc.Joint.from_table(frame, secret="s", release="x", given=["k"], person="pid", rows="tied")
    protocol = dc.design(joint, dc.LIP(0.5)).protocol
    table = protocol.sanitise(frame, person="pid", rows="tied")
    pooled = dc.estimate(table, protocol, assume="nothing").attribute("x")
    loose = dc.estimate(table, protocol, assume="nothing", rows_per_person=1).attribute("x")
    wider = (pooled.standard_errors / loose.standard_errors) ** 2
    truth = (sizes**2).sum() / sizes.sum()
    assert (wider >= truth * 0.99).all()
    assert (wider <= 3.01).all()
