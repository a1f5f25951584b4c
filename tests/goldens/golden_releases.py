"""Goldens of releases: what is drawn from fixed randomness, estimates from it, and what the commands print.

Commands draw from the operating system; here `os.urandom` gives fixed bytes, so that a file comes out the same.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
from golden_cases import joint_of, people, released_protocol, sha

import discreet as dc
from discreet.cli import main

KEY = bytes(range(1, 65))
MASKED = {"seconds", "time", "created"}
KINDS = (("csv", "csv"), ("parquet", "parquet"), ("csv", "arrow"))
COMMANDS = ("demo", "design", "sanitise", "audit", "estimate", "report", "papers", "papers run")


@contextlib.contextmanager
def workshop() -> Iterator[Path]:
    """An empty folder to work in, with a key, the records as files, and randomness that repeats."""
    drawn = bytes(i * 37 % 251 for i in range(4096))
    with (
        tempfile.TemporaryDirectory() as name,
        contextlib.chdir(name),
        mock.patch("os.urandom", lambda size: (drawn * (size // len(drawn) + 1))[:size]),
    ):
        folder = Path(name)
        (folder / "key").write_bytes(KEY)
        (folder / "key").chmod(0o600)
        pacsv.write_csv(people(), folder / "people.csv")
        pq.write_table(people(), folder / "people.parquet")
        yield folder


def command(*arguments: str) -> tuple[int, str]:
    """The exit code and what was printed. `main` leaves at once after a failure; here that is an ordinary exit."""
    shown = io.StringIO()

    def leave(code: int) -> None:
        raise SystemExit(code)

    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(io.StringIO()), mock.patch("os._exit", leave):
        try:
            main(list(arguments))
        except SystemExit as done:
            return int(done.code or 0), shown.getvalue()
    raise AssertionError("the command did not exit")


def content(table: Any) -> str:
    """A table by its columns, cell by cell, whatever its kind."""
    table = table if isinstance(table, pa.Table) else pa.table(table)
    return sha([table.column_names, [str(t) for t in table.schema.types], table.to_pydict()])


def frames() -> dict[str, Any]:
    """Frames from the stream for tests and with a key, in order and shuffled, with and without kept columns."""
    import pandas as pd
    import polars as pl

    kept: dict[str, Any] = {}
    table = people()
    kinds: dict[str, Callable[[pa.Table], Any]] = {"arrow": lambda t: t, "pandas": lambda t: t.to_pandas(),
                                                   "polars": pl.from_arrow}  # fmt: skip
    with workshop(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for form in ("funnel", "include_secret", "sees_secret"):
            protocol = released_protocol(form)
            for keep in ([], ["region"], ["id", "region"]):
                for in_order in (False, True):
                    for keyed in (False, True):
                        options: dict[str, Any] = {"keep": keep, "keep_order": in_order, "testing": True}
                        options |= {"unknown_anyway": True}
                        options |= {"key": "key", "identity": "id"} if keyed else {}
                        for kind in kinds if form == "funnel" else ["arrow"]:
                            released = protocol.sanitise(kinds[kind](table), **options)
                            arrow = pa.Table.from_pandas(released) if isinstance(released, pd.DataFrame) else released
                            arrow = arrow.to_arrow() if isinstance(arrow, pl.DataFrame) else arrow
                            name = f"{form}, {kind}, keep {keep}, in order {in_order}, keyed {keyed}"
                            kept[name] = content(arrow.replace_schema_metadata(None))
                            if kind == "arrow":
                                said = json.loads(released.schema.metadata[b"discreet release"])
                                kept[f"{name}: said"] = masked(said)
        first = protocol.sanitise(table, testing=True, keep_order=True, unknown_anyway=True)
        kept["the first cells"] = first.columns[0].to_pylist()[:40]
    return kept


def released_files() -> dict[str, Any]:
    """Files through the command line: CSV byte for byte, Parquet and Arrow cell by cell, manifest and ledger."""
    kept: dict[str, Any] = {}
    variants: dict[str, list[str]] = {
        "shuffled": [],
        "shuffled, region kept": ["--keep", "region"],
        "shuffled, id kept": ["--keep", "id", "--keep", "region"],
        "in order": ["--keep-order"],
        "in order, region kept": ["--keep-order", "--keep", "region"],
        "keyed": ["--key", "key", "--id", "id", "--keep", "region"],
        "keyed, in order": ["--key", "key", "--id", "id", "--keep-order"],
    }
    with workshop() as folder:
        for form in ("funnel", "sees_secret"):
            released_protocol(form).save(f"{form}.json")
            for variant, options in variants.items():
                for source, kind in KINDS if form == "funnel" else KINDS[:1]:
                    name = f"{form}, {variant}, {source} to {kind}"
                    out = folder / f"out.{kind}"
                    code, shown = command("sanitise", f"{form}.json", f"people.{source}", out.name, *options,
                                          "--force", "--json", "--unknown-anyway", "--data", name)  # fmt: skip
                    manifest = json.loads((folder / f"{out.name}.manifest.json").read_text())
                    if kind != "csv":  # bytes that depend on the version of the library that writes them
                        manifest["file"] |= {"bytes": "…", "sha256": "…"}
                    kept[name] = {
                        "code": code,
                        "shown": masked(json.loads(shown)),
                        "content": sha(out.read_bytes()) if kind == "csv" else content(_read(out)),
                        "manifest": masked(manifest),
                    }
            events = [json.loads(line) for line in (folder / f"{form}.json.ledger").read_text().splitlines()]
            kept[f"{form}, ledger"] = masked(events)
    return kept


def _read(path: Path) -> pa.Table:
    if path.suffix == ".parquet":
        return pq.read_table(path).replace_schema_metadata(None)
    with pa.OSFile(str(path)) as file:
        return pa.ipc.open_file(file).read_all().replace_schema_metadata(None)


def masked(found: Any) -> Any:
    """Without what differs from run to run, by name."""
    if isinstance(found, dict):
        return {key: "…" if key in MASKED else masked(value) for key, value in found.items()}
    return [masked(value) for value in found] if isinstance(found, list) else found


def estimates() -> dict[str, Any]:
    """Estimates with their intervals, from fixed counts and from a fixed release."""
    kept: dict[str, Any] = {}
    protocol, owner = released_protocol(), released_protocol("sees_secret")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = protocol.sanitise(people(), keep=["region"], testing=True, unknown_anyway=True)
        owned = owner.sanitise(people(), testing=True, unknown_anyway=True)
    counts = np.array([310, 155, 402, 260, 88, 95])
    for title, given in (("counts", counts), ("release", table)):
        for method in ("linear", "likelihood"):
            for on in ("raw", "clip", "simplex"):
                kept[f"{title}, {method}, {on}"] = _estimated(dc.estimate(given, protocol, method=method, on=on))
    found = dc.estimate(table, protocol)
    kept["colour"] = _estimated(found.attribute("colour"))
    kept["size × colour"] = _estimated(found.table(["size", "colour"]))
    mean = found.attribute("size").mean()
    kept["mean"] = [mean.value, mean.standard_error, *mean.interval(0.9), *mean.bounds]
    share = found.combination([1, 0, 0, -1, 0, 0])
    kept["contrast"] = [share.value, share.standard_error, *share.interval(), *share.bounds]
    kept["few"] = _estimated(dc.estimate(np.array([1, 0, 3, 0, 2, 9]), protocol))
    kept["pseudo"] = _estimated(dc.estimate(counts, protocol, method="likelihood", pseudo_records=20.0))
    kept["owner"] = _estimated(dc.estimate(owned, owner))
    kept["owner, assumed"] = _estimated(dc.estimate(owned, owner, assume="P(s|x)"))
    kept["two waves"] = _estimated(dc.estimate([counts, table], [protocol, protocol]))
    blind = dc.Protocol.make(dc.Channel([[0.5, 0.5, 0.2], [0.5, 0.5, 0.8]]), joint_of("2×3"), dc.LIP(2.0))
    kept["not determined"] = _estimated(dc.estimate(np.array([120, 180]), blind))
    return kept


def _estimated(found: Any) -> dict[str, Any]:
    return {
        "n": found.n,
        "letters": [str(letter) for letter in found.letters],
        "frequencies": found.frequencies.tolist(),
        "standard_errors": found.standard_errors.tolist(),
        "interval": found.interval().tolist(),
        "interval 0.8": found.interval(0.8).tolist(),
        "bounds": found.bounds.tolist(),
        "effective": found.effective_sample_size,
        "notes": list(found.notes),
        "combinations": [[words, quantity.value] for words, quantity in found.combinations],
    }


@cache
def commands() -> dict[str, Any]:
    """What `--json` prints, with seconds masked; errors with their exit codes."""
    kept: dict[str, Any] = {}
    columns = ("--secret", "health", "--release", "colour")
    with workshop() as folder:
        released_protocol().save("fixed.json")
        (folder / "pram.csv").write_text(",red,blue,mauve\nred,0.8,0.1,0.1\nblue,0.1,0.8,0.1\nmauve,0.1,0.1,0.8\n")
        command("sanitise", "fixed.json", "people.csv", "released.csv", "--keep", "region", "--unknown-anyway")
        lines: dict[str, tuple[str, ...]] = {
            "design": ("design", "people.csv", *columns, "--epsilon", "0.5"),
            "design ldp, both": ("design", "people.parquet", *columns, "--notion", "ldp", "--include-secret"),
            "design owner": ("design", "people.csv", *columns, "--sees-secret", "--no-curve"),
            "design two": ("design", "people.csv", *columns, "--release", "region", "--notion", "srlip", "--no-curve"),
            "design grr": ("design", "people.csv", *columns, "--method", "grr", "--no-curve"),
            "design plan": ("design", "people.csv", *columns, "--no-curve", "--plan", "5000", "--fewer-outputs"),
            "design rldp": ("design", "people.csv", *columns, "--notion", "rldp", "--method", "grr", "--epsilon", "2"),
            "design public": ("design", "none.csv", *columns, "--public", "people.csv", "--no-curve"),
            "audit": ("audit", "fixed.json"),
            "audit elsewhere": ("audit", "pram.csv", "--data", "people.csv", *columns),
            "estimate": ("estimate", "fixed.json", "released.csv"),
            "estimate by": ("estimate", "fixed.json", "released.csv", "--by", "region", "--attribute", "colour"),
            "estimate likely": ("estimate", "fixed.json", "released.csv", "--method", "likelihood", "--level", "0.8"),
            "report": ("report", "fixed.json", "--out", "report.html"),
            "no such column": ("design", "people.csv", "--secret", "wealth", "--release", "colour"),
            "no such method": ("design", "people.csv", *columns, "--method", "magic"),
            "no such file": ("audit", "nowhere.json"),
            "no such protocol": ("sanitise", "nowhere.json", "people.csv", "out.csv"),
            "twice": ("sanitise", "fixed.json", "people.csv", "again.csv", "--budget", "0.1", "--unknown-anyway"),
        }
        for name, line in lines.items():
            force = ("--force",) if line[0] in ("design", "report") else ()
            code, shown = command(*line, *force, "--json")
            kept[name] = {"code": code, "shown": masked(json.loads(shown))}
        kept["released"] = sha((folder / "released.csv").read_bytes())
        kept["report page"] = sha((folder / "report.html").read_bytes())
        designed = dc.Protocol.load(folder / "protocol.json")
        kept["designed last"] = [designed.source, len(designed.outputs), type(designed.notion).__name__]
    for name in COMMANDS:
        with mock.patch.dict(os.environ, {"COLUMNS": "200", "TERM": "dumb", "NO_COLOR": "1"}):
            code, shown = command(*name.split(), "--help")
        kept[f"options of {name}"] = [code, sorted(set(re.findall(r"--[a-z][a-z-]*", shown)))]
    return kept


def keys() -> dict[str, Any]:
    """The keys of every object that `--json` prints, as paths."""
    return {
        name: sorted(set(_paths(found["shown"])))
        for name, found in commands().items()
        if isinstance(found, dict) and "shown" in found
    }


def _paths(found: Any, above: str = "") -> Iterator[str]:
    if isinstance(found, dict):
        for key, value in found.items():
            yield f"{above}.{key}"
            yield from _paths(value, f"{above}.{key}")
    elif isinstance(found, list):
        for value in found:
            yield from _paths(value, f"{above}[]")


PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    part.__name__: part for part in (frames, released_files, estimates, commands, keys)
}
