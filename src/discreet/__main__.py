"""`python -m discreet`: the command line, where its own name is not on the path."""

from discreet.cli import main

main()
