"""Tables and kept columns are judged at the law that was counted: of persons, of a population, of joined secrets.

The tables are exact: what is true of persons, or of the population, is computed by listing it.
"""

import json
import warnings
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet.exceptions import ReleaseError
from discreet.release.kept_columns import KeptColumns

WARDS = (("ill", "W1", 1, 900), ("ill", "W2", 9, 100), ("well", "W1", 9, 100), ("well", "W2", 1, 900))
"""Secret, ward, rows and number of persons: by rows the ward says nothing, of persons ln 1.8."""
VALUES = (("ill", "a", 1, 300), ("ill", "b", 9, 100), ("well", "a", 9, 100), ("well", "b", 1, 300))


def visits(kinds: tuple[tuple[str, str, int, int], ...], kept: str) -> pd.DataFrame:
    rng, rows, person = np.random.default_rng(0), [], 0
    for secret, value, times, persons in kinds:
        for _ in range(persons):
            other = "ab"[rng.integers(2)]
            rows += [(f"P{person:05d}", secret, value, other)] * times
            person += 1
    return pd.DataFrame(rows, columns=["id", "s", kept, "ward" if kept == "x" else "x"])


def of_persons(table: pd.DataFrame, rule: str) -> dc.Protocol:
    joint = dc.Joint.from_table(table, secret="s", release="x", person="id", rows=rule)
    return dc.design(joint, dc.LIP(0.5), time_limit=20).protocol


@pytest.mark.parametrize("rule", ["one", "tied", "independent"])
def test_kept_columns_are_those_of_persons(rule: str) -> None:
    """The ward of a person, one in all rows, told 0.07 by rows, and 0.59 by persons; only `one` looked at persons."""
    table = visits(WARDS, "ward")
    protocol = of_persons(table, rule)
    with pytest.raises(ReleaseError, match="kept columns tell about the secret"):
        protocol.sanitise(table, keep=["ward"])
    found = protocol.check(table, keep=["ward"])
    assert any("kept columns tell" in one.what for one in found.refusals)
    assert found.level_beside_kept > np.log(1.8) - 0.01


