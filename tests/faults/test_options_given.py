"""Options of no use are refused by name, by check and release alike; what cannot be given back is known before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import discreet as dc
from discreet.release import released_table

TABLE = pa.table({"s": ["a", "b"] * 500, "x": ["p", "p", "q", "q"] * 250, "g": ["N", "S"] * 500})


@pytest.fixture(scope="module")
def protocol() -> Any:
    return dc.design(dc.Joint.from_table(TABLE, secret="s", release="x"), dc.LIP(0.5)).protocol


@pytest.mark.parametrize(
    ("options", "where"),
    [
        ({"keep": None}, "keep"),
        ({"keep": [1]}, "keep"),
        ({"keep": "g"}, "keep"),
        ({"key": b"x", "identity": "g"}, "key"),
        ({"ledger": "\0"}, "ledger"),
        ({"ledger": 5}, "ledger"),
    ],
    ids=str,
)
def test_the_option_is_named(protocol: Any, options: dict[str, Any], where: str) -> None:
    """Releases said "an error inside", and checks ended in a TypeError."""
    with pytest.raises(dc.ParameterError) as refused:
        protocol.sanitise(TABLE, **options)
    assert refused.value.where == where
    assert where in [one.where for one in protocol.check(TABLE, **options).refusals]


def test_what_cannot_be_given_back_is_refused_before_it_is_entered(
    protocol: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A frame of Spark was drawn, entered and then lost."""

    class BrokenError(ValueError):
        pass

    def fails(*_: Any) -> None:
        raise BrokenError("a value")

    monkeypatch.setattr(released_table, "_in_pandas", fails)
    frame, book = TABLE.to_pandas(), tmp_path / "book"
    with pytest.raises(dc.ReleaseError, match="of the kind that was given"):
        protocol.sanitise(frame, ledger=book)
    assert not book.exists()
    assert any("of the kind that was given" in one.what for one in protocol.check(frame, ledger=book).refusals)
    assert protocol.sanitise(TABLE, ledger=book).num_rows == TABLE.num_rows
