"""Whose rows a release has: every rule on whole tables, and what stops it."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import discreet as dc
from discreet.phrases import times
from discreet.release.id_columns import looks_like_an_id
from discreet.wording import guarantee

PERSONS = 400


@pytest.fixture(scope="module")
def people():
    """Persons with one to three rows; in `same` all rows of one have one value."""
    rng = np.random.default_rng(3)
    rows = rng.integers(1, 4, PERSONS)
    s = np.repeat(rng.integers(0, 2, PERSONS), rows)
    value = (s + np.repeat(rng.integers(0, 2, PERSONS), rows)) % 3
    x = (s + rng.integers(0, 3, len(s))) % 3
    return pd.DataFrame({"pid": np.repeat(np.arange(PERSONS), rows), "s": s, "x": x, "same": value})


@pytest.fixture(scope="module")
def protocols(people):
    def made(release, **options):
        return dc.design(dc.Joint.from_table(people, secret="s", release=release, **options), dc.LIP(0.2)).protocol

    return {
        "rows": made("x"),
        "single": dc.design(
            dc.Joint.from_table(people.drop_duplicates("pid"), secret="s", release="x", person="pid"), dc.LIP(0.2)
        ).protocol,
        "independent": made("x", person="pid", rows="independent"),
        "one": made("x", person="pid", rows="one"),
        "same": made("same", person="pid", rows="tied"),
        "same rows": made("same"),
    }


def told(frame):
    return frame.attrs["discreet release"]["rows"]


def test_a_column_that_looks_like_an_id_stops_a_release(people, protocols):
    with pytest.raises(dc.ReleaseError, match=r"looks like an id.*--person pid.*--one-row-per-person"):
        protocols["rows"].sanitise(people)
    released = protocols["rows"].sanitise(people, one_row_per_person=True)
    assert told(released) == "one row per person: stated by the steward, not checked"
    unique = people.drop_duplicates("pid")
    assert len(protocols["rows"].sanitise(unique)) == PERSONS
    assert told(protocols["rows"].sanitise(unique, person="pid")) == "one row per person: checked in the column pid"


def test_the_refusal_has_numbers_for_this_table(people, protocols):
    with pytest.raises(dc.ReleaseError) as refused:
        protocols["rows"].sanitise(people, person="pid")
    said = str(refused.value)
    assert f"one: {PERSONS:,} of {len(people):,} rows" in said
    assert "tied: refused" in said
    assert "for a level of ε each row gets between ε/6 and ε/3" in said
    assert "Design again with --person pid (person=)" in said
    with pytest.raises(dc.ReleaseError, match=r"independent: all .* rows, level .* if they are independent given"):
        protocols["single"].sanitise(people)
    assert [one.what for one in protocols["rows"].check(people, person="pid").refusals] == [refused.value.what]


def test_one_row_of_each(people, protocols):
    assert len(protocols["single"].sanitise(people, person="pid", rows="one")) == PERSONS
    assert len(protocols["one"].sanitise(people)) == PERSONS, "the protocol says so itself"


def test_tied_rows_are_equal_and_independent_ones_are_not(people, protocols):
    protocol, kept = protocols["same"], {"keep": ["pid"], "keep_anyway": True}
    outputs = protocol.sanitise(people, person="pid", rows="tied", **kept).groupby("pid")["same"].nunique()
    assert (outputs == 1).all()
    assert len(outputs) == PERSONS
    loose = protocols["same rows"].sanitise(people, one_row_per_person=True, **kept).groupby("pid")["same"].nunique()
    assert (loose > 1).any(), "a planted independent draw is seen"
    first, second = (protocol.sanitise(people, person="pid", rows="tied", keep_order=True)["same"] for _ in range(2))
    assert (first != second).any(), "another release is another draw"
    with pytest.raises(dc.ReleaseError, match="different values"):
        protocols["one"].sanitise(people, person="pid", rows="tied")


def test_independent_rows_are_held_at_the_level_of_a_person(people, protocols):
    assert "together at most 0.19" in told(protocols["independent"].sanitise(people)).replace("0.2", "0.19")
    more = pd.concat([people, people[people["pid"] == 0]] * 2)
    with pytest.raises(dc.ReleaseError, match="rows of a person, independent given the secret, have level"):
        protocols["independent"].sanitise(more)
    differing = people.assign(s=np.arange(len(people)) % 2)
    with pytest.raises(dc.DistributionError, match="different values of the secret"):
        protocols["independent"].sanitise(differing)


def test_what_a_person_is_promised_is_told_before_what_a_row_is(protocols):
    said = guarantee(protocols["independent"])
    rows = protocols["independent"].statement.rows
    assert said.startswith(
        "If rows are independent given the secret, however many there are: "
        f"Whoever sees all released rows (up to {rows.most}) of a person "
        f"finds no value of s more than {times(rows.epsilon)} times as likely"
    )
    assert "A row by itself: Whoever sees a released record finds no value" in said
    assert guarantee(protocols["one"]).startswith("Whoever sees a released record")


def test_estimates_from_one_row_of_each_are_unbiased_and_covered():
    rng, hits, asked, estimates = np.random.default_rng(7), 0, 0, []
    rows = rng.integers(1, 5, 1500)
    s = np.repeat(rng.integers(0, 2, 1500), rows)
    often = np.repeat(rows > 2, rows)
    x = np.where(often, 0, (s + rng.integers(0, 3, len(s))) % 3)
    frame = pd.DataFrame({"pid": np.repeat(np.arange(1500), rows), "s": s, "x": x})
    law = pd.crosstab(frame["pid"], frame["x"], normalize="index").mean().to_numpy()
    protocol = dc.design(
        dc.Joint.from_table(frame, secret="s", release="x", person="pid", rows="one"), dc.LIP(0.3)
    ).protocol
    places = np.split(np.arange(len(frame)), np.cumsum(rows)[:-1])
    for _ in range(60):
        drawn = rng.integers(0, 1500, 200)
        sample = frame.iloc[np.concatenate([places[p] for p in drawn])]
        sample = sample.assign(pid=np.repeat(np.arange(200), rows[drawn]))
        found = dc.estimate(protocol.sanitise(sample, person="pid", rows="one"), protocol)
        limits = found.interval(0.95)
        hits += int(((limits[:, 0] <= law) & (law <= limits[:, 1])).sum())
        asked += 3
        estimates.append(found.frequencies)
    assert hits / asked >= 0.90
    assert np.mean(estimates, axis=0) == pytest.approx(law, abs=0.02)
    by_rows = np.bincount(x) / len(x)
    assert np.abs(by_rows - law).max() > 0.05, "counting rows would have shown another law"


def test_streams_and_strange_requests_are_refused(people, protocols, tmp_path):
    import pyarrow as pa

    stream = pa.Table.from_pandas(people).to_reader()
    with pytest.raises(dc.ReleaseError, match="a stream can be read once"):
        protocols["rows"].sanitise(stream, person="pid", rows="one")
    with pytest.raises(dc.ParameterError):
        protocols["rows"].sanitise(people, person="pid", one_row_per_person=True)
    with pytest.raises(dc.ParameterError):
        protocols["rows"].sanitise(people, rows="one")
    holes = people.assign(pid=people["pid"].where(people["pid"] > 3))
    with pytest.raises(dc.TableError, match="have no id"):
        protocols["rows"].sanitise(holes, person="pid", rows="one")


@pytest.mark.parametrize(
    ("name", "values", "looks"),
    [
        ("patient_id", [f"{i % 100}" for i in range(300)], True),
        ("code", [f"AB-{i % 100:05d}" for i in range(300)], True),
        ("x", [i % 1500 for i in range(3000)], True),
        ("income", [i * 37 for i in range(3000)], False),
        ("age", [i % 70 for i in range(3000)], False),
        ("width", [f"{i % 100}.5" for i in range(300)], False),
        ("education", ["a", "b"] * 100, False),
        ("admitted", [f"{d:02d}.{m:02d}.2025" for d in range(1, 29) for m in range(1, 13)] * 2, False),
        ("admitted", [f"2025-{m:02d}-{d:02d}" for d in range(1, 29) for m in range(1, 13)] * 2, False),
        ("number", [f"{i:03d}-{i % 90 + 10}-{i + 1000}" for i in range(400)] * 2, True),
        ("day id", [f"2025-{m:02d}-{d:02d}" for d in range(1, 29) for m in range(1, 13)] * 2, True),
    ],
)
def test_what_looks_like_an_id(name, values, looks):
    cells = pa.array([str(value) for value in values], pa.large_string())
    assert looks_like_an_id(name, [cells]) is looks


def test_a_remedy_can_be_typed_as_it_stands(people, protocols):
    with pytest.raises(dc.ReleaseError, match=r"--person 'person nr' "):
        protocols["rows"].sanitise(people.rename(columns={"pid": "person nr"}))


def test_the_command(people, protocols, tmp_path, monkeypatch):
    from discreet.cli.app import run

    monkeypatch.chdir(tmp_path)
    people.to_csv("t.csv", index=False)
    design = ["design", "t.csv", "--secret", "s", "--release", "x", "--epsilon", "0.2", "--no-curve"]
    assert run([*design, "--person", "pid"]) != 0
    assert run([*design, "--person", "pid", "--rows", "one"]) == 0
    assert json.loads((tmp_path / "protocol.json").read_text())["statement"]["rows"]["rule"] == "one"
    assert run(["sanitise", "protocol.json", "t.csv", "out.csv"]) == 0
    assert len(pd.read_csv("out.csv")) == PERSONS
    assert "one row of each person" in json.loads((tmp_path / "out.csv.manifest.json").read_text())["rows"]
