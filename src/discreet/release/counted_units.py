"""Whether a protocol was counted by the persons whose rows are released (theory 7.3).

Whoever has nine rows counts nine times among rows and once among persons, so that neither P(s) nor P(x|s) of persons is
that of rows: ten ill persons with nine visits and ninety well ones with one make ill visits as frequent as well ones.
A level at the law of rows is no person's, whatever happens to the rows. Only promises that hold at every law are: those
of ordinary LDP, and RLDP over everything.
"""

from __future__ import annotations

import shlex

from discreet.exceptions import ReleaseError
from discreet.notions.notion import Notion
from discreet.notions.ordinary_ldp import OrdinaryLDP
from discreet.notions.rldp import RLDP
from discreet.protocol.strata import AnyProtocol
from discreet.records.persons import PLURALS, Rule, Unit, WhoseRows, asked_again
from discreet.uncertainty.sets import Everything

ONE_EACH = "If no two rows belong to one person, say so (--one-row-per-person, one_row_per_person=True)."


def at_any_law(notion: Notion) -> bool:
    """Whether every promise holds whatever law the rows, or the persons, have."""
    return all(
        isinstance(one, OrdinaryLDP) or (isinstance(one, RLDP) and isinstance(one.uncertainty, Everything))
        for one in notion.promises
    )


def counts_units(protocol: AnyProtocol, unit: Unit) -> bool:
    """Whether the protocol's levels are those of these persons or households."""
    stated = protocol.statement.rows
    counted = isinstance(stated, WhoseRows) and (stated.unit, stated.column) == (unit.name, unit.column)
    return counted or at_any_law(protocol.notion)


def not_counted(
    protocol: AnyProtocol, unit: Unit, most: int | None, choice: str, rule: Rule | None = None
) -> ReleaseError:
    """Persons of whom some have several rows, and a promise that was not computed for them; `choice` is what else is to
    be said about them."""
    stated, several = protocol.statement.rows, PLURALS[unit.name]
    counted, same, up_to = "rows", "", "" if most is None else f", up to {most}"
    if isinstance(stated, WhoseRows):
        counted = f"{PLURALS[stated.unit]} by the column {stated.column}"
        if stated.unit == unit.name:
            same = f", or call the column {stated.column} if it names the same {several}"
    return ReleaseError(
        f"{several} have several rows{up_to}, and the protocol counted {counted}: its level is not theirs",
        where=f"column {unit.column}",
        remedy=f"{asked_again(unit.name, unit.column, rule)} on a table with the secret{same}.{choice and ' '}{choice}",
    )


def differing_values(protocol: AnyProtocol, persons: int, column: str) -> ReleaseError:
    """Rows of one id were to share draws, and so many persons have rows that differ."""
    counted = counts_units(protocol, Unit("person", column))
    again = f"Say --person {shlex.quote(column)} (person=)" if counted else asked_again("person", column)
    return ReleaseError(
        f"{persons:,} persons have rows with different values, and draws that equal values share show which are "
        "equal: what that tells has no bound",
        where=f"column {column}",
        remedy=f"{again}, with --rows one (rows=), which releases one row of each; or --rows independent, and give "
        "every row an id of its own.",
    )
