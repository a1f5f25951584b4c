"""Whatever happens to the cluster on the way, a release is that of one machine, cell by cell."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from standalone import Cluster, missing, wait_for

from discreet.exceptions import ReleaseError

pytestmark = [
    pytest.mark.skipif(bool(missing()), reason=missing() or "Spark runs"),
    pytest.mark.xdist_group("spark"),
]


@pytest.fixture(scope="module", autouse=True)
def by_value() -> Iterator[None]:
    """Faulty parts are sent to the workers as code."""
    import faulty_parts
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(faulty_parts)
    yield
    cloudpickle.unregister_pickle_by_value(faulty_parts)


@contextmanager
def struck_by(strike: Callable[[], None]) -> Iterator[None]:
    """Somebody strikes at a moment of their own; what went wrong with them is told."""
    told: list[BaseException] = []

    def run() -> None:
        try:
            strike()
        except BaseException as error:
            told.append(error)

    striker = threading.Thread(target=run, daemon=True)
    striker.start()
    yield
    striker.join()
    assert not told, told


def drawing_by(monkeypatch: pytest.MonkeyPatch, made: Callable[[Any], Any]) -> None:
    """Parts of frames are drawn by what is made of the usual; they are counted as ever."""
    from discreet.spark import frame_carrier

    usual = frame_carrier.DrawingPart
    monkeypatch.setattr(frame_carrier, "DrawingPart", lambda job: made(usual(job)))


def test_a_worker_killed_while_it_draws_and_a_stage_tried_again(
    cluster: Cluster, spark: Any, frame: Any, released: Any, alone: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The frame is itself exchanged, so that the lost worker takes along what others still have to read."""
    from faulty_parts import Straggler

    folder, struck = cluster.folder / "killed", cluster.folder / "struck"
    folder.mkdir()

    def strike() -> None:
        """Once both workers have begun a part, which nobody finishes before."""
        wait_for(lambda: len(list(folder.iterdir())) >= 2)
        cluster.kill_worker()
        struck.touch()

    drawing_by(monkeypatch, lambda usual: Straggler(usual, folder, struck))
    with struck_by(strike):
        found = released(frame.repartition(8, "id"))
    cluster.restore()
    assert found.equals(alone)
    assert any(not path.name.endswith("-0") for path in folder.iterdir()), "nothing was tried again"
    events = b"".join(path.read_bytes() for path in (cluster.folder / "events").rglob("*") if path.is_file())
    again = (b'"Stage Attempt ID":1', b"Resubmitted", b"ExecutorLostFailure")  # which of them depends on what was lost
    assert any(sign in events for sign in again), "no stage and no lost task was tried again"


def test_a_speculative_attempt(
    cluster: Cluster, frame: Any, released: Any, alone: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    from faulty_parts import Straggler

    folder = cluster.folder / "speculated"
    folder.mkdir()
    drawing_by(monkeypatch, lambda usual: Straggler(usual, folder))
    assert released(frame).equals(alone)
    assert (folder / "0-1").exists(), "nothing was tried twice"


def test_a_worker_lost_between_drawing_and_ordering_and_nothing_readable_between(
    cluster: Cluster, frame: Any, released: Any, alone: pa.Table, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What it drew outlives it. On the way all disks are searched."""
    from faulty_parts import WaitingOrder

    from discreet.spark import exchange

    usual, found = exchange.OrderingPart, []
    monkeypatch.setattr(exchange, "OrderingPart", lambda *job: WaitingOrder(usual(*job), tmp_path))

    def strike() -> None:
        wait_for(lambda: (tmp_path / "ordering").exists())
        staged = [path for path in tmp_path.glob(".out*/**/*") if path.is_file()]
        files = [*staged, *(path for path in (cluster.folder / "local").rglob("*") if path.is_file())]
        found.append(sum(path.suffix == ".drafts" and path.stat().st_size > 0 for path in staged))
        found.append(sum(path.read_bytes().count(b"CANARY") for path in files))
        cluster.kill_worker()
        (tmp_path / "go").touch()

    with struck_by(strike):
        assert released(frame).equals(alone)
    cluster.restore()
    assert found[0] >= 8, "there was nothing to search"
    assert found[1] == 0


def test_a_planted_fresh_draw_is_caught(
    frame: Any, released: Any, alone: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    from faulty_parts import UnkeyedDrawing

    drawing_by(monkeypatch, UnkeyedDrawing)
    assert not released(frame).equals(alone)


@pytest.mark.parametrize("ids", [{"several_rows": True}, {"key": None, "identity": None}], ids=["ids", "no ids"])
def test_a_frame_that_reads_differently_is_refused(
    spark: Any, frame: Any, released: Any, tmp_path: Path, ids: dict[str, Any]
) -> None:
    """As many records, some of them lost and others twice: nothing but the two readings can tell."""
    from faulty_parts import Unsteady

    unsteady = frame.mapInArrow(Unsteady(tmp_path), frame.schema)
    with pytest.raises(ReleaseError, match="gave other records when it was read again"):
        released(unsteady, **ids, one_row_per_person=True)
    assert not list(tmp_path.glob("*out*"))
    assert not list(tmp_path.glob(".out*"))
    assert not (tmp_path / "ledger").exists()
    assert len(released(unsteady, **ids, one_row_per_person=True)) == frame.count(), "steady by now"
