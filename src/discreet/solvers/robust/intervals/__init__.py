"""Mechanisms that are RLDP or RLIP over confidence intervals.

Problem: the most information under P̂ while every P within the limits keeps the level.
Theorem: on (S, U) rows of three levels and kinds of outputs suffice; elsewhere the cone is a polyhedron (theory 5.5–7).
Entrance: `search.search_intervals`.
Size: (S, U) with bounds by lists up to 16 letters and for 42 secrets and more; whole rows to about 60 letters.
Proves: upper bounds for every mechanism, in floating point; the level is proven in `certify.interval_proof`.
"""