@pytest.mark.parametrize("counted", ["one", "tied", "weights"])
def test_an_audit_of_columns_judges_the_same_law(counted: str, tmp_path, capsys) -> None:
    from discreet.cli.app import run

    table = weighted(True) if counted == "weights" else visits(WARDS, "ward")
    protocol = of_population(table) if counted == "weights" else of_persons(table, counted)
    table.to_csv(tmp_path / "t.csv", index=False)
    protocol.save(tmp_path / "p.json")
    assert run(["audit", str(tmp_path / "p.json"), "--data", str(tmp_path / "t.csv"), "--given", "ward", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["alone"] > np.log(1.8) - 0.01


@pytest.mark.parametrize("rule", ["one", "tied", "independent"])
def test_what_tells_nothing_of_persons_is_kept(rule: str) -> None:
    table = visits(VALUES, "x")
    protocol = of_persons(table, rule)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert "ward" in protocol.sanitise(table, keep=["ward"])
    assert any("several rows of one person" in str(one.message) for one in told) is (rule != "one"), "it is said"


@pytest.mark.parametrize("rule", ["one", "tied", "independent"])
def test_the_table_that_was_counted_has_the_law_that_was_counted(rule: str) -> None:
    """Rows were compared with persons, and of one row of each a choice by chance was taken for the table."""
    table = visits(VALUES, "x")
    protocol = of_persons(table, rule)
    found = protocol.check(table)
    assert found.law.distance < 1e-9
    assert found.law.level <= protocol.epsilon + 1e-6
    assert not found.warnings
    turned = table.assign(x=table["x"].map({"a": "b", "b": "a"}), s=table["s"])
    assert any("the law" in one.what for one in protocol.check(turned).warnings), "another one is seen"


@pytest.mark.parametrize("rule", ["one", "independent"])
def test_no_choice_of_rows_is_taken_for_the_table(rule: str) -> None:
    """Few rows are ill and rare: the one that a check chose of each person had more than twice the level asked for."""
    rng, rows = np.random.default_rng(7), []
    for person in range(1500):
        ill = rng.random() < 0.06
        chances = np.where(np.arange(10) == 6, 8.0 if ill else 0.1, 1.0)
        for value in rng.choice(list("abcdefghij"), 1 + rng.poisson(1.2), p=chances / chances.sum()):
            rows.append((f"P{person:05d}", "ill" if ill else "well", value))
    table = pd.DataFrame(rows, columns=["id", "s", "x"])
    protocol = of_persons(table, rule)
    found = protocol.check(table)
    assert found.law.distance < 0.01
    assert found.law.level == pytest.approx(protocol.epsilon, abs=1e-6)
    assert not any("the law" in one.what for one in found.warnings)


def weighted(flip: bool) -> pd.DataFrame:
    """Values and wards by secret, as many records of each; weights that make the ward, or the value, tell."""
    rows = [
        (s, x, g, 9.0 if (s == "ill") == ((g if flip else x) in ("W1", "a")) else 1.0)
        for s, x, g in product(("ill", "well"), ("a", "b"), ("W1", "W2"))
        for _ in range(250)
    ]
    return pd.DataFrame(rows, columns=["s", "x", "ward", "w"])


def of_population(table: pd.DataFrame) -> dc.Protocol:
    return dc.design(dc.Joint.from_table(table, secret="s", release="x", weight="w"), dc.LIP(0.3)).protocol


def test_weighted_tables_are_judged_at_their_population() -> None:
    """Of records the ward told nothing, and its release was stated at 0: in the population it told 0.59."""
    table = weighted(True)
    protocol = of_population(table)
    with pytest.raises(ReleaseError, match="kept columns tell about the secret"):
        protocol.sanitise(table, keep=["ward"])
    assert any("kept columns tell" in one.what for one in protocol.check(table, keep=["ward"]).refusals)
    other = weighted(False)
    protocol = of_population(other)
    assert "ward" in protocol.sanitise(other, keep=["ward"])
    assert protocol.check(other).law.distance < 1e-9
    assert protocol.check(other).law.level == pytest.approx(protocol.epsilon)
    assert not protocol.check(other).warnings


def test_without_the_weights_it_is_said_that_nothing_is_known() -> None:
    table = weighted(False)
    protocol, bare = of_population(table), table.drop(columns="w")
    with pytest.warns(KeptColumns, match="not judged: kept columns in the population that w weighs"):
        protocol.sanitise(bare, keep=["ward"])
    found = protocol.check(bare, keep=["ward"])
    assert found.law is None
    said = [one.what for one in found.warnings]
    assert any("the law is not compared" in one for one in said)
    assert any("in the population that w weighs" in one for one in said)


def two_secrets() -> pd.DataFrame:
    """Two secrets that are never both there; the ward is the first of them under another name."""
    rng, n = np.random.default_rng(0), 4000
    a = rng.integers(0, 2, n)
    b = np.where(a == 1, 0, rng.integers(0, 2, n))
    x = rng.random(n) < 0.4 + 0.2 * a
    columns = {"hiv": (a, "neg", "pos"), "hep": (b, "neg", "pos"), "x": (x, "p", "q"), "ward": (a, "W1", "W2")}
    named = {name: np.where(there, one, none) for name, (there, none, one) in columns.items()}
    return pd.DataFrame(named).assign(coin=rng.integers(0, 2, n))


@pytest.mark.parametrize("stream", [False, True])
def test_secrets_that_were_joined_are_read_in_their_parts(stream: bool) -> None:
    """No table has a column hiv×hep, so that nothing was judged and nobody was told."""
    import pyarrow as pa

    table = two_secrets()
    protocol = dc.design(
        dc.Joint.from_table(table, secret=["hiv", "hep"], release="x").observed(), dc.LIP(0.2)
    ).protocol

    def given(frame: pd.DataFrame) -> Any:
        return pa.Table.from_pandas(frame).to_reader() if stream else frame

    with pytest.raises(ReleaseError, match="kept columns tell about the secret"):
        protocol.sanitise(given(table), keep=["ward"], one_row_per_person=True)
    protocol.sanitise(given(table), keep=["coin"], one_row_per_person=True)
    found = protocol.check(given(table), keep=["ward"], one_row_per_person=True)
    assert any("kept columns tell" in one.what for one in found.refusals)
    assert (found.law.of, found.law.distance) == ("secret and release", pytest.approx(0, abs=1e-9))
    other = table.assign(x=np.where((table["hiv"] == "pos") | (table["coin"] == 1), "q", "p"))
    with pytest.raises(ReleaseError, match="not the table that was counted"):
        protocol.sanitise(given(other), one_row_per_person=True)


def test_joined_secrets_that_were_merged_are_said_not_to_be_judged() -> None:
    table = two_secrets()
    joint = dc.Joint.from_table(table, secret=["hiv", "hep"], release="x")
    merged = joint.merge_secrets([("neg", "pos"), ("neg", "neg")], ("neg", "any")).observed()
    protocol = dc.design(merged, dc.LIP(0.2)).protocol
    with pytest.warns(KeptColumns, match="values of the secret are unknown to the protocol"):
        protocol.sanitise(table, keep=["ward"], one_row_per_person=True)
    found = protocol.check(table, one_row_per_person=True)
    assert found.law is None
    assert any("joined and merged cannot be read" in one.what for one in found.warnings)
