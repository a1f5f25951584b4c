"""The command line: `discreet demo | design | sanitise | audit | estimate | report | papers`."""

from discreet.cli.app import main

__all__ = ["main"]
