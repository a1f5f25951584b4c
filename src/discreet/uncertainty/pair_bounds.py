"""Bounds for very many pairs of secrets at once, from a few splits of the budget each.

A_s(x) and B_s(κ − x) are computed once per secret, on a grid of splits, with their slopes. At every grid point a pair
has a value that is attained; between two of them A_s, concave in x, lies below both its tangents and B_t, convex, above
its own, so the excess A_s − E B_t and the ratio A_s / B_t are largest where two tangents meet. Below order 1/2 the ends
of each interval bound what lies between them, since both functions rise with x.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats, Indices
from discreet.compiling import compiled
from discreet.uncertainty.extremes import largest, smallest
from discreet.uncertainty.renyi_ball import RenyiBall

GRID = 16
"""Splits, closer together near both ends; few enough to be cheaper than a search for every pair."""


@dataclass(frozen=True, eq=False)
class SplitGrid:
    """A_s(x_i), its slope, B_s(κ − x_i) and its slope for every row and secret: arrays (row, secret, split)."""

    splits: Floats
    rise: Floats
    rise_slope: Floats
    fall: Floats
    fall_slope: Floats
    tangents: bool

    @classmethod
    def of(cls, ball: RenyiBall, rows: Floats, laws: Floats | None = None) -> SplitGrid:
        """Sweep rows v(row, secret, letter) of a ball with a finite budget; of groups of letters with their laws."""
        splits = ball.budget * np.sin(np.linspace(0, np.pi / 2, GRID)) ** 2
        splits[-1] = ball.budget
        every = np.arange(len(ball.mass))[:, None]
        spent, rest = splits[None, :], (ball.budget - splits)[None, :]
        p, wide = (ball.conditional if laws is None else laws)[..., None, :], rows[:, :, None, :]
        up = largest(wide, p, ball.reach(spent, every), ball.order)
        down = smallest(wide, p, ball.reach(rest, every), ball.order)
        with np.errstate(invalid="ignore"):
            rise_slope = np.nan_to_num(up.rate * ball.marginal_reach(spent, every), nan=0.0, posinf=np.inf)
            fall_slope = np.nan_to_num(down.rate * ball.marginal_reach(rest, every), nan=0.0, posinf=np.inf)
        return cls(splits, up.value, rise_slope, down.value, fall_slope, ball.order >= 0.5)

    def ratios(self, first: Indices, second: Indices) -> tuple[Floats, Floats]:
        """For every row and pair of secrets a ratio that is attained, and one that is not exceeded."""
        return self._bounds(first, second, 0.0)

    def excesses(self, first: Indices, second: Indices, price: float) -> tuple[Floats, Floats]:
        """The same for the excess A_s − price · B_t."""
        return self._bounds(first, second, price)

    def _bounds(self, first: Indices, second: Indices, price: float) -> tuple[Floats, Floats]:
        attained = np.empty((len(self.rise), len(first)))
        bound = np.empty_like(attained)
        _sweep(
            self.splits, self.rise, self.rise_slope, self.fall, self.fall_slope, self.tangents, first, second, price,
            attained, bound,
        )  # fmt: skip
        return attained, np.where(np.isnan(bound), np.inf, bound)


@compiled()
def _sweep(
    x: Floats, rise: Floats, rise_slope: Floats, fall: Floats, fall_slope: Floats, tangents: bool, first: Indices,
    second: Indices, price: float, attained: Floats, bound: Floats,
) -> None:  # fmt: skip
    for y in range(len(rise)):
        for pair in range(len(first)):
            a, da = rise[y, first[pair]], rise_slope[y, first[pair]]
            b, db = fall[y, second[pair]], fall_slope[y, second[pair]]
            best = most = _value(a[0], b[0], price)
            for i in range(len(x) - 1):
                j = i + 1
                best = max(best, _value(a[j], b[j], price))
                inside = _value(a[j], b[i], price)
                if tangents and best < np.inf:
                    width = x[j] - x[i]
                    above = _meet(a[i], da[i], a[j], da[j], width)
                    below = _meet(b[i], db[i], b[j], db[j], width)
                    between = best
                    for at in (0.0, above, below, width):
                        high = min(_line(a[i], da[i], at, np.inf), _line(a[j], da[j], at - width, np.inf))
                        low = max(_line(b[i], db[i], at, -np.inf), _line(b[j], db[j], at - width, -np.inf))
                        between = max(between, _value(high, low, price))
                    inside = min(inside, between)
                most = max(most, inside)
            attained[y, pair], bound[y, pair] = best, max(best, most)


@compiled()
def _value(a: float, b: float, price: float) -> float:
    """The excess, or the ratio if there is no price; 0 if a vanishes, infinite if only b does."""
    if price > 0:
        return a - price * b
    if a <= 0:
        return 0.0
    return a / b if b > 0 else np.inf


@compiled()
def _line(value: float, slope: float, distance: float, nothing: float) -> float:
    """A tangent; a vertical one says nothing."""
    return nothing if slope == np.inf else value + slope * distance


@compiled()
def _meet(left: float, left_slope: float, right: float, right_slope: float, width: float) -> float:
    """How far from the left the tangents at both ends of an interval meet."""
    if left_slope == np.inf:
        return 0.0
    if right_slope == np.inf:
        return width
    if left_slope == right_slope:
        return 0.0
    return min(max((right - right_slope * width - left) / (left_slope - right_slope), 0.0), width)
