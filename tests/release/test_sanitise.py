from __future__ import annotations

import hashlib
import io
import json
import os
import stat
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from discreet.exceptions import DiscreetError, ReleaseError
from discreet.protocol import Protocol
from discreet.release import Job, sanitise_file

KINDS = ("csv", "parquet", "arrow")
RELEASED = "colour×size"


def store(table: pa.Table, path: Path) -> Path:
    if path.suffix == ".csv":
        pacsv.write_csv(table, path)
    elif path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=1_000)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=700)
    return path


def fetch(data: bytes) -> pa.Table:
    if data.startswith(b"PAR1"):
        return pq.read_table(io.BytesIO(data))
    if data.startswith(b"ARROW1"):
        return pa.ipc.open_file(io.BytesIO(data)).read_all()
    return pacsv.read_csv(io.BytesIO(data))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("to", KINDS)
def test_any_mix_of_formats(people: pa.Table, protocol_path: Path, tmp_path: Path, kind: str, to: str) -> None:
    source = store(people, tmp_path / f"in.{kind}")
    target = tmp_path / f"out.{to}"
    outcome = sanitise_file(Job(protocol_path, str(source), str(target), keep=("region",)))
    table = fetch(target.read_bytes())
    assert table.column_names == [RELEASED, "region"]
    assert len(table) == outcome.records == len(people)
    assert (outcome.without_letter, outcome.unreadable) == (0, 0)
    assert Counter(table["region"].to_pylist()) == Counter(people["region"].to_pylist())
    assert table["region"].to_pylist() != people["region"].to_pylist()
    assert b"CANARY" not in target.read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_kept_order_keeps_records_in_their_place(
    people: pa.Table, protocol: Protocol, protocol_path: Path, tmp_path: Path, kind: str
) -> None:
    target = tmp_path / "out.parquet"
    source = store(people, tmp_path / f"in.{kind}")
    sanitise_file(Job(protocol_path, str(source), str(target), keep=("id",), keep_order=True))
    table = pq.read_table(target)
    assert table["id"].to_pylist() == people["id"].to_pylist()
    truth = [f"{c} {s}" for c, s in zip(people["colour"].to_pylist(), people["size"].to_pylist(), strict=True)]
    agree = sum(a == b for a, b in zip(table[RELEASED].to_pylist(), truth, strict=True)) / len(truth)
    assert abs(agree - protocol.matrix[0, 0]) < 6 * (0.25 / len(truth)) ** 0.5


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("to", KINDS)
def test_pipes(people: pa.Table, protocol_path: Path, tmp_path: Path, kind: str, to: str) -> None:
    source = store(people, tmp_path / f"in.{kind}")
    code = (
        "import sys; from pathlib import Path; from discreet.release import Job, sanitise_file;"
        f"sanitise_file(Job(Path(sys.argv[1]), '-', '-', keep=('region',), format={to!r}))"
    )
    with source.open("rb") as file:
        cat = subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE)
        done = subprocess.run(
            [sys.executable, "-c", code, str(protocol_path)], stdin=cat.stdout, capture_output=True, check=True
        )
        cat.wait()
    assert Counter(fetch(done.stdout)["region"].to_pylist()) == Counter(people["region"].to_pylist())
    assert b"CANARY" not in done.stdout


def test_an_arrow_stream_and_a_name_that_lies(people: pa.Table, protocol_path: Path, tmp_path: Path) -> None:
    path = tmp_path / "stream.csv"
    with pa.ipc.new_stream(path, people.schema) as writer:
        writer.write_table(people)
    assert sanitise_file(Job(protocol_path, str(path), str(tmp_path / "out"))).records == len(people)
    assert fetch((tmp_path / "out").read_bytes()).column_names == [RELEASED]


