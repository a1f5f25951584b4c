"""Mechanisms for many letters: their bounds against the exact search, their level by a check of its own."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import discreet as dc
from discreet.solvers.problem import Effort, Problem
from discreet.solvers.wide import class_mechanism
from discreet.solvers.wide.class_mechanism import ClassProblem, search_classes
from discreet.solvers.wide.row_search import letter_vertices, permits
from discreet.solvers.wide.vertex_walk import as_system, largest_weights, proven_weights


def random_joint(secrets: int, letters: int, seed: int) -> dc.Joint:
    rng = np.random.default_rng(seed)
    return dc.Joint.from_counts(
        1 + rng.multinomial(60 * letters, rng.dirichlet(np.full(secrets * letters, 0.7))).reshape(secrets, -1)
    )


def level_of(protocol: dc.Protocol, notion: dc.LIP | dc.LDP) -> float:
    """From weights and counts alone."""
    counts = protocol.joint.counts
    assert counts is not None
    given = counts.reshape(len(counts), -1) / counts.sum(axis=tuple(range(1, counts.ndim))).reshape(-1, 1)
    likelihoods = np.asarray(protocol.columns @ given.T) / 2.0**protocol.bits
    if isinstance(notion, dc.LDP):
        return float(np.log(likelihoods.max(axis=1) / likelihoods.min(axis=1)).max())
    mean = np.asarray(protocol.columns @ protocol.joint.prior) / 2.0**protocol.bits
    return float(np.abs(np.log(likelihoods / mean[:, None])).max())


@pytest.mark.parametrize("notion", [dc.LIP(0.5), dc.LDP(0.8)])
def test_it_meets_the_exact_optimum_of_few_letters(notion: dc.LIP | dc.LDP) -> None:
    joint = random_joint(3, 25, 1)
    exact = dc.design(joint, notion, method="columns")
    *_, found = search_classes(Problem.of(joint, notion), Effort.within(20, gap=1e-4))
    assert exact.utility - 2e-4 <= found.value <= exact.upper_bound + 1e-9
    assert found.upper_bound >= exact.utility - 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_the_chord_bound_holds(seed: int) -> None:
    joint = random_joint(3, 20, seed)
    form = ClassProblem(joint, dc.LIP(0.4))
    chord = form.chord_bound(letter_vertices(form.conditions, form.classes.size))
    assert chord >= dc.design(joint, dc.LIP(0.4), method="columns").utility - 1e-9


def test_weights_are_proven_from_any_basis() -> None:
    """A wrong basis makes the bound of a letter larger, never smaller than its largest weight."""
    form = ClassProblem(random_joint(3, 15, 2), dc.LIP(0.4))
    size, system = form.classes.size, as_system(form.conditions, form.classes.size)
    bases = letter_vertices(form.conditions, size)
    most = largest_weights(system, bases[0], size)[1]
    others = np.full(len(form.conditions), 50.0)
    right = proven_weights(system, bases, others)
    assert right == pytest.approx(most, abs=1e-8)
    wrong = proven_weights(system, np.roll(bases, 1, axis=0), others)
    assert np.all(wrong >= most - 1e-9)


def test_a_census_of_letters_is_designed_proven_and_small() -> None:
    joint = random_joint(4, 250, 3)
    found = dc.design(joint, dc.LIP(0.5), time_limit=120, gap=0.3)
    assert found.method == "wide"
    assert level_of(found.protocol, dc.LIP(0.5)) <= 0.5
    assert found.gap <= 0.1 * found.utility
    assert len(found.protocol.outputs) <= 250
    assert found.protocol.columns.nnz <= 4 * 250


def test_blocks_make_one_mechanism(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(class_mechanism, "AT_ONCE", 100)
    monkeypatch.setattr(class_mechanism, "EXACT_CLASSES", 50)
    joint = random_joint(3, 300, 4)
    found = dc.design(joint, dc.LIP(0.5), method="wide", time_limit=8)
    assert level_of(found.protocol, dc.LIP(0.5)) <= 0.5
    assert found.gap <= 0.15 * found.utility


def test_letters_that_nobody_has_cost_nothing_and_are_drawn_like_unknown_ones(tmp_path) -> None:  # type: ignore[no-untyped-def]
    counts = np.zeros((3, 40, 60), np.int64)
    rng = np.random.default_rng(5)
    places = rng.choice(2400, 300, replace=False)
    counts.reshape(3, -1)[:, places] = rng.integers(1, 40, size=(3, 300))
    joint = dc.Joint.from_counts(counts)
    found = dc.design(joint, dc.LIP(0.5), time_limit=5)
    protocol = found.protocol
    assert len(protocol.silent) == 2100
    assert protocol.columns.nnz <= 3 * 300
    path = tmp_path / "protocol.json"
    protocol.save(path)
    again = dc.Protocol.load(path)
    assert again.digest == protocol.digest
    unseen = int(protocol.silent[0])
    assert np.array_equal(again.weights[:, unseen], again.marginal)
    import pyarrow as pa

    table = pa.table({"release1": [unseen // 60] * 4000, "release2": [unseen % 60] * 4000})
    released = again.sanitise(table)
    drawn = np.bincount(
        [list(map(str, again.outputs)).index(name) for name in released.column(0).to_pylist()],
        minlength=len(again.outputs),
    )
    expected = again.marginal / 2.0**again.bits * 4000
    large = expected > 20
    assert large.any()
    assert np.abs(drawn - expected)[large].max() <= 6 * np.sqrt(expected[large]).max()


def test_a_letter_that_somebody_has_must_have_weights() -> None:
    """The planted fault: an empty column for a letter of positive mass, or under a notion that sees it."""
    joint = random_joint(2, 3, 6)
    full = np.full((2, 3), 1 << 51, np.int64)
    empty = sparse.csc_array(np.where([True, True, False], full, 0))
    with pytest.raises(dc.ChannelError):
        dc.Protocol(empty, 52, joint, dc.LIP(1.0))
    silent = dc.Joint.from_counts(np.array([[3, 4, 0], [5, 1, 0]]))
    assert dc.Protocol(empty, 52, silent, dc.LIP(1.0)).epsilon <= 1.0
    with pytest.raises((dc.ChannelError, dc.ProofError)):
        dc.Protocol(empty, 52, silent, dc.OrdinaryLDP(1.0))
    with pytest.raises((dc.ChannelError, dc.ProofError)):
        dc.Protocol(empty, 52, silent, dc.RLDP(1.0, dc.Confidence(0.95)))


@pytest.mark.parametrize("notion", [dc.LIP(0.4), dc.LDP(0.4)])
def test_rows_beside_their_vertex_are_not_taken(notion: dc.LIP | dc.LDP) -> None:
    form = ClassProblem(random_joint(3, 15, 2), notion)
    size = form.classes.size
    single = sparse.eye_array(size, format="csr")
    told = form.classes.posteriors / form.joint.secret_prior[form.joint.seen]
    level = (
        np.abs(np.log(told)).max(axis=1) if isinstance(notion, dc.LIP) else np.log(told.max(axis=1) / told.min(axis=1))
    )
    assert np.array_equal(permits(form.conditions, single), level <= 0.4)
    assert (level > 0.4).any()
    assert permits(form.conditions, sparse.csr_array(form.classes.prior[None, :]))[0]
