"""A small plot for the terminal: the share kept over epsilon."""

from __future__ import annotations

import math
from typing import Final

from discreet.joint import Joint
from discreet.report.curve import OPTIMUM, Curves, kept

WIDTH: Final = 56
HEIGHT: Final = 10
MARKS: Final = "●+×○"


def plot(curves: Curves, joint: Joint, chosen: float) -> str:
    """Epsilon to the right on a logarithmic scale, the share of I(T;Y) in H(T) upwards; the chosen one is marked."""
    points = [point for curve in curves.values() for point in curve]
    low, high = (math.log(f(point.epsilon for point in points)) for f in (min, max))
    grid = [[" "] * (WIDTH + 1) for _ in range(HEIGHT + 1)]

    def column(epsilon: float) -> int:
        return round(WIDTH * (math.log(epsilon) - low) / ((high - low) or 1))

    for row in grid:
        row[column(chosen)] = "┊"
    ordered = sorted(curves, key=lambda name: name == OPTIMUM)
    marks = dict(zip(sorted(curves, key=lambda name: name != OPTIMUM), MARKS, strict=False))
    for name in ordered:
        for point in curves[name]:
            share = min(1.0, max(0.0, kept(joint, point.value)))
            grid[HEIGHT - round(HEIGHT * share)][column(point.epsilon)] = marks[name]
    lines = [f"{100 * (HEIGHT - i) // HEIGHT:>4} % ┤{''.join(row)}" for i, row in enumerate(grid)]
    ticks = [" "] * (WIDTH + 12)
    for point in curves[OPTIMUM]:
        label = f"{point.epsilon:.3g}"
        start = max(0, min(column(point.epsilon) - len(label) // 2, WIDTH + 8))
        ticks[start : start + len(label)] = label
    legend = "   ".join(f"{mark} {name}" for name, mark in marks.items())
    return "\n".join(
        [*lines, "       └" + "─" * (WIDTH + 1), "        " + "".join(ticks).rstrip(), f"  epsilon; {legend}"]
    )
