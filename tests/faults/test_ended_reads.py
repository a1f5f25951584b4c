"""A refused CSV file leaves no read behind: the program that met it ends, and a mark inside a file is a character."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from pathlib import Path

import pytest

from discreet.exceptions import TableError
from discreet.records import csvfile
from discreet.records.csvfile import CsvRecords
from discreet.records.source import open_records

REFUSED = {
    "not closed": b'town,ill\r\n\x00,\x1e\r\n,"\r\n\x1c,\x1e""=\r\n""\\,\'\r\n',
    "after a closing quote": b'town,ill\na,x\nb,"y"z\nc,z\n',
    "look like records": b'town,ill,n\n"y,2\nc,z,3\nb,y",2,q\n',
}
PROGRAM = """
import sys
from discreet.records import feed
from discreet.records.source import open_records
let_go = []
real = feed.Feed.end
feed.Feed.end = lambda self: (real(self), let_go.append(self._reader is None and self._over))
for _ in range(15):
    try:
        with open_records(sys.argv[1], ["town"]) as source:
            list(source)
    except Exception as error:
        said = str(error)
print(said, all(let_go), flush=True)
"""


@pytest.mark.parametrize("what", REFUSED)
def test_a_program_ends_after_files_that_were_refused(tmp_path: Path, what: str) -> None:
    """Every reader of Arrow is at its end, or let go, before the error is there."""
    path = tmp_path / "odd.csv"
    path.write_bytes(REFUSED[what])
    ran = subprocess.run([sys.executable, "-c", PROGRAM, str(path)], capture_output=True, text=True, timeout=300)
    assert what in ran.stdout
    assert ran.stdout.strip().endswith("True")
    assert ran.returncode == 0


def test_an_error_in_the_bytes_is_raised_in_its_own_words() -> None:
    class Broken(io.BytesIO):
        def readinto(self, room: object) -> int:
            if self.tell() > 100_000:
                raise TableError("a disk that fails", where="here")
            return super().readinto(room)  # type: ignore[arg-type]

    records = CsvRecords(Broken(b"a,b\n" + b"x,y\n" * 2_000_000), ["a"], ["b"])
    with pytest.raises(TableError, match="a disk that fails"):
        list(records)


def test_whoever_stops_reading_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csvfile, "BLOCK_BYTES", 1 << 16)
    stream = io.BytesIO(b"a,b\n" + b"x,y\n" * 2_000_000)
    batches = iter(CsvRecords(stream, ["a"], ["b"]))
    next(batches)
    batches.close()  # type: ignore[attr-defined]
    at = stream.tell()
    assert at < 8_000_000
    assert stream.tell() == at


@pytest.mark.parametrize("in_order", [True, False])
def test_a_mark_at_the_beginning_of_the_first_record_is_a_character(tmp_path: Path, in_order: bool) -> None:
    """As anywhere else: a header line was put before a file that has the mark of its own."""
    bodies = ["\ufeffA,x,k0\nA,y,k1\n\ufeffA,x,k2\n", '\ufeff"a,1,x\nb,2,y\nc,4",z\n' + "d,5,w\n" * 3]
    bodies.append("\ufeff\ufeffA,x,y\n")
    for body in bodies:
        for start in ("town,ill,note\n", "\ufefftown,ill,note\n"):
            path = tmp_path / "mark.csv"
            path.write_text(start + body, encoding="utf-8", newline="")
            with open_records(str(path), [], ["town", "ill", "note"], in_order=in_order) as source:
                found = [tuple(row.values()) for batch in source for row in batch.to_pylist()]
            assert sorted(map(str, found)) == sorted(str(tuple(row)) for row in csv.reader(io.StringIO(body)))
