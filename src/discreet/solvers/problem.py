"""The problem that every solver solves, the effort it may spend, and the answer it gives (theory 1).

    maximise  Σ_y q_y μ(v_y)   subject to   Σ_y q_y v_y = 1 (every letter z),  q ≥ 0,  v_y ∈ K,  p·v_y = 1

A mechanism splits the prior into permitted posteriors: v_y[z] = P(z | y) / P(z), q_y = P(Y = y).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

import numpy as np
from scipy import sparse

from discreet.arrays import Floats, Indices
from discreet.channel import Channel, named_outputs
from discreet.exceptions import ParameterError
from discreet.joint import Joint
from discreet.notions.notion import Cone, Notion
from discreet.utilities.utility import MutualInformation, Utility


@dataclass(frozen=True, eq=False)
class Splitting:
    """Split `prior` over the input letters into rows of `cone`; the target of letter z is T = `target[z]`.

    `letters` says which of the `size` letters of the mechanism these are; the others carry no mass and no condition
    mentions them, so every row may treat them as it treats nobody: Q[y, z] = q_y.
    """

    prior: Floats
    target: Indices
    cone: Cone
    letters: Indices
    size: int

    def reduced(self) -> Splitting:
        """The same without letters of mass zero that occur in no condition.

        Letters of mass zero that do occur (RLDP) stay: they constrain, with zero utility. The rows of a cone with a
        `separate` are not all known; a letter is then silent if neither it alone nor all others without it are refused.
        """
        silent = (self.prior == 0) & ~np.any(self.cone.rows != 0, axis=0)
        if self.cone.separate is not None:
            for z in np.flatnonzero(silent):
                silent[z] = not _weighed(self.cone.separate, len(self.prior), int(z))
        keep = np.flatnonzero(~silent)
        if len(keep) == len(self.prior):
            return self
        cone = Cone(self.cone.rows[:, keep], _restricted(self.cone.separate, keep, len(self.prior)))
        target = np.unique(self.target[keep], return_inverse=True)[1]
        return Splitting(self.prior[keep], target, cone, self.letters[keep], self.size)


@dataclass(frozen=True, eq=False)
class Problem:
    """What to maximise, under which promise. A joint and a notion are enough; rows and cones are made when asked for.

    Problems without a notion are given by their splitting (`of_rows`): an attribute of a product, a cone that is a
    little too large.
    """

    joint: Joint | None = None
    notion: Notion | None = None
    utility: Utility = MutualInformation
    given: Splitting | None = None

    @classmethod
    def of(cls, joint: Joint, notion: Notion, utility: Utility = MutualInformation) -> Problem:
        """The problem of a joint and a notion; letters that do not matter are left out of its splitting."""
        return cls(joint, notion, utility)

    @classmethod
    def of_rows(
        cls,
        prior: Floats,
        cone: Cone,
        target: Indices | None = None,
        utility: Utility = MutualInformation,
        joint: Joint | None = None,
    ) -> Problem:
        """The problem of any cone of rows; T = Z unless a target is given. A joint lends its letters' names."""
        letters = np.arange(len(prior))
        return cls(
            joint, None, utility, Splitting(prior, letters if target is None else target, cone, letters, len(prior))
        )

    def reduced(self) -> Problem:
        """The same without the letters that do not matter."""
        return replace(self, given=self.splitting.reduced())

    @cached_property
    def splitting(self) -> Splitting:
        if self.given is not None:
            return self.given
        joint, notion = self.asked
        letters = np.arange(len(joint.prior))
        return Splitting(joint.prior, joint.target_of, notion.cone(joint), letters, len(letters)).reduced()

    @property
    def asked(self) -> tuple[Joint, Notion]:
        """The joint and the notion, for methods that need both."""
        if self.joint is None or self.notion is None:
            raise ParameterError("a problem without a joint and a notion", where="problem", remedy="Use Problem.of.")
        return self.joint, self.notion

    @property
    def prior(self) -> Floats:
        return self.splitting.prior

    @property
    def target(self) -> Indices:
        return self.splitting.target

    @property
    def cone(self) -> Cone:
        return self.splitting.cone

    @property
    def letters(self) -> Indices:
        return self.splitting.letters

    @property
    def size(self) -> int:
        return self.splitting.size

    @cached_property
    def target_prior(self) -> Floats:
        """p_T"""
        return np.asarray(np.bincount(self.target, weights=self.prior), dtype=np.float64)

    @cached_property
    def one_to_one(self) -> bool:
        """Whether T = Z, so that a row is its own marginal."""
        return bool(np.array_equal(self.target, np.arange(len(self.prior))))

    @cached_property
    def given_target(self) -> Floats:
        """p(z | f(z)), zero where the target has no mass."""
        mass = self.target_prior[self.target]
        return np.divide(self.prior, mass, out=np.zeros_like(self.prior), where=mass > 0)

    @cached_property
    def _averaging(self) -> sparse.csr_array:
        n = len(self.prior)
        return sparse.csr_array((self.given_target, (np.arange(n), self.target)), shape=(n, len(self.target_prior)))

    def marginals(self, rows: Floats) -> Floats:
        """w_t = Σ_{f(z)=t} p(z|t) v_z for every row v."""
        if self.one_to_one:
            return rows
        return np.asarray(rows @ self._averaging)

    def values(self, rows: Floats) -> Floats:
        """μ(v) for every row v."""
        return self.utility.values(self.marginals(rows), self.target_prior)

    @cached_property
    def disclosures(self) -> tuple[Floats, Floats]:
        """p_t and μ(e_t / p_t) of every target that occurs: the rows that publish T itself.

        μ is convex, so no row is worth more than the largest of them, and no mechanism more than Σ_t p_t μ(e_t / p_t).
        """
        p = self.target_prior[self.target_prior > 0]
        return p, np.array([float(self.utility.values(row[None, :], p)[0]) for row in _diagonal(1 / p)])

    def gradients(self, rows: Floats) -> Floats:
        """A subgradient of μ at every row v, over the input letters."""
        slopes = self.utility.gradient(self.marginals(rows), self.target_prior)
        return np.asarray(slopes[:, self.target] * self.given_target)


