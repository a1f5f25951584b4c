"""The trade-off as a picture: the share kept over epsilon, on a logarithmic axis, with the chosen point."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from discreet.joint import Joint
from discreet.report.curve import OPTIMUM, Curves, Point, kept
from discreet.report.markup import Attributes, circle, label, line, svg, tag, text
from discreet.report.style import CHOSEN, KEPT, OTHERS

WIDTH: Final = 720.0
HEIGHT: Final = 320.0
LEFT, RIGHT, TOP, BOTTOM = 52.0, 158.0, 18.0, 46.0


@dataclass(frozen=True)
class _Axes:
    joint: Joint
    low: float
    high: float

    def x(self, epsilon: float) -> float:
        span = math.log(self.high / self.low) or 1.0
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log(epsilon / self.low) / span

    def y(self, share: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - min(1.0, max(0.0, share)))

    def place(self, epsilon: float, value: float) -> tuple[float, float]:
        return self.x(epsilon), self.y(kept(self.joint, value))


def trade_off_chart(curves: Curves, joint: Joint, chosen: float) -> str:
    epsilons = sorted({point.epsilon for curve in curves.values() for point in curve})
    axes = _Axes(joint, epsilons[0], epsilons[-1])
    colours = {OPTIMUM: KEPT, **dict(zip((name for name in curves if name != OPTIMUM), OTHERS, strict=False))}
    parts = _frame(axes, epsilons, chosen)
    ends = []
    for name in sorted(curves, key=lambda name: name == OPTIMUM):
        points = sorted(curves[name], key=lambda point: point.epsilon)
        parts += _curve(points, axes, colours[name], main=name == OPTIMUM)
        ends.append((axes.place(points[-1].epsilon, points[-1].value)[1], name, colours[name]))
    parts += _names(ends)
    best = min(curves[OPTIMUM], key=lambda point: abs(point.epsilon - chosen))
    share = kept(joint, best.value)
    x, y = axes.place(best.epsilon, best.value)
    parts.append(circle(x, y, 7, CHOSEN, ring=2))
    parts.append(label(x - 12, y + (-10 if y > TOP + 40 else 22), f"chosen: {share:.0%}", anchor="end", style="strong"))
    told = f"At epsilon {chosen:.3g} the chosen mechanism keeps {share:.1%}."
    return svg(WIDTH, HEIGHT, parts, "Share of the information kept, over epsilon", told)


def _frame(axes: _Axes, epsilons: Sequence[float], chosen: float) -> list[str]:
    parts = []
    for percent in range(0, 101, 20):
        y = axes.y(percent / 100)
        parts.append(line(LEFT, y, WIDTH - RIGHT, y, "axis" if percent == 0 else "grid"))
        parts.append(label(LEFT - 8, y + 4, f"{percent} %", anchor="end", style="quiet"))
    for epsilon in epsilons:
        parts.append(label(axes.x(epsilon), axes.y(0) + 18, f"{epsilon:.3g}", anchor="middle", style="quiet"))
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(label(middle, HEIGHT - 6, "epsilon: how much may be learnt about the secret", anchor="middle"))
    parts.append(line(axes.x(chosen), axes.y(0), axes.x(chosen), axes.y(1), "chosen-line"))
    return parts


def _curve(points: Sequence[Point], axes: _Axes, colour: str, *, main: bool) -> list[str]:
    """A line with its points; for the optimum also the area up to the proven bound, where that is apart."""
    places = [axes.place(point.epsilon, point.value) for point in points]
    bounds = [axes.place(point.epsilon, point.bound) for point in points]
    drawn = []
    if main and any(abs(bound[1] - place[1]) > 1 for bound, place in zip(bounds, places, strict=True)):
        area = _path([*places, *reversed(bounds)]) + "Z"
        drawn.append(tag("path", "", {"d": area, "fill": colour, "fill-opacity": 0.15}))
    stroke: Attributes = {"d": _path(places), "fill": "none", "stroke": colour, "stroke-width": 2.6 if main else 1.6}
    drawn.append(tag("path", "", stroke))
    return drawn + [circle(x, y, 3.2 if main else 2.4, colour) for x, y in places]


def _path(places: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _names(ends: list[tuple[float, str, str]]) -> list[str]:
    """Names beside the last points, pushed apart where they would overlap."""
    drawn, last = [], -math.inf
    for y, name, colour in sorted(ends):
        last = max(y, last + 16)
        place: Attributes = {"x": WIDTH - RIGHT + 10, "y": last + 4, "style": f"fill:{colour};font-weight:600"}
        drawn.append(tag("text", text(name), place))
    return drawn
