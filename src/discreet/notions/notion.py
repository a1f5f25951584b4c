"""What a privacy notion is (theory 1): a convex cone of permitted rows, a level, and the words it is stated in.

A mechanism Q satisfies a notion exactly when every row of Q lies in the cone K. The level of a mechanism is the
smallest epsilon at which it does, with the worst case that attains it. Everything else that a notion needs to be
offered, written to a file, audited and put before a board stands in its `words`, and `NOTIONS` is where all others look
for it: the command line, the protocol file and its schema, the audit and the page. Its proof is in `certify.PROVERS`.
A type that is not registered is refused everywhere; nothing falls back on the promise of another notion.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Indices
from discreet.attribute import Attribute
from discreet.channel import Channel
from discreet.exceptions import ChannelError, ParameterError, visible
from discreet.joint import Joint
from discreet.phrases import rounded_up, times
from discreet.uncertainty.uncertainty import Uncertainty

if TYPE_CHECKING:
    from discreet.utilities.utility import PiecewiseLinear, Separable

APPROXIMATE = "approximate confidence limits from the effective number of records"
"""What limits are with weighted records, where they are exact with counts."""
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


class Compared(Enum):
    """What stands in the place of a second letter; None is a letter, for missing values."""

    before = "before"


BEFORE: Final = Compared.before
MOST_COMPARED: Final = 1 << 26
"""Numbers in the conditions of all pairs: half a gigabyte."""
AND_ALSO: Final = " And: "
"""Between the promises of a mechanism that makes several."""


@dataclass(frozen=True)
class Witness:
    """Where a level is attained: seeing `output` changes the odds between `secret` and `other` the most.

    `other` is `BEFORE` where the chance of `secret` is compared with what it was before (LIP), `side_channel` names the
    attributes an attacker knows beforehand (SRLIP), `distribution` is the worst P(s, x) of the uncertainty set (RLDP),
    `statement` the secrets that become likelier together (Shift), `move` the logarithm of the change where that is not
    the level itself (ALIP).
    """

    output: Hashable
    secret: Hashable
    other: Hashable = BEFORE
    side_channel: tuple[tuple[str, Hashable], ...] = ()
    distribution: NDArray[np.float64] | None = None
    statement: tuple[Hashable, ...] = ()
    move: float | None = None


@dataclass(frozen=True)
class Level:
    """The smallest epsilon for which a notion holds; infinite if an output excludes a secret."""

    epsilon: float
    witness: Witness | None = None


def change_of_belief(epsilon: float) -> tuple[str, str]:
    """What a level means to a board, where it is the logarithm of a factor."""
    return "is the most any belief about the secret can change", f"× {times(epsilon)}"


@dataclass(frozen=True)
class Words:
    """How a notion is called and stated, everywhere.

    `name` stands in files and digests and never changes, whatever the class is called. `command` is its name on the
    command line, `title` its name in a sentence, `row` its name in the table of an audit, `symbol` and `formula` what
    the annex of a page shows "for every output y" and for everything in `over`; a formula is one line of text
    (`report.mathml` says how it is written). `promise(notion, joint, epsilon)` is what is promised at a proven level,
    in one or two sentences for a board. `at_prior`: the promise is about the one distribution in the file.

    `measure` is what the level is called in "… at epsilon 0.5", `headline(level)` what it means with its number, in few
    words, and `worst(level)` tells its witness where that is not a ratio of chances.
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
    measure: str = "epsilon"
    headline: Callable[[float], tuple[str, str]] = field(default=change_of_belief, repr=False)
    worst: Callable[[Level], str] | None = field(default=None, repr=False)


