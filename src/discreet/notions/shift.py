"""b-shift: no statement about the secret changes its probability by more than b.

A statement is a set A of secrets. The one that an output y moves most is A = {s : P(s|y) > P(s)}, by the total
variation Σ_s (P(s|y) − P(s))⁺ between what was believed before and after (theory 9.2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from discreet.arrays import Floats
from discreet.channel import Channel
from discreet.exceptions import ParameterError
from discreet.joint import Joint
from discreet.notions.notion import INSIDE, Cone, Level, Notion, Witness, Words, check_fits, registered
from discreet.phrases import names, quoted, rounded_up

LISTED_SECRETS = 6
"""Up to so many secrets all 2^c statements are listed; beyond, they are found as rows break them."""
MOST_NAMED = 3
"""Values of a statement that a sentence names; the others are counted."""


def points(share: float) -> str:
    """A change of a probability, rounded up, in points of a hundred."""
    return f"{rounded_up(100 * share, digits=3)} percentage points"


def _promise(_: Shift, joint: Joint, b: float) -> str:
    return (
        f"Whoever sees a released record: no statement about {names(joint.secrets)} becomes more likely, or less "
        f"likely, by more than {points(b)} than in the whole population."
    )


def _worst(level: Level) -> str:
    assert level.witness is not None
    found = level.witness
    named = [quoted(secret) for secret in found.statement[:MOST_NAMED]]
    more = len(found.statement) - len(named)
    listed = ", ".join(named) if more > 0 else " or ".join(named)
    others = f" or {more} other value{'s' if more > 1 else ''}" if more > 0 else ""
    return f"output {quoted(found.output)} makes {listed}{others} more likely by {points(level.epsilon)}"


@registered
@dataclass(frozen=True)
class Shift(Notion):
    """½ Σ_s |P(s|y) − P(s)| ≤ b for every output.

    Arguments:
        b: the largest change of the chance of any statement about the secret: 0.1 is ten percentage points.
    Raises:
        ParameterError: a number that is not between 0 and 1.
    Example:
        >>> import discreet as dc
        >>> joint = dc.Joint.from_counts([[30, 10, 5], [5, 20, 40]])
        >>> dc.design(joint, dc.Shift(0.1)).protocol.epsilon <= 0.1
        True
    """

    b: float
    words = Words(
        name="Shift",
        command="shift",
        title="a bounded shift of every statement",
        row="shift of any statement (total variation)",
        symbol="b-shift",
        over="and every set A of secrets",
        formula="P(A|y) − P(A) ≤ b",
        promise=_promise,
        measure="b",
        headline=lambda b: ("is the most any statement about the secret can change its chance", f"± {points(b)}"),
        worst=_worst,
    )

    def __post_init__(self) -> None:
        if not 0 < self.b <= 1:
            raise ParameterError("a shift outside (0, 1]", where="Shift", remedy="Try 0.1: ten percentage points.")
        object.__setattr__(self, "b", float(self.b))

    @property
    def epsilon(self) -> float:
        return self.b

    def at(self, epsilon: float) -> Shift:
        return Shift(min(epsilon, 1.0))

    def cone(self, joint: Joint) -> Cone:
        """Σ_{s∈A} (P(s, ·) − P(s) p_Z)·v ≤ b p_Z·v for every A: all of them, or single secrets and what is broken."""
        moved, limit, c = _differences(joint), self.b * joint.prior, len(joint.seen)
        if c <= LISTED_SECRETS:
            sets = np.array(list(product((0.0, 1.0), repeat=c)))[1:-1]
            return Cone(sets @ moved - limit)
        return Cone(np.vstack([moved, -moved]) - limit, _separator(moved, limit))

    def level(self, channel: Channel, joint: Joint) -> Level:
        check_fits(channel, joint)
        weights = channel.rows @ joint.prior
        changes = channel.rows @ _differences(joint).T
        changes = np.divide(changes, weights[:, None], out=np.zeros_like(changes), where=weights[:, None] > 0)
        shifts = np.maximum(changes, 0.0).sum(axis=1)
        y = int(shifts.argmax())
        letters = [joint.secret_letters[s] for s in joint.seen]
        order = np.argsort(-changes[y], kind="stable")
        statement = tuple(letters[s] for s in order if changes[y, s] > 0)
        return Level(float(shifts[y]), Witness(channel.outputs[y], letters[order[0]], statement=statement))


def _differences(joint: Joint) -> Floats:
    """P(s, z) − P(s) p_z, one row per secret that occurs: times a row of a mechanism, P(y) (P(s|y) − P(s))."""
    masses = joint.secret_prior[joint.seen]
    return np.asarray(masses[:, None] * (joint.letter_given_secret - joint.prior))


def _separator(moved: Floats, limit: Floats) -> Callable[[Floats], Floats]:
    def separate(v: Floats) -> Floats:
        """The statement that v moves most, if that is too much: the secrets that it makes likelier."""
        row = (moved @ v > 0).astype(float) @ moved - limit
        return row[None] if row @ v > INSIDE * float(np.abs(row) @ np.abs(v)) else row[None][:0]

    return separate
