"""The command line: `discreet design | sanitise | audit | report | demo`."""

from discreet.cli.app import main

__all__ = ["main"]
