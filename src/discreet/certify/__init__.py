"""Proofs in exact arithmetic, by code that did not design the mechanism.

Problem: integer weights over 2^bits, a prior and a notion; does the notion hold at the stated level, without "about"?
Theorem: ratios of integers against e^ε rounded down; over a Rényi ball Hölder's inequality for any ν (theory 1.7).
Entrance: `prove`, `level_upper_bound`; `PROVERS` says how each notion is proven, and refuses those it does not know.
Size: a million weights for notions with finitely many conditions; robust notions take a search per pair of secrets.
Proves: what it accepts, from Python's integers and products of integers below 2^53. Nothing here imports a solver.
"""

from importlib import import_module
from pkgutil import iter_modules

from discreet.certify.exact_arithmetic import BITS, MAX_BITS, marginal_weights, round_columns
from discreet.certify.proof import PROVERS, Proof, ProofAttempt, Prover, level_upper_bound, prove, prover_of

for module in iter_modules(__path__):
    import_module(f"{__name__}.{module.name}")

__all__ = [
    "BITS",
    "MAX_BITS",
    "PROVERS",
    "Proof",
    "ProofAttempt",
    "Prover",
    "level_upper_bound",
    "marginal_weights",
    "prove",
    "prover_of",
    "round_columns",
]
