"""What a row of a mechanism is worth: convex functions of the target marginal w of the row (theory 1).

A row with weight q_y and target marginal w_t = P(t | y) / P(t) contributes q_y · μ(w). Any convex μ keeps the theory:
the best mechanism is made of extreme rows, and no mechanism is worth more than a bound from the dual prices.

h of one number, callable from compiled code.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import log
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numba import float64, types
from numba.core.typing.templates import Signature
from scipy.special import xlogy

from discreet.arrays import Floats
from discreet.compiling import compiled_callback
from discreet.exceptions import ParameterError
from discreet.information import target_masses, target_with_output

if TYPE_CHECKING:
    from discreet.channel import Channel
    from discreet.joint import Joint


SMALLEST_SLOPE_AT = 1e-9
"""The slope of w ln w is infinite at zero: below this entry it is taken here, which is steep enough to leave zero."""


class Utility(Protocol):
    """A convex μ(w), its gradient, and the value of a finished channel.

    Exact pricing needs more: either μ is `Separable`, or it is a `PiecewiseLinear` maximum of few linear functions.
    """

    @property
    def name(self) -> str: ...

    def values(self, marginals: Floats, target_prior: Floats) -> Floats:
        """μ for every row of `marginals`."""
        ...

    def gradient(self, marginals: Floats, target_prior: Floats) -> Floats:
        """A subgradient of μ at every row of `marginals`, finite everywhere."""
        ...

    def of(self, joint: Joint, channel: Channel) -> float:
        """Σ_y q_y μ(w_y) of a channel."""
        ...


@dataclass(frozen=True)
class Separable:
    """μ(w) = Σ_t p_t h(w_t), h convex with derivative `slope`; h(1) = 0, so a constant row is worth nothing.

    `scalar` is h of one number, such that numba can compile it. Exact pricing works without it, but slowly.
    """

    name: str
    h: Callable[[Floats], Floats]
    slope: Callable[[Floats], Floats]
    scalar: Callable[[float], float] | None = None

    def values(self, marginals: Floats, target_prior: Floats) -> Floats:
        return np.asarray(self.h(marginals) @ target_prior)

    def gradient(self, marginals: Floats, target_prior: Floats) -> Floats:
        return target_prior * self.slope(np.maximum(marginals, SMALLEST_SLOPE_AT))

    def secants(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """Slope and offset of the chord of h on each [lower, upper]: the smallest concave function above h there."""
        low = self.h(lower)
        width = upper - lower
        flat = width <= 0
        slopes = np.where(flat, 0.0, (self.h(upper) - low) / np.where(flat, 1.0, width))
        return slopes, low - slopes * lower

    def of(self, joint: Joint, channel: Channel) -> float:
        """h(0) + Σ q_y p_t (h(w) − h(0)) over the targets that an output leaves possible."""
        masses = target_masses(joint, channel.rows)
        outputs = np.repeat(np.asarray(masses.sum(axis=1)), np.diff(masses.indptr))
        independent = outputs * joint.target_prior[masses.indices]
        nothing = float(self.h(np.zeros(1))[0])
        return nothing + float(independent @ (self.h(masses.data / independent) - nothing))


@dataclass(frozen=True)
class PiecewiseLinear:
    """μ(w) = max over i of pieces(p)[i] · w."""

    name: str
    pieces: Callable[[Floats], Floats]

    def values(self, marginals: Floats, target_prior: Floats) -> Floats:
        return np.asarray((marginals @ self.pieces(target_prior).T).max(axis=-1))

    def gradient(self, marginals: Floats, target_prior: Floats) -> Floats:
        pieces = self.pieces(target_prior)
        return np.asarray(pieces[np.argmax(marginals @ pieces.T, axis=-1)])

    def of(self, joint: Joint, channel: Channel) -> float:
        return _of(self, joint, channel)


def _of(utility: Utility, joint: Joint, channel: Channel) -> float:
    masses = target_with_output(joint, channel)
    q = masses.sum(axis=0)
    used, seen = q > 0, joint.target_prior > 0
    p = joint.target_prior[seen]
    marginals = (masses[np.ix_(seen, used)] / np.outer(p, q[used])).T
    return float(q[used] @ utility.values(marginals, p))


def _w_ln_w(w: float) -> float:
    return w * log(w) if w > 0 else 0.0


def _w_squared_less_one(w: float) -> float:
    return w * w - 1


MutualInformation = Separable(
    "mutual information", h=lambda w: np.asarray(xlogy(w, w)), slope=lambda w: np.log(w) + 1, scalar=_w_ln_w
)
"""I(T;Y) in nats: h(w) = w ln w.

Example:
    >>> import discreet as dc
    >>> joint = dc.Joint.from_counts([[30, 10, 5], [5, 20, 40]])
    >>> dc.design(joint, dc.LIP(0.5), utility=dc.MutualInformation).utility < joint.entropy
    True
"""

ChiSquareInformation = Separable(
    "chi-square information", h=lambda w: w * w - 1, slope=lambda w: 2 * w, scalar=_w_squared_less_one
)
"""The chi-square divergence of P(t, y) from P(t)P(y): h(w) = w² − 1.

Example:
    >>> import discreet as dc
    >>> joint = dc.Joint.from_counts([[30, 10, 5], [5, 20, 40]])
    >>> dc.design(joint, dc.LIP(0.5), utility=dc.ChiSquareInformation).is_optimal()
    True
"""

CorrectGuess = PiecewiseLinear("correct guess", pieces=np.diag)
"""The probability that the best guess of T from Y is right: μ(w) = max_t p_t w_t.

Example:
    >>> import discreet as dc
    >>> joint = dc.Joint.from_counts([[30, 10, 5], [5, 20, 40]])
    >>> best_guess = dc.design(joint, dc.LIP(0.5), utility=dc.CorrectGuess)
    >>> best_guess.utility > float(joint.prior.max())
    True
"""

LargestRatio = PiecewiseLinear("largest ratio", pieces=lambda p: np.eye(len(p)))
"""max_t w_t: on average over the outputs, e to the maximal leakage about T."""


# ---- h of one number, callable from compiled code --------------------------------------------------------------------


_KIND = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)
_TRIED = np.concatenate([[0.0], np.geomspace(1e-12, 1e4, 33)])
"""Where compiled code is compared with the function it was made from: at zero, and over sixteen orders of magnitude."""


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
    compiled = compiled_callback(utility.scalar)
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