def _diagonal(entries: Floats) -> Iterator[Floats]:
    """The rows of a diagonal matrix, one at a time: the matrix itself may not fit."""
    for i, entry in enumerate(entries):
        row = np.zeros(len(entries))
        row[i] = entry
        yield row


def _weighed(separate: Callable[[Floats], Floats], size: int, z: int) -> bool:
    alone, others = np.zeros(size), np.ones(size)
    alone[z] = 1.0
    others[z] = 0.0
    return len(separate(alone)) > 0 or len(separate(others)) > 0


def _restricted(
    separate: Callable[[Floats], Floats] | None, keep: Indices, size: int
) -> Callable[[Floats], Floats] | None:
    if separate is None:
        return None
    found: Callable[[Floats], Floats] = separate

    def restricted(row: Floats) -> Floats:
        full = np.zeros(size)
        full[keep] = row
        return found(full)[:, keep]

    return restricted


# ---- the effort -----------------------------------------------------------------------------------------------------


Progress = Callable[[float, float, float], None]
"""Called now and then with the value so far, the bound so far and the seconds used."""


@dataclass(frozen=True)
class Effort:
    """When to stop: at the wanted gap, or at the deadline (of `time.monotonic`); and who wants to watch.

    It can be shared out: what comes after a search has its part of the same deadline. An `inner` one is for a search
    inside another, which hands ctrl-C on.
    """

    gap: float = 1e-6
    deadline: float = math.inf
    progress: Progress | None = None
    started: float = field(default_factory=time.monotonic)
    inner: bool = False

    def __post_init__(self) -> None:
        if not self.gap >= 0:
            raise ParameterError("a gap that is not ≥ 0", where="gap", remedy="Try 1e-6.")

    @classmethod
    def within(cls, seconds: float | None, gap: float = 1e-6, progress: Progress | None = None) -> Effort:
        """So many seconds from now on; None: as long as it takes."""
        now = time.monotonic()
        return cls(gap, math.inf if seconds is None else now + seconds, progress, now)

    def late(self) -> bool:
        return time.monotonic() > self.deadline

    def left(self) -> float:
        """Seconds, infinite without a deadline, negative after it."""
        return self.deadline - time.monotonic()

    def share(self, part: float) -> Effort:
        """This part of the time that is left, from now on."""
        left = self.left()
        return self if left == math.inf else replace(self, deadline=time.monotonic() + part * max(left, 0.0))

    def keeping(self, seconds: float) -> Effort:
        """The same with so many seconds kept free at the end."""
        return replace(self, deadline=self.deadline - seconds)

    def later(self, seconds: float) -> Effort:
        """The same from so many seconds later on: what went before does not count."""
        return replace(self, deadline=self.deadline + seconds, started=self.started + seconds)

    def unless_told(self, seconds: float) -> Effort:
        """The same, which ends after so many seconds if it had no deadline."""
        return self if self.deadline < math.inf else replace(self, deadline=time.monotonic() + seconds)

    def quiet(self, gap: float | None = None) -> Effort:
        """The same for a search inside another, which nobody watches, to a gap of its own."""
        return replace(self, progress=None, gap=self.gap if gap is None else gap, inner=True)

    def below(self, bound: float) -> Effort:
        """The same, telling no bound above this one, which was proven elsewhere."""
        told = self.progress
        if told is None:
            return self
        return replace(self, progress=lambda value, found, seconds: told(value, min(found, bound), seconds))

    def tell(self, value: float, bound: float) -> None:
        if self.progress is not None:
            self.progress(value, bound, time.monotonic() - self.started)


