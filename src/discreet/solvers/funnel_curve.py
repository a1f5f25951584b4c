"""What can be kept over the average that may be told, from few certificates (theory 8.5).

One certificate (b, λ) bounds all limits at once: I*(M) ≤ b + λM. Two mechanisms can be drawn by lot, so what is kept at
least is concave in M: between two designs lies the line through them. The next design is made where the two are
furthest apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats
from discreet.exceptions import ParameterError
from discreet.joint import Joint
from discreet.notions.funnel import Funnel
from discreet.notions.notion import Notion
from discreet.solvers.columns.generation import compile_averages, generate_columns
from discreet.solvers.driver import solve
from discreet.solvers.problem import Effort, Problem

LOOKED_AT = 400
"""Places between the ends where the gap is looked at."""


@dataclass(frozen=True, eq=False)
class FunnelCurve:
    """Designs at some limits with what they keep, and the certificates that bound every other limit.

    Attributes:
        limits: of I(S;Y), in nats.
        kept: what the designs there keep.
        certificates: lines that no mechanism exceeds, one per design: value at 0, and slope.
    Example:
        >>> import discreet as dc
        >>> curve = dc.funnel_curve(dc.Joint.from_counts([[30, 10, 5], [5, 20, 40]]), [0.01, 0.1])
        >>> bool(curve.at_least(0.05) <= curve.at_most(0.05)), curve.gap <= 1e-3
        (True, True)
    """

    limits: Floats
    kept: Floats
    certificates: Floats

    def at_least(self, nats: Floats | float) -> Floats:
        """What some mechanism keeps: the line between two designs, and nothing at M = 0."""
        return np.asarray(np.interp(nats, np.append(0.0, self.limits), np.append(0.0, self.kept)))

    def at_most(self, nats: Floats | float) -> Floats:
        """What no mechanism exceeds."""
        lines = self.certificates[:, 0] + np.multiply.outer(np.asarray(nats, dtype=float), self.certificates[:, 1])
        return np.asarray(lines.min(axis=-1))

    @property
    def gap(self) -> float:
        """The largest difference of the two between the first and the last design."""
        places = np.linspace(self.limits[0], self.limits[-1], LOOKED_AT)
        return float((self.at_most(places) - self.at_least(places)).max())


def funnel_curve(
    joint: Joint, nats: Sequence[float], *, ceiling: Notion | None = None, gap: float = 1e-3, designs: int = 20
) -> FunnelCurve:
    """The curve between the smallest and the largest of these limits, to within the gap or from so many designs.

    Arguments:
        joint: P(S, X).
        nats: limits of I(S;Y), at least the two ends.
        ceiling: what every output keeps as well.
        gap: how near bound and designs shall be.
        designs: at most so many.
    Returns:
        A `FunnelCurve`: `at_least` and `at_most` for any limit.
    Raises:
        ParameterError: fewer than two limits.
    Example:
        >>> import discreet as dc
        >>> dc.funnel_curve(dc.Joint.from_counts([[30, 10, 5], [5, 20, 40]]), [0.01, 0.1]).gap <= 1e-3
        True
    """
    if len(nats) < 2 or min(nats) <= 0:
        raise ParameterError("not two or more limits", where="nats", remedy="Give the ends of the curve, in nats.")
    compile_averages()
    found: dict[float, tuple[float, tuple[float, float]]] = {}
    wanted = sorted({float(one) for one in nats})
    while wanted:
        limit = wanted.pop(0)
        problem = Problem.of(joint, Funnel(limit, ceiling=ceiling))
        solution = solve(generate_columns, problem, Effort(gap=gap / 4, inner=True))
        found[limit] = solution.value, solution.certificate or (solution.upper_bound, 0.0)
        limits = sorted(found)
        curve = FunnelCurve(
            np.array(limits), np.array([found[one][0] for one in limits]), np.array([found[one][1] for one in limits])
        )
        if not wanted and len(found) < designs and curve.gap > gap:
            places = np.linspace(limits[0], limits[-1], LOOKED_AT)
            wanted = [float(places[(curve.at_most(places) - curve.at_least(places)).argmax()])]
            wanted = [one for one in wanted if one not in found]
    return curve
