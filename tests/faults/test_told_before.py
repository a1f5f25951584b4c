"""What is told before and after a release is what the ledger has, and a check refuses what a release refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import discreet as dc
from discreet.cli.app import run
from discreet.exceptions import ReleaseError
from discreet.policy import Policy
from discreet.release import Job, RowsAsked, rehearse_file, sanitise_file
from discreet.release.ledger import Ledger

PERSONS = 300


def persons() -> pd.DataFrame:
    """One or two rows each, with ids of persons and of rows; the rows of a person have one value."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"pid": [f"P{n:05d}" for n in range(PERSONS)], "s": rng.choice(["ill", "well"], PERSONS)})
    table = table.assign(x=np.where(rng.random(PERSONS) < np.where(table["s"] == "ill", 0.7, 0.3), "a", "b"))
    table = table.loc[np.repeat(table.index, rng.integers(1, 3, PERSONS))].reset_index(drop=True)
    return table.assign(rid=[f"R{n:05d}" for n in range(len(table))])


TABLE = persons()
SINGLE = TABLE.drop_duplicates("pid").drop(columns="rid")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    joint = dc.Joint.from_table(SINGLE, secret="s", release="x", person="pid")
    dc.design(joint, dc.LIP(0.2)).protocol.save(tmp_path / "p.json")
    TABLE.to_csv(tmp_path / "rows.csv", index=False)
    SINGLE.to_csv(tmp_path / "one.csv", index=False)
    key = tmp_path / "key"
    key.touch(0o600)
    key.write_bytes(bytes(range(32)))
    return tmp_path


def job(folder: Path, source: str, target: str = "out.csv", **options: object) -> Job:
    return Job(folder / "p.json", str(folder / source), str(folder / target), **options)  # type: ignore[arg-type]


# ---- what is told ---------------------------------------------------------------------------------------------------


