"""The driver is killed at two moments; `benchmarks/spark_kills.py` takes twenty at random."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from driver_kills import Driver, verdict
from standalone import missing

pytestmark = [
    pytest.mark.skipif(bool(missing()), reason=missing() or "Spark runs"),
    pytest.mark.xdist_group("spark"),
]


def entered(book: bytes, name: bytes) -> bool:
    """Whether a release of these people stands in the book; their budget is entered before it."""
    return any(name in line and b'"release"' in line for line in book.splitlines())


def test_killed_while_it_draws_and_while_it_publishes(
    protocol: Any, source: Path, people: Any, key: Path, tmp_path: Path
) -> None:
    path = tmp_path / "protocol.json"
    protocol.save(path)
    ledger = tmp_path / "protocol.json.ledger"
    driver = Driver(path, source, key, tmp_path)
    driver.killed("first", lambda: bool(list(tmp_path.glob(".first.*.part/parts"))))
    assert verdict(path, tmp_path, "first", len(people)) == "nothing"
    left = list(tmp_path.glob(".first.*.part"))
    assert len(left) == 1
    assert left[0].stat().st_mode & 0o077 == 0
    driver = Driver(path, source, key, tmp_path)
    driver.killed("second", lambda: ledger.exists() and entered(ledger.read_bytes(), b"second"))
    assert verdict(path, tmp_path, "second", len(people)) in ("entered", "released")
    driver = Driver(path, source, key, tmp_path)
    driver.release("first")
    driver.end()
    assert verdict(path, tmp_path, "first", len(people)) == "released"
    assert not list(tmp_path.glob(".first.*.part")), "what the killed driver left is still there"
