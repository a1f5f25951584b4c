"""Proofs in exact arithmetic, by code that did not design the mechanism. Nothing here imports a solver."""

from discreet.certify.prove import Proof, level_upper_bound, prove
from discreet.certify.repair import Rounded, rounded
from discreet.certify.rounding import BITS, MAX_BITS, marginal_weights, round_columns

__all__ = [
    "BITS",
    "MAX_BITS",
    "Proof",
    "Rounded",
    "level_upper_bound",
    "marginal_weights",
    "prove",
    "round_columns",
    "rounded",
]
