"""Releases: from a table to a released table, exactly as the protocol says and in no other way."""

from discreet.release.count import joint_of_file
from discreet.release.frames import sanitise
from discreet.release.run import Job, Outcome, sanitise_file

__all__ = ["Job", "Outcome", "joint_of_file", "sanitise", "sanitise_file"]
