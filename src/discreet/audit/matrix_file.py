"""Transition matrices from CSV files, such as the PRAM matrices of other tools."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from discreet.channel import Channel
from discreet.exceptions import ChannelError, InOwnWords, TableError

SUM_TOLERANCE = 1e-6
"""Matrices are exported with six digits and more."""
LARGEST_FILE = 256 * 2**20
"""About 5,000 × 5,000 cells of ten characters."""


def read_matrix(path: str | os.PathLike[str], inputs: Literal["columns", "rows"] | None = None) -> Channel:
    """Q from a CSV with or without a header row and a column of names.

    Q[y, x] has one column per letter, and columns add up to one; PRAM matrices have one *row* per letter. Whichever
    adds up to one is taken; where both do, and the matrix is not symmetric, `inputs` must say which it is.

    Arguments:
        path: of a CSV file in UTF-8.
        inputs: "columns" or "rows", whichever the input letters are.
    Returns:
        A `Channel`, with the names in the file.
    Raises:
        ChannelError: neither rows nor columns add up to one, or both do and nobody said which.
        TableError: a file that is no matrix of numbers.
    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from discreet.audit import read_matrix
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "pram.csv")
        ...     _ = path.write_text("0.9,0.1\\n0.3,0.7\\n")
        ...     read_matrix(path).matrix.tolist()
        [[0.9, 0.3], [0.1, 0.7]]
    """
    with InOwnWords(_unread, OSError, ValueError), Path(path).open("rb") as file:
        data = file.read(LARGEST_FILE + 1)
    return matrix_of(data, inputs)


def matrix_of(data: bytes, inputs: Literal["columns", "rows"] | None = None) -> Channel:
    """The same from the bytes of the file."""
    cells = _cells(data)
    readings = [_named(cells, header) for header in _headers(cells)]
    sound = [one for one in readings if any(_adds_up(one[0]))] or readings[:1]
    if len(sound) > 1:
        raise ChannelError(
            "a first row that may be names or probabilities",
            where="the first row",
            remedy="Write a first row of names that are no numbers.",
        )
    numbers, rows, columns = sound[0]
    if not _probabilities(numbers):
        raise ChannelError("a cell that is not a probability", remedy="Give numbers between 0 and 1.")
    by_column, by_row = _adds_up(numbers)
    if inputs is None and by_column and by_row and not np.allclose(numbers, numbers.T, atol=SUM_TOLERANCE):
        raise ChannelError(
            "rows and columns both add up to one",
            remedy="Say which are the inputs: --inputs rows as in sdcMicro, or columns (inputs=…).",
        )
    if not (by_row if inputs == "rows" else by_column if inputs == "columns" else by_row or by_column):
        raise ChannelError(
            f"the {inputs or 'rows or columns'} do not add up to one within {SUM_TOLERANCE:g}",
            where=f"{numbers.shape[0]} rows, {numbers.shape[1]} columns",
            remedy="Export the matrix with more digits, without row or column totals, and names that are numbers in a "
            "first row and column, the first cell empty.",
        )
    if inputs == "rows" or (inputs is None and not by_column):
        numbers, rows, columns = numbers.T, columns, rows
    return Channel(numbers / numbers.sum(axis=0), columns, rows)


def _cells(data: bytes) -> list[list[str]]:
    if len(data) > LARGEST_FILE:
        raise TableError("a matrix file above 256 MiB", remedy="Audit a smaller matrix, or load it with numpy.")
    with InOwnWords(_unread, UnicodeDecodeError, csv.Error):
        text = data.decode("utf-8-sig")
        reader = csv.reader(text.splitlines(), delimiter=_separator(text), skipinitialspace=True)
        rows = [[cell.strip() for cell in row] for row in reader if any(row)]
    widths = {len(row) for row in rows}
    if len(widths) == 2 and len(rows) > 1 and len(rows[0]) + 1 == len(rows[1]):
        rows[0] = ["", *rows[0]]
        widths = {len(row) for row in rows}
    if not rows:
        raise TableError("no numbers", remedy="Give a matrix of probabilities.")
    if len(widths) != 1:
        raise TableError("rows of different lengths", remedy="Give one cell for every input and output.")
    return rows


def _unread(error: Exception) -> TableError:
    return TableError("the matrix cannot be read", where=type(error).__name__, remedy="Give a UTF-8 CSV.")


def _no_number(_: Exception) -> TableError:
    return TableError("a cell that is not a number", remedy="Only the first row and column may be names.")


def _separator(text: str) -> str:
    """Tab, semicolon, comma or space: the first of them that the last line, which is numbers, contains."""
    last = text.rstrip().rpartition("\n")[2]
    return next((mark for mark in "\t;, " if mark in last), ",")


def _headers(cells: list[list[str]]) -> list[bool]:
    """Whether the first row is names; both where whole numbers could be either.

    A first row with an empty first cell is names, and so is one beside whose first cell, a text, there are numbers
    below: other tools write letters that are numbers in this way.
    """
    corner, *others = cells[0]
    first = cells[0] if _is_number(corner) else others
    if not all(_is_number(cell) for cell in others or cells[0]):
        return [True]
    if len(cells) == 1:
        return [False]
    names = 1 < len(first) == len(set(first)) and all(_number(cell) % 1 == 0 for cell in first)
    if corner == "":
        return [True] if names else [True, False]
    if not _is_number(corner) and all(_is_number(row[0]) for row in cells[1:]):
        return [True]
    return [False, True] if names and len(cells) != len(first) else [False]


def _named(cells: list[list[str]], header: bool) -> tuple[NDArray[np.float64], tuple[str, ...], tuple[str, ...]]:
    """The numbers, and the names of rows and columns where the first column or row is not numbers."""
    body = cells[1:] if header else cells
    corner, *others = cells[0]
    beside = corner == "" or (not _is_number(corner) and all(_is_number(cell) for cell in others))
    named = not all(_is_number(row[0]) for row in body) or (header and beside)
    start = 1 if named else 0
    with InOwnWords(_no_number, ValueError):
        numbers = np.array([[_number(cell) for cell in row[start:]] for row in body])
    if numbers.size == 0:
        raise TableError("no numbers", remedy="Give a matrix of probabilities.")
    rows: Sequence[str] = [row[0] for row in body] if named else ()
    return numbers, tuple(rows), tuple(cells[0][start:]) if header else ()


def _probabilities(numbers: NDArray[np.float64]) -> bool:
    return bool((np.isfinite(numbers) & (numbers >= 0)).all())


def _adds_up(numbers: NDArray[np.float64]) -> tuple[bool, bool]:
    """Whether every column, and whether every row, is a distribution."""
    if not _probabilities(numbers):
        return False, False
    by_column, by_row = (bool((np.abs(numbers.sum(axis=axis) - 1) <= SUM_TOLERANCE).all()) for axis in (0, 1))
    return by_column, by_row


def _number(cell: str) -> float:
    """With a decimal point or a decimal comma."""
    return float(cell.replace(",", "."))


def _is_number(cell: str) -> bool:
    try:
        _number(cell)
    except ValueError:
        return False
    return True
