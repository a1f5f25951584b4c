"""Robust LDP and LIP: the promise for every distribution of a set around the estimate.

Problem: the most information under P̂ while every P in F keeps the level.
Theorem: the worst P for one row is an oracle, so cuts and columns reach the optimum (theory 1.7); beyond few letters
bands, polishing and intervals (theory 1.8, 5.5–7).
Entrance: `portfolio` for Rényi balls, `intervals.search` for exact confidence limits.
Size: the optimum to 16 letters; the best found and a bound to thousands.
Proves: bounds; levels are proven in `certify`.
"""
