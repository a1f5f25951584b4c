"""The studio: a steward takes a table to a release in the browser, with a picture at every decision.

The problem: stewards are not programmers; a promise is chosen by people who see what it costs.
The theorem: none of its own; every number comes from a study, a check or a release, made in another process.
The entrance: `discreet studio`, that is `server.serve`; `site.studio_app` is the application without a socket.
The size it is for: one person on one machine, several tabs, tables of a million rows; this process stays small.
What it proves: nothing; what it draws is a proven protocol, refused exactly as on the command line.
"""
