"""What every command prints, for docs/commands.md: each is run on part of the Adult data, in a folder of its own.

Seconds, memory, digests and ports are left out, and what draws at random is compared by its words alone: `differ`
says what a page shows that a command no longer prints. `scripts/reference.py` writes the page with these.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import pyarrow.csv

from discreet.cli.app import run
from discreet.datasets import adult

RECORDS, COLUMNS, MOST_LINES = 3_000, ["sex", "education", "occupation", "marital-status"], 48
WIDTH = 86
"""Of a line: what a page of the site shows without scrolling."""
CLOSE = 0.02
"""Two numbers of one line, relative: libraries of linear algebra differ in last digits, and so do searches."""


@dataclass(frozen=True)
class Example:
    """What is typed for a command. `folder`: where; `fills`: lines of a file to be replaced before, as a person would.

    `drawn`: its numbers come from random draws, or from the machine. `serves`: it never ends by itself.
    """

    command: str
    typed: str
    folder: str = "release"
    code: int = 0
    drawn: bool = False
    serves: bool = False
    fills: tuple[tuple[str, str], ...] = ()


DESIGN = "discreet design people.csv --secret sex --release education --merge education:rare:50"
EXAMPLES = (
    Example("discreet demo", "discreet demo", folder="demo"),
    Example("discreet look", "discreet look people.csv --secret sex"),
    Example("discreet design", f"{DESIGN} --epsilon 0.2 --no-curve --out protocol.json"),
    Example("discreet check", "discreet check protocol.json people.csv released.csv --one-row-per-person"),
    Example("discreet sanitise", "discreet sanitise protocol.json people.csv released.csv --one-row-per-person"),
    Example(
        "discreet sanitise",
        "discreet sanitise protocol.json people.csv again.csv --one-row-per-person --budget 0.3",
        code=6,
    ),
    Example("discreet keygen", "discreet keygen steward.key"),
    Example("discreet publish", "discreet publish protocol.json public.json --sign steward.key"),
    Example("discreet audit", "discreet audit protocol.json"),
    Example("discreet audit", "discreet audit public.json --verify steward.key.pub"),
    Example("discreet estimate", "discreet estimate public.json released.csv", drawn=True),
    Example("discreet report", "discreet report protocol.json --out report.html"),
    Example("discreet study init", "discreet study init people.csv", folder="study"),
    Example(
        "discreet study run",
        "discreet study run study.toml",
        folder="study",
        fills=(
            ("secret = []", 'secret = ["sex"]'),
            ("release = []", 'release = ["occupation"]'),
            ("epsilon = 1.0", "epsilon = 0.2"),
        ),
    ),
    Example("discreet studio", "discreet studio --demo --no-browser", folder="studio", serves=True, drawn=True),
    Example("discreet warm-up", "discreet warm-up", drawn=True),
    Example("discreet papers list", "discreet papers list", folder="papers"),
    Example("discreet papers run", "discreet papers run robust-2/example-1 --quick --jobs 1", folder="papers"),
    Example("discreet papers gallery", "discreet papers gallery papers docs", folder="papers", code=3),
)
LEFT_OUT = (
    (r"\b[0-9a-f]{64}\b", "…"),
    (r"\d[\d,.]* (s|seconds|MiB|KiB|MB)\b", r"… \1"),
    (r"(?<=127\.0\.0\.1:)\d+", "…"),
    (r"(?<=127\.0\.0\.1:…/)\S+", "…"),
    (r"(?<=OrdinaryLDP     )\d\S+ ?|\b\d(\.\d+)?e\+\d\d", "… "),  # of a mechanism that does not promise it: rounding
    (r"(?m)^compiling .*\n", ""),
)


def printed(folder: Path, examples: tuple[Example, ...] = EXAMPLES) -> dict[str, str]:
    """What every command line prints, by what is typed; in `folder`, which is empty."""
    told = {}
    table = adult().select(COLUMNS).slice(0, RECORDS)
    for one in examples:
        place = folder / one.folder
        if not place.exists():
            place.mkdir()
            pyarrow.csv.write_csv(table, place / "people.csv")
        with _quietly(place, folder / ".ledgers"):
            _fill(one)
            told[one.typed] = _steady(_served(one) if one.serves else _run(one))
    return told


@contextmanager
def _quietly(place: Path, ledgers: Path) -> Iterator[None]:
    """In a folder, with ledgers of its own and lines of one width."""
    from discreet.cli import progress, show

    before, widths = os.environ.get("XDG_DATA_HOME"), (show.stdout.width, show.stderr.width)
    os.environ["XDG_DATA_HOME"] = str(ledgers)
    show.stdout.width = show.stderr.width = WIDTH
    try:
        with chdir(place), patch.object(progress, "EVERY", 1e6):  # a slow machine would tell how it goes
            yield
    finally:
        os.environ.pop("XDG_DATA_HOME")
        os.environ.update({} if before is None else {"XDG_DATA_HOME": before})
        show.stdout.width, show.stderr.width = widths


def _fill(example: Example) -> None:
    if example.fills:
        file = Path("study.toml")
        text = file.read_text()
        for old, new in example.fills:
            if text.count(f"\n{old}") != 1:
                raise ValueError(f"{file.name} has no single line that begins with {old}")
            text = text.replace(f"\n{old}", f"\n{new}")
        file.write_text(text)


def _run(example: Example) -> str:
    both = io.StringIO()
    with redirect_stdout(both), redirect_stderr(both):
        code = run(shlex.split(example.typed)[1:])
    if code != example.code:
        raise ValueError(f"{example.typed}\nended with {code}:\n{both.getvalue()}")
    return both.getvalue()


def _served(example: Example) -> str:
    """Its first lines, up to the address; it is then told to stop, as by ctrl-C."""
    command = [sys.executable, "-c", "from discreet.cli.app import main; main()", *shlex.split(example.typed)[1:]]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        assert server.stdout is not None
        lines = [server.stdout.readline()]
        while lines[-1] and "127.0.0.1" not in lines[-1]:
            lines.append(server.stdout.readline())
        server.send_signal(signal.SIGINT)
        server.wait(60)
    return "".join(lines)


def _steady(text: str) -> str:
    for pattern, instead in LEFT_OUT:
        text = re.sub(pattern, instead, text)
    lines = [line.rstrip() for line in text.strip("\n").splitlines()]
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], f"[{len(lines) - MOST_LINES} more lines]"]
    return "\n".join(lines)


def block(example: Example, output: str) -> str:
    """As it stands on the page: what is done before, what is typed, what is printed, how it ends."""
    lines = "; ".join(f"`{new}`" for _, new in example.fills)
    before = f"With {lines} in `study.toml`:\n\n" if lines else ""
    after = f"\nIt ends with exit code {example.code}.\n" if example.code else ""
    return f"{before}```text\n$ {example.typed}\n{output}\n```\n{after}"


def shown(page: str) -> dict[str, str]:
    """The outputs on a page, by what is typed."""
    blocks = re.findall(r"^```text\n\$ (.*)\n((?:.*\n)*?)```$", page, re.MULTILINE)
    return {typed: output.rstrip("\n") for typed, output in blocks}


def differ(example: Example, before: str, now: str) -> str | None:
    """The first words that are not the same, or the first numbers that are not close; None if there are none."""
    old, new = before.split(), now.split()
    for a, b in zip(old, new, strict=False):
        if a == b or (_words(a) == _words(b) and (example.drawn or _close(a, b))):
            continue
        return f"{example.typed}: {a!r} is now {b!r}"
    return None if len(old) == len(new) else f"{example.typed}: {len(old)} words are now {len(new)}"


NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e[+-]\d+)?")


def _words(token: str) -> str:
    return NUMBER.sub("#", token)


def _close(a: str, b: str) -> bool:
    pairs = zip(NUMBER.findall(a), NUMBER.findall(b), strict=True)
    numbers = [(float(x.replace(",", "")), float(y.replace(",", ""))) for x, y in pairs]
    return all(abs(x - y) <= CLOSE * max(abs(x), abs(y)) for x, y in numbers)
