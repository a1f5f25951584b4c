"""What a command writes never replaces what it reads, with `--force` or without: no raw table, protocol or ledger."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import discreet as dc
from discreet.cli.app import run
from discreet.files.ledger_book import common_book
from discreet.files.outputs import check_outputs

COLUMNS = ["--secret", "health", "--release", "colour", "--no-curve"]
CHECK = ["check", "protocol.json", "people.csv", "--board"]
LONG = "x" * 300
REPLACING = {
    "board, table": ([*CHECK, "people.csv"], "people.csv"),
    "board, protocol": ([*CHECK, "protocol.json"], "protocol.json"),
    "board, key": ([*CHECK, "key", "--key", "key", "--id", "name"], "key"),
    "board, policy": ([*CHECK, "policy.toml", "--policy", "policy.toml"], "policy.toml"),
    "board, policy of the office": ([*CHECK, "office.toml"], "office.toml"),
    "board, ledger": ([*CHECK, "protocol.json.ledger"], "protocol.json.ledger"),
    "board, table by another name": ([*CHECK, "link.csv"], "people.csv"),
    "look": (["look", "people.csv", "--html", "people.csv"], "people.csv"),
    "study init": (["study", "init", "people.csv", "--out", "people.csv"], "people.csv"),
    "publish, protocol": (["publish", "protocol.json", "protocol.json"], "protocol.json"),
    "publish, key": (["publish", "protocol.json", "key", "--sign", "key"], "key"),
    "publish, signature": (["publish", "protocol.json", "p", "--sign", "p.sig"], "p.sig"),
    "report": (["report", "protocol.json", "--out", "protocol.json"], "protocol.json"),
    "design, table": (["design", "people.csv", *COLUMNS, "--out", "people.csv"], "people.csv"),
    "design, sample": (["design", "a.csv", *COLUMNS, "--public", "people.csv", "--out", "people.csv"], "people.csv"),
    "design, ledger": (["design", "people.csv", *COLUMNS, "--out", "protocol.json.ledger"], "protocol.json.ledger"),
    "board, link to a ledger": ([*CHECK, "soft"], "protocol.json.ledger"),
    "board, second name of a ledger": ([*CHECK, "hard"], "protocol.json.ledger"),
    "report, second name of a ledger": (["report", "protocol.json", "--out", "hard"], "protocol.json.ledger"),
    "sanitise, link to a ledger": (["sanitise", "protocol.json", "people.csv", "soft"], "protocol.json.ledger"),
    "sanitise, name of a common ledger": (["sanitise", "protocol.json", "people.csv", "common"], "common"),
    "sanitise": (["sanitise", "protocol.json", "people.csv", "people.csv"], "people.csv"),
}


@pytest.fixture
def there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    for name in ("key", "policy.toml", "office.toml", "protocol.json.ledger", "p.sig"):
        Path(name).write_bytes(b"precious")
    Path("link.csv").hardlink_to("people.csv")
    Path("soft").symlink_to("protocol.json.ledger")
    Path("hard").hardlink_to("protocol.json.ledger")
    common = common_book("0" * 64)
    common.parent.mkdir(parents=True, exist_ok=True)
    common.write_bytes(b"precious")
    Path("common").hardlink_to(common)
    monkeypatch.setenv("DISCREET_POLICY", "office.toml")
    return folder


@pytest.mark.parametrize("name", ["people.csv", "link.csv"])
def test_the_file_behind_standard_input_stays(name: str, there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISCREET_POLICY")
    before = contents(there)
    command = [sys.executable, "-m", "discreet", "sanitise", "protocol.json", "-", name, "--force"]
    with Path("people.csv").open("rb") as table:
        found = subprocess.run(command, stdin=table, capture_output=True, text=True, check=False)
    assert found.returncode == 6
    assert "would replace an input or a ledger" in " ".join(found.stderr.split())
    assert contents(there) == before


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize("name", REPLACING)
def test_an_input_stays(name: str, force: list[str], there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Once five commands put a page in the place of the raw table, unasked."""
    arguments, _ = REPLACING[name]
    before = contents(there)
    assert run([*arguments, *force, "--json"] if "init" not in arguments else [*arguments, *force]) == 6
    assert "would replace an input or a ledger" in capsys.readouterr()[0 if "init" not in arguments else 1]
    assert contents(there) == before


