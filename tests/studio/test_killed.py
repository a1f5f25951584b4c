"""Killed at any step and opened again: nothing is lost, nothing is half released, and the page says what there is."""

from __future__ import annotations

import hashlib
import html
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.protocol.strata import load_protocol
from discreet.release.ledger import Ledger
from discreet.studio.project import Project

ROLES = {"health": "secret", "colour": "release", "age": "release", "id": "out"}
RECORDS = 3000
KILLED = """
import json, os, signal, sys
from discreet.studio import tasks

def dies_at(last):
    met = 0
    def counted(real):
        def call(*args, **options):
            nonlocal met
            met += 1
            if met == last:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **options)
        return call
    for name in ("open", "fsync", "link", "replace", "fchmod"):
        setattr(os, name, counted(getattr(os, name)))

for line in sys.stdin:
    last, question, job, files = json.loads(line)
    child = os.fork()
    if child == 0:
        dies_at(last)
        tasks.draw(question, lambda kind, told: None, job, files)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    draw, path = np.random.default_rng(5), tmp_path_factory.mktemp("killed") / "people.csv"
    lines = ["id,health,colour,age"]
    for number in range(RECORDS):
        ill = int(draw.integers(6))
        colour = ill if draw.random() < 0.5 else int(draw.integers(6))
        lines.append(f"{number},illness {ill},colour {colour},{int(draw.integers(18, 90))}")
    path.write_text("\n".join(lines) + "\n")
    return path


def read(studio: Any, project: Project, people: str) -> str:
    """The page of the release, every warning ticked."""
    studio.settled(f"/p/{project.slug}/release")
    for warning in re.findall(r'data-read="(\w+)"', studio.settled(f"/p/{project.slug}/check")):
        studio.change(project, "read", {"warning": warning, "read": True})
    return html.unescape(studio.settled(f"/p/{project.slug}/release"))


def test_a_draw_killed_before_every_step_of_its_writing(studio: Any, table: Path) -> None:
    """Before each opening, sync, link, rename and change of mode, until a table is there: it is whole and counted, or
    not there at all; and the page that is opened then knows which."""
    first = studio.project(table, roles=ROLES, bins={"age": ["40", "60"]}, epsilon=0.5, reached=6, people="wave 0")
    assert "Ready to publish" in read(studio, first, "wave 0")
    launcher = subprocess.Popen(
        [sys.executable, "-c", KILLED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert launcher.stdin is not None
    assert launcher.stdout is not None
    states: dict[tuple[bool, bool], Project] = {}
    last, after, code = 0, 0, 0
    while after < 4:
        last, after = last + 1, after + ((True, True) in states)
        project = Project(studio.folder / f"killed-{last}")
        shutil.copytree(first.folder, project.folder)
        project.change(project.saved().revision, lambda now, last=last: now.changed("people", f"wave {last}"))
        stated = {"source": str(table), "data": f"wave {last}", "rows": {"one_row_per_person": True}, "testing": True}
        job = {**stated, "protocol": str(project.folder / "protocol.json"), "target": str(project.released_file)}
        files = {"report": str(project.folder / "report.html"), "script": str(project.folder / "study.py")}
        question = {"script": "# study", "now": project.saved().now.plain()}
        print(json.dumps([last, question, job, files]), file=launcher.stdin, flush=True)
        code = int(launcher.stdout.readline())
        states.setdefault(whole_or_nothing(project, f"wave {last}"), project)
        assert code == -signal.SIGKILL  # what explains a release is written after it, and killed as well
    launcher.communicate()
    assert last > 12
    assert set(states) == {(False, False), (False, True), (True, True)}
    assert "Ready to publish" in read(studio, states[False, False], "")
    assert "Drawn once" in studio.settled(f"/p/{states[True, True].slug}/release")
    _counted_but_unseen(studio, states[False, True])


def whole_or_nothing(project: Project, people: str) -> tuple[bool, bool]:
    """(there is a table, it is counted), after checking that whatever is there is whole."""
    path = project.folder / "protocol.json"
    entered = bool(Ledger.beside(path, load_protocol(path), people).entered())
    names = {path.name for path in (project.folder / "release").iterdir()}
    assert not any(name.endswith(".part") and "released" in name and not name.startswith(".") for name in names)
    there = project.released_file.is_file()
    assert there == project.drawn  # the manifest is there before the table
    if there:
        content = project.released_file.read_bytes()
        assert entered
        assert content.count(b"\n") == RECORDS + 1
        assert json.loads(project.manifest_file.read_text())["file"]["sha256"] == hashlib.sha256(content).hexdigest()
    return there, entered


def _counted_but_unseen(studio: Any, project: Project) -> None:
    """The draw that died is counted. The page says so, and one more is drawn only if somebody means it."""
    page = html.unescape(studio.settled(f"/p/{project.slug}/release"))
    assert "A second draw is refused" in page
    assert "This project has no table of that draw" in page
    assert "Why two draws tell more" in page
    assert "refused, nothing written" in page
    assert studio.post(f"/p/{project.slug}/draw", revision=project.saved().revision, sure=True)["status"] == 400
    studio.change(project, "repeat", True)
    assert "Ready to publish" in read(studio, project, "")
    assert "--repeat" in studio.get(f"/p/{project.slug}/release")
    assert studio.post(f"/p/{project.slug}/draw", revision=project.saved().revision, sure=True)["status"] == 200
    studio.settled(f"/p/{project.slug}/release")
    assert json.loads(project.manifest_file.read_text())["independent_draws"] == 2


def decided(saved: Any) -> dict[str, Any]:
    """Decisions and the way back; what follows from them (a column left out, the level for a need) may come later."""
    roles = {name: role for name, role in saved.now.roles.items() if role != "out"}
    return {**saved.now.plain(), "roles": roles, "epsilon": 0, "back": list(saved.past), "revision": saved.revision}


class Server:
    """The command in a session of its own, so that it is killed with its workers, as when the power fails."""

    def __init__(self, table: Path, folder: Path) -> None:
        words = ["studio", str(table), "--project", str(folder), "--no-browser"]
        line = [sys.executable, "-c", "from discreet.cli import main; main()", *words]
        self.process = subprocess.Popen(
            line, stdout=subprocess.PIPE, text=True, cwd=folder.parent, start_new_session=True
        )
        address = next(one.strip() for one in self.process.stdout or () if one.startswith("http"))
        port, token = address.removeprefix("http://127.0.0.1:").split("/?token=")
        self.port, self.cookie = int(port), ""
        status, headers, _ = self.asked("GET", f"/?token={token}")
        assert status == 303
        self.cookie = headers["set-cookie"].split(";")[0]

    def asked(self, method: str, path: str, **body: Any) -> tuple[int, Any, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        origin = f"http://127.0.0.1:{self.port}"
        headers = {"cookie": self.cookie, "origin": origin, "content-type": "application/json"}
        connection.request(method, path, json.dumps(body).encode() if method == "POST" else None, headers)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()

    def settled(self, step: str) -> str:
        while "data-reload" in (page := self.asked("GET", f"/p/mine/{step}")[2]):
            time.sleep(0.03)
        return page

    def change(self, project: Project, key: str, value: Any) -> None:
        status, _, told = self.asked("POST", "/p/mine/change", revision=project.saved().revision, key=key, value=value)
        assert status == 200, told

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def test_killed_with_its_workers_at_every_page(tmp_path: Path, table: Path) -> None:
    """While the table is read, after a decision, while groups are counted, while the curve grows and the smallest
    promise is sought, while rules are searched for, and before the draw: another server goes on from the same state."""
    project = Project(tmp_path / "mine")
    server = Server(table, project.folder)
    expected, acts = project.saved(), []  # type: Any, list[str]
    try:
        for step in ("table", "secret", "group", "promise", "check", "release"):
            server.asked("GET", f"/p/mine/{step}")  # its work begins
            server.kill()
            assert decided(project.saved()) == decided(expected)  # what was acknowledged, and nothing else
            assert list((project.folder / "release").iterdir()) == []
            server = Server(table, project.folder)
            server.settled(step)
            if step == "secret":
                for column, role in ROLES.items():
                    server.change(project, "role", {"column": column, "role": role})
                acts = [json.dumps(one) for one in project.saved().past]
            if step == "group":
                server.change(project, "bins", {"column": "age", "edges": ["40", "60"]})
            if step == "check":
                for warning in re.findall(r'data-read="(\w+)"', server.settled("check")):
                    server.change(project, "read", {"warning": warning, "read": True})
            if step != "release":
                number = ("table", "secret", "group", "promise", "check").index(step) + 2
                assert server.asked("POST", "/p/mine/reach", step=number)[0] == 200
            expected = project.saved()
            assert [json.dumps(one) for one in expected.past][: len(acts)] == acts  # the way back is kept
        assert "Ready to publish" in server.settled("release")
        assert expected.now.by_need
        assert project.saved().results["need"]["answer"]["epsilon"] == expected.now.epsilon
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(300) in (0, 130)  # ctrl-C ends it
    finally:
        if server.process.poll() is None:
            server.kill()
