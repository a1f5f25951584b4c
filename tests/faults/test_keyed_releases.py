"""Keyed releases that an attack got through: another column of ids, repeated ids, parallel releases counted once."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet.exceptions import BudgetError, ReleaseError
from discreet.release import Job, RowsAsked, sanitise_file
from discreet.release.draws_together import total_epsilon

PEOPLE = 200


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    joint = dc.Joint.from_counts(np.array([[70, 10, 20], [26, 57, 40]]), [("a", "b")][0], [("x", "y", "z")][0])
    dc.design(joint, dc.LIP(0.5)).protocol.save(tmp_path / "protocol.json")
    key = tmp_path / "key"
    key.write_bytes(bytes(range(64)))
    key.chmod(0o600)
    draws = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "release": draws.choice(["x", "y", "z"], PEOPLE),
            "ssn": np.arange(PEOPLE),
            "email": [f"p{i}@example.org" for i in range(PEOPLE)],
            "family": np.arange(PEOPLE) // 2,
        }
    )
    frame.to_csv(tmp_path / "people.csv", index=False)
    return tmp_path


def job(folder: Path, target: str, identity: str | None, **options: object) -> Job:
    key = folder / "key" if identity else None
    given = {"key": key, "identity": identity, "rows": RowsAsked(one_row_per_person=True), **options}
    return Job(folder / "protocol.json", str(folder / "people.csv"), str(folder / target), **given)


def manifest(folder: Path, target: str) -> dict[str, object]:
    return json.loads((folder / f"{target}.manifest.json").read_text())


def test_another_column_of_ids_is_another_draw(folder: Path) -> None:
    """Both manifests once said one draw, and the pair has twice the level and more."""
    first = sanitise_file(job(folder, "one.csv", "ssn"))
    second = sanitise_file(job(folder, "two.csv", "email", repeat=True))
    assert (first.draws, second.draws) == (1, 2)
    assert second.epsilon > 1.5 * first.epsilon
    assert manifest(folder, "two.csv")["independent_draws"] == 2
    assert sanitise_file(job(folder, "three.csv", "ssn")).draws == 2
    with pytest.raises(BudgetError, match="3 independent releases"):
        sanitise_file(job(folder, "four.csv", None, budget=second.epsilon))
    assert not (folder / "four.csv").exists()


def test_reformatted_ids_are_read_alike_or_counted(folder: Path) -> None:
    first = sanitise_file(job(folder, "one.csv", "ssn", keep_order=True))
    people = pd.read_csv(folder / "people.csv")
    people.to_parquet(folder / "people.csv")  # the same numbers, as numbers
    again = sanitise_file(job(folder, "two.csv", "ssn", keep_order=True, format="csv"))
    assert (first.draws, again.draws) == (1, 1)
    assert (folder / "one.csv").read_bytes() == (folder / "two.csv").read_bytes()
    people["ssn"] = [f"{i:03d}" for i in range(PEOPLE)]
    people.to_csv(folder / "people.csv", index=False)
    assert sanitise_file(job(folder, "three.csv", "ssn", repeat=True)).draws == 2


def test_other_values_of_the_same_people_are_another_draw(folder: Path) -> None:
    """The same ids over other values once counted as the same draw: ids shifted by a row, for example."""
    assert sanitise_file(job(folder, "one.csv", "ssn")).draws == 1
    people = pd.read_csv(folder / "people.csv")
    people["release"] = people["release"].to_numpy()[::-1]
    people.to_csv(folder / "people.csv", index=False)
    with pytest.raises(BudgetError, match="2 independent releases"):
        sanitise_file(job(folder, "two.csv", "ssn"))
    changed = sanitise_file(job(folder, "two.csv", "ssn", repeat=True))
    assert changed.draws == 2
    protocol = dc.Protocol.load(folder / "protocol.json")
    assert changed.epsilon == total_epsilon(protocol, 2, one_of=2, tables=2) > total_epsilon(protocol, 2)
    assert "the new one depends on the secret alone; without that, no bound" in str(
        manifest(folder, "two.csv")["condition"]
    )
    assert sanitise_file(job(folder, "three.csv", "ssn")).draws == 2


def alike(folder: Path) -> pd.DataFrame:
    """The people, with one value for all rows of a family."""
    people = pd.read_csv(folder / "people.csv")
    return people.assign(release=people.groupby("family")["release"].transform("first"))


def test_repeated_ids_are_refused_unless_they_are_announced(folder: Path) -> None:
    """With one id for all a protocol once mapped every letter to one output for everybody."""
    with pytest.raises(ReleaseError, match=f"{PEOPLE // 2} records carry an id"):
        sanitise_file(job(folder, "one.csv", "family"))
    assert not (folder / "one.csv").exists()
    assert not (folder / "protocol.json.ledger").exists()
    with pytest.raises(ReleaseError, match="rows with different values"):
        sanitise_file(job(folder, "one.csv", "family", several_rows=True))
    alike(folder).to_csv(folder / "people.csv", index=False)
    sanitise_file(job(folder, "one.csv", "family", several_rows=True))
    assert "share one draw" in str(manifest(folder, "one.csv")["identity"])


def test_frames_refuse_them_too(folder: Path) -> None:
    protocol, people = dc.Protocol.load(folder / "protocol.json"), pd.read_csv(folder / "people.csv")
    with pytest.raises(ReleaseError, match="carry an id"):
        protocol.sanitise(people, key=folder / "key", identity="family")
    people = alike(folder)
    tied = protocol.sanitise(
        people, key=folder / "key", identity="family", several_rows=True, keep_order=True, one_row_per_person=True
    )
    for _, rows in tied.assign(family=people["family"], value=people["release"]).groupby(["family", "value"]):
        assert rows["release"].nunique() == 1


def test_parallel_releases_state_what_they_come_to_together(folder: Path) -> None:
    """Six at once, once six manifests that all said one draw."""
    jobs = [job(folder, f"{i}.csv", None, budget=1_000.0) for i in range(6)]
    with ThreadPoolExecutor(6) as pool:
        outcomes = list(pool.map(sanitise_file, jobs))
    assert sorted(outcome.draws for outcome in outcomes) == [1, 2, 3, 4, 5, 6]
    stated = [manifest(folder, f"{i}.csv") for i in range(6)]
    assert sorted(found["independent_draws"] for found in stated) == [1, 2, 3, 4, 5, 6]
    assert [found["total_epsilon"] for found in stated] == [outcome.epsilon for outcome in outcomes]


def test_parallel_frames_too(folder: Path) -> None:
    protocol, people = dc.Protocol.load(folder / "protocol.json"), pd.read_csv(folder / "people.csv")

    def released(_: int) -> int:
        frame = protocol.sanitise(people, ledger=folder / "ledger", budget=1_000.0, one_row_per_person=True)
        return int(frame.attrs["discreet release"]["independent_draws"])

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(released, range(6))) == [1, 2, 3, 4, 5, 6]


def test_another_construction_under_the_same_key_is_another_draw(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the ledger says which construction every keyed draw was made with."""
    assert sanitise_file(job(folder, "one.csv", "ssn")).draws == 1
    assert sanitise_file(job(folder, "two.csv", "ssn")).draws == 1
    for place in ("keyed_draws", "ledger", "manifest"):
        monkeypatch.setattr(sys.modules[f"discreet.release.{place}"], "CONSTRUCTION", "another one (3)")
    assert sanitise_file(job(folder, "three.csv", "ssn", repeat=True)).draws == 2
    lines = (folder / "protocol.json.ledger").read_text().splitlines()
    said = [json.loads(line)["construction"] for line in lines]
    assert said[2] == "another one (3)" != said[0] == said[1]
    assert "another one (3)" in str(manifest(folder, "three.csv")["randomness"])
    assert said[0] in str(manifest(folder, "one.csv")["randomness"])
