from __future__ import annotations

import json
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from discreet.cli import app as app_module
from discreet.cli.app import COMMANDS, run
from discreet.protocol import Protocol


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def test_design_shows_what_matters(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, out = str(folder / "people.csv"), str(folder / "new.json")
    assert run(["design", table, "--secret", "health", "--release", "colour", "--epsilon", "0.5", "--out", out]) == 0
    shown = capsys.readouterr()
    assert "400" in shown.err
    assert "health: 2 values" in shown.err
    for words in (
        "information kept",
        "values unchanged",
        "worth for colour",
        "at most possible",
        "local information privacy",
        "as unlikely",
        "100 %",
        "┤",
        "nats",
    ):
        assert words in shown.out
    assert Protocol.load(out).source == "data"
    said = " ".join(shown.out.split())
    assert "learnt from the table that is released" in said
    assert "contains the exact table of counts of health and colour, 6 cells about 400 records" in said
    assert "the exact counts of your table inside" in said


def test_the_next_command_can_be_typed_as_it_stands(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    Path("people of 2025.csv").write_bytes(Path("people.csv").read_bytes())
    command = ["design", "people of 2025.csv", "--secret", "health", "--release", "colour", "--method", "grr"]
    assert run([*command, "--no-curve", "--out", "new.json"]) == 0
    said = capsys.readouterr().out
    words = shlex.split(said.split("Next:")[1])
    assert words == ["discreet", "sanitise", "new.json", "people of 2025.csv", "released.csv"]


def test_design_for_machines(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, out = str(folder / "people.csv"), str(folder / "new.json")
    command = ["design", table, "--secret", "health", "--release", "colour", "--out", out, "--force", "--json"]
    command += ["--notion", "LDP", "--for", "information"]
    assert run(command) == 0
    found = json.loads(capsys.readouterr().out)
    protocol = Protocol.load(out)
    assert (found["sha256"], found["n"], found["notion"]) == (protocol.digest, 400, "LDP")
    assert 0 < found["utility"] <= found["upper_bound"] <= found["entropy"] + 1e-9
    assert len(found["curves"]["best found"]) == 5
    values = [point["value"] for point in found["curves"]["best found"]]
    assert values == sorted(values)
    assert found["other_form"]["sees_secret"]
    assert found["other_form"]["utility"] >= found["utility"] - 1e-4
    assert run([*command, "--sees-secret"]) == 0
    owner = json.loads(capsys.readouterr().out)
    assert owner["utility"] == pytest.approx(found["other_form"]["utility"], abs=1e-3)
    assert owner["other_form"]["utility"] == pytest.approx(found["utility"], abs=1e-3)


def test_bits_are_nats_over_ln_2(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, out = str(folder / "people.csv"), str(folder / "new.json")
    command = ["design", table, "--secret", "health", "--release", "colour", "--out", out, "--no-curve", "--force"]
    assert run([*command, "--json"]) == 0
    nats = json.loads(capsys.readouterr().out)["utility"]
    assert run([*command, "--bits"]) == 0
    assert f"{nats / 0.6931471805599453:.4f} bits" in capsys.readouterr().out


def test_a_plan_tells_what_analysts_will_get(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, out = str(folder / "people.csv"), str(folder / "new.json")
    command = [
        "design",
        table,
        "--secret",
        "health",
        "--release",
        "colour",
        "--out",
        out,
        "--force",
        "--no-curve",
        "--plan",
    ]
    assert run([*command, "5000", "--epsilon", "0.5"]) == 0
    shown = capsys.readouterr().out
    assert "5,000" in shown
    assert shown.count("±") == 3
    assert "clean ones" in shown
    assert run([*command, "5000", "--epsilon", "0.5", "--json"]) == 0
    planned = json.loads(capsys.readouterr().out)["plan"]["tables"][0]
    assert 0 < planned["effective_sample_size"] < 5000
    widths = [letter["half_width"] for letter in planned["letters"]]
    assert all(f"± {width:.4f}" in shown for width in widths)
    assert run([*command, "20000", "--epsilon", "0.5", "--json"]) == 0
    halves = [letter["half_width"] for letter in json.loads(capsys.readouterr().out)["plan"]["tables"][0]["letters"]]
    assert halves == pytest.approx([width / 2 for width in widths])


def test_the_smallest_epsilon_of_an_accuracy_is_designed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, out = str(folder / "people.csv"), str(folder / "new.json")
    command = ["design", table, "--secret", "health", "--release", "colour", "--out", out, "--no-curve", "--force"]
    assert run([*command, "--plan", "5000", "--accuracy", "0.03", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    widest = max(letter["half_width"] for letter in found["plan"]["tables"][0]["letters"])
    assert widest <= 0.03
    assert Protocol.load(out).epsilon <= min(e for e, half in found["plan"]["tried"] if half <= 0.03)
    assert all(half is None or half > 0.03 for e, half in found["plan"]["tried"] if e < found["epsilon"] - 1e-9)
    for wrong, code in ((["--accuracy", "0.03"], 3), (["--plan", "0"], 3), (["--plan", "10", "--accuracy", "1e-4"], 4)):
        assert run([*command, *wrong]) == code
    assert run([*command, "--plan", "10", "--accuracy", "0.1", "--epsilon", "1"]) == 3


def test_a_public_sample_is_recorded(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(folder / "new.json")
    sample = folder / "sample.csv"
    sample.write_text("\n".join(lines(folder / "people.csv")[:200]) + "\n")
    command = ["design", "unused.csv", "--public", str(sample), "--secret", "health", "--release", "colour"]
    assert run([*command, "--out", out, "--no-curve", "--force"]) == 0
    assert Protocol.load(out).source == "public"
    assert Protocol.load(out).joint.n == 199
    shown = capsys.readouterr()
    assert "public sample" in shown.err
    assert "counts" not in shown.out


def test_sanitise_says_the_total_before_and_writes_everything(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    protocol, table, out = (str(folder / name) for name in ("protocol.json", "people.csv", "out.csv"))
    assert run(["sanitise", protocol, table, out, "--keep", "region"]) == 0
    shown = capsys.readouterr()
    assert "the first draw" in shown.err
    assert "total epsilon 0.5" in shown.err
    assert shown.out == ""
    assert lines(folder / "out.csv")[0] == '"colour","region"'
    assert len(lines(folder / "out.csv")) == 401
    assert (folder / "out.csv.manifest.json").exists()
    assert run(["sanitise", protocol, table, out, "--json", "--budget", "100", "--force"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["records"], found["draws"]) == (400, 2)
    assert found["epsilon"] > 0.5


def test_a_budget_stops_the_second_release(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["sanitise", *(str(folder / name) for name in ("protocol.json", "people.csv", "out.csv"))]
    command.append("--force")
    assert run([*command, "--budget", "0.6"]) == 0
    before = (folder / "out.csv").read_bytes()
    assert run(command) == 6
    assert "declared budget of 0.6" in " ".join(capsys.readouterr().err.split())
    assert (folder / "out.csv").read_bytes() == before


def test_pipes(folder: Path) -> None:
    command = [sys.executable, "-m", "discreet"]
    done = subprocess.run(
        [*command, "sanitise", str(folder / "protocol.json"), "-", "-", "--to", "csv"],
        input=(folder / "people.csv").read_bytes(),
        capture_output=True,
        check=True,
    )
    assert len(done.stdout.splitlines()) == 401
    assert b"total epsilon" in done.stderr


def test_there_is_no_way_to_fix_the_randomness(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["sanitise", *(str(folder / name) for name in ("protocol.json", "people.csv", "out.csv"))]
    for option in ("--testing", "--seed"):
        assert run([*command, option]) == 2
        assert "No such option" in capsys.readouterr().err
    assert not (folder / "out.csv").exists()


def test_audit(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", str(folder / "protocol.json"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["levels"]["LIP"] <= found["proven"] + 1e-12
    assert run(["audit", str(folder / "protocol.json")]) == 0
    assert "worst case" in capsys.readouterr().out


def test_audit_of_somebody_elses_matrix(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "pram.csv").write_text(",red,green,blue\nred,0.8,0.1,0.1\ngreen,0.1,0.8,0.1\nblue,0.1,0.1,0.8\n")
    command = ["audit", str(folder / "pram.csv"), "--data", str(folder / "people.csv"), "--json"]
    assert run([*command, "--secret", "health", "--release", "colour"]) == 0
    assert json.loads(capsys.readouterr().out)["levels"]["LIP"] > 0


def test_an_estimate_from_what_was_released(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    protocol, table = str(folder / "protocol.json"), str(folder / "people.csv")
    for kind in ("csv", "parquet", "arrow"):
        out = str(folder / f"out.{kind}")
        assert run(["sanitise", protocol, table, out, "--data", kind]) == 0
        assert run(["estimate", protocol, out, "--json"]) == 0
        assert "0." in capsys.readouterr().out


def test_report(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", str(folder / "protocol.json"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert Path(found["report"]).read_text().startswith("<!doctype html>")


def test_the_first_line_of_every_command_is_the_one_of_its_help() -> None:
    for name, says in COMMANDS.items():
        module = import_module(f"discreet.cli.{name.replace('-', '_')}")
        real = module.app.info.help if hasattr(module, "app") else getattr(module, name.replace("-", "_")).__doc__
        assert real.splitlines()[0] == says
    files = {path.stem for path in Path(app_module.__file__).parent.glob("*.py")}
    assert {name.replace("-", "_") for name in COMMANDS} <= files


def test_help_imports_nothing_heavy() -> None:
    code = "import sys, discreet.cli.app as app; app.run(['--help']); sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.strip()
    assert run(["--help"]) == 0
    shown = capsys.readouterr().out
    for name in ("demo", "design", "sanitise", "audit", "estimate", "report", "papers"):
        assert name in shown


def test_the_demo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["demo", str(tmp_path / "demo")]) == 0
    shown = "".join(capsys.readouterr().out.split())  # long paths are folded
    for name in ("protocol.json", "released.csv", "released.csv.manifest.json", "report.html"):
        assert name in shown
        assert (tmp_path / "demo" / name).stat().st_size > 100
    assert len(lines(tmp_path / "demo/released.csv")) == 32_562
    assert run(["demo", str(tmp_path / "demo"), "--force"]) == 0
