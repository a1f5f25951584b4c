"""The trade-off over epsilon: what the best mechanism keeps, and the closed-form mechanisms beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from discreet import information
from discreet.design import design
from discreet.exceptions import DiscreetError
from discreet.joint import Joint
from discreet.notions.level import Notion
from discreet.protocol import Protocol

MULTIPLES: Final = (0.25, 0.5, 1.0, 2.0, 4.0)
CLOSED_FORMS: Final = {"grr": "randomised response", "cr": "conditional reporting", "ir": "independent reporting"}
OPTIMUM: Final = "best found"


@dataclass(frozen=True)
class Point:
    """At this epsilon so much is kept, and nothing can keep more than `bound`; both in nats."""

    epsilon: float
    value: float
    bound: float


Curves = dict[str, list[Point]]


def trade_off(
    protocol: Protocol,
    *,
    upper_bound: float | None = None,
    multiples: Sequence[float] = MULTIPLES,
    time_limit: float = 2.0,
    step: Callable[[], None] = lambda: None,
) -> Curves:
    """Curves by name, the chosen point among those of the optimum. A method that does not apply has no curve."""
    joint, notion = protocol.joint, protocol.notion
    curves: Curves = {OPTIMUM: []}
    for multiple in multiples:
        at = with_epsilon(notion, multiple * notion.epsilon)
        if multiple == 1.0:
            bound = protocol.utility if upper_bound is None else upper_bound
            curves[OPTIMUM].append(Point(notion.epsilon, protocol.utility, bound))
        else:
            curves[OPTIMUM] += _point(joint, at, "auto", time_limit)
        for method, name in CLOSED_FORMS.items():
            curves.setdefault(name, []).extend(_point(joint, at, method, time_limit))
        step()
    return {name: points for name, points in curves.items() if points}


def with_epsilon(notion: Notion, epsilon: float) -> Notion:
    changed: Any = notion
    return replace(changed, epsilon=epsilon)  # type: ignore[no-any-return]


def kept(joint: Joint, value: float) -> float:
    """The share of what the data tell that is kept: I(T;Y) / H(T)."""
    entropy = information.entropy(joint.target_prior)
    return value / entropy if entropy > 0 else 1.0


def _point(joint: Joint, notion: Notion, method: str, time_limit: float) -> list[Point]:
    try:
        found = design(joint, notion, method=method, time_limit=time_limit)
    except DiscreetError:
        return []
    return [Point(notion.epsilon, found.utility, found.upper_bound)]
