"""h of one number, callable from compiled code."""

from __future__ import annotations

import ctypes
from functools import lru_cache

import numpy as np
from numba import cfunc, float64, types
from numba.core.typing.templates import Signature

from discreet.exceptions import ParameterError
from discreet.utilities import Separable

_KIND = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)
_TRIED = np.concatenate([[0.0], np.geomspace(1e-12, 1e4, 33)])


class Scalar(types.WrapperAddressProtocol):
    """The address of a function of one number, in the form that numba takes as an argument."""

    def __init__(self, function: object, address: int | None) -> None:
        assert address is not None
        self._function, self._address = function, address

    def __wrapper_address__(self) -> int:
        return self._address

    def signature(self) -> Signature:
        return float64(float64)


@lru_cache(maxsize=32)
def scalar_of(utility: Separable) -> Scalar:
    """h compiled from `utility.scalar`; without one, a call back to `utility.h`, which is slow but right."""
    if utility.scalar is None:
        return _called_back(utility)
    try:
        compiled = cfunc("float64(float64)", cache=True)(utility.scalar)
    except RuntimeError:  # defined where numba cannot keep a compiled copy, on a command line for example
        compiled = cfunc("float64(float64)")(utility.scalar)
    found = np.array([compiled.ctypes(w) for w in _TRIED])
    if not np.allclose(found, utility.h(_TRIED), rtol=1e-12, atol=1e-13):
        raise ParameterError("scalar and h are different functions", where="utility", remedy="Leave scalar out.")
    return Scalar(compiled, compiled.address)


def _called_back(utility: Separable) -> Scalar:
    """What cannot be computed is not a number, and then no box is ever left because of it."""

    def h(w: float) -> float:
        try:
            return float(utility.h(np.array([w]))[0])
        except Exception:
            return np.nan

    function = _KIND(h)
    return Scalar(function, ctypes.cast(function, ctypes.c_void_p).value)
