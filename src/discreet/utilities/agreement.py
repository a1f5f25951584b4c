"""Released values that are values: how many stay true, or how far they move on average (theory 6.8)."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from discreet.arrays import Floats
from discreet.exceptions import ParameterError

if TYPE_CHECKING:
    from discreet.attribute import Attribute
    from discreet.channel import Channel
    from discreet.joint import Joint

NOT_VALUES = "a mechanism whose outputs are not the letters of the release"


@dataclass(frozen=True, eq=False)
class Agreement:
    """P(X̃ = X), or minus the expected distance, of mechanisms that release letters and keep their law.

    Arguments:
        distance: None, every change is as bad as any other; "order", the number of places between two letters in their
            column's order; "numbers", the difference of numeric letters in standard deviations of their column; a
            function of two letters; or a matrix over the target letters. Distances of several columns are added.
    Raises:
        ParameterError: a distance that these letters do not have.
    Example:
        >>> import discreet
        >>> joint = discreet.Joint.from_counts([[30, 10, 5], [5, 20, 40]])
        >>> found = discreet.design(joint, discreet.LIP(0.5), utility=discreet.Agreement())
        >>> sorted(found.protocol.outputs) == sorted(joint.letters)
        True
    """

    distance: Literal["order", "numbers"] | Callable[[Hashable, Hashable], float] | Any = None

    @property
    def name(self) -> str:
        return "agreement" if self.distance is None else "agreement by distance"

    @property
    def most(self) -> float:
        """What releasing every value as it is would be worth."""
        return 1.0 if self.distance is None else 0.0

    def gain(self, joint: Joint) -> Floats:
        """What releasing y for t is worth, gain[t, y]."""
        size = len(joint.target_letters)
        if self.distance is None:
            return np.eye(size)
        if isinstance(self.distance, str):
            found = _by_columns(joint, self.distance)
        elif callable(self.distance):
            letters = joint.target_letters
            found = np.array([[float(self.distance(one, other)) for other in letters] for one in letters])
        else:
            found = np.asarray(self.distance, dtype=float)
        if found.shape != (size, size) or not np.isfinite(found).all() or (found < 0).any() or np.diag(found).any():
            raise ParameterError(
                "not a distance between letters",
                where="distance",
                remedy=f"Finite numbers ≥ 0 for {size} × {size} letters, zero from a letter to itself.",
            )
        return np.asarray(-found)

    def of(self, joint: Joint, channel: Channel) -> float:
        place = {letter: i for i, letter in enumerate(joint.target_letters)}
        if not all(output in place for output in channel.outputs):
            raise ParameterError(NOT_VALUES, where="utility", remedy='Use method="agreement" or "auto".')
        outputs = [place[output] for output in channel.outputs]
        gain = self.gain(joint)[:, outputs][joint.target_of]
        return float(np.sum(gain.T * channel.matrix * joint.prior))

    def values(self, marginals: Floats, target_prior: Floats) -> Floats:
        raise ParameterError(NOT_VALUES, where="utility", remedy='Use method="agreement" or "auto".')

    def gradient(self, marginals: Floats, target_prior: Floats) -> Floats:
        raise ParameterError(NOT_VALUES, where="utility", remedy='Use method="agreement" or "auto".')


def _by_columns(joint: Joint, kind: str) -> Floats:
    """The sum over columns of the distances of their letters."""
    sizes = [len(attribute) for attribute in joint.released]
    codes = np.indices(sizes).reshape(len(sizes), -1)
    total = np.zeros((codes.shape[1], codes.shape[1]))
    for axis, attribute in enumerate(joint.released):
        places = _places(joint, attribute, axis, kind)[codes[axis]]
        total += np.abs(places[:, None] - places[None, :])
    return total


def _places(joint: Joint, attribute: Attribute, axis: int, kind: str) -> Floats:
    if kind == "order":
        return np.arange(len(attribute), dtype=float)
    try:
        numbers = np.array([float(letter) for letter in attribute.letters])  # type: ignore[arg-type]
    except (TypeError, ValueError):
        numbers = np.array([np.nan])
    if kind != "numbers" or not np.isfinite(numbers).all():
        raise ParameterError(
            "a distance that these letters do not have",
            where=attribute.name,
            remedy='Use "order", a function of two letters, or no distance.',
        )
    others = tuple(i for i in range(len(joint.released)) if i != axis)
    mass = joint.target_prior.reshape([len(one) for one in joint.released]).sum(axis=others)
    spread = float(np.sqrt(mass @ numbers**2 - (mass @ numbers) ** 2))
    return numbers / spread if spread > 0 else numbers
