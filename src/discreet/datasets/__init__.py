"""Data inside the package, for examples and tests.

Adult: 32,561 records of the 1994 census of the United States, the training part of Becker, B. and Kohavi, R. (1996),
UCI Machine Learning Repository, doi 10.24432/C5XW20. Licence CC BY 4.0, see ADULT-LICENCE.txt beside this file.
`scripts/build_adult.py` makes the Parquet file.
"""

from __future__ import annotations

from hashlib import sha256
from importlib.resources import files

import pyarrow as pa
import pyarrow.parquet as pq

from discreet.exceptions import TableError

__all__ = ["adult"]

ADULT_SHA256 = "6ed5b46f117a701f7d0df7ba083f2fc8315ba6ae85642075646188dc01809adc"


def adult() -> pa.Table:
    """Ten columns of strings, `age` of whole numbers; "?" stands for an unknown value, as in the original.

    Returns:
        An Arrow table of 32,561 records.
    Raises:
        TableError: the file is not the one that was shipped.
    Example:
        >>> from discreet.datasets import adult
        >>> adult().column_names[:3]
        ['workclass', 'education', 'marital-status']
    """
    stored = files("discreet.datasets").joinpath("adult.parquet").read_bytes()
    return pq.read_table(pa.BufferReader(_checked(stored, ADULT_SHA256)))


def _checked(stored: bytes, expected: str) -> bytes:
    """The bytes, if they hash to what is expected."""
    if sha256(stored).hexdigest() != expected:
        raise TableError(
            "the file is not the one that was shipped", where="adult.parquet", remedy="Reinstall discreet."
        )
    return stored
