"""Uncertainty sets F around an estimate, and the worst case in them (robust-2 section 4).

Problem: how large and how small a mean P(·|s)·v can be over F, and how far two secrets can be told apart by one P in F.
Theorem: exact limits per secret, filled greedily (theory 5); a Rényi ball is a budget that secrets share (theory 1.7).
Entrance: `Confidence`, `ChiSquare`, `Renyi`, `Everything`, `Exactly`; `around(joint)` gives F; `SETS` has all by name.
Size: hundreds of letters and pairs of secrets in milliseconds; bounds leave few pairs to be solved exactly.
Proves: nothing in integers; but every ν gives a valid upper bound, so a bad search costs utility, never privacy.
"""

from importlib import import_module
from pkgutil import iter_modules

# isort: off
# The order of `SETS`, and so of the schema.
from discreet.uncertainty.uncertainty import SETS, SetWords, Uncertainty, UncertaintySet, registered_set, set_words
from discreet.uncertainty.renyi_ball import RenyiBall
from discreet.uncertainty.sets import ChiSquare, Everything, Exactly, Renyi, ball_around
from discreet.uncertainty.confidence import Confidence
from discreet.uncertainty.intervals import Intervals, IntervalSet
# isort: on

for module in iter_modules(__path__):
    import_module(f"{__name__}.{module.name}")

__all__ = [
    "SETS",
    "ChiSquare",
    "Confidence",
    "Everything",
    "Exactly",
    "IntervalSet",
    "Intervals",
    "Renyi",
    "RenyiBall",
    "SetWords",
    "Uncertainty",
    "UncertaintySet",
    "ball_around",
    "registered_set",
    "set_words",
]