def told(folder: Path, source: str, target: str, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    asked = ["sanitise", str(folder / "p.json"), str(folder / source), str(folder / target), *more]
    assert run([*asked, "--key", str(folder / "key"), "--id", "pid", "--law-anyway"]) == 0
    return " ".join(capsys.readouterr().err.split())


def said(folder: Path, target: str) -> dict[str, object]:
    return json.loads((folder / f"{target}.manifest.json").read_text())  # type: ignore[no-any-return]


def test_a_key_over_other_values_is_told_as_the_draws_that_it_makes(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The terminal once said one draw and 0.2, where the ledger entered two."""
    first = told(folder, "one.csv", "1.csv", capsys)
    assert first.count("This release makes") == 1
    assert "the first draw of these records: total epsilon 0.2." in first
    again = told(folder, "one.csv", "2.csv", capsys)
    assert "the first draw of these records at least: one more if people or values" in again
    assert "This release makes the first draw of these records: total epsilon 0.2." in again
    other = SINGLE.assign(x=np.where(np.arange(PERSONS) < 20, "a", SINGLE["x"]))
    other.to_csv(folder / "other.csv", index=False)
    changed = told(folder, "other.csv", "3.csv", capsys, "--repeat")
    total = said(folder, "3.csv")["total_epsilon"]
    assert said(folder, "3.csv")["independent_draws"] == 2
    assert f"makes 2 independent draws of these records: total epsilon {total:.6g}"[:-2] in changed
    assert changed.count("One, two and three") == 1


def test_a_release_that_was_overtaken_is_told_as_it_was_entered(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = Ledger.foretold
    protocol = dc.Protocol.load(folder / "p.json")

    def overtaken(self: Ledger, *arguments: object) -> object:
        found = ask(self, *arguments)  # type: ignore[arg-type]
        Ledger.beside(folder / "p.json", protocol).enter(None, 9.0)
        return found

    monkeypatch.setattr(Ledger, "foretold", overtaken)
    asked = ["sanitise", str(folder / "p.json"), str(folder / "one.csv"), str(folder / "1.csv"), "--budget", "9"]
    assert run(asked) == 0
    words = " ".join(capsys.readouterr().err.split())
    assert f"makes {said(folder, '1.csv')['independent_draws']} independent draws" in words


def test_every_promise_of_several_draws_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    joint = dc.Joint.from_table(SINGLE, secret="s", release="x")
    dc.design(joint, dc.Funnel(0.05, ceiling=dc.LIP(0.6))).protocol.save(folder / "p.json")
    asked = ["sanitise", str(folder / "p.json"), str(folder / "one.csv")]
    assert run([*asked, str(folder / "1.csv")]) == 0
    capsys.readouterr()
    assert run([*asked, str(folder / "2.csv"), "--repeat"]) == 0
    words = " ".join(capsys.readouterr().err.split())
    assert "makes 2 independent draws" in words
    assert ", LIP level " in words
    assert rehearse_file(job(folder, "one.csv", repeat=True)).account.total.count(" level ") == 1  # type: ignore[union-attr]


# ---- check and sanitise ---------------------------------------------------------------------------------------------


def refused(asked: Job, words: str) -> None:
    assert any(words in one.what for one in rehearse_file(asked).refusals)
    with pytest.raises(ReleaseError, match=words):
        sanitise_file(asked)
    assert not Path(asked.target).exists()


def test_ties_by_one_column_and_a_key_by_another_are_refused_by_a_check_too(folder: Path) -> None:
    tied, keyed = RowsAsked("pid", None, "tied"), {"key": folder / "key", "identity": "rid"}
    refused(job(folder, "rows.csv", rows=tied, **keyed), "keyed by another column than the one that ties rows")
    table, protocol = pd.read_csv(folder / "rows.csv"), dc.Protocol.load(folder / "p.json")
    assert protocol.check(table, person="pid", rows="tied", **keyed).refusals
    fine = job(folder, "rows.csv", rows=tied, **{**keyed, "identity": "pid"})
    assert not rehearse_file(fine).refusals
    assert sanitise_file(fine).records == len(TABLE)


def test_a_pipe_has_no_files_beside_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of an odd name once made a check refuse what a release does."""
    monkeypatch.chdir(folder)
    (folder / "-.manifest.json").touch()
    assert run(["check", "p.json", "one.csv", "-"]) in (0, 3)
    assert run(["sanitise", "p.json", "one.csv", "-", "--dry-run"]) in (0, 3)


@pytest.mark.parametrize("several", [False, True])
def test_a_key_by_rows_does_not_say_whose_rows_they_are(folder: Path, several: bool) -> None:
    keyed = {"key": folder / "key", "identity": "rid", "several_rows": several}
    counted = dc.Protocol.load(folder / "p.json")
    dc.design(dc.Joint.from_table(SINGLE, secret="s", release="x"), dc.LIP(0.2)).protocol.save(folder / "p.json")
    refused(job(folder, "rows.csv", **keyed), "looks like an id, and ids occur in it several times")
    table, protocol = pd.read_csv(folder / "rows.csv"), dc.Protocol.load(folder / "p.json")
    with pytest.raises(ReleaseError, match="looks like an id"):
        protocol.sanitise(table, **keyed)
    assert any("looks like an id" in one.what for one in protocol.check(table, **keyed).refusals)
    for number, rows in enumerate((RowsAsked(one_row_per_person=True), RowsAsked("pid", None, "one"))):
        (counted if rows.person else protocol).save(folder / "p.json")
        stated = job(folder, "rows.csv", f"{number}.csv", rows=rows, data=f"{number}", **keyed)
        assert not rehearse_file(stated).refusals
        sanitise_file(stated)
    shared = {"key": folder / "key", "identity": "pid", "several_rows": True, "rows": RowsAsked(rows="tied")}
    by_person = job(folder, "rows.csv", "p.csv", data="p", **shared)
    assert "share one draw" in rehearse_file(by_person).promise["rows"]
    sanitise_file(by_person)


def test_rows_that_share_an_id_do_not_come_through_a_pipe(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether somebody's values differ cannot be seen before they are released."""
    asked = ["p.json", "-", "out.csv", "--key", "key", "--id", "pid", "--several-rows"]
    monkeypatch.chdir(folder)
    for command in ("check", "sanitise"):
        with (folder / "rows.csv").open() as table:
            monkeypatch.setattr("sys.stdin", table)
            assert run([command, *asked]) != 0
    assert not (folder / "out.csv").exists()
    stream = pa.table(TABLE).to_reader()
    with pytest.raises(ReleaseError, match="a stream can be read once"):
        dc.Protocol.load(folder / "p.json").sanitise(stream, key=folder / "key", identity="pid", several_rows=True)


# ---- what a policy allows a person ----------------------------------------------------------------------------------


@pytest.fixture
def drawn_apart(folder: Path) -> dc.Protocol:
    """A protocol whose proven level is far below what was asked for, and is that of one row of each person."""
    joint = dc.Joint.from_table(TABLE, secret="s", release="x", person="pid", rows="one")
    found = dc.design(joint, dc.LIP(3.0)).protocol
    assert found.epsilon < 1.0
    found.save(folder / "p.json")
    return found


def test_a_policy_judges_all_rows_that_a_release_draws_by_themselves(folder: Path, drawn_apart: dc.Protocol) -> None:
    """The row's proven level was judged, where the manifest stated twice as much for a person."""
    apart, policy = RowsAsked("pid", None, "independent"), folder / "policy.toml"
    level = 1.2 * drawn_apart.epsilon
    policy.write_text(f"[epsilon]\nLIP = {level!r}\n")
    refused(job(folder, "rows.csv", rows=apart, policy=policy), "epsilon.LIP = ")
    asked = {"person": "pid", "rows": "independent", "policy": policy}
    for ledger in (None, folder / "book"):
        with pytest.raises(ReleaseError, match=r"epsilon\.LIP = "):
            drawn_apart.sanitise(TABLE, ledger=ledger, **asked)
        assert drawn_apart.check(TABLE, ledger=ledger, **asked).refusals
    policy.write_text(f"[epsilon]\nLIP = {2.5 * drawn_apart.epsilon!r}\n")
    wide = job(folder, "rows.csv", rows=apart, policy=policy)
    assert not rehearse_file(wide).refusals
    sanitise_file(wide)
    assert level < said(folder, "out.csv")["total_epsilon"] <= 2.5 * drawn_apart.epsilon  # type: ignore[operator]


def test_a_policy_judges_the_rows_of_releases_before(folder: Path, drawn_apart: dc.Protocol) -> None:
    """A key repeats one draw, of rows that an earlier release drew by themselves."""
    asked = {"key": folder / "key", "identity": "rid", "ledger": folder / "book"}
    drawn_apart.sanitise(TABLE, person="pid", rows="independent", **asked)
    narrow = Policy.of({"epsilon": {"LIP": 1.2 * drawn_apart.epsilon}})
    with pytest.raises(ReleaseError, match="all that the policy allows"):
        drawn_apart.sanitise(TABLE, person="pid", rows="one", policy=narrow, **asked)


def test_a_policy_judges_every_promise_that_it_has_a_level_for(folder: Path) -> None:
    joint = dc.Joint.from_table(SINGLE, secret="s", release="x")
    protocol = dc.design(joint, dc.LDP(0.8) & dc.LIP(0.6)).protocol
    table = SINGLE.drop(columns="pid")
    narrow = Policy.of({"epsilon": {"LDP": 1.0, "LIP": 0.5}})
    with pytest.raises(ReleaseError, match=r"epsilon\.LIP = 0\.5"):
        protocol.sanitise(table, policy=narrow)
    wide = Policy.of({"epsilon": {"LDP": 1.0, "LIP": 0.6}})
    protocol.sanitise(table, policy=wide, ledger=folder / "book")
    with pytest.raises(ReleaseError, match=r"epsilon\.L[A-Z]+ = "):
        protocol.sanitise(table, policy=wide, ledger=folder / "book", repeat=True)


@pytest.mark.parametrize("keyed", [False, True])
def test_one_refusal_is_not_followed_by_a_false_one(
    folder: Path, keyed: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once the file was said to be unreadable too, where only its ids were left to be asked for, and had 0 records."""
    (folder / "key").write_bytes(bytes(range(32)))
    (folder / "key").chmod(0o600)
    beside = ["--key", str(folder / "key"), "--id", "pid"] if keyed else []
    command = ["check", str(folder / "p.json"), str(folder / "one.csv"), "out.csv", "--keep", "x", *beside]
    assert run([*command, "--json"]) == 4
    told = [one["what"] for one in json.loads(capsys.readouterr().out)["refusals"]]
    assert told[:1] == ["this column cannot be kept as it is"]
    assert not any("cannot be read" in one for one in told)
    assert run(command) == 4
    assert "not counted" in capsys.readouterr().out
