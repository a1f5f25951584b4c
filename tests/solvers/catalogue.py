"""Known problems, run through every solver: name, problem, and the optimal value where it is known from elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.information import entropy
from discreet.joint import Joint
from discreet.notions.ldp import LDP
from discreet.notions.lip import LIP
from discreet.notions.notion import Cone, Notion
from discreet.notions.ordinary_ldp import OrdinaryLDP
from discreet.notions.srlip import SRLIP
from discreet.solvers.driver import Search, solve
from discreet.solvers.problem import Effort, Problem, Progress, Solution
from discreet.utilities.utility import ChiSquareInformation, CorrectGuess, MutualInformation, Utility


@dataclass(frozen=True)
class Known:
    name: str
    problem: Problem
    value: float | None = None


def solved(
    search: Search,
    problem: Problem,
    *,
    gap: float = 1e-6,
    time_limit: float | None = None,
    progress: Progress | None = None,
    **known: object,
) -> Solution:
    """What a search finds within so many seconds."""
    return solve(search, problem, Effort.within(time_limit, gap, progress), **known)


def random_joint(seed: int, c: int, *shape: int, empty: float = 0.0) -> Joint:
    """A joint drawn at random, with a share of empty cells; every secret keeps some mass."""
    rng = np.random.default_rng(seed)
    cells = rng.exponential(size=(c, *shape)) * (rng.random((c, *shape)) >= empty)
    cells.reshape(c, -1)[:, 0] += 0.1
    return Joint(cells / cells.sum())


def _of(
    name: str, joint: Joint, notion: Notion, value: float | None = None, utility: Utility = MutualInformation
) -> Known:
    return Known(name, Problem.of(joint, notion, utility), value)


def _independent() -> Joint:
    return Joint(np.outer([0.3, 0.7], [0.1, 0.2, 0.3, 0.4]))


def _revealing() -> Joint:
    """Every letter names its secret: under a finite epsilon nothing of the secret may be told apart completely."""
    return Joint(np.array([[0.2, 0.3, 0.0, 0.0], [0.0, 0.0, 0.1, 0.4]]))


def _warner(epsilon: float) -> tuple[Joint, float]:
    """One fair bit that is its own secret: Warner's randomised response is optimal."""
    keep = np.exp(epsilon) / (1 + np.exp(epsilon))
    return Joint(np.eye(2) / 2), float(np.log(2) - entropy([keep, 1 - keep]))


def _lazy_lip(joint: Joint, epsilon: float) -> Problem:
    """The LIP cone with every condition handed out lazily."""
    rows = LIP(epsilon).cone(joint).rows
    cone = Cone(rows[:0], lambda v: rows[rows @ v > 1e-12])
    return Problem.of_rows(joint.prior, cone, joint.target_of).reduced()


def catalogue() -> list[Known]:
    independent, revealing = _independent(), _revealing()
    bit, warner = _warner(1.0)
    zero_mass = Joint(np.array([[0.1, 0.0, 0.3, 0.1], [0.2, 0.0, 0.1, 0.2]]))
    seen_zero = Joint(np.array([[0.25, 0.25, 0.0], [0.25, 0.25, 0.0]]))
    small = random_joint(3, 3, 5)
    return [
        _of("independent letters are published as they are", independent, LIP(0.01), independent.entropy),
        _of("huge epsilon binds nothing", random_joint(1, 3, 5), LIP(50.0), random_joint(1, 3, 5).entropy),
        _of("tiny epsilon, one bit that is its own secret", bit, LDP(1e-4), _warner(1e-4)[1]),
        _of("randomised response", bit, LDP(1.0), warner),
        _of("letters that name their secret", revealing, LIP(0.5)),
        _of("letters that name their secret, LDP", revealing, LDP(0.5)),
        _of("a letter of mass zero", zero_mass, LIP(0.3)),
        _of("ordinary LDP with a letter of mass zero", seen_zero, OrdinaryLDP(1.0), warner),
        _of("empty cells", random_joint(2, 3, 7, empty=0.4), LIP(0.5)),
        _of("empty cells, LDP", random_joint(2, 3, 7, empty=0.4), LDP(0.5)),
        _of("more secrets than letters", random_joint(4, 6, 3), LIP(0.4)),
        _of("more secrets than letters, LDP", random_joint(4, 6, 3), LDP(0.4)),
        _of("ordinary LDP", small, OrdinaryLDP(1.0)),
        _of("side channels", random_joint(5, 2, 2, 3), SRLIP(0.5)),
        _of("side channels with empty cells", random_joint(5, 2, 2, 3, empty=0.2), SRLIP(0.5)),
        _of("curator", random_joint(6, 2, 3).curator(), LIP(0.5)),
        _of("curator, LDP", random_joint(6, 2, 3).curator(), LDP(0.5)),
        _of("curator with side channels", random_joint(7, 2, 2, 2).curator(), SRLIP(0.5)),
        _of("S is released too", Joint(small.probabilities, include_secret=True), LDP(1.0)),
        _of("chi-square information", small, LIP(0.5), utility=ChiSquareInformation),
        _of("correct guess", small, LIP(0.5), utility=CorrectGuess),
        _of("curator, correct guess", random_joint(6, 2, 3).curator(), LIP(0.5), utility=CorrectGuess),
        Known("conditions handed out lazily", _lazy_lip(small, 0.5)),
        Known("lazy conditions and a letter of mass zero", _lazy_lip(zero_mass, 0.3)),
    ]
