"""The command line: `discreet demo | look | design | check | sanitise | publish | audit | estimate | report | …`.

The problem: stewards work with files, and scripts with exit codes and JSON.
The theorem: none; a command reads options, calls one function of the package and shows what it returns.
The entrance: `main`; `app` has the commands and the exit codes, one module has one command, `show` the tables.
The size it is for: that of the function called; what takes long says for how long, how good, and what is possible.
What it proves: nothing; nothing is written before the function called has proven it, and nothing replaced unasked.
"""

from discreet.cli.app import main

__all__ = ["main"]
