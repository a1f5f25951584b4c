"""The command: what it refuses, what it begins, and how it starts."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from discreet.cli.app import run
from discreet.exceptions import ParameterError, TableError
from discreet.studio.choices import Choices
from discreet.studio.project import Project, Shelf
from discreet.studio.server import bind, demo_project, first_project


def test_a_table_begins_a_project_and_a_folder_goes_on(tmp_path: Path) -> None:
    shelf, table = Shelf(tmp_path / "shelf"), tmp_path / "My Table.csv"
    table.write_text("a,b\n1,2\n")
    begun = first_project(shelf, str(table), None, False)
    assert begun is not None
    assert begun.slug == "my-table"
    assert begun.saved().now.table == str(table.resolve())
    begun.change(1, lambda now: now.changed("epsilon", 1.0))
    again = first_project(shelf, str(table), begun.folder, False)
    assert again is not None
    assert again.saved().now.epsilon == 1.0  # not begun anew
    assert first_project(shelf, None, None, False) is None


def test_what_is_not_there_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(TableError, match="no such file"):
        first_project(Shelf(tmp_path), str(tmp_path / "none.csv"), None, False)
    with pytest.raises(ParameterError, match="no project"):
        first_project(Shelf(tmp_path), None, tmp_path / "none", False)
    assert run(["studio", str(tmp_path / "none.csv"), "--no-browser"]) == 3
    assert "no such file" in capsys.readouterr().err


def test_a_port_in_use_is_refused_in_words() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(ParameterError, match="port"):
            bind(taken.getsockname()[1])


def test_it_listens_on_this_machine_only() -> None:
    with bind(0) as bound:
        assert bound.getsockname()[0] == "127.0.0.1"
        with socket.create_connection(bound.getsockname(), timeout=5):  # queued before anybody serves
            pass


def test_the_demo_is_the_census_extract(tmp_path: Path) -> None:
    now = demo_project(Shelf(tmp_path)).saved().now
    assert now.secret == ("marital-status",)
    assert Path(now.table).read_bytes()[:4] == b"PAR1"
    assert Choices.of(now.plain()) == now
    assert isinstance(demo_project(Shelf(tmp_path)), Project)  # a second one has a folder of its own
    assert len(Shelf(tmp_path).projects()) == 2


def test_the_pages_start_without_what_searches_need() -> None:
    """The process of the pages stays small and starts at once: what computes is imported by the workers."""
    heavy = "scipy, numba, pyarrow, highspy, narwhals"
    code = f"import sys, discreet.studio.server; print([m for m in '{heavy}'.split(', ') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
