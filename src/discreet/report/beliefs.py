"""What can be learnt about each secret, as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from discreet.report.markup import box, circle, label, line, shortened, svg
from discreet.report.style import CHOSEN, KEPT

Floats = NDArray[np.float64]
WIDTH: Final = 720.0
LEFT, RIGHT, ROW, TOP = 190.0, 96.0, 22.0, 26.0


def belief_chart(secrets: Sequence[str], prior: Floats, low: Floats, high: Floats) -> str:
    """For every secret a bar from the smallest to the largest belief, with a dot at the belief beforehand."""
    height = TOP + ROW * len(secrets) + 8
    most = float(min(1.0, high.max() * 1.05))
    digits = 0 if most > 0.2 else 1

    def x(share: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * share / most

    parts = []
    for share in np.linspace(0, most, 5):
        parts.append(line(x(share), TOP - 6, x(share), height - 6, "grid"))
        parts.append(label(x(share), TOP - 12, f"{share:.{digits}%}", anchor="middle", style="quiet small"))
    for i, name in enumerate(secrets):
        y = TOP + ROW * (i + 0.5)
        parts.append(label(LEFT - 10, y + 4, shortened(name, 28), anchor="end"))
        parts.append(box(x(low[i]), y - 6, max(1.5, x(high[i]) - x(low[i])), 12, KEPT, opacity=0.35))
        parts.append(circle(x(prior[i]), y, 4.2, CHOSEN, ring=1.2))
        parts.append(label(x(high[i]) + 9, y + 4, f"{prior[i]:.1%} → {high[i]:.1%}", style="quiet small"))
    told = "Each bar goes from the least to the most an attacker can believe; the dot is the share in the population."
    return svg(WIDTH, height, parts, "What can be learnt about each secret at most", told)
