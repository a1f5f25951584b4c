"""Writes goldens.json: `python tests/goldens/record.py [part …]`. See test_goldens.py for what they are for."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import golden_designs
import golden_releases

GOLDENS = Path(__file__).with_name("goldens.json")
PARTS = {**golden_designs.PARTS, **golden_releases.PARTS}


def plain(found: Any) -> Any:
    """As it will be read again: names as text, infinity and what is not a number by name."""
    return json.loads(json.dumps(found, ensure_ascii=False))


def main(names: list[str]) -> None:
    kept = json.loads(GOLDENS.read_text()) if names else {}
    for name in names or list(PARTS):
        started = time.perf_counter()
        kept[name] = plain(PARTS[name]())
        print(f"{name}: {len(kept[name])} in {time.perf_counter() - started:.1f} s", flush=True)
    lines = [f"{json.dumps(name)}: {_lines(kept[name])}" for name in PARTS]
    GOLDENS.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def _lines(part: dict[str, Any]) -> str:
    """One line for every golden, so that a change of one is a change of a line."""
    return "{\n" + ",\n".join(f" {_json(name)}: {_json(value)}" for name, value in part.items()) + "\n}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    main(sys.argv[1:])
