"""The kinds of arrays that the package speaks of, each named once."""

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.exceptions import ParameterError

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array

Floats = NDArray[np.float64]
"""Probabilities, rows, prices, values."""

Integers = NDArray[np.int64]
"""Weights over 2^bits, counts."""

Indices = NDArray[np.intp]
"""Places in another array."""

Codes = NDArray[np.unsignedinteger]
"""Letters as numbers, in as few bytes as they need."""

Weights: TypeAlias = "Integers | csc_array"
"""Whole numbers, one row per output and one column per letter: all of them, or those that are not zero."""

Rows: TypeAlias = "Floats | csr_array"
"""Rows of a channel: all entries, or those that are not zero."""


def unchanging(array: NDArray[Any]) -> NDArray[Any]:
    """The same numbers, which nobody can change through this array."""
    view = array.view()
    view.setflags(write=False)
    return view


def whole(rows: Rows) -> Floats:
    """Every entry of the rows."""
    return rows if isinstance(rows, np.ndarray) else np.asarray(rows.toarray())


def unmasked(given: Any) -> Any:
    """What was given, unless some of it is masked or complex: as plain numbers it would show what is under the mask,
    or a part of itself."""
    parts = given if isinstance(given, list | tuple) else ()
    if any(isinstance(one, np.ma.MaskedArray) for one in (given, *parts)):
        raise ParameterError("a masked array", where="array", remedy="Say what is under its mask: array.filled(0).")
    if np.iscomplexobj(given):
        raise ParameterError("complex numbers", where="array", remedy="Give real ones, array.real.")
    return given
