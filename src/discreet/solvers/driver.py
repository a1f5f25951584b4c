"""The one loop over solutions: a solver is a generator of better and better ones, and the clock is kept here.

`solve` takes them one by one, keeps the best, tells progress, and stops at the gap or the deadline. Ctrl-C, and a
linear program that fails, end it with the best so far and a status that says so. Long steps inside a solver ask
`effort.late()` themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from types import TracebackType

from discreet.exceptions import UnfinishedError
from discreet.solvers.problem import Effort, Problem, Solution, Status


class Ending:
    """Ctrl-C, or a linear program that fails, as a status: what was found before stays found.

    with (ending := Ending()):
        … a search …
    ending.status is None, INTERRUPTED or STALLED
    """

    status: Status | None = None
    error: BaseException | None = None

    def __enter__(self) -> Ending:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> bool:
        if isinstance(error, KeyboardInterrupt):
            self.status = Status.INTERRUPTED
        elif isinstance(error, UnfinishedError):
            self.status = Status.STALLED
        self.error = error
        return self.status is not None


Search = Callable[..., Iterator[Solution]]
"""(problem, effort, …) → better and better solutions."""


def solve(search: Search, problem: Problem, effort: Effort, **known: object) -> Solution:
    """The best that a search finds until its gap, its deadline, ctrl-C, or its own end. The one loop over solutions.

    Bounds of all solutions hold for the problem, so the least of them counts. A search that ends before its first
    solution has nothing to give: then its error is raised.
    """
    best: Solution | None = None
    said: Status | None = None
    with (ending := Ending()):
        for found in search(problem, effort, **known):
            best, said = better(best, found), found.status
            effort.tell(best.value, best.upper_bound)
            if best.status is Status.SEARCHING and best.gap <= effort.gap:
                ending.status = Status.OPTIMAL
            elif said is Status.INTERRUPTED:
                ending.status = Status.INTERRUPTED
            elif effort.late():
                ending.status = Status.TIME_LIMIT
            if ending.status is not None:
                break
    if effort.inner and ending.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    if best is None:
        raise ending.error or UnfinishedError("a search that found nothing", remedy="Please report this.")
    return replace(best, upper_bound=max(best.value, best.upper_bound), status=_ended(best, said, ending, effort))


def _ended(best: Solution, said: Status | None, ending: Ending, effort: Effort) -> Status:
    """What the driver knows; otherwise what the best solution says of itself, or the last one said."""
    if ending.status in (Status.OPTIMAL, Status.INTERRUPTED):
        return ending.status
    if ending.status is Status.STALLED and not effort.late():
        return Status.STALLED
    under_way = (Status.BEGUN, Status.SEARCHING)
    if best.status not in under_way:
        return best.status
    if effort.late():
        return Status.TIME_LIMIT
    return Status.STALLED if said is None or said in under_way else said


def better(one: Solution | None, other: Solution) -> Solution:
    """The one that keeps more, the later one if they keep the same, with the smaller bound of both.

    A bound below a value is off by rounding, or wrong; it is told as it is.
    """
    if one is None:
        return other
    best = other if other.value >= one.value else one
    return replace(best, upper_bound=min(one.upper_bound, other.upper_bound))
