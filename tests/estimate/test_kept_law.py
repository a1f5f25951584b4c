"""Values that keep their law: counted as they are, with errors that contain what replaced values add.

Whatever is forecast is what `estimate` delivers by default, for every purpose and in both forms. Every release is of a
table drawn afresh, and where the law is that of the table it is designed afresh too, as `design` does.
"""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dc
from discreet.arrays import Integers
from discreet.estimate import estimate, forecast
from discreet.exceptions import ParameterError
from discreet.protocol.counted_records import is_counted, keeps_law

POPULATION = np.array([[0.20, 0.10, 0.08, 0.02], [0.06, 0.14, 0.10, 0.30]])
UTILITIES = {"values": dc.Agreement(), "statistics": dc.Accuracy(), "information": None}
N, RELEASES = 2000, 150


def designed(counts: Integers, purpose: str, sees: bool) -> dc.Protocol:
    utility = UTILITIES[purpose]
    options = {} if utility is None else {"utility": utility}
    return dc.design(dc.Joint.from_counts(counts), dc.LIP(0.5), sees_secret=sees, time_limit=2, **options).protocol


def drawn(protocol: dc.Protocol, counts: Integers, rng: np.random.Generator) -> Integers:
    cells = counts.reshape(-1) if protocol.joint.reads_secret else counts.sum(axis=0)
    return np.sum([rng.multinomial(n, protocol.matrix[:, z]) for z, n in enumerate(cells)], axis=0)


@pytest.mark.parametrize("sees", [False, True])
def test_values_of_the_counted_table(sees: bool) -> None:
    rng, truth = np.random.default_rng(5), POPULATION.sum(axis=0)
    errors, inside, naive, foretold = [], [], [], []
    for _ in range(RELEASES):
        counts = rng.multinomial(N, POPULATION.reshape(-1)).reshape(2, 4)
        protocol = designed(counts, "values", sees)
        assert is_counted(protocol, N)
        found = estimate(drawn(protocol, counts, rng), protocol)
        expected = forecast(protocol, protocol.joint, N)
        assert expected.counted
        foretold.append(expected.standard_errors**2)
        errors.append((found.frequencies - truth) ** 2)
        low, high = found.interval().T
        inside.append((low <= truth) & (truth <= high))
        share = found.frequencies
        half = 1.96 * np.sqrt(share * (1 - share) / N)
        naive.append(np.abs(share - truth) <= half)
    ratio = (np.mean(errors, axis=0) / np.mean(foretold, axis=0)).mean()
    assert ratio == pytest.approx(1, abs=0.2)
    assert 0.93 <= np.mean(inside) <= 0.975
    effects = np.mean(foretold, axis=0) / (truth * (1 - truth) / N)
    assert (effects < 2).all()
    assert np.mean(naive) < np.mean(inside)  # the control: errors of clean records are too small
    if not sees:
        assert np.mean(naive) < 0.93


@pytest.mark.parametrize("sees", [False, True])
@pytest.mark.parametrize("purpose", ["values", "statistics", "information"])
def test_the_forecast_is_what_estimate_delivers(purpose: str, sees: bool) -> None:
    """Other records than those counted: their number differs, so values are not counted as they are."""
    rng, counts = np.random.default_rng(11), (POPULATION * 10_000).astype(int)
    protocol = designed(counts, purpose, sees)
    expected, truth = forecast(protocol, protocol.joint, N), POPULATION.sum(axis=0)
    assert not expected.counted
    assert np.isfinite(expected.standard_errors).all()
    errors = []
    for _ in range(600):
        fresh = rng.multinomial(N, POPULATION.reshape(-1)).reshape(2, 4)
        errors.append((estimate(drawn(protocol, fresh, rng), protocol).frequencies - truth) ** 2)
    ratio = np.mean(errors, axis=0) / expected.standard_errors**2
    assert ratio.mean() == pytest.approx(1, abs=0.12)
    clean = truth * (1 - truth) / N
    if not sees:
        assert (np.mean(errors, axis=0) / clean).mean() > 1.12  # the control: not the errors of clean records


def test_counted_is_for_the_counted_table_alone() -> None:
    counts = (POPULATION * 1000).astype(int)
    values, other = designed(counts, "values", False), designed(counts, "information", False)
    assert keeps_law(values)
    assert not keeps_law(other)
    assert is_counted(values, int(counts.sum()))
    assert not is_counted(values, int(counts.sum()) + 1)
    assert not is_counted(values.with_source("public"), int(counts.sum()))
    with pytest.raises(ParameterError, match="do not keep their law"):
        estimate(np.ones(len(other.outputs), int), other, assume="counted")


def test_the_public_file_gives_the_same_or_wider_errors() -> None:
    rng, counts = np.random.default_rng(2), (POPULATION * 1000).astype(int)
    for sees in (False, True):
        protocol = designed(counts, "values", sees)
        released = drawn(protocol, counts, rng)
        full, public = estimate(released, protocol), estimate(released, protocol.public())
        assert public.frequencies == pytest.approx(full.frequencies)
        assert (public.standard_errors >= full.standard_errors - 1e-9).all()


def test_a_public_file_counts_values_of_no_other_number_of_records() -> None:
    """It was taken for that of any table: frequencies of other records were biased towards its law."""
    counts = np.array([[201, 99, 83, 21], [59, 141, 101, 295]])
    public, n = designed(counts, "values", False).public(), int(counts.sum())
    assert is_counted(public, n)
    assert not any(is_counted(public, other) for other in (1, n - 1, n + 1, 2 * n // 3, 10 * n + 7))
    others = np.array([[4001, 500, 300, 100], [3000, 200, 100, 50]])
    released = drawn(designed(counts, "values", False), others, np.random.default_rng(3))
    found, truth = estimate(released, public), others.sum(axis=0) / others.sum()
    assert not any("very records" in note for note in found.notes)
    assert (np.abs(found.frequencies - truth) <= 4 * found.standard_errors).all()
    assert np.abs(released / released.sum() - truth).max() > 0.05  # the control: values as they are
