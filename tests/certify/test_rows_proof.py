"""What rows of one person tell together, proven: against all outputs in fractions, and with planted faults."""

import json
import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import discreet as dc
from discreet.certify import rows_proof
from discreet.datasets import adult
from discreet.notions.rows_together import rows_level
from discreet.protocol.statement import Statement
from discreet.records.persons import Rule, WhoseRows


def cases(number: int, secrets: int = 3, letters: int = 3):
    """Small protocols at their own level, of counts or of a given distribution."""
    rng = np.random.default_rng(number)
    for case in range(number):
        counts = rng.integers(1, 12, (secrets, letters))
        joint = dc.Joint.from_counts(counts) if case % 2 else dc.Joint(counts / counts.sum())
        channel = dc.Channel(rng.dirichlet(np.ones(letters) * 2, letters).T, joint.letters)
        yield dc.Protocol.make(channel, joint, dc.LIP(20.0))


def told(protocol: dc.Protocol, rows: int):
    """P(s), and P(y_1 … y_k | s) for all outputs of all rows; nothing of the proof is asked."""
    exact = [[Fraction(p) for p in row] for row in protocol.joint.table.tolist()]
    if protocol.joint.counts is not None:
        exact = [[Fraction(int(n)) for n in row] for row in protocol.joint.counts]
    whole, sizes = sum(map(sum, exact)), [sum(row) for row in exact]
    weights = protocol.weights.tolist()
    given = [
        [sum(p * w for p, w in zip(row, out, strict=True)) / size / 2**protocol.bits for out in weights]
        for row, size in zip(exact, sizes, strict=True)
    ]
    every = list(product(range(len(weights)), repeat=rows))
    together = [[math.prod((row[y] for y in seen), start=Fraction(1)) for seen in every] for row in given]
    return [size / whole for size in sizes], together


def posterior_ratios(protocol: dc.Protocol, rows: int) -> list[list[Fraction]]:
    """P(s | y) / P(s), one list per output of all rows."""
    prior, together = told(protocol, rows)
    averages = [sum(p * t for p, t in zip(prior, column, strict=True)) for column in zip(*together, strict=True)]
    return [
        [t / average for t in column]
        for column, average in zip(zip(*together, strict=True), averages, strict=True)
        if average
    ]


def informed(protocol: dc.Protocol, rows: int) -> float:
    return math.log(max(max(max(one), 1 / min(one)) for one in posterior_ratios(protocol, rows)))


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_the_level_is_that_of_all_outputs_together(rows) -> None:
    for protocol in cases(8):
        found, truth = protocol.rows_level(rows), informed(protocol, rows)
        assert truth - 1e-12 <= found <= truth + 2e-9


def test_every_notion_about_the_secret_has_the_proof_of_its_one_row() -> None:
    for protocol in cases(4):
        ratios = posterior_ratios(protocol, 2)
        prior, together = told(protocol, 2)
        largest = sum(max(column) for column in zip(*together, strict=True))
        guesses = sum(max(p * t for p, t in zip(prior, column, strict=True)) for column in zip(*together, strict=True))
        shift = max(sum(max(p * (r - 1), Fraction(0)) for p, r in zip(prior, one, strict=True)) for one in ratios)
        expected = {
            dc.PML(20.0): math.log(max(map(max, ratios))),
            dc.MaximalLeakage(20.0): math.log(largest),
            dc.Guess(1.0): float(guesses),
            dc.Shift(1.0): float(shift),
            dc.ALIP(20.0, 20.0): informed(protocol, 2),
        }
        for notion, truth in expected.items():
            found = rows_proof.rows_upper_bound(protocol.columns, protocol.bits, protocol.joint, notion, 2)
            assert truth - 1e-12 <= found <= truth + 3e-9, notion
        pairs = max(max(column) / min(column) for column in zip(*together, strict=True))
        ldp = rows_proof.rows_upper_bound(protocol.columns, protocol.bits, protocol.joint, dc.LDP(20.0), 2)
        assert math.log(pairs) - 1e-12 <= ldp <= math.log(pairs) + 5e-9
    with pytest.raises(dc.ParameterError, match="not known"):
        rows_proof.rows_upper_bound(protocol.columns, protocol.bits, protocol.joint, dc.Perfect(), 2)


