"""Work in other processes: progress comes, a stop keeps the best, errors are words, a dead worker is replaced."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from discreet.studio.choices import Choices
from discreet.studio.jobs import BackgroundJob, Jobs
from discreet.studio.project import Project

WAIT = 300.0


@pytest.fixture(scope="module")
def jobs() -> Iterator[Jobs]:
    started = Jobs()
    started.warm()
    yield started
    started.close()


@pytest.fixture
def question(adult_csv: Path) -> dict[str, Any]:
    group = {"bins": {"age": ["30", "45"]}, "merge": {}, "rare": {}}
    columns = {"secret": ["marital-status"], "release": ["age", "education"], "given": []}
    return {"table": str(adult_csv), **columns, "group": group, "notion": "lip", "sees_secret": True, "whose": {}}


def test_a_stopped_search_keeps_the_best_and_its_proof(jobs: Jobs, question: dict[str, Any], tmp_path: Path) -> None:
    """A curator of 336 letters would search for a minute; stopped, its protocol is there and proven."""
    from discreet.protocol import Protocol

    target = Project.begin(tmp_path / "p", Choices(table="t.csv", name="p")).folder / "protocol.json"
    asked = {**question, "purpose": "information", "epsilon": 0.5}
    task = jobs.ask("rules", "p", asked, {"path": str(target), "seconds": 300.0})
    end = time.monotonic() + WAIT
    while "found" not in task.news:
        assert time.monotonic() < end, task.facts()
        assert task.running, task.facts()
        time.sleep(0.05)
    assert task.news["found"] <= task.news["bound"]
    assert jobs.stop("rules", "p")
    assert task.over.wait(WAIT)
    assert task.state == "done", task.error
    assert "interrupted" in task.result["status"]
    assert Protocol.load(target).epsilon <= 0.5
    assert 0 < task.result["value"] <= task.result["bound"] <= 1


def test_the_same_question_is_asked_once_and_another_one_replaces_it(jobs: Jobs, adult_csv: Path) -> None:
    first = jobs.ask("look", "q", {"table": str(adult_csv), "secret": []})
    assert jobs.ask("look", "q", {"table": str(adult_csv), "secret": []}) is first
    other = jobs.ask("look", "q", {"table": str(adult_csv), "secret": ["sex"]})
    assert other is not first
    assert first.stopped
    assert other.over.wait(WAIT)
    assert other.state == "done"
    assert jobs.latest("look", "q") is other


def test_an_error_comes_as_words_without_values(jobs: Jobs, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("a,b\nsecret-value,1\n")
    task = jobs.ask("look", "r", {"table": str(table), "secret": ["zzz"]})
    assert task.over.wait(WAIT)
    assert task.state == "failed"
    assert task.error["what"] == "no such column"
    assert "secret-value" not in str(task.error)
    broken = jobs.ask("look", "r", {"secret": []})  # an error inside: its type, nothing else
    assert broken.over.wait(WAIT)
    assert broken.error["kind"] == "KeyError"


def test_a_killed_worker_fails_its_task_and_the_next_one_runs(adult_csv: Path, question: dict[str, Any]) -> None:
    jobs = Jobs()
    try:
        task = jobs.ask("curve", "s", question, {"first": "information"})
        end = time.monotonic() + WAIT
        while not task.news:
            assert time.monotonic() < end
            time.sleep(0.05)
        pid = jobs._workers[0]._process.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        assert task.over.wait(WAIT)
        assert (task.state, task.error["what"]) == ("failed", "the process of this work ended")
        again = jobs.ask("look", "s", {"table": str(adult_csv), "secret": []})
        assert again.over.wait(WAIT)
        assert again.state == "done"
    finally:
        jobs.close()


def test_what_follows_a_result_may_refuse_it() -> None:
    task = BackgroundJob("x", "p", {}, {}, lambda result: None)
    assert task.running
    assert task.facts()["state"] == "waiting"


def test_no_stop_is_lost_and_none_hits_another_task(question: dict[str, Any], tmp_path: Path, adult_csv: Path) -> None:
    """A worker that has just been started does not listen yet; it finds the stop when it comes to the task."""
    jobs = Jobs()
    try:
        asked = {**question, "purpose": "information", "epsilon": 0.5}
        task = jobs.ask("rules", "p", asked, {"path": str(tmp_path / "protocol.json"), "seconds": 10_000.0})
        assert jobs.stop("rules", "p")
        follows = jobs.ask("look", "q", {"table": str(adult_csv), "secret": []})
        assert task.over.wait(WAIT)
        assert (task.state, task.error["what"]) == ("failed", "stopped")
        assert not (tmp_path / "protocol.json").exists()
        assert jobs._workers[0].alive
        assert follows.over.wait(WAIT)
        assert follows.state == "done"
        again = jobs.ask("look", "p", {"table": str(adult_csv), "secret": []})
        for one in jobs._workers:
            os.kill(one._process.pid or 0, signal.SIGUSR1)  # of the task before, and late
        assert again.over.wait(WAIT)
        assert again.state == "done"
    finally:
        jobs.close()
