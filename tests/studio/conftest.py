"""A studio on a free port, its projects in a temporary folder; a real Chromium where there is one."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
import uvicorn

from discreet.datasets import adult
from discreet.studio.choices import Choices
from discreet.studio.gate import Keys
from discreet.studio.jobs import Jobs
from discreet.studio.project import Project, Shelf
from discreet.studio.server import bind, settings
from discreet.studio.site import Site

WAIT = 300.0
"""Only there to end a test that waits in vain: the machine may be slow."""


@dataclass
class Studio:
    """A running server, and the requests that its own pages would make."""

    site: Site
    keys: Keys
    folder: Path

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.keys.port}"

    def request(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None, signed: bool = True
    ) -> tuple[int, dict[str, str], bytes]:
        sent = {"origin": self.origin} if method == "POST" else {}
        if signed:
            sent["cookie"] = f"{self.keys.cookie}={self.keys.session}"
        if isinstance(body, dict):
            body, sent["content-type"] = json.dumps(body).encode(), "application/json"
        connection = http.client.HTTPConnection("127.0.0.1", self.keys.port, timeout=WAIT)
        try:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # refused before all of it was sent
                connection.request(method, path, body, {**sent, **(headers or {})})
            answer = connection.getresponse()
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def get(self, path: str) -> str:
        status, _, content = self.request("GET", path)
        assert status == 200, (path, status, content[:300])
        return content.decode()

    def post(self, path: str, **body: Any) -> dict[str, Any]:
        status, _, content = self.request("POST", path, body)
        return {"status": status, **json.loads(content)}

    def settled(self, path: str) -> str:
        """The page, once what it waits for is done."""
        end = time.monotonic() + WAIT
        while "data-reload" in (page := self.get(path)):
            assert time.monotonic() < end, page[:2000]
            time.sleep(0.05)
        return page

    @contextmanager
    def held(self, name: str, parts: int) -> Iterator[None]:
        """Meanwhile work of this name halts once it has told so many parts: it does not end before a test stops it."""
        over, halted = threading.Event(), set[int]()

        def halt() -> None:
            while not over.wait(0.005):
                for worker in self.site.jobs._workers:
                    task, pid = worker.task, worker._process.pid
                    if pid is not None and task is not None and task.name == name and len(task.parts) >= parts:
                        halted.add(pid)
                        os.kill(pid, signal.SIGSTOP)

        thread = threading.Thread(target=halt, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
            for pid in halted:
                os.kill(pid, signal.SIGCONT)

    def project(self, table: Path, name: str = "study", **choices: Any) -> Project:
        return Project.begin(self.site.shelf.new(name), Choices(table=str(table), name=name, **choices))

    def change(self, project: Project, key: str, value: Any) -> dict[str, Any]:
        return self.post(f"/p/{project.slug}/change", revision=project.saved().revision, key=key, value=value)


@contextmanager
def running(folder: Path) -> Iterator[Studio]:
    bound, jobs = bind(0), Jobs()
    keys, site = Keys(bound.getsockname()[1]), Site(Shelf(folder), jobs, testing=True)
    server = uvicorn.Server(settings(site, keys))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield Studio(site, keys, folder)
    server.should_exit = True
    thread.join(10)
    jobs.close()


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with running(tmp_path_factory.mktemp("projects")) as found:
        yield found


@pytest.fixture
def another_studio(tmp_path: Path) -> Callable[[], AbstractContextManager[Studio]]:
    """One whose workers begin with the environment that the test has made."""
    return lambda: running(tmp_path / "others")


@pytest.fixture(scope="session")
def adult_csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("adult") / "adult.csv"
    found = adult()
    pacsv.write_csv(found if isinstance(found, pa.Table) else pa.Table.from_pandas(found), path)
    return path


def chromium() -> str | None:
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Debian's Chromium; without one the test is skipped, unless DISCREET_BROWSER says that there must be one."""
    path = chromium()
    if path is None:
        if os.environ.get("DISCREET_BROWSER") == "required":
            pytest.fail("no Chromium, and DISCREET_BROWSER=required")
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        running = play.chromium.launch(executable_path=path, args=["--no-sandbox"], timeout=WAIT * 1000)
        yield running
        running.close()


@pytest.fixture
def page(studio: Studio, browser: Any) -> Iterator[Any]:
    """A tab that has come in by the cookie; an error in its script fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(WAIT * 1000)
    context.add_cookies([{"name": studio.keys.cookie, "value": studio.keys.session, "url": studio.origin}])
    tab, wrong = context.new_page(), []
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.on("console", lambda line: wrong.append(line.text) if "Content Security Policy" in line.text else None)
    yield tab
    context.close()
    assert wrong == []
