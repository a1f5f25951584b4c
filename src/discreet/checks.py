"""What makes an array a distribution. Nothing is clipped, rescaled or guessed: a wrong array is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.exceptions import DistributionError

SUM_TOLERANCE = 1e-9


def checked_probabilities(given: ArrayLike) -> NDArray[np.float64]:
    """Finite, not negative, adding up to one; taken as they are."""
    try:
        cells = np.array(given, dtype=float)
    except (TypeError, ValueError):
        raise DistributionError("probabilities are not numbers", remedy="Give a numeric array.") from None
    _check_shape(cells)
    if not np.isfinite(cells).all():
        raise DistributionError(f"{_at(~np.isfinite(cells))} is not finite", where="probabilities")
    if (cells < 0).any():
        raise DistributionError(f"{_at(cells < 0)} is negative", where="probabilities")
    if abs(cells.sum() - 1) > SUM_TOLERANCE:
        raise DistributionError(
            f"probabilities add up to 1 {'+' if cells.sum() > 1 else '−'} {abs(cells.sum() - 1):.1e}",
            remedy="Divide by their sum, or use Joint.from_counts.",
        )
    return cells


def checked_counts(given: ArrayLike) -> NDArray[np.int64]:
    """Whole numbers, not negative, at least one record."""
    raw = np.asarray(given)
    if raw.dtype.kind not in "iuf":
        raise DistributionError("counts are not numbers", where=f"dtype {raw.dtype}", remedy="Give whole numbers.")
    _check_shape(raw)
    if not np.isfinite(raw).all() or (raw != np.floor(raw)).any():
        wrong = ~np.isfinite(raw) | (raw != np.floor(raw))
        raise DistributionError(f"{_at(wrong)} is not a whole number", where="counts")
    if (raw < 0).any():
        raise DistributionError(f"{_at(raw < 0)} is negative", where="counts")
    if raw.max() >= 2**53 or raw.sum() >= 2**53:
        raise DistributionError("counts add up to 2^53 or more", where="counts", remedy="Use Joint(probabilities).")
    if raw.sum() == 0:
        raise DistributionError("the table has no records", where="counts", remedy="Count at least one record.")
    return raw.astype(np.int64)


def _check_shape(cells: NDArray[Any]) -> None:
    if cells.ndim < 2:
        raise DistributionError(
            f"an array of {cells.ndim} dimensions",
            where="axis 0 is the secret, the others are released",
            remedy="Give array[s, x] or array[s, x1, …, xm].",
        )
    if cells.shape[0] < 2:
        raise DistributionError(
            "a secret with fewer than two values",
            where="axis 0",
            remedy="There is nothing to hide; choose another secret, or name the values it could have had.",
        )
    if 0 in cells.shape:
        raise DistributionError("an attribute without letters", where=f"shape {cells.shape}")


def _at(mask: NDArray[np.bool_]) -> str:
    """The first place where the mask holds, in words that carry no value."""
    return f"the entry at {tuple(int(i) for i in np.argwhere(mask)[0])}"
