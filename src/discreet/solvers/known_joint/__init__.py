"""X = (S, U) with a known distribution, and reports on the secret alone: what has a closed form.

Problem: the most information about (S, U) while S keeps LDP or LIP.
Theorem: I* = I*(S; ε) + H(U|S): the best report on S, and all of U by a common refinement (theory 1.6).
Entrance: `refinement.refine`; `secret_report.report_secret` for S alone.
Size: the cells of the table for the refinement; some hundred secrets for the report.
Proves: the optimum.
"""
