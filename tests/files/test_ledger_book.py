"""Books of a ledger: everybody locks them in one order, whoever writes, whoever only reads."""

from __future__ import annotations

import fcntl
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from discreet.files.ledger_book import locked, unchanged


@pytest.fixture
def books(tmp_path: Path) -> tuple[Path, Path, list[Path]]:
    common, beside, read = (
        tmp_path / "a" / "common",
        tmp_path / "m.ledger",
        [tmp_path / "z.ledger", tmp_path / "b.ledger"],
    )
    with locked(common, beside, read):
        pass
    return common, beside, read


def test_readers_and_writers_lock_in_one_order(
    books: tuple[Path, Path, list[Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once a writer held the book beside the protocol and waited for the common one, a reader the other way round."""
    common, beside, read = books
    orders: list[list[int]] = [[], [], []]
    real = fcntl.flock

    def noted(number: int) -> Any:
        def flock(file: int, how: int) -> None:
            orders[number].append(os.fstat(file).st_ino)
            real(file, how)

        return flock

    for number, (how, first, others) in enumerate(
        [(locked, beside, read), (unchanged, beside, read), (locked, read[0], [beside, read[1]])]
    ):
        monkeypatch.setattr(fcntl, "flock", noted(number))
        with how(common, first, others) as opened:
            assert tuple(book.path for book in opened.written) == (common, first)
    assert orders[0] == orders[1] == orders[2]
    assert len(orders[0]) == 4


def test_many_at_once_never_wait_for_each_other(books: tuple[Path, Path, list[Path]]) -> None:
    common, beside, read = books

    def work(number: int) -> int:
        with (locked if number % 3 else unchanged)(common, beside if number % 2 else read[0], read):
            return number

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(work, range(400))) == list(range(400))


def test_names_that_lead_to_the_same_files_lock_in_one_order(
    books: tuple[Path, Path, list[Path]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An absolute name comes before a relative one, whatever it leads to: two releases once waited for each other."""
    common, beside, read = books
    (tmp_path / "a.ledger").symlink_to(read[0])
    orders: list[list[int]] = []
    real = fcntl.flock
    monkeypatch.chdir(tmp_path)

    def flock(file: int, how: int) -> None:
        orders[-1].append(os.fstat(file).st_ino)
        real(file, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    for first, other in ((beside, Path("z.ledger")), (Path("m.ledger"), read[0]), (tmp_path / "a.ledger", beside)):
        orders.append([])
        with locked(common, first, [other, beside]):
            pass
    assert orders[0] == orders[1] == orders[2]
    assert len(orders[0]) == 3
