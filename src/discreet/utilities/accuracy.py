"""What a release is worth to analysts: the share of clean records that estimate as well (theory 6).

With masses P(t, y) the Fisher information of one released record about the frequencies θ of T, at θ = p, is
M = Σ_y P(·, y)P(·, y)ᵀ / (q_y p pᵀ), and the best unbiased estimate of c·θ has n·Var = cᵀ(M⁻¹ − ppᵀ)c; clean records
have Σ p c² − (c·p)². Their ratio is the *design effect* of c: so many released records are worth one clean record.

    Accuracy: 1 / (mean design effect), or 1 / (largest);   Balance: accuracy while information is kept, or conversely
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.arrays import Floats
from discreet.attribute import letters_of
from discreet.exceptions import ParameterError
from discreet.information import target_with_output
from discreet.utilities.utility import MutualInformation

if TYPE_CHECKING:
    from discreet.attribute import Attribute
    from discreet.channel import Channel
    from discreet.joint import Joint

CONSTANT = 1e-9
"""A combination whose variance is this share of its square or less is the same for every letter."""
SINGULAR = 1e-11
"""An eigenvalue of W (clean data: one) below this tells nothing."""
UNTOLD = 1e-6
"""The share of an estimand that may lie where the release tells nothing: rounding."""
NOT_A_SUM = "accuracy is no sum over outputs: what an output is worth depends on the others"


@dataclass(frozen=True, eq=False)
class Accuracy:
    """1 / (mean design effect): the share of clean records that a release is worth, for what analysts estimate.

    Arguments:
        estimands: None, the frequency of every letter; names of columns, for their frequencies; tuples of names, for
            the cells of their tables; or a matrix with one combination c per row over the target letters.
        means: names of columns of numbers, for their means as well.
        weights: one number per estimand; without them all count alike.
        worst: take the largest design effect of all letters in place of the mean.
    Raises:
        ParameterError: columns or a matrix that do not fit the release, or `worst` with estimands of one's own.
    Example:
        >>> import discreet
        >>> joint = discreet.Joint.from_counts([[30, 10, 5], [5, 20, 40]])
        >>> best = discreet.design(joint, discreet.LIP(0.5), utility=discreet.Accuracy())
        >>> 0 < best.utility < best.upper_bound + 1e-6 <= 1
        True
    """

    estimands: Any = None
    means: tuple[str, ...] = ()
    weights: Sequence[float] | None = None
    worst: bool = False

    def __post_init__(self) -> None:
        if self.worst and not self.plain:
            raise ParameterError(
                "the largest design effect of other estimands than all letters alike",
                where="Accuracy",
                remedy="Leave out worst=True, or estimands, means and weights.",
            )

    @property
    def name(self) -> str:
        return "accuracy of the worst estimate" if self.worst else "accuracy"

    @property
    def plain(self) -> bool:
        """Whether it is about all letters alike."""
        return self.estimands is None and not self.means and self.weights is None

    def combinations(self, joint: Joint) -> Floats:
        """One combination per row over the targets that occur; constant ones are left out unless they were given."""
        seen = joint.target_prior > 0
        if self.estimands is None and not self.means:
            return np.eye(int(seen.sum()))
        if self.estimands is not None and not _is_names(self.estimands):
            return _given(self.estimands, seen)
        named = [one if isinstance(one, tuple) else (one,) for one in self.estimands or ()]
        parts = [_cells(joint, names) for names in named] + [_mean(joint, name) for name in self.means]
        found = np.vstack(parts)[:, seen]
        p = joint.target_prior[seen]
        kept = found[_spread(found, p) > CONSTANT * (found**2 @ p)]
        if not len(kept):
            raise _constant()
        return kept

    def weighting(self, joint: Joint) -> Floats:
        """C over the targets that occur: tr C(M⁻¹ − ppᵀ) is the weighted mean of the design effects."""
        p = joint.target_prior[joint.target_prior > 0]
        return weighted_squares(self.combinations(joint), p, self.weights)

    def effects(self, joint: Joint, channel: Channel) -> Floats:
        """The design effect of every combination; infinite where the release does not determine it."""
        masses = target_with_output(joint, channel)
        seen, used = joint.target_prior > 0, masses.sum(axis=0) > 0
        p, q = joint.target_prior[seen], masses.sum(axis=0)[used]
        axis = np.sqrt(p / p.sum())
        scaled = masses[np.ix_(seen, used)] / np.sqrt(np.outer(p, q))
        moment = scaled @ scaled.T - np.outer(axis, axis)
        values, vectors = np.linalg.eigh((moment + moment.T) / 2)
        combined = self.combinations(joint)
        centred = (combined - (combined @ p)[:, None]) * np.sqrt(p)
        along = (centred @ vectors) ** 2
        told = values > SINGULAR
        variance = along[:, told] @ (1 / values[told])
        missed = along[:, ~told].sum(axis=1) > UNTOLD * (centred**2).sum(axis=1)
        return np.asarray(np.where(missed, np.inf, variance / _spread(combined, p)))

    def of(self, joint: Joint, channel: Channel) -> float:
        effects = self.effects(joint, channel)
        if self.worst:
            return float(1 / effects.max())
        return float(1 / (shares(self.weights, len(effects)) @ effects))

    def values(self, marginals: Floats, target_prior: Floats) -> Floats:
        raise ParameterError(NOT_A_SUM, where="utility", remedy='Use method="auto" or "accuracy".')

    def gradient(self, marginals: Floats, target_prior: Floats) -> Floats:
        raise ParameterError(NOT_A_SUM, where="utility", remedy='Use method="auto" or "accuracy".')


@dataclass(frozen=True, eq=False)
class Balance:
    """The most accuracy while a share of the possible information is kept, or the other way round.

    `Balance(information=0.99)`: 1 / (mean design effect) of mechanisms that keep 99 % of the information that is
    possible. `Balance(accuracy=0.9)`: I(T;Y) of those that have 90 % of the accuracy that is possible.

    Arguments:
        information: the share of the possible information that is kept while accuracy is made large.
        accuracy: the share of the possible accuracy that is kept while information is made large.
        estimates: what analysts estimate, an `Accuracy`.
    Raises:
        ParameterError: not exactly one share between 0 and 1, or `estimates` with `worst=True`.
    Example:
        >>> import discreet as dc
        >>> joint = dc.Joint.from_counts([[30, 10, 5], [5, 20, 40]])
        >>> found = dc.design(joint, dc.LIP(0.5), utility=dc.Balance(information=0.99))
        >>> most = dc.design(joint, dc.LIP(0.5)).utility
        >>> dc.audit(found.protocol).mutual_information > 0.99 * most - 1e-6
        True
    """

    information: float | None = None
    accuracy: float | None = None
    estimates: Accuracy = Accuracy()

    def __post_init__(self) -> None:
        given = [share for share in (self.information, self.accuracy) if share is not None]
        if len(given) != 1 or not 0 < given[0] < 1:
            raise ParameterError(
                "one share between 0 and 1", where="Balance", remedy="Give information=0.99 or accuracy=0.9."
            )
        if self.estimates.worst:
            raise ParameterError("a balance is with the mean", where="Balance", remedy="Leave out worst=True.")

    @property
    def name(self) -> str:
        return "accuracy beside information" if self.information is not None else "information beside accuracy"

    def of(self, joint: Joint, channel: Channel) -> float:
        measured = self.estimates if self.information is not None else MutualInformation
        return measured.of(joint, channel)

    def values(self, marginals: Floats, target_prior: Floats) -> Floats:
        return self.estimates.values(marginals, target_prior)

    def gradient(self, marginals: Floats, target_prior: Floats) -> Floats:
        return self.estimates.gradient(marginals, target_prior)


# ---- what analysts estimate -----------------------------------------------------------------------------------------


def letters_alike(prior: Floats, weights: Floats | None = None) -> Floats:
    """C of the weighted mean of the design effects of all letters; without weights the plain mean."""
    share = np.full(len(prior), 1.0 / len(prior)) if weights is None else weights / weights.sum()
    spread = prior * (1.0 - prior)
    return np.diag(np.divide(share, spread, out=np.zeros_like(share), where=spread > 0))


def weighted_squares(combined: Floats, prior: Floats, weights: Sequence[float] | None = None) -> Floats:
    """C of the weighted mean design effect of estimands c_k·θ, one per row: each weighed by 1 / Var(c_k·e_T)."""
    spread = _spread(combined, prior)
    if (spread <= CONSTANT * np.maximum((combined**2 @ prior), np.finfo(float).tiny)).any():
        raise _constant()
    return np.asarray((combined * (shares(weights, len(combined)) / spread)[:, None]).T @ combined)


def shares(weights: Sequence[float] | None, size: int) -> Floats:
    """Weights of estimands, adding up to one."""
    if weights is None:
        return np.full(size, 1.0 / size)
    found = np.asarray(weights, dtype=float)
    if found.shape != (size,) or not np.isfinite(found).all() or (found < 0).any() or found.sum() <= 0:
        raise ParameterError(
            f"not {size} weights", where="weights", remedy="Give one number ≥ 0 per estimand that occurs."
        )
    return np.asarray(found / found.sum())


def _spread(combined: Floats, prior: Floats) -> Floats:
    """Var(c·e_T) of one clean record."""
    return np.asarray(combined**2 @ prior - (combined @ prior) ** 2)


def _constant() -> ParameterError:
    return ParameterError(
        "an estimand is the same for every letter",
        where="estimands",
        remedy="Leave out combinations that are constant.",
    )


def _is_names(given: Any) -> bool:
    if isinstance(given, np.ndarray):
        return False
    return all(isinstance(one, str) or (isinstance(one, tuple) and isinstance(one[0], str)) for one in given)


def _given(matrix: Any, seen: Any) -> Floats:
    combined = np.asarray(matrix, dtype=float)
    if combined.ndim != 2 or combined.shape[1] != len(seen) or not np.isfinite(combined).all():
        raise ParameterError(
            "not a matrix of combinations", where="estimands", remedy=f"Give one row per estimand, {len(seen)} columns."
        )
    return combined[:, seen]


def _axes(joint: Joint, names: tuple[str, ...]) -> list[Attribute]:
    known = {attribute.name: attribute for attribute in joint.released}
    if not names or not set(names) <= set(known) or len(set(names)) != len(names):
        raise ParameterError(
            "not columns of the release", where="estimands", remedy="Name columns that are released, each once."
        )
    return [known[name] for name in names]


def _parts(joint: Joint) -> list[tuple[Hashable, ...]]:
    return list(product(*(attribute.letters for attribute in joint.released)))


def _cells(joint: Joint, names: tuple[str, ...]) -> Floats:
    """One row per cell of the table of these columns."""
    axes = _axes(joint, names)
    order = [attribute.name for attribute in joint.released]
    cell = {letter: i for i, letter in enumerate(product(*(axis.letters for axis in axes)))}
    assert len(cell) == len(letters_of(axes))
    mine = [cell[tuple(part[order.index(name)] for name in names)] for part in _parts(joint)]
    rows = np.zeros((len(cell), len(mine)))
    rows[mine, np.arange(len(mine))] = 1.0
    return rows


def _mean(joint: Joint, name: str) -> Floats:
    """The combination whose value is the mean of a column of numbers."""
    (axis,) = _axes(joint, (name,))
    try:
        numbers = {letter: float(letter) for letter in axis.letters}  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ParameterError(
            "a mean of letters that are not numbers", where=name, remedy="Ask for the frequencies of this column."
        ) from None
    place = [attribute.name for attribute in joint.released].index(name)
    return np.array([[numbers[part[place]] for part in _parts(joint)]])
