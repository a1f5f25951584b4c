"""What somebody should know before a release that nothing forbids: in words, from the figures of a check."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from discreet.exceptions import visible
from discreet.phrases import rounded_up
from discreet.protocol.strata import AnyProtocol
from discreet.records.no_numbers import MOST_UNKNOWN
from discreet.release.check import ColumnCount, Finding, LawChange
from discreet.release.identity_risk import IdentityRisk
from discreet.release.law_change import HOLDS
from discreet.release.record_counts import RecordCounts

ROUNDING: Final = 1e-9
"""Levels are computed with doubles, and proven ones are stated rounded up: less than this is no difference."""


def cautions(
    protocol: AnyProtocol,
    counts: RecordCounts,
    columns: Sequence[ColumnCount],
    unreadable: int,
    law: LawChange | None,
    identity: IdentityRisk | None,
) -> list[Finding]:
    """Unknown and missing values, unreadable records, people who are easily found, a law that changed."""
    found: list[Finding] = []

    def warn(what: str, where: str = "", remedy: str = "") -> None:
        found.append(Finding(what, where, remedy))

    if not counts.records:
        warn("the table has no records")
    for one in columns:
        where = f"column {visible(one.name)}"
        if one.unknown:
            told = f"; {one.looks_like}" if one.looks_like else ""
            warn(f"{one.unknown:,} of {counts.records:,} values are unknown to the protocol{told}", where)
        if one.missing > MOST_UNKNOWN * counts.records:
            warn(f"{one.missing:,} of {counts.records:,} values are missing: they become noise", where)
    if unreadable:
        warn(f"{unreadable:,} records have too many or too few fields: they become noise")
    if not counts.complete:
        warn(
            "nearly every record is unique in the kept columns",
            remedy="Too many combinations to count: keep fewer.",
        )
    elif identity is not None and identity.unique:
        warn(
            f"{identity.unique:,} records are unique in the kept columns, {identity.below_5:,} share theirs with "
            "fewer than 4 others",
            ", ".join(map(visible, identity.columns)),
            "Keep fewer columns, or coarser ones; those that add most come first in the figures.",
        )
    if law is not None and law.distance > law.by_chance:
        warn(
            f"the law of the {law.of} changed by {law.distance:.3g}, where chance explains {law.by_chance:.3g}",
            remedy="" if law.level is not None else "What that means for the promise depends on the secret's law.",
        )
    if law is not None and law.level is not None and law.level > protocol.epsilon + ROUNDING:
        promised = rounded_up(protocol.epsilon)
        warn(
            f"at the law of this table the level is {rounded_up(law.level)}, not {promised}",
            remedy=f"{HOLDS}. Design on this table.",
        )
    return found
