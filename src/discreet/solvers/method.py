"""What a method is: it takes the joint in its form, the notion, the utility and the limits, and finds a channel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from discreet.channel import Channel
from discreet.joint import Joint
from discreet.naming import named_outputs
from discreet.notions.level import Notion
from discreet.solvers.problem import Split, Splitting
from discreet.utilities import Utility

Progress = Callable[[float, float, float], None]
"""Called now and then with the value so far, the bound so far and the seconds used."""


@dataclass(frozen=True)
class Limits:
    """When to stop: the wanted gap, the seconds, and who wants to watch."""

    gap: float = 1e-6
    time_limit: float | None = None
    progress: Progress | None = None


@dataclass(frozen=True, eq=False)
class Found:
    """A channel, a bound on the utility of every channel that the notion allows (infinite if none is known), and how
    the search ended."""

    channel: Channel
    upper_bound: float
    status: str


Method = Callable[[Joint, Notion, Utility, Limits], Found]


def splitting(solve: Callable[..., Split]) -> Method:
    """A solver of splitting problems, on the cone of the notion."""

    def method(joint: Joint, notion: Notion, utility: Utility, limits: Limits) -> Found:
        return solved(solve, joint, Splitting.from_joint(joint, notion, utility), limits)

    return method


def solved(solve: Callable[..., Split], joint: Joint, problem: Splitting, limits: Limits) -> Found:
    split = solve(problem, gap=limits.gap, time_limit=limits.time_limit, progress=limits.progress)
    channel = Channel(split.channel_matrix(problem), joint.letters).merged()
    return Found(named(joint, channel), split.upper_bound, split.status)


def named(joint: Joint, channel: Channel) -> Channel:
    return Channel(channel.matrix, joint.letters, named_outputs(joint, channel.matrix))
