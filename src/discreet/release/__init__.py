"""Releases: from a table to a released table, exactly as the protocol says and in no other way.

Problem: draw every record's output from Q[·, z] exactly, and let nothing else of it, nor its place, be seen.
Theorem: theory 4: a value outside the alphabet, drawn from the population's law, and a repeated draw tell nothing new.
Entrance: `rehearse` draws nothing; `sanitise` for tables, `sanitise_file` for files; `ledger` counts what was released.
Size: files of any size in under 1 GB. Proves: the level of all releases of the same records together, rounded up.
"""

from discreet.records.counting import joint_of_file
from discreet.release.batch_stream import sanitise_batches
from discreet.release.check import Check
from discreet.release.rehearse import rehearse, rehearse_file
from discreet.release.sanitise import Job, Outcome, sanitise, sanitise_file
from discreet.release.whose_rows import RowsAsked

__all__ = [
    "Check",
    "Job",
    "Outcome",
    "RowsAsked",
    "joint_of_file",
    "rehearse",
    "rehearse_file",
    "sanitise",
    "sanitise_batches",
    "sanitise_file",
]
