"""A guarantee in words that a board can read: what is promised, what is not, and the worst case.

The promise itself is the notion's own (`Words.promise`), its set's sentence included. Here is what holds for every
notion: the caveats, what the protocol file gives away, what single secrets cost, and a worst case that an audit found.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterable, Sequence

from discreet.attribute import Attribute, Form
from discreet.exceptions import visible
from discreet.given_columns import AnyJoint, StratifiedJoint
from discreet.notions.average import OnAverage
from discreet.notions.lip import LIP
from discreet.notions.notion import BEFORE, Level, Notion, at_prior, promised, words_of
from discreet.phrases import few_as_one, names, percent, quoted, rounded_down, rounded_up, shown, times
from discreet.protocol.strata import AnyProtocol, StratifiedProtocol, promise_of, strata_of
from discreet.records.persons import Rule, WhoseRows
from discreet.uncertainty.confidence import Confidence

COSTLY = 0.005
"""A cost below this share is not told: the searches that measure it do not settle closer."""
RARE_RECORDS = 30
"""A value of the secret that fewer records have is called rare."""
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
    given = protocol.given if isinstance(protocol, StratifiedProtocol) else ()
    said = promised(promise_of(protocol), protocol.joint, protocol.epsilon, given)
    if isinstance(protocol.notion, OnAverage):  # no theorem adds the table's level to an average
        said = f"{said} {worst_record_told(protocol)}"
    together = all_rows_told(protocol)
    if together:
        return f"{together} A row by itself: {said}"
    if isinstance(protocol.notion, OnAverage):
        return said
    return said if protocol.joint.noise is None else f"{said} {end_to_end(protocol)}"


def all_rows_told(protocol: AnyProtocol) -> str:
    """What is promised to a person with several rows that are drawn one by one; nothing where there is one draw. It is
    the leading promise alone: a ceiling or a belt beside it is proven for one row."""
    rows = protocol.statement.rows
    if not isinstance(rows, WhoseRows) or rows.rule is not Rule.independent or rows.epsilon is None:
        return ""
    given = protocol.given if isinstance(protocol, StratifiedProtocol) else ()
    said = promised(promise_of(protocol).promises[0], protocol.joint, rows.epsilon, given)
    every = f"all released rows (up to {rows.most}) of a {rows.unit}"
    share = "" if rows.unit == "person" else f" and all of a {rows.unit} share it"
    condition = f"If rows are independent given the secret, however many there are{share}"
    told = re.sub("sees (a|the) released record", f"sees {every}", said, count=1)
    return f"{condition}: {told}" if told != said else f"{condition}, for {every} together: {said}"


def end_to_end(protocol: AnyProtocol) -> str:
    """What table and record tell together, where the prior is private (theory 5.4)."""
    noise = protocol.joint.noise.epsilon if protocol.joint.noise else 0.0
    sets = [getattr(one, "uncertainty", None) for one in promise_of(protocol).promises]
    sure = min((one.confidence for one in sets if isinstance(one, Confidence)), default=1.0)
    record, together = rounded_up(protocol.epsilon), rounded_up(noise + protocol.epsilon)
    beside = f", {names(protocol.given)}" if isinstance(protocol, StratifiedProtocol) else ""
    return (
        f"Towards somebody who knows all other records{beside} and sees all releases: table {rounded_up(noise)}, "
        f"record {record}, together {together}, confidence {percent(sure)}"
        + (" in all strata at once." if beside else ".")
    )


def worst_record_told(protocol: AnyProtocol) -> str:
    """Beside an average, what the single record tells that tells most."""
    every = protocol.strata.values() if isinstance(protocol, StratifiedProtocol) else (protocol,)
    found = [(one, LIP(1.0).level(one.channel, one.joint)) for one in every]
    worst, level = max(found, key=lambda pair: pair[1].epsilon)
    if level.witness is None:
        return "The worst record: no output tells anything about the secret."
    y, s = worst.outputs.index(level.witness.output), worst.joint.secret_letters.index(level.witness.secret)
    chance = worst.secret_posterior(worst.outputs[y])[s]
    return f"The worst record: {in_words(level, raised=bool(chance >= worst.joint.secret_prior[s]))}."


def unprotected(released: Sequence[Attribute], given: Sequence[Attribute] = ()) -> list[str]:
    """What no notion promises."""
    return [
        f"The released data themselves ({names(released)}) are not hidden: they are what is published, blurred only "
        "as far as protecting the secret asks for.",
        "Columns that are kept as they are lie outside the guarantee"
        + (", but for those that it is given for." if given else "."),
        "A second release of the same records with fresh randomness weakens it; the ledger says by how much.",
    ]


def caveats(protocol: AnyProtocol) -> list[str]:
    """What is not promised, said plainly."""
    given = protocol.given if isinstance(protocol, StratifiedProtocol) else ()
    said = [*unprotected(protocol.joint.releases, given), f"Whose rows: {protocol.statement.whose}."]
    if protocol.joint.noise is not None:
        said.append(
            "The distribution was learnt from the table that is released, from counts with noise: they are all that "
            "this file tells about the table, and it may be published as it is."
        )
    elif protocol.source == "data":
        said.append(
            "The distribution was learnt from the table that is released; the guarantee holds for that distribution."
        )
    elif at_prior(protocol.notion):
        said.append("The guarantee holds at the stated distribution; the audit shows its level around it.")
    if has_counts(protocol):
        said.append(counts_inside(protocol))
    if protocol.joint.form is Form.CURATOR:
        said.append("The mechanism reads the secret as well, so it leans harder on the estimated distribution.")
    return said


def has_counts(protocol: AnyProtocol) -> bool:
    """Whether the protocol file shows the counts, or weighted shares, of the table that is released."""
    return protocol.source == "data" and protocol.joint.noise is None


def counts_inside(protocol: AnyProtocol) -> str:
    """What the protocol file itself gives away."""
    joints = [one.joint for one in strata_of(protocol)]
    given = protocol.given if isinstance(protocol, StratifiedProtocol) else ()
    columns = names(joints[0].secrets + given + joints[0].releases)
    cells, records = sum(one.probabilities.size for one in joints), sum(one.n or 0 for one in joints)
    table = "weighted table" if joints[0].weight else "exact table of counts"
    return (
        f"The protocol file contains the {table} of {columns}, {cells:,} cells about "
        f"{records:,} records: whoever gets the file can read them. Give it only to people who "
        "may see that table, or learn the distribution from a public sample."
    )


def costly(joint: AnyJoint, found: Iterable[tuple[Hashable, float]]) -> str:
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


def rare_values(
    secret: str, values: int, rare: int, merged: int, now: float, then: float, *, by_name: bool = False
) -> str:
    """What rare values of the secret cost, and how to group them; empty where that would keep hardly more."""
    if then < now + COSTLY:
        return ""
    grouped = "these" if rare > 1 else "it and the next"
    how = few_as_one(secret, RARE_RECORDS, by_name=by_name or rare == 1)
    return (
        f"{visible(secret)}: {values:,} values, {rare:,} with fewer than {RARE_RECORDS} records. Group them: with "
        f"{grouped} as one value, the information kept goes from {_percent_down(now)} to about {_percent_down(then)} "
        f"({how}). What is grouped, {merged:,} values here, is protected as one."
    )


def _percent_down(share: float) -> str:
    return f"{math.floor(1000 * share) / 10:g} %"


def unsupported(joint: AnyJoint, notion: Notion) -> str:
    """Secrets with too few records for the confidence that is asked for, and what to do; empty if there are none.

    A letter that none of n records has may still have probability 1 − tail^(1/n): where that is a fifth or more, the
    limits hardly say anything, and all other secrets must look alike for it.
    """
    stated = getattr(notion, "uncertainty", None)
    if not isinstance(stated, Confidence) or isinstance(joint, StratifiedJoint) or joint.counts is None:
        return ""
    masses = words_of(notion).name == "RLIP"
    tail = float(stated.tail(joint.table.size, len(joint.table), noisy=joint.noise is not None, masses=masses))
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
        "Designed in the same way on a random half of these records, the level on the other half is "
        f"{rounded_up(measured, digits=2)} ({percent(confidence)} limits {rounded_down(low, digits=2)} to "
        f"{rounded_up(high, digits=2)}), where {rounded_up(epsilon)} was asked for."
    )
    if measured <= epsilon:
        return found
    return f"{found} For other records than those counted use RLIP or RLDP, which hold there too."


def other_people(column: str, worth: float) -> str:
    """What a release of values is worth for other records than those that were counted."""
    told = f"{worth:.1%} of a clean one" if worth > 0 else "nothing for some values"
    return (
        "That is about the very records that were counted. For the frequencies of "
        f"{visible(column)} among other people whose records pass the same mechanism, "
        f"a released record is worth {told}."
    )


# ---- a worst case in words ------------------------------------------------------------------------------------------


def in_words(level: Level, *, raised: bool = True) -> str:
    """What the witness of a level means; `raised` is the direction in which LIP moves the chance of the secret."""
    if level.witness is None or level.epsilon <= 0:
        return "no output tells anything about the secret"
    found = level.witness
    output, secret = quoted(found.output), quoted(found.secret)
    change = level.epsilon if found.move is None else found.move
    if found.other is not BEFORE:
        told = _compared(change, output, secret, quoted(found.other))
    else:
        told = _moved(change, output, secret, raised)
    known = " and ".join(f"{name} = {quoted(value)}" for name, value in found.side_channel)
    beside = f" for somebody who knows {known}" if known else ""
    return told + beside + ("" if found.distribution is None else ", at the worst distribution of the set")


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
