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

from discreet.arrays import Floats, Indices, Rows, whole
from discreet.attribute import Form
from discreet.certify.proof import ignores_silent
from discreet.channel import Channel, named_outputs
from discreet.exceptions import ParameterError
from discreet.joint import Joint
from discreet.notions.notion import Average, Cone, Notion
from discreet.solvers.splitting import Splitting
from discreet.utilities.task import Task
from discreet.utilities.utility import MutualInformation, Utility

MOST_SILENT = 1 << 16
"""So many entries for letters that nobody has are written out; a file of more would be mostly about them."""


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

    def keeping(self, letters: Indices) -> Problem:
        """The same for these letters alone."""
        return replace(self, given=self.splitting.keeping(letters))

    @cached_property
    def splitting(self) -> Splitting:
        if self.given is not None:
            return self.given
        joint, notion = self.asked
        letters = np.arange(len(joint.prior))
        shares = self.utility.shares(joint) if isinstance(self.utility, Task) else None
        cone, average = notion.cone(joint), notion.average(joint)
        return Splitting(joint.prior, joint.target_of, cone, letters, len(letters), average, shares).reduced()

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
    def average(self) -> Average | None:
        """What the mechanism must satisfy on average, beside what its rows must."""
        return self.splitting.average

    @property
    def reads_more(self) -> bool:
        """Whether another form of the problem reads less and releases the same."""
        return self.joint is not None and self.joint.form is Form.CURATOR

    @property
    def shares(self) -> Floats | None:
        """P(T=t | z), one line per target letter, where T is a task and no function of z."""
        return self.splitting.shares

    @property
    def measure(self) -> Utility:
        """The function of the target marginals that rows are judged by."""
        return self.utility.measure if isinstance(self.utility, Task) else self.utility

    @property
    def size(self) -> int:
        return self.splitting.size

    @cached_property
    def target_prior(self) -> Floats:
        """p_T"""
        if self.shares is not None:
            return np.asarray(self.shares @ self.prior)
        return np.asarray(np.bincount(self.target, weights=self.prior), dtype=np.float64)

    @cached_property
    def one_to_one(self) -> bool:
        """Whether T = Z, so that a row is its own marginal."""
        return self.shares is None and bool(np.array_equal(self.target, np.arange(len(self.prior))))

    @cached_property
    def given_target(self) -> Floats:
        """p(z | f(z)), zero where the target has no mass."""
        mass = self.target_prior[self.target]
        return np.divide(self.prior, mass, out=np.zeros_like(self.prior), where=mass > 0)

    @cached_property
    def _task_forms(self) -> Floats:
        """p(z | t) of a task, one line per target letter."""
        assert self.shares is not None
        mass = self.target_prior[:, None]
        return np.asarray(np.divide(self.shares * self.prior, mass, out=np.zeros_like(self.shares), where=mass > 0))

    @cached_property
    def _averaging(self) -> sparse.csr_array:
        n = len(self.prior)
        return sparse.csr_array((self.given_target, (np.arange(n), self.target)), shape=(n, len(self.target_prior)))

    def marginals(self, rows: Floats) -> Floats:
        """w_t = Σ_z p(z|t) v_z for every row v."""
        if self.shares is not None:
            return np.asarray(rows @ self._task_forms.T)
        if self.one_to_one:
            return rows
        return np.asarray(rows @ self._averaging)

    def values(self, rows: Floats) -> Floats:
        """μ(v) for every row v."""
        return self.measure.values(self.marginals(rows), self.target_prior)

    def spread(self, slopes: Floats) -> Floats:
        """Linear functions of the target marginals as linear functions of the row."""
        if self.shares is not None:
            return np.asarray(slopes @ self._task_forms)
        return np.asarray(slopes[:, self.target] * self.given_target)

    @cached_property
    def disclosures(self) -> tuple[Floats, Floats]:
        """p_t and μ(e_t / p_t) of every target that occurs: the rows that publish T itself.

        μ is convex, so no row is worth more than the largest of them, and no mechanism more than Σ_t p_t μ(e_t / p_t).
        """
        p = self.target_prior[self.target_prior > 0]
        return p, np.array([float(self.measure.values(row[None, :], p)[0]) for row in _diagonal(1 / p)])

    def gradients(self, rows: Floats) -> Floats:
        """A subgradient of μ at every row v, over the input letters."""
        return self.spread(self.measure.gradient(self.marginals(rows), self.target_prior))


def _diagonal(entries: Floats) -> Iterator[Floats]:
    """The rows of a diagonal matrix, one at a time: the matrix itself may not fit."""
    for i, entry in enumerate(entries):
        row = np.zeros(len(entries))
        row[i] = entry
        yield row


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
    OWN_TIME = "own time over", "The best that was found in the time such a search takes itself.", "Give it more time."
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
    rows: Rows
    weights: Floats
    value: float
    upper_bound: float = math.inf
    status: Status = Status.SEARCHING
    made: Channel | None = None
    certificate: tuple[float, float] | None = None
    """(b, λ) of an average: no mechanism whose average is at most M' is worth more than b + λM', whatever M' is."""

    @classmethod
    def of_channel(
        cls, problem: Problem, channel: Channel, upper_bound: float = math.inf, status: Status = Status.SEARCHING
    ) -> Solution:
        """A finished mechanism for the joint of the problem."""
        if problem.joint is None:
            raise ParameterError("a channel for a problem without a joint", where="problem", remedy="Use Problem.of.")
        weights = channel.rows @ problem.joint.prior
        totals = np.where(weights > 0, weights, 1.0)
        given = channel.rows
        rows: Rows = (
            given / totals[:, None]
            if isinstance(given, np.ndarray)
            else sparse.csr_array(sparse.diags_array(1 / totals) @ given)
        )
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
    def matrix(self) -> Rows:
        """Q[y, z] over all letters. The letters left out of the splitting, which nobody has, get Q[y, z] = q_y; where
        that would be many entries, and the promise does not look at them, their columns are left empty instead."""
        if self.made is not None:
            return self.made.rows
        silent = self.problem.size - len(self.problem.letters)
        if silent * len(self.weights) > MOST_SILENT and ignores_silent(self.problem.notion):
            return self._sparse_matrix()
        if silent or isinstance(self.rows, np.ndarray):
            weights = self.weights / self.weights.sum()
            matrix = np.repeat(weights[:, None], self.problem.size, axis=1)
            matrix[:, self.problem.letters] = self.weights[:, None] * whole(self.rows)
            return np.asarray(matrix / matrix.sum(axis=0))
        return self._sparse_matrix()

    def _sparse_matrix(self) -> sparse.csr_array:
        rows = sparse.csr_array(self.rows)
        entries = np.repeat(self.weights, np.diff(rows.indptr)) * rows.data
        places = self.problem.letters[rows.indices]
        entries /= np.bincount(places, entries, self.problem.size)[places]
        return sparse.csr_array((entries, places, rows.indptr), shape=(len(self.weights), self.problem.size))

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
    return Channel(channel.rows, joint.letters, named_outputs(joint, channel.rows))
