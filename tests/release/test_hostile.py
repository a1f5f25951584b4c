"""200 CSV files as they come, and worse: one record in, one record out, or a clear error; never a raw value outside."""

from __future__ import annotations

import gzip
import itertools
from pathlib import Path

import pytest

from discreet.exceptions import DiscreetError
from discreet.protocol import Protocol
from discreet.release import Job, sanitise_file

CANARY = "CANARYx7f3a"
HEADER = ["name", "health", "colour", "size", "region"]
GOOD = [CANARY, CANARY, "red", "1", "north"]


def rows_to_text(rows: list[list[str]], separator: str = ",", end: str = "\n", quote: bool = False) -> str:
    wrap = '"{}"'.format if quote else "{}".format
    return "".join(separator.join(wrap(cell) for cell in row) + end for row in [HEADER, *rows])


def readable() -> dict[str, tuple[bytes, int]]:
    """Files that are tables, with the number of their records."""
    files: dict[str, tuple[bytes, int]] = {}
    plain = [GOOD, [CANARY, "ill", CANARY, "2", "süd"], [CANARY, "well", " blue ", "", "öst"]]
    ways = itertools.product(
        [",", ";", "\t", "|"], ["\n", "\r\n", "\r"], [False, True], ["utf-8", "utf-8-sig", "utf-16"]
    )
    for separator, end, quote, encoding in ways:
        text = rows_to_text(plain, separator, end, quote)
        files[f"{separator!r} {end!r} {quote} {encoding}"] = (text.encode(encoding), 3)
    cells = {
        "empty": "", "space": "   ", "tab": "\t", "nbsp": "\u00a0red\u00a0", "null byte": f"\0{CANARY}",
        "long": "x" * 1_000_000, "formula": f"={CANARY}", "plus": f"+{CANARY}", "minus": f"-{CANARY}",
        "at": f"@{CANARY}", "na": "NA", "nan": "NaN", "null": "null", "number": "1e999", "minus zero": "-0",
        "emoji": f"🔥{CANARY}", "rtl": f"\u202e{CANARY}", "combining": "re\u0301d", "replacement": "\ufffd",
        "html": f"<script>{CANARY}</script>", "sql": f"'; DROP {CANARY}--", "path": f"../../{CANARY}",
        "percent": f"%s%n{CANARY}", "brace": f"{{{CANARY}}}", "markup": f"[bold]{CANARY}",
        "backslash": f"\\{CANARY}\\", "single quote": f"'{CANARY}'", "inner quote": f'a"{CANARY}',
        "zero width": "red\u200b", "case": "RED", "huge number": "9" * 400, "date": "2020-01-01", "bool": "TRUE",
        "newline": f'"red\n{CANARY}"', "comma": f'"red,{CANARY}"', "doubled": f'"red""{CANARY}"',
        "carriage": f'"red\r{CANARY}"', "only quotes": '""',
    }  # fmt: skip
    for (name, cell), column in itertools.product(cells.items(), (1, 2, 3)):
        row = [*GOOD]
        row[column] = cell
        files[f"{name} in column {column}"] = (rows_to_text([GOOD, row, GOOD]).encode(), 3)
    ragged = {
        "short": f"{CANARY}\n", "long": ",".join([CANARY] * 9) + "\n", "one comma": ",\n", "all commas": ",,,,\n",
        "many": f"{CANARY},x\n" * 50, "trailing comma": ",".join(GOOD) + ",\n", "spaces": "    \n",
    }  # fmt: skip
    for (name, line), place in itertools.product(ragged.items(), ("first", "last")):
        body = rows_to_text([]) + (line + ",".join(GOOD) if place == "first" else ",".join(GOOD) + "\n" + line)
        files[f"ragged {name} {place}"] = (body.encode(), 1 + line.count("\n"))
    good = rows_to_text([GOOD]).encode()
    files["blank lines"] = (good.replace(b"\n", b"\n\n\r\n\n"), 1)
    files["header only"] = (rows_to_text([]).encode(), 0)
    files["header without end"] = (rows_to_text([]).rstrip().encode(), 0)
    files["spaces around names"] = (good.replace(b"colour", b'" colour "'), 1)
    files["many columns"] = (good.replace(b"\n", b"," + b",".join(b"c%d" % i for i in range(500)) + b"\n"), 1)
    files["a line end in a name"] = (good.replace(b"name", b'"na\nme"'), 1)
    files["ten thousand records"] = (rows_to_text([GOOD] * 10_000).encode(), 10_000)
    return files


def unreadable() -> dict[str, bytes]:
    good = rows_to_text([GOOD] * 3).encode()
    return {
        "nothing": b"",
        "blank": b"\n\n\n",
        "no header": ",".join(GOOD).encode() + b"\n",
        "open quote": good + f'"{CANARY},1\n'.encode(),
        "open quote at the start": good.replace(b"\n", b'\n"', 1),
        "column missing": good.replace(b"colour", b"color"),
        "column twice": good.replace(b"name", b"colour"),
        "kept column missing": good.replace(b"region", b"area"),
        "binary": bytes(range(256)) * 64 + CANARY.encode(),
        "parquet by its first bytes": b"PAR1" + good + b"PAR1",
        "arrow by its first bytes": b"ARROW1\0\0" + good,
        "stream by its first bytes": b"\xff\xff\xff\xff\x10\0\0\0" + good,
        "utf-16 without a mark": good.decode().encode("utf-16-le"),
        "gzip": gzip.compress(good),
        "cut off": gzip.compress(good)[:20],
        "bytes that are no text": good + ",".join(GOOD).encode().replace(b"red", b"\xff\xfe\xc3("),
        "public bytes that are no text": good + ",".join(GOOD).encode().replace(b"north", b"\xff\xfe"),
        "huge record": good + b'"' + CANARY.encode() * 2_500_000 + b'",1,1,1,1\n',
    }


READABLE, UNREADABLE = readable(), unreadable()


def test_there_are_200() -> None:
    assert len(READABLE) + len(UNREADABLE) >= 200


@pytest.fixture(scope="module")
def folder(protocol: Protocol, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    protocol.save(folder / "protocol.json")
    return folder


def released(folder: Path, data: bytes, name: str) -> tuple[int, bytes]:
    """The number of records, and everything that was written."""
    (folder / "in.csv").write_bytes(data)
    target = folder / "out.csv"
    target.unlink(missing_ok=True)
    outcome = sanitise_file(Job(folder / "protocol.json", str(folder / "in.csv"), str(target), ("region",), data=name))
    written = b"".join(path.read_bytes() for path in folder.iterdir() if path.name != "in.csv")
    return outcome.records, written


@pytest.mark.parametrize("name", READABLE)
def test_one_record_in_one_record_out(folder: Path, name: str) -> None:
    data, expected = READABLE[name]
    records, written = released(folder, data, name)
    assert records == expected
    assert CANARY.encode() not in written
    assert b"\n=" not in written


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_clear_error(folder: Path, name: str) -> None:
    with pytest.raises(DiscreetError) as caught:
        released(folder, UNREADABLE[name], name)
    assert CANARY not in str(caught.value)
    assert caught.value.where
    assert not (folder / "out.csv").exists()
    assert all(CANARY.encode() not in path.read_bytes() for path in folder.iterdir() if path.name != "in.csv")
