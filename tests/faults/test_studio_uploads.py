"""A table that is given in the browser: whole, listed and its owner's alone, or not there at all."""

from __future__ import annotations

import asyncio
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from discreet.exceptions import DiscreetError
from discreet.studio.jobs import Jobs
from discreet.studio.project import Shelf
from discreet.studio.server import demo_project
from discreet.studio.site import Site

HALF = b"health,work\n" + b"ill,none\n" * 5000


async def uploaded(site: Site, body: Any) -> list[dict[str, Any]]:
    """What is answered to a table whose parts come one after the other; after the last of them, nothing comes."""
    told = list[dict[str, Any]]()

    async def receive() -> dict[str, Any]:
        part = next(body, None)
        if part is None:
            await asyncio.Event().wait()
        return {"type": "http.request", "body": part[0], "more_body": part[1]}

    async def send(message: Any) -> None:
        told.append(dict(message))

    scope = {"type": "http", "method": "POST", "path": "/tables", "raw_path": b"/tables", "root_path": "",
             "scheme": "http", "query_string": b"name=people.csv", "server": ("127.0.0.1", 1234),
             "headers": [(b"host", b"127.0.0.1:1234")]}  # fmt: skip
    await site.app()(scope, receive, send)
    return told


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_server_that_ends_meanwhile_leaves_no_half_of_a_table(tmp_path: Path) -> None:
    """Ctrl-C cancels what is under way, which is no Exception."""

    async def cut() -> list[Path]:
        under_way = asyncio.create_task(uploaded(Site(Shelf(tmp_path), Jobs()), iter([(HALF, True)])))
        while not list(tmp_path.iterdir()):
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        meanwhile = files(tmp_path)
        under_way.cancel()
        with pytest.raises(asyncio.CancelledError):
            await under_way
        return meanwhile

    named = [path for path in asyncio.run(cut()) if not path.name.startswith(".")]
    assert named == []  # so that a kill leaves nothing either
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    told = asyncio.run(uploaded(Site(Shelf(tmp_path), Jobs()), iter([(HALF, False)])))
    assert told[0]["status"] == 400
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def mask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.mark.usefixtures("mask")
def test_a_whole_table_is_its_owners_alone(tmp_path: Path) -> None:
    told = asyncio.run(uploaded(Site(Shelf(tmp_path), Jobs()), iter([(HALF, True), (b"well,full\n", False)])))
    assert told[0]["status"] == 200
    (project,) = Shelf(tmp_path).projects()
    table = Path(project.saved().now.table)
    assert table.read_bytes() == HALF + b"well,full\n"
    assert table.stat().st_mode & 0o777 == 0o600
    assert (project.folder / "studio.json").stat().st_mode & 0o777 == 0o644  # what is not raw is as the umask says


def test_half_of_the_example_is_not_taken_for_it(tmp_path: Path) -> None:
    with no_longer_than(1 << 14), pytest.raises((DiscreetError, OSError)):
        demo_project(Shelf(tmp_path), tmp_path / "example")
    begun = demo_project(Shelf(tmp_path), tmp_path / "example")
    assert Path(begun.saved().now.table).read_bytes()[-4:] == b"PAR1"


@contextmanager
def no_longer_than(size: int) -> Iterator[None]:
    """As on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
