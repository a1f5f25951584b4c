"""What a figure, table or example of a paper turns into: numbers, and panels to draw them in.

Optima for the inner loops come straight from the solvers, to a gap that no plot can show: `discreet.design` would also
round, prove and package every mechanism, and a figure needs a thousand values, not protocols.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats, whole
from discreet.joint import Joint
from discreet.notions import LDP, LIP
from discreet.notions.notion import Cone, Notion
from discreet.solvers.columns.generation import generate_columns
from discreet.solvers.driver import Search, solve
from discreet.solvers.problem import Effort, Problem, Solution
from discreet.solvers.two_secrets.pair_generation import generate_pairs

Role = Literal["paper", "new", "reference"]  # drawn in the paper; drawn by discreet only; a line to compare with
Argument = TypeVar("Argument")
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Measured:
    """A number that came out here: a mean over `draws` random distributions with the spread (sd) of a single one.

    One draw and no spread: nothing random went into it.
    """

    value: float
    spread: float = 0.0
    draws: int = 1

    @classmethod
    def mean(cls, samples: ArrayLike) -> Measured:
        values = np.asarray(samples, dtype=float)
        return cls(float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else 0.0, len(values))

    @property
    def standard_error(self) -> float:
        return self.spread / math.sqrt(self.draws)


@dataclass(frozen=True, eq=False)
class Series:
    """A line or a cloud of points, with `low` and `high` as bars or as a shaded band."""

    label: str
    x: Floats
    y: Floats
    low: Floats | None = None
    high: Floats | None = None
    role: Role = "paper"
    shape: Literal["line", "points"] = "line"
    spread: Literal["bars", "band"] = "bars"


@dataclass(frozen=True, eq=False)
class Quartiles:
    """Minimum, quartiles and maximum of some samples."""

    label: str
    samples: Floats
    role: Role = "paper"


@dataclass(frozen=True)
class Panel:
    """One set of axes. `ticks` are names for the places 0, 1, 2, … on the horizontal one."""

    title: str
    x: str
    y: str
    marks: tuple[Series | Quartiles, ...]
    log_x: bool = False
    log_y: bool = False
    ticks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reproduction:
    """The numbers by name, the panels, and in words what the paper shows and what came out here."""

    values: Mapping[str, Measured]
    panels: tuple[Panel, ...] = ()
    words: str = ""


@dataclass(frozen=True)
class Workload:
    """How much work to put in: the number of draws and of points on an axis, seconds for a search, processes.

    `advance` is told the share of the present item that is done.
    """

    quick: bool = False
    jobs: int = 1
    advance: Callable[[float], None] = field(default=lambda share: None, repr=False)

    def draws(self, full: int, quick: int = 10) -> int:
        return min(quick, full) if self.quick else full

    def grid(self, points: Sequence[float]) -> Floats:
        """All points, or in a hurry every third, always with the last."""
        kept = points[::-3][::-1] if self.quick else points
        return np.array(kept, dtype=float)

    def seconds(self, full: float) -> float:
        """For one search."""
        return full / 8 if self.quick else full

    def part(self, number: int, of: int) -> Workload:
        """The effort for one of several parts of an item, whose shares add up."""
        return replace(self, advance=lambda share: self.advance((number + share) / of))

    def map(self, work: Callable[[Argument], Answer], arguments: Iterable[Argument]) -> list[Answer]:
        """work(argument) for every argument, in order, on all processes, telling `advance` how far it is."""
        todo = list(arguments)
        if self.jobs <= 1 or len(todo) < 2:
            return self._collected(map(work, todo), len(todo))
        with ProcessPoolExecutor(self.jobs) as pool:
            return self._collected(pool.map(work, todo), len(todo))

    def _collected(self, answers: Iterable[Answer], total: int) -> list[Answer]:
        done = []
        for answer in answers:
            done.append(answer)
            self.advance(len(done) / total)
        return done


@dataclass(frozen=True)
class Item:
    """A figure, table or example. `name` is what people type: "funnel-2/figure-5"."""

    name: str
    title: str
    make: Callable[[Workload], Reproduction] = field(repr=False)

    @property
    def paper(self) -> str:
        return self.name.split("/")[0]

    @property
    def part(self) -> str:
        return self.name.split("/")[1]


def place(grid: Floats, value: float) -> int:
    """Where a value stands on a grid that must contain it."""
    return int(np.flatnonzero(np.isclose(grid, value))[0])


def scaled(few: ArrayLike, beside: ArrayLike) -> Floats:
    """Samples known for the first draws only, times what all draws of another method keep of its first draws.

    Distributions differ more than methods do. Without this a curve over few draws could lie on the wrong side of one
    over many.
    """
    samples, others = np.asarray(few, dtype=float), np.asarray(beside, dtype=float)
    return np.asarray(samples * (others.mean(axis=0) / others[: len(samples)].mean(axis=0)))


def mean_curve(label: str, x: Floats, samples: ArrayLike, role: Role = "paper") -> Series:
    """Means over the draws (rows) with one standard deviation of a draw to either side."""
    values = np.asarray(samples, dtype=float)
    mean, spread = values.mean(axis=0), values.std(axis=0)
    return Series(label, x, mean, mean - spread, mean + spread, role)


GAP = 5e-4
"""A two-thousandth of a nat: less than the width of a line."""
DRAWN = 0.02
"""Of H(X): an optimum whose bound is further away is not drawn."""


@dataclass(frozen=True, eq=False)
class TimedSolution:
    """The best mechanism found, with its bound, and the processor seconds it took."""

    solution: Solution
    seconds: float

    @property
    def value(self) -> float:
        return self.solution.value

    @property
    def gap(self) -> float:
        return self.solution.gap

    @property
    def matrix(self) -> Floats:
        return whole(self.solution.matrix)

    def share(self, joint: Joint) -> float:
        """I(X;Y)/H(X); not a number, so nothing is drawn, if the search ended too far from its bound."""
        return self.value / joint.entropy if self.gap <= DRAWN * joint.entropy else math.nan


def optimum(joint: Joint, notion: Notion, *, gap: float = GAP, time_limit: float | None = 60.0) -> TimedSolution:
    """The best mechanism under a notion."""
    two = isinstance(notion, (LDP, LIP)) and len(joint.seen) == 2 and not joint.reads_secret
    return _timed(lambda: Problem.of(joint, notion), generate_pairs if two else generate_columns, gap, time_limit)


def optimum_in(joint: Joint, cone: Cone, *, gap: float = GAP, time_limit: float | None = 60.0) -> TimedSolution:
    """The best mechanism whose rows lie in a cone that is no notion: PolyOpt's, or that of the papers' product."""

    def problem() -> Problem:
        return Problem.of_rows(joint.prior, cone, joint.target_of, joint=joint).reduced()

    return _timed(problem, generate_columns, gap, time_limit)


def _timed(problem: Callable[[], Problem], search: Search, gap: float, time_limit: float | None) -> TimedSolution:
    started = time.process_time()
    found = solve(search, problem(), Effort.within(time_limit, gap))
    return TimedSolution(found, time.process_time() - started)
