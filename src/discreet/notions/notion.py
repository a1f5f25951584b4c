"""What a privacy notion is (theory 1): a convex cone of permitted rows, a level, and the words it is stated in.

A mechanism Q satisfies a notion exactly when every row of Q lies in the cone K. The level of a mechanism is the
smallest epsilon at which it does, with the worst case that attains it. Everything else that a notion needs to be
offered, written to a file, audited and put before a board stands in its `words`, and `NOTIONS` is where all others look
for it: the command line, the protocol file and its schema, the audit and the page. Its proof is in `certify.PROVERS`.
A type that is not registered is refused everywhere; nothing falls back on the promise of another notion.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Indices
from discreet.channel import Channel
from discreet.exceptions import ChannelError, ParameterError
from discreet.joint import Joint
from discreet.uncertainty.uncertainty import Uncertainty

INSIDE = 1e-12
"""A row this far outside the cone, relative to the terms of the condition, is outside by rounding."""


@dataclass(frozen=True, eq=False)
class Cone:
    """K = {v ≥ 0 : rows · v ≤ 0, and separate(v) finds nothing}.

    `rows` are linear conditions over the input letters, one per row. Where they do not say it all (RLDP has infinitely
    many, SRLIP exponentially many), `separate(v)` returns further rows that v violates, none if v lies in K.
    Every row must be valid for K: with too few of them the cone is too large, never too small.
    """

    rows: Floats
    separate: Callable[[Floats], Floats] | None = None

    @property
    def complete(self) -> bool:
        return self.separate is None

    def excess(self, v: Floats) -> float:
        """The largest violation of a condition by v, relative to the size of its terms; at most 0 inside the cone."""
        rows = self.rows if self.separate is None else np.vstack([self.rows, self.separate(v)])
        terms = rows * v
        scale = np.abs(terms).sum(axis=1)
        used = scale > 0
        negative = float(-v.min()) / max(float(np.abs(v).max()), np.finfo(float).tiny)
        return float(max([negative, *(terms[used].sum(axis=1) / scale[used])]))


@dataclass(frozen=True)
class Witness:
    """Where a level is attained: seeing `output` changes the odds between `secret` and `other` the most.

    `other` is None where the chance of `secret` is compared with what it was before (LIP), `side_channel` names the
    attributes an attacker knows beforehand (SRLIP), `distribution` is the worst P(s, x) of the uncertainty set (RLDP).
    """

    output: Hashable
    secret: Hashable
    other: Hashable | None = None
    side_channel: tuple[tuple[str, Hashable], ...] = ()
    distribution: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Level:
    """The smallest epsilon for which a notion holds; infinite if an output excludes a secret."""

    epsilon: float
    witness: Witness | None = None


@dataclass(frozen=True)
class Words:
    """How a notion is called and stated, everywhere.

    `name` stands in files and digests and never changes, whatever the class is called. `command` is its name on the
    command line, `title` its name in a sentence, `row` its name in the table of an audit, `symbol` and `formula` what
    the annex of a page shows "for every output y" and for everything in `over`; a formula is one line of text
    (`report.mathml` says how it is written). `promise(notion, joint, epsilon)` is what is promised at a proven level,
    in one or two sentences for a board. `at_prior`: the promise is about the one distribution in the file.
    """

    name: str
    command: str
    title: str
    row: str
    symbol: str
    over: str
    formula: str
    promise: Callable[[Any, Joint, float], str] = field(repr=False)
    at_prior: bool = True


@dataclass(frozen=True)
class Average:
    """A condition on the whole mechanism beside those on its rows: Σ_y q_y g(v_y) ≤ limit, with g convex.

    `values` is g of every row of an array, `gradient` a subgradient of it.
    """

    values: Callable[[Floats], Floats]
    gradient: Callable[[Floats], Floats]
    limit: float


@dataclass(frozen=True)
class Notion(ABC):
    """What the rest of discreet asks of a notion: a frozen dataclass whose fields are the numbers it is stated with.

    `epsilon` is what `level` may be at most. Most notions have it as their only field. One with several numbers
    calls one of them so, or a scale that they share, and says in `at` how all of them follow it.
    """

    words: ClassVar[Words]
    if TYPE_CHECKING:

        @property
        def epsilon(self) -> float: ...

    def __post_init__(self) -> None:
        """A level is a positive number. A notion with other fields checks them in a `__post_init__` of its own."""
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))

    def at(self, epsilon: float) -> Self:
        """The same notion at another level."""
        changed: Any = self
        return replace(changed, epsilon=epsilon)  # type: ignore[no-any-return]

    @classmethod
    def asked(cls, epsilon: float, confidence: float) -> Notion:
        """The notion from the numbers of the command line, those it has no use for left aside."""
        kind: Any = cls
        return kind(epsilon)  # type: ignore[no-any-return]

    @classmethod
    def audited(cls, uncertainty: Uncertainty | None) -> Notion | None:
        """The notion that an audit measures, at level one; None if it is about a set F and none is given."""
        return cls.asked(1.0, confidence=0.5)

    @abstractmethod
    def cone(self, joint: Joint) -> Cone:
        """The permitted rows."""

    @abstractmethod
    def level(self, channel: Channel, joint: Joint) -> Level:
        """The smallest epsilon for which this channel satisfies the notion, with its worst case."""

    def average(self, joint: Joint) -> Average | None:
        """What the mechanism must satisfy on average, beside what its rows must; usually nothing."""
        return None

    @property
    def promises(self) -> tuple[Notion, ...]:
        """The notions that this one consists of: itself, unless several were joined with `&`."""
        return (self,)

    def __and__(self, other: Notion) -> Notion:
        """Both promises at once; the level that is stated is that of the first."""
        from discreet.notions.conjunction import Conjunction

        return Conjunction((self, other))


# ---- the registry ---------------------------------------------------------------------------------------------------

NOTIONS: dict[str, type[Notion]] = {}
"""Every notion by its name in files, in the order in which audits and pages list them."""

SEVERAL: set[type[Notion]] = set()
"""The type that joins several notions; it has no name of its own, and what is registered are its parts."""

Kind = TypeVar("Kind", bound=Notion)


def registered(kind: type[Kind]) -> type[Kind]:
    """Class decorator: from here on files, command line, audit and page know this notion."""
    for other in NOTIONS.values():
        if other.words.name == kind.words.name or other.words.command == kind.words.command:
            raise ParameterError(f"two notions are called {kind.words.name}", where="NOTIONS", remedy="Rename one.")
    NOTIONS[kind.words.name] = kind
    return kind


def words_of(notion: Notion) -> Words:
    """The words of this very type; ParameterError if it is not registered, be it a subclass of one that is."""
    if type(notion) in SEVERAL and all(words_of(one) for one in notion.promises):
        return notion.words
    words = getattr(type(notion), "words", None)
    if not isinstance(words, Words) or NOTIONS.get(words.name) is not type(notion):
        raise ParameterError(
            f"{type(notion).__name__} is not a notion that discreet knows",
            where="NOTIONS",
            remedy="Use LDP, LIP, SRLIP, RLDP, RLIP or OrdinaryLDP, or register a new notion as CONTRIBUTING says.",
        )
    return words


# ---- what several notions need ---------------------------------------------------------------------------------------


def allows(notion: Notion, row: Floats, joint: Joint, tolerance: float = INSIDE) -> bool:
    """Whether one row may occur in a mechanism."""
    return notion.cone(joint).excess(np.asarray(row, dtype=float)) <= tolerance


def checked_epsilon(epsilon: float) -> float:
    if not (np.isfinite(epsilon) and epsilon > 0):
        raise ParameterError("epsilon is not a positive number", where="epsilon", remedy="Try 1.0; smaller hides more.")
    return float(epsilon)


def check_fits(channel: Channel, joint: Joint) -> None:
    """The channel must read the letters of this joint."""
    if channel.matrix.shape[1] != len(joint.letters):
        raise ChannelError(
            f"a channel for {channel.matrix.shape[1]} letters, a joint with {len(joint.letters)}",
            remedy="Use the joint this channel was made for; with the secret among its inputs, in the same form.",
        )


def ordered_pairs(size: int) -> tuple[Indices, Indices]:
    """All (i, j) with i ≠ j."""
    first, second = np.nonzero(~np.eye(size, dtype=bool))
    return first, second


def log_ratio(numerator: Floats, denominator: Floats) -> Floats:
    """ln(numerator / denominator), with ln(0/0) = 0: an output that never occurs tells nothing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(numerator) - np.log(denominator)
    return np.where(np.isnan(logs), 0.0, logs)