# ---- the answer -----------------------------------------------------------------------------------------------------


class Status(StrEnum):
    """How a search ended: its name, the sentence for people, and what can be done about it."""

    sentence: str
    remedy: str

    def __new__(cls, name: str, sentence: str, remedy: str = "") -> Status:
        member = str.__new__(cls, name)
        member._value_ = name
        member.sentence, member.remedy = sentence, remedy
        return member

    BEGUN = "begun", "A mechanism to begin with; the search itself is still to come."
    SEARCHING = "searching", "The search is under way."
    OPTIMAL = "optimal", "Proven: nothing keeps more, up to the gap that was asked for."
    GAP = "gap", "Nothing keeps more than the bound, which is as close as this method comes.", "Give it more time."
    CLOSED_FORM = "closed form", "The strongest member of a family that is written down, not searched for."
    LOCAL = "local optimum", "The search settled; no proof says that nothing keeps more.", "Give it more time."
    SEARCHED = "searched", "The best of its kind that the search met; others need not be of this kind."
    TIME_LIMIT = "time limit", "The best that was found in time.", "Give it more time."
    INTERRUPTED = "interrupted", "The best that was found before it was interrupted.", "Let it run longer."
    STALLED = "stalled", "A linear program failed or nothing better was found.", "Use method='columns', a larger gap."


@dataclass(frozen=True, eq=False)
class Solution:
    """Permitted rows with weights that split the prior, their value, and a bound on every other mechanism's value.

    Rows run over the letters of the problem's splitting. A method that makes a whole channel hands it over as `made`;
    its rows run over all letters. `value` and `residual` can be computed again from the rows; the bound is a claim,
    infinite where the method proves none.
    """

    problem: Problem
    rows: Floats
    weights: Floats
    value: float
    upper_bound: float = math.inf
    status: Status = Status.SEARCHING
    made: Channel | None = None

    @classmethod
    def of_channel(
        cls, problem: Problem, channel: Channel, upper_bound: float = math.inf, status: Status = Status.SEARCHING
    ) -> Solution:
        """A finished mechanism for the joint of the problem."""
        if problem.joint is None:
            raise ParameterError("a channel for a problem without a joint", where="problem", remedy="Use Problem.of.")
        weights = channel.matrix @ problem.joint.prior
        rows = channel.matrix / np.where(weights > 0, weights, 1.0)[:, None]
        value = problem.utility.of(problem.joint, channel)
        return cls(problem, rows, weights, value, upper_bound, status, channel)

    @property
    def gap(self) -> float:
        return max(0.0, self.upper_bound - self.value)

    def is_optimal(self, tolerance: float = 1e-6) -> bool:
        return self.gap <= tolerance

    @property
    def residual(self) -> float:
        """How far Σ_y q_y v_y is from one."""
        return float(np.abs(self.weights @ self.rows - 1).max())

    @cached_property
    def matrix(self) -> Floats:
        """Q[y, z] over all letters; the letters left out of the splitting get Q[y, z] = q_y."""
        if self.made is not None:
            return self.made.matrix
        weights = self.weights / self.weights.sum()
        matrix = np.repeat(weights[:, None], self.problem.size, axis=1)
        matrix[:, self.problem.letters] = self.weights[:, None] * self.rows
        return np.asarray(matrix / matrix.sum(axis=0))

    @cached_property
    def channel(self) -> Channel:
        """The mechanism: outputs that say the same are one, and named after what they say where letters have names."""
        joint = self.problem.joint
        if self.made is not None:
            return self.made
        if joint is None:
            return Channel(self.matrix)
        return named(joint, Channel(self.matrix, joint.letters).merged())


def named(joint: Joint, channel: Channel) -> Channel:
    """The channel with outputs named after the letters they speak for."""
    return Channel(channel.matrix, joint.letters, named_outputs(joint, channel.matrix))
