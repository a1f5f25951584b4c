"""A guarantee in words that a board can read: what is promised, what is not, and the worst case.

The promise itself is the notion's own (`Words.promise`), its set's sentence included. Here is what holds for every
notion: the caveats, what the protocol file gives away, what single secrets cost, and a worst case that an audit found.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable

from discreet.joint import Form, Joint
from discreet.notions.notion import Level, Notion, words_of
from discreet.phrases import names, percent, quoted, shown, times
from discreet.protocol import Protocol
from discreet.protocol.strata import AnyProtocol, StratifiedProtocol
from discreet.uncertainty.confidence import Confidence

COSTLY = 0.005
"""A cost below this share is not told: the searches that measure it do not settle closer."""
UNKNOWN, MOST_NAMED = 0.2, 5
"""A value may say so little about a letter and no less; so many such values are named."""
SOURCES = {
    "data": "learnt from the table that is released",
    "public": "learnt from a public sample",
    "given": "stated, not learnt from the released table",
}


def notion_name(notion: Notion) -> str:
    return words_of(notion).title


def guarantee(protocol: AnyProtocol) -> str:
    """What is promised about the secret at the proven level, in one or two sentences."""
    if isinstance(protocol, StratifiedProtocol):
        return _among_equals(protocol)
    return words_of(protocol.notion).promise(protocol.notion, protocol.joint, protocol.epsilon)


def _among_equals(protocol: StratifiedProtocol) -> str:
    """The promise within a stratum, towards somebody who knows the given columns."""
    said = words_of(protocol.notion).promise(protocol.notion, protocol.joint, protocol.epsilon)
    known = " and ".join(attribute.name for attribute in protocol.given)
    conditional = said.replace("Whoever sees a", f"Whoever knows {known} of a person and sees the", 1)
    conditional = conditional.replace("as in the whole population", f"as among people of that {known}")
    return conditional if conditional != said else f"Among people of equal {known}, for whoever knows them: {said}"


def caveats(protocol: Protocol) -> list[str]:
    """What is not promised, said plainly."""
    released = names(protocol.joint.releases)
    said = [
        f"The released data themselves ({released}) are not hidden: they are what is published, blurred only as far as "
        "protecting the secret asks for.",
        "Columns that are kept as they are lie outside the guarantee.",
        "A second release of the same records with fresh randomness weakens it; the ledger says by how much.",
    ]
    if protocol.source == "data":
        said.append(
            "The distribution was learnt from the table that is released; the guarantee holds for that distribution."
        )
    elif words_of(protocol.notion).at_prior:
        said.append("The guarantee holds at the stated distribution; the audit shows its level around it.")
    if has_counts(protocol):
        said.append(counts_inside(protocol))
    if protocol.joint.form is Form.CURATOR:
        said.append("The mechanism reads the secret as well, so it leans harder on the estimated distribution.")
    return said


def has_counts(protocol: Protocol) -> bool:
    """Whether the protocol file shows the counts of the table that is released."""
    return protocol.source == "data" and protocol.joint.counts is not None


def counts_inside(protocol: Protocol) -> str:
    """What the protocol file itself gives away."""
    joint = protocol.joint
    columns = names(joint.secrets + joint.releases)
    return (
        f"The protocol file contains the exact table of counts of {columns}, {joint.probabilities.size:,} cells about "
        f"{joint.n:,} records: whoever gets the file can read them. Give it only to people who "
        "may see that table, or learn the distribution from a public sample."
    )


def costly(joint: Joint, found: Iterable[tuple[Hashable, float]]) -> str:
    """What the least known secrets cost all others, and what can be done; empty where it is next to nothing."""
    named = [(secret, cost) for secret, cost in found if cost >= COSTLY]
    if not named:
        return ""
    listed = ", ".join(f"{shown(secret)} ({cost:.1%})" for secret, cost in named)
    return (
        f"What single values of {names(joint.secrets)} cost, among those that least is known about: so much more would "
        f"be kept of all other records if nobody had them: {listed}. Merging such values with others in the table, "
        "before designing, can keep more; values that are merged are protected as one, and are no longer hidden from "
        "each other."
    )


def unsupported(joint: Joint, notion: Notion) -> str:
    """Secrets with too few records for the confidence that is asked for, and what to do; empty if there are none.

    A letter that none of n records has may still have probability 1 − tail^(1/n): where that is a fifth or more, the
    limits hardly say anything, and all other secrets must look alike for it.
    """
    stated = getattr(notion, "uncertainty", None)
    if not isinstance(stated, Confidence) or joint.counts is None:
        return ""
    masses = words_of(notion).name == "RLIP"
    tail = float(stated.tail(joint.table.size, len(joint.table), noisy=False, masses=masses))
    sizes = joint.counts.reshape(len(joint.counts), -1).sum(axis=1)
    least = math.log(tail) / math.log1p(-UNKNOWN)
    few = [(joint.secret_letters[s], int(n)) for s, n in enumerate(sizes) if n < least]
    if not few:
        return ""
    named = sorted(few, key=lambda one: one[1])[:MOST_NAMED]
    listed = ", ".join(f"{shown(secret)} ({n:,})" for secret, n in named) + (", …" if len(few) > MOST_NAMED else "")
    return (
        f"The data hardly support this confidence for {len(few):,} of {len(sizes):,} values of {names(joint.secrets)}, "
        f"those with fewer than {math.ceil(least):,} records: {listed}. What these look like is almost open, and "
        "every output has to allow for it. Merge them with others before designing, leave out values that nobody can "
        "have, ask for fewer letters or a lower confidence, or count more records."
    )


def other_half(epsilon: float, measured: float, low: float, high: float, confidence: float) -> str:
    """What a split-half check found, and what follows from it for records that were not counted."""
    found = (
        f"Designed in the same way on a random half of these records, the level on the other half is {measured:.2g} "
        f"({percent(confidence)} limits {low:.2g} to {high:.2g}), where {epsilon:.2g} was asked for."
    )
    if measured <= epsilon:
        return found
    return f"{found} For other records than those counted use RLIP or RLDP, which hold there too."


# ---- a worst case in words ------------------------------------------------------------------------------------------


def in_words(level: Level, *, raised: bool = True) -> str:
    """What the witness of a level means; `raised` is the direction in which LIP moves the chance of the secret."""
    if level.witness is None or level.epsilon <= 0:
        return "no output tells anything about the secret"
    found = level.witness
    output, secret = quoted(found.output), quoted(found.secret)
    if found.other is not None:
        change = _compared(level.epsilon, output, secret, quoted(found.other))
    else:
        change = _moved(level.epsilon, output, secret, raised)
    known = " and ".join(f"{name} = {quoted(value)}" for name, value in found.side_channel)
    told = f" for somebody who knows {known}" if known else ""
    return change + told + ("" if found.distribution is None else ", at the worst distribution of the set")


def _compared(epsilon: float, output: str, secret: str, other: str) -> str:
    if epsilon == math.inf:
        return f"output {output} excludes {other} and leaves {secret} possible"
    return f"output {output} makes {secret} {times(epsilon)} times as likely as {other}"


def _moved(epsilon: float, output: str, secret: str, raised: bool) -> str:
    if epsilon == math.inf:
        return f"output {output} excludes {secret}"
    return f"output {output} makes {secret} {times(epsilon)} times {'as' if raised else 'less'} likely" + (
        " as before" if raised else " than before"
    )
