"""Rényi balls and many letters: one curve for all secrets, rows for each apart, glued by a shared uniform.

Problem: (ε, F)-RLDP on (S, U) where F is a ball with one budget for all secrets.
Theorem: rows whose extremes lie between φ(x) and e^ε φ(x) at every share x of the budget are permitted (theory 1.8).
Entrance: `search.search_bands`.
Size: 2,400 letters, some fifty secrets.
Proves: nothing about optimality; bounds are in `rescaling` (theory 1.9), the level in `certify.ball_proof`.
"""