@dataclass(frozen=True, eq=False)
class Average:
    """A condition on the whole mechanism beside those on its rows: Σ_y q_y g(v_y) ≤ limit, with g convex (theory 8).

    g judges the forms t_s = p(z|s)·v by a `measure`, as a utility judges the targets: Σ_s p_s h(t_s), or the largest of
    few linear functions of t. `forms` has p(z|s) in a line for every secret that occurs, `masses` has p_s.
    """

    forms: Floats
    masses: Floats
    measure: Separable | PiecewiseLinear
    limit: float

    def values(self, rows: Floats) -> Floats:
        """g of every row."""
        return self.measure.values(rows @ self.forms.T, self.masses)

    def gradient(self, rows: Floats) -> Floats:
        """A subgradient of g at every row, over the input letters."""
        return np.asarray(self.measure.gradient(rows @ self.forms.T, self.masses) @ self.forms)


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

    @property
    def counted(self) -> bool:
        """Whether a promise rests on confidence in counts: on how many people were counted."""
        return any(hasattr(getattr(one, "uncertainty", None), "confidence") for one in self.promises)

    def __and__(self, other: Notion) -> Notion:
        """Both promises at once; the level that is stated is that of the first, or of the one about an average."""
        from discreet.notions.conjunction import Conjunction

        return other & self if words_of(other).name in AVERAGES else Conjunction((self, other))


# ---- the registry ---------------------------------------------------------------------------------------------------

NOTIONS: dict[str, type[Notion]] = {}
"""Every notion by its name in files, in the order in which audits and pages list them."""

AVERAGES: dict[str, type[Notion]] = {}
"""Every promise about an average over the outputs, by its name in files (`notions.average`)."""

SEVERAL: set[type[Notion]] = set()
"""The type that joins several notions; it has no name of its own, and what is registered are its parts."""

Kind = TypeVar("Kind", bound=Notion)


def registered(kind: type[Kind]) -> type[Kind]:
    """Class decorator: from here on files, command line, audit and page know this notion."""
    return _entered(NOTIONS, kind)


def registered_average(kind: type[Kind]) -> type[Kind]:
    """The same for a promise about an average: files and command line know it, audits measure averages beside."""
    return _entered(AVERAGES, kind)


def _entered(registry: dict[str, type[Notion]], kind: type[Kind]) -> type[Kind]:
    for other in (*NOTIONS.values(), *AVERAGES.values()):
        if other.words.name == kind.words.name or other.words.command == kind.words.command:
            raise ParameterError(f"two notions are called {kind.words.name}", where="NOTIONS", remedy="Rename one.")
    registry[kind.words.name] = kind
    return kind


def words_of(notion: Notion) -> Words:
    """The words of this very type; ParameterError if it is not registered, be it a subclass of one that is."""
    if type(notion) in SEVERAL and all(words_of(one) for one in notion.promises):
        return notion.words
    words = getattr(type(notion), "words", None)
    if isinstance(words, Words) and AVERAGES.get(words.name) is type(notion):
        return words if len(notion.promises) == 1 else joined_words(notion.promises)
    if not isinstance(words, Words) or NOTIONS.get(words.name) is not type(notion):
        raise ParameterError(
            f"{type(notion).__name__} is not a notion that discreet knows",
            where="NOTIONS",
            remedy="Use LDP, LIP, PML or another one of dc.*, or register a new notion as CONTRIBUTING says.",
        )
    return words


def at_prior(notion: Notion) -> bool:
    """Whether a promise is about the one distribution in the file: by its notion, or because it is robust over a set
    of that distribution alone."""
    return any(
        words_of(one).at_prior or getattr(getattr(one, "uncertainty", None), "estimate_only", False)
        for one in notion.promises
    )


def promised(notion: Notion, joint: Joint, epsilon: float, given: Sequence[Attribute] = ()) -> str:
    """The promise in words; beside given columns, towards somebody who knows them, among people who agree in them."""
    said = _weighted(words_of(notion).promise(notion, joint, epsilon), joint)
    if not given:
        return said
    known = " and ".join(attribute.name for attribute in given)
    return AND_ALSO.join(_beside(part, known) for part in said.split(AND_ALSO))


