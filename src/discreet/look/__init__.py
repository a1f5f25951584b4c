"""What is in a table, before anything is decided: the first command of a steward.

The problem: which columns are what, which of them tell about the secret, and what has to be grouped before a design.
The theorem: none of its own; what a column tells is I(X;S) of the counted table, beside what chance alone would show.
The entrance: `look(table, secret=…)`, which returns a `Look` of plain facts; command line, page and studio render it.
The size it is for: any number of columns; the first million records are looked at, and it says if there are more.
What it proves: nothing. No value with fewer than `k` records is in what it returns; the rest is for the steward.
"""

from discreet.look.findings import Bar, ColumnKind, ColumnLook, Look, ProposedGrouping, Telling, ValueCount
from discreet.look.table_look import look

__all__ = ["Bar", "ColumnKind", "ColumnLook", "Look", "ProposedGrouping", "Telling", "ValueCount", "look"]
