"""`discreet papers`: what is there to run, what it writes, and the page made from it."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from discreet.cli.papers import app
from discreet.papers import ITEMS, PAPERS
from discreet.papers.experiment import Workload
from discreet.papers.gallery import gallery

PROMISED = {
    "funnel-1": ["figure-3", "figure-4", "figure-5"],
    "funnel-2": ["figure-3a", "figure-3b", "figure-4", "figure-5", "figure-6", "figure-7", "figure-8"],
    "robust-1": ["figure-2", "figure-3"],
    "robust-2": [*(f"example-{i}" for i in range(1, 6)), *(f"figure-{i}" for i in range(2, 6)), "table-2"],
    "neighbours": ["leakages"],
}


def run(*words: str) -> str:
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == 0, result.output
    return result.stdout


def test_list() -> None:
    names = [one["name"] for one in json.loads(run("list", "--json"))]
    assert names == [f"{paper}/{part}" for paper, parts in PROMISED.items() for part in parts]


@pytest.mark.parametrize(("name", "panels"), [("funnel-1/figure-3", 1), ("robust-2/example-2", 1)])
def test_run_writes_plots_numbers_and_words(name: str, panels: int, tmp_path: Path) -> None:
    said = run("run", name, "--quick", "--jobs", "1", "--out", str(tmp_path))
    stem = tmp_path / name
    assert stem.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    assert ElementTree.parse(stem.with_suffix(".svg")).getroot().tag.endswith("svg")
    rows = list(csv.DictReader(stem.with_suffix(".csv").open(encoding="utf-8")))
    assert len({row["panel"] for row in rows}) == panels
    assert all(float(row["y"]) == float(row["y"]) for row in rows)
    record = json.loads(stem.with_suffix(".json").read_text(encoding="utf-8"), parse_constant=pytest.fail)
    assert record["item"] == name
    assert record["quick"]
    words = stem.with_suffix(".md").read_text(encoding="utf-8")
    assert words.split("\n\n")[0] in said
    assert len(words.split("\n\n")[1].splitlines()) == 2 + len(record["printed"])


def test_what_is_not_met_is_said(tmp_path: Path) -> None:
    said = run("run", "robust-2/example-2", "--quick", "--jobs", "1", "--out", str(tmp_path))
    assert "6 of the 18 numbers compared are met" in said
    assert "B_s1: printed 0.3782, here 0.4067 (tolerance 5e-05), not met" in said
    assert "P̂(s1)" not in said


def test_two_processes_find_the_same(tmp_path: Path) -> None:
    for jobs in ("1", "2"):
        run("run", "funnel-1/figure-4", "--quick", "--jobs", jobs, "--out", str(tmp_path / jobs))
    one, two = (json.loads((tmp_path / jobs / "funnel-1/figure-4.json").read_text()) for jobs in ("1", "2"))
    assert one["values"]["smallest ratio"] == two["values"]["smallest ratio"]


def test_an_unknown_name_is_refused() -> None:
    result = CliRunner().invoke(app, ["run", "funnel-9"])
    assert result.exit_code != 0


def test_progress_of_parts_adds_up() -> None:
    seen: list[float] = []
    effort = Workload(advance=seen.append)
    for i in range(2):
        effort.part(i, 2).map(abs, [1, 2])
    assert seen == [0.25, 0.5, 0.75, 1.0]


def test_gallery(tmp_path: Path) -> None:
    for item in ITEMS:
        stem = tmp_path / "results" / item.name
        stem.parent.mkdir(parents=True, exist_ok=True)
        stem.with_suffix(".svg").write_text("<svg/>")
        stem.with_suffix(".md").write_text(f"what {item.name} shows\n\n| a table |\n")
    page = gallery(ITEMS, PAPERS, tmp_path / "results", tmp_path / "docs").read_text(encoding="utf-8")
    for item in ITEMS:
        assert f"what {item.name} shows" in page
        assert (tmp_path / "docs" / "gallery" / f"{item.paper}-{item.part}.svg").exists()
    assert "a table" not in page
