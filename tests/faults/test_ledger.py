"""Ledgers: releases at the same time, copies of a protocol, full disks, odd lines and odd files."""

import errno
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest

import discreet as dc
from discreet.files import ledger_book
from discreet.policy import Policy
from discreet.release import Job, sanitise_file
from discreet.release.keyed_draws import read_key
from discreet.release.ledger import Ledger
from discreet.release.manifest import FORMAT

LARGE = 1000.0
AT_ONCE = 6


def make_protocol():
    joint = dc.Joint.from_counts([[9, 4, 2], [3, 7, 5]], ["ill", "well"], [dc.Attribute("x", ("a", "b", "c"))])
    return dc.Protocol.make(dc.Channel(0.3 * np.eye(3) + 0.7 / 3, joint.letters, ("A", "B", "C")), joint, dc.LIP(2.0))


@pytest.fixture
def folder(tmp_path):
    make_protocol().save(tmp_path / "p.json")
    pacsv.write_csv(pa.table({"x": ["a", "b", "c"] * 50}), tmp_path / "x.csv")
    return tmp_path


def release(folder, protocol="p.json", out="out.csv", budget=LARGE):
    return sanitise_file(Job(folder / protocol, str(folder / "x.csv"), str(folder / out), budget=budget))


# ---- at the same time -----------------------------------------------------------------------------------------------

WAITING = """
import sys, time
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from discreet.release import Job, sanitise_file
folder, name = Path(sys.argv[1]), sys.argv[2]

def wait(account):
    (folder / f"ready-{name}").touch()
    while not (folder / "go").exists():
        time.sleep(0.01)

sanitise_file(Job(folder / "p.json", str(folder / "x.csv"), str(folder / f"{name}.csv"), budget=1000.0), wait)
"""


def test_six_releases_at_once_state_six_different_totals(folder):
    """All of them have asked the ledger before the first is entered; six manifests once said "1 draw"."""
    command = [sys.executable, "-c", WAITING, str(folder)]
    running = [subprocess.Popen([*command, str(i)]) for i in range(AT_ONCE)]
    try:
        while len(list(folder.glob("ready-*"))) < AT_ONCE:
            assert all(process.poll() is None for process in running)
        (folder / "go").touch()
        assert [process.wait(60) for process in running] == [0] * AT_ONCE
    finally:
        for process in running:
            process.kill()
    said = [json.loads((folder / f"{i}.csv.manifest.json").read_text()) for i in range(AT_ONCE)]
    assert sorted(one["independent_draws"] for one in said) == list(range(1, AT_ONCE + 1))
    totals = [one["total_epsilon"] for one in sorted(said, key=lambda one: one["independent_draws"])]
    assert totals == sorted(totals)
    assert totals[-1] > totals[0]


def test_a_frame_states_what_the_ledger_came_to_when_it_was_entered(folder, monkeypatch):
    """Another release is entered between the question and the entry."""
    protocol, book = make_protocol(), folder / "p.json.ledger"
    ask = Ledger.foretold

    def overtaken(self, *arguments):
        found = ask(self, *arguments)
        Ledger(book, protocol).enter(None, LARGE)
        return found

    monkeypatch.setattr(Ledger, "foretold", overtaken)
    table = protocol.sanitise(pa.table({"x": ["a", "b"]}), ledger=book, budget=LARGE)
    assert json.loads(table.schema.metadata[FORMAT.encode()])["independent_draws"] == 2


# ---- copies ---------------------------------------------------------------------------------------------------------


def copied(folder, name):
    shutil.copy(folder / "p.json", folder / name)


def linked(folder, name):
    (folder / name).symlink_to(folder / "p.json")


def hard_linked(folder, name):
    os.link(folder / "p.json", folder / name)


@pytest.mark.parametrize("make", [copied, linked, hard_linked])
def test_another_name_of_a_protocol_starts_no_fresh_ledger(folder, make):
    assert release(folder).draws == 1
    (folder / "deep").mkdir()
    make(folder, "deep/q.json")
    assert release(folder, "deep/q.json", "second.csv").draws == 2
    assert release(folder, out="third.csv").draws == 3


def test_a_book_of_before_is_told_to_the_copies(folder, own_data_folder):
    release(folder)
    shutil.rmtree(own_data_folder / "discreet")
    assert release(folder, out="second.csv").draws == 2
    copied(folder, "q.json")
    assert release(folder, "q.json", "third.csv").draws == 3


def test_a_book_beside_a_link_still_counts(folder, own_data_folder):
    """It was written there before links were followed."""
    release(folder)
    linked(folder, "q.json")
    (folder / "p.json.ledger").rename(folder / "q.json.ledger")
    shutil.rmtree(own_data_folder / "discreet")
    assert release(folder, "q.json", "second.csv").draws == 2


def test_a_deleted_book_is_not_forgotten(folder):
    release(folder)
    (folder / "p.json.ledger").unlink()
    assert release(folder, out="second.csv").draws == 2