def test_the_manifest_fits_the_file_and_says_nothing_about_the_raw_data(
    people: pa.Table, protocol: Protocol, protocol_path: Path, tmp_path: Path
) -> None:
    target = tmp_path / "out.csv"
    source = store(people, tmp_path / "in.csv")
    outcome = sanitise_file(Job(protocol_path, str(source), str(target)))
    assert outcome.manifest is not None
    manifest = json.loads(Path(outcome.manifest).read_text())
    assert manifest["file"]["sha256"] == hashlib.sha256(target.read_bytes()).hexdigest()
    assert manifest["file"]["bytes"] == target.stat().st_size
    assert manifest["records"] == len(people)
    assert manifest["protocol"]["sha256"] == protocol.digest
    assert hashlib.sha256(source.read_bytes()).hexdigest() not in Path(outcome.manifest).read_text()
    assert stat.S_IMODE(target.stat().st_mode) == 0o666 & ~_umask()


def test_a_release_for_testing_says_so(people: pa.Table, protocol_path: Path, tmp_path: Path) -> None:
    source = store(people, tmp_path / "in.csv")
    for name in ("a", "b"):
        sanitise_file(Job(protocol_path, str(source), str(tmp_path / name), testing=True, data=name))
        manifest = json.loads((tmp_path / f"{name}.manifest.json").read_text())
        assert "not private" in manifest["randomness"]
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    sanitise_file(Job(protocol_path, str(source), str(tmp_path / "c"), data="c"))
    assert (tmp_path / "a").read_bytes() != (tmp_path / "c").read_bytes()
    assert "not private" not in (tmp_path / "c.manifest.json").read_text()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_nothing_of_the_inputs_metadata_gets_out(people: pa.Table, protocol_path: Path, tmp_path: Path) -> None:
    marked = people.replace_schema_metadata({"note": "CANARY"})
    field = marked.schema.field("region").with_metadata({"note": "CANARY"})
    marked = marked.cast(marked.schema.set(4, field))
    for kind in ("parquet", "arrow"):
        target = tmp_path / f"out.{kind}"
        source = store(marked, tmp_path / f"in.{kind}")
        sanitise_file(Job(protocol_path, str(source), str(target), keep=("region",), data=kind))
        assert b"CANARY" in source.read_bytes()
        assert b"CANARY" not in target.read_bytes()


def test_a_failure_leaves_the_folder_as_it_was(people: pa.Table, protocol_path: Path, tmp_path: Path) -> None:
    source = store(people, tmp_path / "in.csv")
    with source.open("ab") as file:
        file.write(b'"never closed,1,2,3\n')
    (tmp_path / "out.csv").write_text("the release before\n")
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(DiscreetError, match="not closed"):
        sanitise_file(Job(protocol_path, str(source), str(tmp_path / "out.csv")))
    assert (tmp_path / "out.csv").read_text() == "the release before\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_full_disk(people: pa.Table, protocol_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = store(people, tmp_path / "in.csv")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ReleaseError, match="No space left"):
        sanitise_file(Job(protocol_path, str(source), str(tmp_path / "out.csv")))
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("victim", ["in.csv", "protocol.json"])
def test_inputs_are_never_replaced(people: pa.Table, protocol_path: Path, tmp_path: Path, victim: str) -> None:
    source = store(people, tmp_path / "in.csv")
    before = (tmp_path / victim).read_bytes()
    os.symlink(tmp_path / victim, tmp_path / "link")
    for name in (victim, "link"):
        with pytest.raises(ReleaseError, match="replace an input"):
            sanitise_file(Job(protocol_path, str(source), str(tmp_path / name)))
    assert (tmp_path / victim).read_bytes() == before


def test_an_empty_table(protocol_path: Path, people: pa.Table, tmp_path: Path) -> None:
    for kind in KINDS:
        source = store(people.slice(0, 0), tmp_path / f"in.{kind}")
        target = tmp_path / f"out.{kind}"
        assert sanitise_file(Job(protocol_path, str(source), str(target), data=kind)).records == 0
        assert fetch(target.read_bytes()).column_names == [RELEASED]