def test_a_wrong_guess_makes_the_bound_larger_and_never_too_small(monkeypatch) -> None:
    """Where outputs are not listed: the bound is close with good weights, and a bound with any."""
    rng = np.random.default_rng(1)
    for protocol in cases(6):
        truth = informed(protocol, 3)
        with monkeypatch.context() as patched:
            patched.setattr(rows_proof, "MOST_MASSES", 0)
            found = protocol.rows_level(3)
            assert truth - 1e-12 <= found <= truth * 1.1
            for _ in range(5):
                guess = rng.dirichlet(np.ones(3))
                patched.setattr(rows_proof, "tangent_weights", lambda *_, guess=guess: guess)
                assert protocol.rows_level(3) >= truth - 1e-12
            with pytest.raises(dc.ProofError, match="too many to be listed"):
                rows_proof.rows_upper_bound(protocol.columns, protocol.bits, protocol.joint, dc.PML(20.0), 3)


@pytest.mark.parametrize("fault", ["_rise", "_fall"])
def test_a_proof_that_forgets_one_side_is_caught(monkeypatch, fault) -> None:
    monkeypatch.setattr(rows_proof, "MOST_MASSES", 0)
    monkeypatch.setattr(rows_proof, fault, lambda *_: 0.0)
    assert any(protocol.rows_level(2) < informed(protocol, 2) - 1e-6 for protocol in cases(12))


def household(protocol: dc.Protocol, epsilon: float, most: int = 2) -> dc.Protocol:
    n = protocol.joint.n
    whose = WhoseRows("household", "hh", Rule.independent, n, 2 * n, most, epsilon)
    return protocol.stating(Statement.about(whose), "data")


def test_a_file_with_a_moved_number_is_refused(tmp_path) -> None:
    joint = dc.Joint.from_counts([[30, 12, 5], [6, 20, 40]])
    protocol = dc.design(joint, dc.LIP(0.3)).protocol
    level = protocol.rows_level(2)
    stated = household(protocol, level)
    stated.save(tmp_path / "p.json")
    assert dc.Protocol.load(tmp_path / "p.json").statement.rows.epsilon == level
    with pytest.raises(dc.ProofError, match="2 rows tell more together"):
        household(protocol, math.nextafter(level, 0))
    with pytest.raises(dc.ProofError, match="3 rows"):
        household(protocol, level, most=3)
    for key, value in (("epsilon", repr(level - 1e-9)), ("most", 3)):
        document = json.loads((tmp_path / "p.json").read_text())
        document["statement"]["rows"][key] = value
        text = json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        (tmp_path / "moved.json").write_text(text)
        with pytest.raises(dc.DiscreetError, match="rows tell more together"):
            dc.Protocol.load(tmp_path / "moved.json")


def test_households_of_adult() -> None:
    joint = dc.Joint.from_table(adult(), secret="marital-status", release="education")
    protocol = dc.design(joint, dc.LIP(0.5)).protocol
    assert [protocol.rows_level(rows) for rows in (2, 3, 4)] == pytest.approx([1.118, 1.825, 2.609], abs=1e-3)


@pytest.mark.parametrize("rows", [25, 60, 600])
def test_many_rows_have_numbers_that_no_float_holds(rows: int) -> None:
    """From twenty rows on the masses are above 2^1024: that once ended in an OverflowError."""
    joint = dc.Joint.from_counts([[30, 70], [40, 60]])
    channel = dc.Channel(np.array([[0.51, 0.49], [0.49, 0.51]]), joint.letters)
    protocol = dc.Protocol.make(channel, joint, dc.LIP(1.0))
    proven = protocol.rows_level(rows)
    assert proven == pytest.approx(rows_level(protocol.notion, protocol.channel, joint, rows), abs=1e-6)
    assert proven > 0.8 * rows * protocol.epsilon
