"""Counting persons: weights, rules, refusals."""

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.records.persons import Rule, chosen_rows

COLUMNS = {"secret": "s", "release": "x"}


def table(ids, s, x, **more):
    return pa.table({"id": ids, "s": s, "x": x, **more})


PEOPLE = table([1, 1, 2, 3, 3, 3], ["a", "a", "b", "a", "a", "a"], ["u", "v", "v", "u", "u", "v"])


def test_a_row_of_k_weighs_one_in_k():
    joint = dc.Joint.from_table(PEOPLE, **COLUMNS, person="id", rows="independent")
    assert joint.n == 3
    assert joint.probabilities == pytest.approx(np.array([[0.5 + 2 / 3, 0.5 + 1 / 3], [0.0, 1.0]]) / 3)  # type: ignore[attr-defined]
    assert (joint.rows.units, joint.rows.rows, joint.rows.most) == (3, 6, 3)  # type: ignore[attr-defined]
    assert joint.rows.rule is Rule.independent  # type: ignore[attr-defined]
    assert joint.one_row_each().counts.sum() == 3  # type: ignore[attr-defined]


def test_persons_with_one_row_are_counted_as_ever():
    plain = table(["p", "q", "r"], ["a", "b", "a"], ["u", "v", "v"])
    joint = dc.Joint.from_table(plain, **COLUMNS, person="id")
    assert (joint.counts == dc.Joint.from_table(plain, **COLUMNS).counts).all()  # type: ignore[attr-defined]
    assert str(joint.rows) == "one row per person: checked in the column id"  # type: ignore[attr-defined]


def test_several_rows_need_a_rule_and_the_refusal_says_what_each_gives():
    with pytest.raises(dc.ReleaseError, match="2 of 3 persons have several rows, up to 3") as refused:
        dc.Joint.from_table(PEOPLE, **COLUMNS, person="id")
    said = str(refused.value)
    assert "one: 3 of 6 rows" in said
    assert "tied: refused, 2 have different values" in said
    assert "between ε/6 and ε/3" in said


def test_tied_rows_have_one_value():
    with pytest.raises(dc.ReleaseError, match="2 persons have rows with different values"):
        dc.Joint.from_table(PEOPLE, **COLUMNS, person="id", rows="tied")
    alike = table([1, 1, 2], ["a", "a", "b"], ["u", "u", "v"])
    assert dc.Joint.from_table(alike, **COLUMNS, person="id", rows="tied").counts.tolist() == [[1, 0], [0, 1]]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("given", "options", "error", "words"),
    [
        (
            table([1, None, 2], ["a", "a", "b"], ["u", "v", "v"]),
            {"person": "id"},
            dc.TableError,
            "1 records have no id",
        ),
        (
            table([1, 1, 2], ["a", "b", "b"], ["u", "v", "v"]),
            {"person": "id", "rows": "one"},
            dc.DistributionError,
            "1 persons have rows with different values of the secret",
        ),
        (
            table([1, 1, 2], ["a", "b", "b"], ["u", "v", "v"]),
            {"household": "id", "rows": "independent"},
            dc.DistributionError,
            "1 households have rows with different values of the secret",
        ),
        (PEOPLE, {"rows": "one"}, dc.ParameterError, "without a column"),
        (PEOPLE, {"person": "id", "rows": "all"}, dc.ParameterError, "a rule nobody knows"),
        (PEOPLE, {"person": "id", "rows": "one", "weight": "x"}, dc.InputError, "weight"),
        (
            table([1, 1, 2], ["a", "a", "b"], ["u", "v", "v"], p=["k", "k", "l"]),
            {"household": "id", "person": "p", "rows": "one"},
            dc.ReleaseError,
            "1 persons have several rows within the households",
        ),
    ],
)
def test_refusals(given, options, error, words):
    with pytest.raises(error, match=words):
        dc.Joint.from_table(given, **COLUMNS, **options)


def test_strata_of_persons():
    rng = np.random.default_rng(0)
    k = np.repeat(rng.integers(0, 2, 600), 2)
    s = np.repeat(rng.integers(0, 2, 600), 2)
    data = table(np.repeat(np.arange(600), 2), s, rng.integers(0, 3, 1200), k=k)
    joint = dc.Joint.from_table(data, **COLUMNS, given="k", person="id", rows="independent")
    assert joint.n == 600
    protocol = dc.design(joint, dc.LIP(0.5)).protocol
    assert protocol.statement.rows.epsilon == 0.5
    assert len({one.notion for one in protocol.strata.values()}) == 1
    moving = data.set_column(3, "k", pa.array(np.tile([0, 1], 600)))
    with pytest.raises(dc.AlphabetError, match="600 persons have rows in different strata"):
        dc.Joint.from_table(moving, **COLUMNS, given="k", person="id", rows="independent")
    assert dc.Joint.from_table(moving, **COLUMNS, given="k", person="id", rows="one").n == 600


def test_confidence_counts_persons():
    rng = np.random.default_rng(1)
    s = np.repeat(rng.integers(0, 2, 500), 3)
    data = table(np.repeat(np.arange(500), 3), s, (s + rng.integers(0, 2, 1500)) % 2)
    joint = dc.Joint.from_table(data, **COLUMNS, person="id", rows="one")
    protocol = dc.design(joint, dc.RLDP(1.0)).protocol
    assert protocol.joint.counts.sum() == protocol.joint.n == 500


def test_rows_are_chosen_uniformly_and_one_of_each():
    units, rng = np.array([0, 1, 0, 2, 0, 1]), np.random.default_rng(0)
    met = np.zeros(6)
    for _ in range(6000):
        chosen = chosen_rows(units, rng.random(6))
        assert sorted(units[chosen].tolist()) == [0, 1, 2]
        met += chosen
    assert met == pytest.approx([2000, 3000, 2000, 6000, 2000, 3000], abs=250)


def test_files_carry_it(tmp_path):
    joint = dc.Joint.from_table(PEOPLE, **COLUMNS, person="id", rows="one")
    protocol = dc.design(joint, dc.LDP(1.0)).protocol
    protocol.save(tmp_path / "p.json")
    again = dc.Protocol.load(tmp_path / "p.json")
    assert again.statement.rows == joint.rows  # type: ignore[attr-defined]
    assert again.source == "data"
    assert again.digest == protocol.digest
