"""Tolerances that several rooms share, each with its reason. What only one room needs stands in that room."""

from __future__ import annotations

from typing import Final

USED: Final = 1e-12
"""Weights above this are in use. HiGHS leaves weights that mean zero at some 1e-16; an output that is drawn once in
1e12 records is worth less than rounding, and its row would only make the next system of equations worse."""

SPLITS: Final = 1e-9
"""How far Σ_y q_y v_y may be from one in a split that is handed out: what HiGHS may leave of an equation
(`linear_program.FEASIBLE`). Making a channel divides by the sum, so this costs utility and never privacy."""

BOUND_ROUNDING: Final = 1e-13
"""Added to a proven bound, relative to the sizes of its terms: sums of a few thousand doubles are off by less."""

PROOF_MARGIN: Final = 1e-9
"""The share of ε, or of e^ε, that robust mechanisms leave for the rounding of probabilities to integers, which moves
them by 2^-53 at most but is judged at the worst distribution of the set."""
