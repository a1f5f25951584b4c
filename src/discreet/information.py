"""Distributions and what they tell: what makes an array one, entropies and mutual informations, in nats.

Nothing is clipped, rescaled or guessed: an array that is no distribution is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import xlogy

from discreet.arrays import Rows, unmasked
from discreet.exceptions import DistributionError, InOwnWords

if TYPE_CHECKING:
    from discreet.channel import Channel
    from discreet.given_columns import StratifiedJoint
    from discreet.joint import Joint


def entropy(distribution: ArrayLike) -> float:
    """H(p) = −Σ p ln p"""
    p = np.asarray(distribution, dtype=float)
    return float(-xlogy(p, p).sum())


def mutual_information(joint_with_output: Rows) -> float:
    """I(A;Y) from the matrix P(a, y), or from what is not zero of it."""
    cells = sparse.coo_array(joint_with_output)
    p_a, p_y = (np.asarray(joint_with_output.sum(axis=axis)) for axis in (1, 0))
    return float((cells.data * np.log(cells.data / (p_a[cells.row] * p_y[cells.col]))).sum())


def target_masses(joint: Joint, rows: Rows) -> sparse.csr_array:
    """P(y, t) of the rows of a channel: one sparse row per output."""
    entries = sparse.csr_array(rows)
    owner = np.repeat(np.arange(entries.shape[0]), np.diff(entries.indptr))
    masses = entries.data * joint.prior[entries.indices]
    shape = (entries.shape[0], len(joint.target_prior))
    found = sparse.coo_array((masses, (owner, joint.target_of[entries.indices])), shape=shape).tocsr()
    found.eliminate_zeros()
    return found


def target_with_output(joint: Joint, channel: Channel) -> NDArray[np.float64]:
    """P(t, y), every cell."""
    return np.asarray(target_masses(joint, channel.rows).toarray().T)


def secret_with_output(joint: Joint, channel: Channel) -> NDArray[np.float64]:
    """P(s, y)"""
    return np.asarray((channel.rows @ joint.matrix.T).T)


def utility(joint: Joint, channel: Channel) -> float:
    """I(T;Y): I(X;Y) in the papers."""
    return mutual_information(target_masses(joint, channel.rows))


def leakage(joint: Joint, channel: Channel) -> float:
    """I(S;Y): what the release tells about the secret on average."""
    return mutual_information(secret_with_output(joint, channel))


def share_kept(joint: Joint | StratifiedJoint, value: float) -> float:
    """The share of what the data tell that is kept: I(T;Y) / H(T), beside given columns I(T;Y|K) / H(T|K)."""
    return value / joint.entropy if joint.entropy > 0 else 1.0


# ---- what makes an array a distribution ------------------------------------------------------------------------------

SUM_TOLERANCE = 1e-9
"""How far a distribution may miss one: sums of millions of rounded shares stay below, a forgotten cell does not."""


NOT_NUMBERS = TypeError, ValueError, OverflowError
"""What numpy raises of entries that are no numbers, or too large for one."""


def checked_probabilities(given: ArrayLike) -> NDArray[np.float64]:
    """Finite, not negative, adding up to one; taken as they are."""
    remedy = "Give a numeric array."
    with InOwnWords(lambda _: DistributionError("probabilities are not numbers", remedy=remedy), *NOT_NUMBERS):
        cells = np.array(unmasked(given), dtype=float)
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


def checked_counts(given: ArrayLike, *, noisy: bool = False) -> NDArray[np.int64]:
    """Whole numbers, not negative, at least one record; with noise they may be anything that is whole. A copy."""
    with InOwnWords(lambda _: DistributionError("counts are not numbers", remedy="Give whole numbers."), *NOT_NUMBERS):
        raw = np.asarray(unmasked(given))
    if raw.dtype.kind not in "iuf":
        raise DistributionError("counts are not numbers", where=f"dtype {raw.dtype}", remedy="Give whole numbers.")
    _check_shape(raw)
    if not np.isfinite(raw).all() or (raw != np.floor(raw)).any():
        wrong = ~np.isfinite(raw) | (raw != np.floor(raw))
        raise DistributionError(f"{_at(wrong)} is not a whole number", where="counts", remedy="Count records.")
    if not noisy and (raw < 0).any():
        raise DistributionError(f"{_at(raw < 0)} is negative", where="counts")
    if np.abs(raw.astype(float)).sum() >= 2**53:
        raise DistributionError("counts add up to 2^53 or more", where="counts", remedy="Use Joint(probabilities).")
    if not noisy and not raw.any():
        raise DistributionError("the table has no records", where="counts", remedy="Count at least one record.")
    return raw.astype(np.int64)


def checked_records(given: Any) -> int:
    """A number of records: whole, at least one, and no larger than the sum of counts may be."""
    refusal = DistributionError(
        "n is not a whole number from 1 to 2^53", where="n", remedy="Give the number of records, or None."
    )
    with InOwnWords(lambda _: refusal, *NOT_NUMBERS):
        size = int(given)
    if not 1 <= size <= 2**53 or size != given:
        raise refusal
    return size


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
