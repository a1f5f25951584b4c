"""What several releases of the same records tell together: the level of all draws (theory 7.3, 7.5).

Budgets add up when a mechanism reads the secret alone, and do *not* when it reads data that are merely correlated with
the secret. Two draws that each say nothing about S can together say everything. Let X = (A, B) be two fair coins,
S = A xor B, and let a draw show A or B at random: one draw has level 0, two show S half of the time. So the level of k
independent draws is taken from the channel that makes k draws, Q[(y_1 … y_k), z] = Π_i Q[y_i, z], which is exact; where
that is too large, from the identity, because any number of draws tells at most z itself.

A person with up to k rows that are drawn by themselves is in every draw k times. Two draws may be of two rows: where
one of several is chosen for every release, and where somebody's value changed in between, which no ledger sees. They
may tell more together than one row twice. All this supposes that rows are independent given the secret;
`unassumed_total` does not.

Under one key draws are not independent: cells of one person and one value are alike, so cells that differ show that a
value changed (`one_key_law`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import reduce
from itertools import combinations, combinations_with_replacement
from typing import Final

import numpy as np
from scipy import sparse

from discreet.arrays import Floats
from discreet.channel import Channel
from discreet.joint import Joint
from discreet.notions.alip import ALIP
from discreet.notions.average import OnAverage
from discreet.notions.conjunction import belt_of
from discreet.notions.guess import Guess
from discreet.notions.ldp import LDP
from discreet.notions.lip import LIP
from discreet.notions.notion import Notion
from discreet.notions.ordinary_ldp import OrdinaryLDP
from discreet.notions.perfect import Perfect
from discreet.notions.rldp import RLDP
from discreet.notions.rlip import RLIP
from discreet.notions.rows_together import ABOUT_S, KNOWN, rows_level, unassumed_level
from discreet.notions.shift import Shift
from discreet.notions.srlip import SRLIP
from discreet.phrases import rounded_up
from discreet.protocol import Protocol
from discreet.protocol.strata import AnyProtocol, StratifiedProtocol, promise_of, strata_of
from discreet.records.persons import Rule, WhoseRows

MOST_CELLS: Final = 4_000_000
"""Of the channel of several draws: 32 MB."""
MOST_ROBUST_ROWS: Final = 500
"""Of that channel, where the level of every row is a search over a set of distributions."""
MOST_DRAWS: Final = 64
"""For more draws the level of the identity is stated, which no number of them exceeds."""
MOST_SPLIT: Final = 8
"""Draws up to which every number of rows that they can be of is looked at by itself."""
SMALLEST_LOG: Final = 600.0
"""Products below e^−600 may underflow, and an output that seems impossible would hide what it tells."""
CONDITION: Final = (
    "if a person's rows are independent given the secret, however many there are, and how many says nothing of it"
)
CHANGED: Final = (
    "if whether a value changed since the same key drew it says nothing of the secret, and the new one depends on the "
    "secret alone"
)
USUAL_BELT: Final = 8.0
"""The belt that is recommended: it costs little (theory 7.1)."""
ROUNDING: Final = 1e-9
"""Levels are rounded up to a multiple of this, so that an error in the last digits states no less than the truth."""


def total_epsilon(
    protocol: AnyProtocol, draws: int, rows: int = 1, one_of: int = 1, place: int = 0, tables: int = 1
) -> float:
    """The level of that many independent releases of the same records, rounded up; 0 for none. With a belt of b it is
    never above b for each of them (theory 7.1). Up to so many `rows` of a person are drawn by themselves (7.3).
    `place` is that of the promise among those that the protocol makes; the leading one has its proven level.

    Where every release draws `one_of` so many rows, k draws are of some j ≤ k rows, each drawn at most k − j + 1 times.
    What they tell is a mixture over which rows these are, and no mixture tells more than the worst of its parts. With
    given columns these rows may also be of different strata. Of draws under one key so many `tables` differ.
    """
    if tables > 1:
        fresh = total_epsilon(protocol, draws, rows, one_of, place)
        return max(fresh, _under_one_key(protocol, draws, place) if draws == tables and rows == 1 else math.inf)
    if draws < 1 or draws == rows == 1:
        stated = promise_of(protocol).promises[place].epsilon if place else protocol.epsilon
        return stated if draws else 0.0
    if isinstance(protocol, StratifiedProtocol):
        alike = max(total_epsilon(one, draws, rows, one_of, place) for one in protocol.strata.values())
        return alike if min(draws, one_of) == 1 else max(alike, _across_strata(protocol, draws, rows, one_of, place))
    every, most = draws * rows, max(rows, min(one_of, draws) * rows)
    if every <= MOST_SPLIT:
        split = (_level(protocol, min(draws, every - j + 1), j, every, place) for j in range(rows, most + 1))
        return max(split)
    return _level(protocol, draws, most, every, place)


def _across_strata(protocol: StratifiedProtocol, draws: int, rows: int, one_of: int, place: int) -> float:
    """A bound for rows of one person in different strata. Towards somebody who knows both, the prior is that of people
    who agree in both, which no stratum has; but by how much rows tell two secrets apart does not depend on it."""
    different = range(2, min(draws, one_of) + 1) if draws <= MOST_SPLIT else [min(draws, one_of)]
    each = [(j, draws - j + 1 if draws <= MOST_SPLIT else draws) for j in different]
    apart = max(rows * j * max(_apart(one, times, place) for one in protocol.strata.values()) for j, times in each)
    belt = belt_of(protocol.notion)
    return _by_ratio(promise_of(protocol).promises[place], apart if belt is None else min(apart, draws * rows * belt))


def _apart(protocol: Protocol, draws: int, place: int) -> float:
    """The largest ln P(y|s)/P(y|s') of draws of one row, over the set or the known attributes of the promise."""
    leading, drawn = protocol.notion.promises[place], _drawn(protocol, draws, place)
    if isinstance(leading, SRLIP):
        return 2 * leading.level(drawn, protocol.joint).epsilon
    if isinstance(leading, RLIP):
        return leading.apart(drawn, protocol.joint)
    measured: Notion = leading if isinstance(leading, (OrdinaryLDP, RLDP)) else LDP(1.0)
    return measured.level(drawn, protocol.joint).epsilon


def _under_one_key(protocol: AnyProtocol, draws: int, place: int) -> float:
    """So many draws of somebody whose value changed every time, by `CHANGED`; infinite where that is not computed."""
    if isinstance(protocol, StratifiedProtocol):
        strata = protocol.strata.values()
        return max(_under_one_key(one, draws, place) for one in strata) if draws == 2 else math.inf
    leading, joint = protocol.notion.promises[place], protocol.joint
    if not isinstance(leading, (*ABOUT_S, LDP, LIP, Perfect)) or draws > MOST_SPLIT:
        return math.inf
    law = one_key_law(protocol.channel, joint, draws)
    prior = joint.secret_prior[joint.seen]
    return (
        math.inf if law is None else _rounded(leading.level(Channel(law), Joint(np.diag(prior / prior.sum()))).epsilon)
    )


def one_key_law(channel: Channel, joint: Joint, draws: int) -> Floats | None:
    """P(y_1 … y_k | s), one column per secret, of values z_1 … z_k that are independent given s, drawn under one key:
    equal values have the same output, different ones are drawn by themselves. A sum over which of the values are equal;
    None where it is too large."""
    q = channel.matrix[np.flatnonzero(np.diff(channel.entries.indptr))]
    outputs, letters = q.shape
    if max(outputs, letters) ** draws * len(joint.letter_given_secret) > MOST_CELLS:
        return None
    law = np.zeros((*[outputs] * draws, len(joint.letter_given_secret)))
    for alike in _partitions(draws):
        kinds = max(alike) + 1
        place = np.indices([outputs] * kinds)
        different = np.ones([letters] * kinds)
        for first, second in combinations(np.indices(different.shape), 2):
            different[first == second] = 0
        for s, chance in enumerate(joint.letter_given_secret):
            part = different * reduce(np.multiply.outer, [chance ** alike.count(kind) for kind in range(kinds)])
            for _ in range(kinds):
                part = np.tensordot(part, q, axes=(0, 1))
            law[(*(place[kind] for kind in alike), s)] += part
    return law.reshape(-1, law.shape[-1])


def _partitions(size: int) -> Iterator[tuple[int, ...]]:
    """Every way to say which of so many are alike: the number of its kind for each, kinds in order of appearance."""
    if size == 0:
        yield ()
        return
    for before in _partitions(size - 1):
        yield from ((*before, kind) for kind in range(max(before, default=-1) + 2))


def _by_ratio(leading: Notion, apart: float) -> float:
    """The most a notion can measure where no two secrets are told apart by more than this, whatever the prior is.
    P(y) lies between them, an average; a shift is largest where some secrets have e^apart times what others have."""
    if isinstance(leading, Guess):
        return 1.0
    if isinstance(leading, Shift):
        return math.tanh(apart / 4)
    scale = max(1.0, leading.up / leading.low) if isinstance(leading, ALIP) else 1.0
    return _rounded(apart * scale)


def unassumed_total(protocol: AnyProtocol, draws: int, rows: int = 1, place: int = 0, tables: int = 1) -> float:
    """What so many draws of each of so many rows tell together where each may be of another row of the person, and the
    rows may have to do with each other in any way: only a belt bounds it (theory 7.3), and nothing where one key drew
    values that changed."""
    if draws < 2:
        return total_epsilon(protocol, draws, place=place)
    if tables > 1:
        return 1.0 if isinstance(promise_of(protocol).promises[place], (Guess, Shift)) else math.inf
    return whatever_the_law(protocol, draws * rows, place)


def whatever_the_law(protocol: AnyProtocol, drawn: int, place: int = 0) -> float:
    """What so many draws tell, of whatever rows of a person and at whatever distribution."""
    apart = max(unassumed_level(one.channel, one.joint, drawn) for one in strata_of(protocol))
    return _by_ratio(promise_of(protocol).promises[place], apart)


def stated_total(protocol: AnyProtocol, draws: int) -> float:
    """Of so many draws of somebody with as many rows as the protocol states, as the ledger counts them."""
    return total_epsilon(protocol, draws, drawn_rows(protocol), draws)


def _shown(level: float) -> str:
    return "no bound" if math.isinf(level) else rounded_up(level)


def condition_of(protocol: AnyProtocol, draws: int, rows: int, one_of: int, tables: int = 1) -> str:
    """What the level of so many draws supposes where each may be of another row of the person, or of a value that
    changed under one key, and what it is else."""
    said = [CHANGED] if tables > 1 else []
    said += [CONDITION] if min(draws, one_of) > 1 else []
    if not said:
        return ""
    return f"{', and '.join(said)}; without that, {_shown(unassumed_total(protocol, draws, rows, tables=tables))}"


def told_nothing(protocol: AnyProtocol, place: int = 0) -> float:
    """The level of a release that tells nothing: 0, but for how often the commonest secret is guessed right."""
    if isinstance(protocol, StratifiedProtocol):
        return max(told_nothing(one, place) for one in protocol.strata.values())
    return protocol.joint.secret_prior.max() if isinstance(protocol.notion.promises[place], Guess) else 0.0


def _level(protocol: Protocol, draws: int, rows: int, belts: int, place: int) -> float:
    """Of so many rows, independent given the secret, each drawn so often; at most so many belts, where there is one.
    Infinite where it is not known what several rows tell."""
    leading, belt = protocol.notion.promises[place], belt_of(protocol.notion)
    if rows > 1 and not isinstance(leading, KNOWN):
        return math.inf
    drawn, joint = _drawn(protocol, draws, place), protocol.joint
    level = rows_level(leading, drawn, joint, rows) if rows > 1 else _rounded(leading.level(drawn, joint).epsilon)
    level = level if belt is None or isinstance(leading, OnAverage) else min(level, _by_ratio(leading, belts * belt))
    least = 0.0 if place else protocol.epsilon
    return max(least, level)


def _rounded(level: float) -> float:
    return math.ceil(level / ROUNDING) * ROUNDING if math.isfinite(level / ROUNDING) else math.inf


def _drawn(protocol: Protocol, draws: int, place: int) -> Channel:
    robust = isinstance(protocol.notion.promises[place], RLDP)
    most = MOST_ROBUST_ROWS if robust else MOST_CELLS // len(protocol.inputs)
    return repeated(protocol.channel, draws, most) if draws > 1 else protocol.channel


def draws_told(protocol: AnyProtocol) -> str:
    """What one, two and three draws of one record tell, in one line; and what a belt would bound, where it helps."""
    rows, one_of = drawn_rows(protocol), _one_of(protocol)
    levels = [stated_total(protocol, draws) for draws in (1, 2, 3)]
    said = ", ".join(map(_shown, levels))
    whom = "a record" if rows == 1 else f"somebody with {rows} rows"
    whom = whom if one_of == 1 else f"somebody with {one_of} rows, one of them each time,"
    condition = "" if one_of == 1 else f", the second and third {CONDITION}"
    leading = promise_of(protocol).promises[0]
    changed = ", also where its value changed in between" if whom == "a record" else ""
    text = f"One, two and three independent draws of {whom} have level at most {said}{changed}{condition}."
    belt, each = belt_of(protocol.notion), "" if rows == 1 else f" of {rows} rows"
    if belt is not None:
        most = rounded_up(_by_ratio(leading, belt * rows))
        return (
            f"{text} With the belt of {rounded_up(belt)} k draws{each} never exceed {most}·k, whatever anybody knows."
        )
    two, three = (_by_ratio(leading, k * rows * USUAL_BELT) for k in (2, 3))
    if levels[1] <= two:
        return text
    return (
        f"{text} A design with --belt {USUAL_BELT:g} would hold two and three draws{each} at "
        f"{rounded_up(two)} and {rounded_up(three)} at most, whatever anybody knows: for devices, panels and keys that "
        "may get lost."
    )


def drawn_rows(protocol: AnyProtocol) -> int:
    """How many rows of one person are drawn by themselves, as the protocol states it."""
    stated = protocol.statement.rows
    return stated.most if isinstance(stated, WhoseRows) and stated.rule is Rule.independent else 1


def _one_of(protocol: AnyProtocol) -> int:
    """Among how many rows of one person the one that is drawn is chosen, as the protocol states it."""
    stated = protocol.statement.rows
    return stated.most if isinstance(stated, WhoseRows) and stated.rule is Rule.one else 1


def repeated(channel: Channel, draws: int, most: int) -> Channel:
    """`draws` independent draws, in any order; a channel that tells more where that takes more than `most` rows."""
    used = np.flatnonzero(np.diff(channel.entries.indptr))
    many = draws > MOST_DRAWS or math.comb(len(used) + draws - 1, draws) > most
    if many or draws * -math.log(channel.entries.data.min()) > SMALLEST_LOG:
        everything = sparse.eye_array(len(channel.inputs), format="csr")
        return Channel(everything.toarray() if isinstance(channel.rows, np.ndarray) else everything, channel.inputs)
    matrix = channel.matrix[used]
    rows = []
    for chosen in combinations_with_replacement(range(len(matrix)), draws):
        orders = math.factorial(draws) // math.prod(math.factorial(chosen.count(y)) for y in set(chosen))
        rows.append(orders * np.prod(matrix[list(chosen)], axis=0))
    return Channel(np.array(rows), channel.inputs)