def test_a_budget_holds_for_the_copies_too(folder):
    release(folder, budget=2.1)
    copied(folder, "q.json")
    with pytest.raises(dc.BudgetError, match="declared before"):
        release(folder, "q.json", "second.csv", budget=LARGE)


def test_the_common_book_is_for_its_owner_only(folder, own_data_folder):
    release(folder)
    (book,) = own_data_folder.rglob("*.ledger")
    assert book.name == f"{make_protocol().digest}.ledger"
    assert book.stat().st_mode & 0o777 == 0o600
    assert book.parent.stat().st_mode & 0o777 == 0o700
    assert book.read_bytes() == (folder / "p.json.ledger").read_bytes()


def test_without_a_common_book_nothing_is_released(folder, monkeypatch):
    (folder / "file").touch()
    monkeypatch.setenv("XDG_DATA_HOME", str(folder / "file"))
    with pytest.raises(dc.ReleaseError, match="XDG_DATA_HOME") as caught:
        release(folder)
    assert "ledger cannot be opened" in str(caught.value)
    assert not (folder / "out.csv").exists()


# ---- disks, lines and files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", ["write", "fsync"])
def test_a_full_disk_is_told_in_our_words_and_nothing_is_published(folder, monkeypatch, call):
    def full(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(ledger_book.os, call, full)
    with pytest.raises(dc.ReleaseError, match="the ledger cannot be written"):
        Ledger.beside(folder / "p.json", make_protocol()).enter()


def test_a_disk_that_takes_a_part_is_written_to_again(folder, monkeypatch):
    write = os.write
    monkeypatch.setattr(ledger_book.os, "write", lambda file, data: write(file, bytes(data[:7])))
    ledger = Ledger.beside(folder / "p.json", make_protocol())
    ledger.enter()
    monkeypatch.undo()
    assert json.loads(ledger.path.read_bytes())["event"] == "release"


ODD = {
    "a key that is a list": b'{"event": "release", "data": null, "key": ["a"]}',
    "a name that is a number": b'{"event": "release", "data": 7, "key": null}',
    "a protocol that is an object": b'{"event": "release", "data": null, "key": null, "protocol": {}}',
    "a budget that is no number": b'{"event": "budget", "data": "the data", "epsilon": NaN}',
    "a budget without end": b'{"event": "budget", "data": "the data", "epsilon": Infinity}',
    "a budget of many digits": b'{"event": "budget", "data": "the data", "epsilon": 1' + b"0" * 400 + b"}",
    "a budget below nothing": b'{"event": "budget", "data": "the data", "epsilon": -1}',
    "a budget that is true": b'{"event": "budget", "data": "the data", "epsilon": true}',
    "an event that is a list": b'{"event": ["release"]}',
    "very deep": b"[" * 100_000,
    "very many digits": b"1" * 10_000,
    "zeros": b"\0" * 100,
    "half a character": b'{"event": "release", "data": "\\ud800", "key": "\\ud800", "event": 7}',
}


@pytest.mark.parametrize("line", ODD.values(), ids=ODD)
def test_an_odd_line_counts_as_a_release_and_stops_nothing(folder, line):
    ledger = Ledger.beside(folder / "p.json", make_protocol())
    ledger.enter(None, LARGE)
    with ledger.path.open("ab") as file:
        file.write(line)
    assert ledger.draws() == 2
    assert ledger.enter(None, LARGE).draws == 3


@pytest.mark.parametrize("place", ["/dev/null", "/dev/zero"])
def test_a_device_is_no_ledger(place):
    """What is entered in /dev/null is never seen again."""
    with pytest.raises(dc.ReleaseError, match="not an ordinary file"):
        Ledger(Path(place), make_protocol()).enter()


def test_a_pipe_is_no_ledger(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(dc.ReleaseError, match="not an ordinary file"):
        Ledger(tmp_path / "pipe", make_protocol()).enter()


def test_a_ledger_as_large_as_a_disk_is_not_read(folder, monkeypatch):
    monkeypatch.setattr(ledger_book, "LARGEST_BOOK", 10)
    ledger = Ledger.beside(folder / "p.json", make_protocol())
    ledger.enter()
    with pytest.raises(dc.ReleaseError, match="far larger"):
        ledger.draws()


# ---- keys -----------------------------------------------------------------------------------------------------------


def test_a_key_file_is_read_whole_or_not_at_all(tmp_path):
    """Two files that agree in their first 64 KiB were once one key."""
    path, start = tmp_path / "key", bytes(range(256)) * 256
    path.touch(0o600)
    path.write_bytes(start)
    read_key(path)
    path.write_bytes(start + b"x")
    with pytest.raises(dc.ReleaseError, match="above 64 KiB"):
        read_key(path)


# ---- one book by two names ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["symbolic", "hard", "itself", "relative"])
def test_a_ledger_that_is_the_common_book_is_one_book(folder, name, monkeypatch):
    """A release once waited for ever for the lock that it held itself, and so did everybody else."""
    monkeypatch.chdir(folder)
    protocol = make_protocol()
    common = ledger_book.common_book(protocol.digest)
    Ledger(common, protocol).enter(budget=LARGE)
    book = {"itself": common, "relative": Path(os.path.relpath(common))}.get(name, folder / "book")
    if name in ("symbolic", "hard"):
        {"symbolic": os.symlink, "hard": os.link}[name](common, book)
    entered = []
    waiting = threading.Thread(target=lambda: entered.append(Ledger(book, protocol).enter()), daemon=True)
    waiting.start()
    waiting.join(20)
    assert [account.draws for account in entered] == [2]
    assert Ledger(book, protocol).foretold().draws == 3
    assert len([line for line in common.read_bytes().splitlines() if b'"release"' in line]) == 2


# ---- what a policy allows, and two releases to one target -----------------------------------------------------------


def test_a_policy_holds_for_all_draws_together(folder):
    """Its largest epsilon was once compared with one draw's, whatever the account came to."""
    table = pa.table({"x": ["a", "b", "c"] * 50})
    protocol = make_protocol()
    policy = Policy.of({"epsilon": {"LIP": 1.2 * protocol.epsilon}})
    asked = {"ledger": folder / "book", "policy": policy, "law_anyway": True}
    protocol.sanitise(table, **asked)
    for repeat in (False, True):
        with pytest.raises(dc.BudgetError, match="all that the policy allows" if repeat else "LIP|budgets add up"):
            protocol.sanitise(table, repeat=repeat, **asked)
    assert any("all that the policy allows" in one.what for one in protocol.check(table, repeat=True, **asked).refusals)
    assert Ledger(folder / "book", protocol).draws() == 1
    wider = Policy.of({"epsilon": {"LIP": 1000.0}})
    protocol.sanitise(table, repeat=True, **{**asked, "policy": wider})


AT_ONE_TARGET = """
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from discreet.release import Job, sanitise_file
folder, name = Path(sys.argv[1]), sys.argv[2]
for n in range(6):
    sanitise_file(Job(folder / "p.json", str(folder / "x.csv"), str(folder / "out.csv"), data=f"{name}{n}"))
"""


def test_releases_to_one_target_leave_all_files_of_one_of_them(folder):
    """A manifest that was left once described the file of another release."""
    running = [subprocess.Popen([sys.executable, "-c", AT_ONE_TARGET, str(folder), name]) for name in "abc"]
    assert [process.wait() for process in running] == [0, 0, 0]
    found = hashlib.sha256((folder / "out.csv").read_bytes()).hexdigest()
    assert json.loads((folder / "out.csv.manifest.json").read_text())["file"]["sha256"] == found
    assert found in (folder / "out.csv.datapackage.json").read_text()


# ---- numbers and names from Python ----------------------------------------------------------------------------------

NO_BUDGETS = [True, np.True_, "2", 0, -1.0, float("nan"), Decimal("sNaN"), 10**400, np.array(2.0), 2j]
BUDGETS = [200, np.float32(200), np.int64(200), Decimal("200"), Fraction(400, 2)]


@pytest.mark.parametrize("budget", NO_BUDGETS, ids=repr)
def test_what_is_no_budget_is_refused_in_our_words(folder, budget):
    table, protocol = pa.table({"x": ["a", "b", "c"] * 50}), make_protocol()
    with pytest.raises(dc.BudgetError, match="a budget is a positive number"):
        protocol.sanitise(table, ledger=folder / "own.ledger", budget=budget)
    with pytest.raises(dc.BudgetError, match="a budget is a positive number"):
        release(folder, budget=budget)
    found = protocol.check(table, ledger=folder / "own.ledger", budget=budget).refusals
    assert [one.what for one in found] == ["a budget is a positive number"]
    assert not [*folder.glob("*.ledger")]


@pytest.mark.parametrize("budget", BUDGETS, ids=repr)
def test_a_budget_is_a_number_of_any_library(folder, budget):
    protocol, book = make_protocol(), folder / "own.ledger"
    protocol.sanitise(pa.table({"x": ["a", "b", "c"] * 50}), ledger=book, budget=budget)
    (declared, _) = map(json.loads, book.read_text().splitlines())
    assert declared["epsilon"] == 200.0
    assert type(declared["epsilon"]) is float
    assert Ledger(book, protocol).foretold().draws == 2


@pytest.mark.parametrize("people", [2024, 0, b"2024", True], ids=repr)
def test_a_name_of_people_is_text(folder, people):
    """Once a number was entered, and read again as an odd line: a release of everybody."""
    table, protocol = pa.table({"x": ["a", "b", "c"] * 50}), make_protocol()
    with pytest.raises(dc.ParameterError, match="people that is no text"):
        protocol.sanitise(table, ledger=folder / "own.ledger", people=people)
    with pytest.raises(dc.ParameterError, match="people that is no text"):
        sanitise_file(Job(folder / "p.json", str(folder / "x.csv"), str(folder / "out.csv"), data=people))
    assert [one.what for one in protocol.check(table, ledger=folder / "own.ledger", people=people).refusals]
    assert not [*folder.glob("*.ledger")]
    protocol.sanitise(table, ledger=folder / "own.ledger", people="2024")
    assert len(Ledger(folder / "own.ledger", protocol, "2024").entered()) == 1