def _beside(said: str, known: str) -> str:
    """One promise, towards somebody who knows these columns."""
    found = said.replace("Whoever sees a", f"Whoever knows {known} of a person and sees the", 1)
    found = found.replace(" in the whole population", f" among people of that {known}")
    return found if found != said else f"Among people of equal {known}, for whoever knows them: {said}"


def _weighted(said: str, joint: Joint) -> str:
    """A promise about weighted records: limits are no longer exact, and the population is the one they stand for."""
    if not joint.weight:
        return said
    said = said.replace("exact confidence limits of the counts, which contain", f"{APPROXIMATE}, which about contain")
    return (
        f"{said} Records count by their weight, {visible(joint.weight)}: the promise is about the population that the "
        "weights stand for, and as good as they are."
    )


def joined_words(parts: tuple[Notion, ...]) -> Words:
    """Several promises at once in words made of theirs; the level of the first is ε, the others state theirs."""
    every = [words_of(one) for one in parts]
    first, others = every[0], list(zip(every[1:], parts[1:], strict=True))

    def promise(_: Notion, joint: Joint, epsilon: float) -> str:
        said = [first.promise(parts[0], joint, epsilon)]
        return AND_ALSO.join([*said, *(words.promise(one, joint, one.epsilon) for words, one in others)])

    return Words(
        name="Conjunction",
        command="",
        title=" and ".join([first.title, *(f"{words.title} at {rounded_up(one.epsilon)}" for words, one in others)]),
        row=" and ".join(words.row for words in every),
        symbol=" and ".join(
            [first.symbol, *(words.symbol.replace("ε", rounded_up(one.epsilon)) for words, one in others)]
        ),
        over=first.over,
        formula=first.formula,
        promise=promise,
        at_prior=any(map(at_prior, parts)),
        measure=first.measure,
        headline=first.headline,
        worst=first.worst,
    )


# ---- what several notions need ---------------------------------------------------------------------------------------


def allows(notion: Notion, row: Floats, joint: Joint, tolerance: float = INSIDE) -> bool:
    """Whether one row may occur in a mechanism."""
    return notion.cone(joint).excess(np.asarray(row, dtype=float)) <= tolerance


def checked_epsilon(epsilon: float) -> float:
    try:
        level = float(epsilon)
    except (TypeError, ValueError, OverflowError):
        level = math.nan
    if not (math.isfinite(level) and level > 0):
        raise ParameterError("epsilon is not a positive number", where="epsilon", remedy="Try 1.0; smaller hides more.")
    return level


def check_fits(channel: Channel, joint: Joint) -> None:
    """The channel must read the letters of this joint, in their order; one without names is matched by place."""
    if len(channel.inputs) != joint.size:
        raise ChannelError(
            f"a channel for {len(channel.inputs)} letters, a joint with {joint.size}",
            remedy="Use the joint this channel was made for; with the secret among its inputs, in the same form.",
        )
    if not channel.unnamed and channel.inputs != joint.letters:
        raise ChannelError(
            "a channel that reads other letters than the joint has, or the same in another order",
            remedy="Use channel.restricted(joint.letters), which puts them in its order, or dc.audit, which does so.",
        )


def ordered_pairs(size: int, width: int = 1) -> tuple[Indices, Indices]:
    """All (i, j) with i ≠ j; ParameterError where conditions of so many numbers each would fill the memory."""
    if size * size * width > MOST_COMPARED:
        raise ParameterError(
            f"{size:,} values are too many to compare in pairs",
            where="secrets",
            remedy="Merge rare ones, or promise LIP or PML, which compare every value with all of them together.",
        )
    first, second = np.nonzero(~np.eye(size, dtype=bool))
    return first, second


def log_ratio(numerator: Floats, denominator: Floats) -> Floats:
    """ln(numerator / denominator), with ln(0/0) = 0: an output that never occurs tells nothing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(numerator) - np.log(denominator)
    return np.where(np.isnan(logs), 0.0, logs)