@pytest.mark.parametrize(
    "command",
    [
        ["report", LONG],
        ["report", "/"],
        ["report", "protocol.json", "--out", LONG],
        ["look", "people.csv", "--html", LONG],
        ["look", LONG],
        ["publish", "protocol.json", LONG],
        ["publish", "protocol.json", "x" * 253],
        ["publish", "protocol.json", "/"],
        ["publish", "protocol.json", "public.json", "--sign", LONG],
        ["check", "protocol.json", LONG],
        ["check", "protocol.json", LONG, "new.csv", "--key", "key"],
        ["check", "protocol.json", "people.csv", LONG],
        ["check", "protocol.json", "people.csv", "new.csv", "--policy", LONG],
        ["check", "protocol.json", "people.csv", "new.csv", "--key", LONG, "--id", "name"],
        ["check", LONG, "people.csv"],
        [*CHECK, LONG],
        ["sanitise", "protocol.json", "people.csv", LONG],
        ["sanitise", "protocol.json", LONG, "new.csv"],
        ["design", "people.csv", *COLUMNS, "--out", LONG],
        ["design", "people.csv", *COLUMNS, "--out", "/"],
        ["design", LONG, *COLUMNS, "--out", "new.json"],
        ["estimate", LONG, "people.csv"],
        ["estimate", "protocol.json", LONG],
        ["audit", LONG],
        ["audit", "protocol.json", "--verify", LONG],
        ["keygen", LONG],
        ["keygen", "x" * 253],
        ["demo", LONG],
        ["study", "run", LONG],
    ],
)
def test_a_name_that_no_file_can_have(
    command: list[str], folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    assert run([*command, "--json"]) in (3, 4, 5, 6)
    assert "inside discreet" not in capsys.readouterr().out


def study(folder: Path, **targets: str) -> list[str]:
    said = {"table": "people.csv", "secret": ["health"], "release": ["colour"], "epsilon": 0.5, "data": "these"}
    where = {"protocol": "own.json", **targets}
    lines = [f"{key} = {json.dumps(value)}" for key, value in said.items()]
    lines += ["[targets]", *(f"{key} = {json.dumps(value)}" for key, value in where.items())]
    (folder / "study.toml").write_text("\n".join(lines))
    return ["study", "run", str(folder / "study.toml")]


@pytest.mark.parametrize(
    ("targets", "told"),
    [
        ({"board": "people.csv"}, "replace an input"),
        ({"board": "study.toml"}, "replace an input"),
        ({"protocol": "people.csv"}, "replace an input"),
        ({"report": "own.json.ledger"}, "replace an input or a ledger"),
        ({"report": "released.csv"}, "two outputs"),
        ({"report": "released.csv.public.json"}, "two outputs"),
        ({"board": "own.json"}, "two outputs"),
        ({"report": "nowhere/report.html"}, "no such folder"),
        ({"report": ""}, "the output is a folder"),
        ({"board": "a\u0000b"}, "a name that no file can have"),
        ({"released": LONG}, "no file can have"),
        ({"released": "-"}, "into a file"),
    ],
)
@pytest.mark.parametrize("force", [[], ["--force"]])
def test_a_study_writes_over_nothing_that_it_needs(
    targets: dict[str, str],
    told: str,
    force: list[str],
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before anything is designed or drawn: once the draw was spent, and its report lay in the place of the release."""
    monkeypatch.chdir(folder)
    study(folder, **targets)
    command = ["study", "run", "study.toml"]
    before = contents(folder)
    assert run([*command, *force, "--json"]) in (3, 6)
    assert told in json.loads(capsys.readouterr().out)["error"]["what"]
    assert contents(folder) == before


def test_a_study_replaces_its_own_board_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command, board = study(folder), folder / "board.html"
    board.write_text("<!DOCTYPE html>\n<html><title>My notes</title>")
    assert run([*command, "--dry-run", "--json"]) == 6
    assert "there already" in capsys.readouterr().out
    assert "My notes" in board.read_text()
    board.unlink()
    for more in (["--dry-run"], ["--dry-run"], []):
        assert run([*command, *more, "--json"]) == 0
    assert "For the board" in board.read_text()


def test_a_signature_is_not_removed_unasked(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    beside = Path("public.json.sig")
    beside.write_text("important")
    assert run(["publish", "protocol.json", "public.json", "--json"]) == 6
    assert "there already" in capsys.readouterr().out
    assert beside.read_text() == "important"
    assert not Path("public.json").exists()
    Path("public.json").mkdir()
    assert run(["publish", "protocol.json", "public.json", "--force"]) == 6
    assert beside.exists()
    Path("public.json").rmdir()
    assert run(["publish", "protocol.json", "public.json", "--force"]) == 0
    assert not beside.exists()
    beside.mkdir()
    assert run(["publish", "protocol.json", "public.json", "--force", "--json"]) == 6
    assert "the output is a folder" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000])
def test_names_from_python(name: str, tmp_path: Path) -> None:
    joint = dc.Joint.from_counts([[30, 10], [10, 30]])
    protocol = dc.Protocol.make(dc.Channel([[0.6, 0.4], [0.4, 0.6]]), joint, dc.LDP(1.0))
    with pytest.raises(dc.ReleaseError, match="cannot write there"):
        protocol.save(tmp_path / name)
    check_outputs([tmp_path / name], [tmp_path / "other"])
    with pytest.raises(dc.ReleaseError, match="replace an input"):
        check_outputs([tmp_path / name], [tmp_path / name])


def test_a_pipe_is_no_input_of_that_name(tmp_path: Path) -> None:
    check_outputs([Path("-")], [Path("-")])
