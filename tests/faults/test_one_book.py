"""Books of a ledger by several names, links that lead nowhere, and lines that nobody enters."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest

import discreet as dc
from discreet.exceptions import DiscreetError
from discreet.files.ledger_book import common_book
from discreet.records.persons import MOST_ROWS
from discreet.release import Job, rehearse_file, sanitise_file
from discreet.release.draws_together import total_epsilon
from discreet.release.ledger import Ledger

BUDGET = 1000.0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    joint = dc.Joint.from_counts([[9, 4], [3, 7]], ["ill", "well"], [dc.Attribute("x", ("a", "b"))])
    channel = dc.Channel(np.array([[0.6, 0.4], [0.4, 0.6]]), joint.letters, ("a", "b"))
    dc.Protocol.make(channel, joint, dc.LIP(2.0)).save(tmp_path / "p.json")
    pacsv.write_csv(pa.table({"x": ["a", "b"] * 50}), tmp_path / "x.csv")
    return tmp_path


def job(folder: Path, protocol: Path, name: str = "out.csv") -> Job:
    return Job(protocol, str(folder / "x.csv"), str(folder / name), budget=BUDGET)


def in_time(work: object) -> object:
    """What it returns, or the error that it raises; a fault once made it wait for ever."""
    found: list[object] = []

    def run() -> None:
        try:
            found.append(work())  # type: ignore[operator]
        except DiscreetError as error:
            found.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(60)
    assert found, "it waits for itself"
    return found[0]


def entered(book: Path) -> int:
    return sum(json.loads(line)["event"] == "release" for line in book.read_bytes().splitlines())


@pytest.mark.parametrize("way", ["symbolic", "hard", "beside the link", "in the folder of the books"])
def test_one_file_is_one_book_whatever_its_names(folder: Path, way: str) -> None:
    """It was locked by two of its names, one after the other; a check saw nothing in it."""
    path = folder / "p.json"
    common = common_book(dc.Protocol.load(path).digest)
    common.parent.mkdir(parents=True)
    if way == "beside the link":
        (folder / "q.json").symlink_to(path)
        (folder / "p.json.ledger").touch()
        os.link(folder / "p.json.ledger", folder / "q.json.ledger")
        path = folder / "q.json"
    elif way == "in the folder of the books":
        path = path.rename(common.with_suffix(""))
    else:
        common.touch()
        {"symbolic": os.symlink, "hard": os.link}[way](common, folder / "p.json.ledger")
    for number in (1, 2, 3):
        assert not rehearse_file(job(folder, path)).refusals
        outcome = in_time(lambda number=number: sanitise_file(job(folder, path, f"{number}.csv")))
        assert outcome.draws == number, outcome  # type: ignore[attr-defined]
        assert entered(common) == number


def nowhere(folder: Path, book: Path) -> None:
    book.symlink_to(folder / "nowhere" / "book")


def not_yet(folder: Path, book: Path) -> None:
    book.symlink_to(folder / "book")


def itself(folder: Path, book: Path) -> None:
    book.symlink_to(book)


def a_folder(folder: Path, book: Path) -> None:
    book.mkdir()


@pytest.mark.parametrize("which", ["beside", "common"])
@pytest.mark.parametrize(("make", "fine"), [(nowhere, False), (not_yet, True), (itself, False), (a_folder, False)])
def test_links_are_followed_or_refused_alike_by_check_and_release(
    folder: Path, make: object, fine: bool, which: str
) -> None:
    """A check once said that nothing stands against it."""
    path = folder / "p.json"
    book = folder / "p.json.ledger" if which == "beside" else common_book(dc.Protocol.load(path).digest)
    book.parent.mkdir(parents=True, exist_ok=True)
    make(folder, book)  # type: ignore[operator]
    refusals = rehearse_file(job(folder, path)).refusals
    done = in_time(lambda: sanitise_file(job(folder, path)))
    if fine:
        assert not refusals
        assert done.draws == 1  # type: ignore[attr-defined]
        assert entered(folder / "book") == 1
    else:
        assert [one.what for one in refusals] == [done.what]  # type: ignore[attr-defined]
        assert not (folder / "out.csv").exists()


def test_a_data_folder_that_leads_nowhere_is_foretold(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "link").symlink_to(folder / "nowhere")
    monkeypatch.setenv("XDG_DATA_HOME", str(folder / "link"))
    assert rehearse_file(job(folder, folder / "p.json")).refusals
    with pytest.raises(dc.ReleaseError, match="cannot be opened"):
        sanitise_file(job(folder, folder / "p.json"))


ODD_ROWS = ["1" + "0" * 300, "1" + "0" * 400, str(MOST_ROWS + 1), "0", "-3", "2.0", "true", '"many"', "null", "[]"]


@pytest.mark.parametrize("name", ["rows", "one_of"])
@pytest.mark.parametrize("rows", ODD_ROWS, ids=lambda rows: rows[:12])
def test_rows_that_nobody_has_make_an_odd_line(folder: Path, name: str, rows: str) -> None:
    """A number of 300 digits once ended in an error inside; such a line is a release of which nothing is known."""
    book = folder / "p.json.ledger"
    ledger = Ledger.beside(folder / "p.json", dc.Protocol.load(folder / "p.json"))
    book.write_text(f'{{"event": "release", "data": "others", "key": null, "{name}": {rows}}}\n')
    assert ledger.foretold(budget=BUDGET).draws == 2
    assert rehearse_file(job(folder, folder / "p.json")).account.draws == 2  # type: ignore[union-attr]


@pytest.mark.parametrize("notion", [dc.LIP(2.0), dc.LDP(2.0), dc.PML(2.0), dc.Shift(0.9), dc.RLDP(3.0), dc.Funnel(1.0)])
def test_the_most_rows_that_a_line_may_have_are_accounted_for(notion: dc.Notion) -> None:
    joint = dc.Joint.from_counts([[90, 40], [30, 70]], ["ill", "well"], [dc.Attribute("x", ("a", "b"))])
    channel = dc.Channel(np.array([[0.52, 0.48], [0.48, 0.52]]), joint.letters, ("a", "b"))
    protocol = dc.Protocol.make(channel, joint, notion)
    assert total_epsilon(protocol, 2, MOST_ROWS) > total_epsilon(protocol, 2)
    assert total_epsilon(protocol, 2, 1, MOST_ROWS) >= total_epsilon(protocol, 2)
