"""Privacy notions, one short file each.

Problem: which rows of a mechanism tell too little about the secret to matter, and how much a given mechanism tells.
Theorem: a notion is a convex cone of rows (theory 1); a mechanism satisfies it when all of its rows lie in the cone.
Entrance: `LDP`, `LIP`, `RLDP`, `PML` and the others below; `NOTIONS` has all notions of this folder by name.
Size: levels of 10,000 outputs and 1,000 letters within a second; conditions are listed, or found as they are needed.
Proves: nothing; levels are floats that are exact up to rounding. Proofs in integers are made by `certify`.
"""

from importlib import import_module
from pkgutil import iter_modules

# isort: off
# The order in which audits, pages and the schema list the notions.
from discreet.notions.notion import NOTIONS, Average, Cone, Level, Notion, Witness, Words, allows, registered, words_of
from discreet.notions.ldp import LDP
from discreet.notions.lip import LIP
from discreet.notions.srlip import SRLIP
from discreet.notions.ordinary_ldp import OrdinaryLDP
from discreet.notions.rldp import RLDP
from discreet.notions.rlip import RLIP
from discreet.notions.pml import PML
from discreet.notions.alip import ALIP
from discreet.notions.shift import Shift
from discreet.notions.perfect import Perfect
# isort: on

for module in iter_modules(__path__):
    import_module(f"{__name__}.{module.name}")

__all__ = [
    "ALIP",
    "LDP",
    "LIP",
    "NOTIONS",
    "PML",
    "RLDP",
    "RLIP",
    "SRLIP",
    "Average",
    "Cone",
    "Level",
    "Notion",
    "OrdinaryLDP",
    "Perfect",
    "Shift",
    "Witness",
    "Words",
    "allows",
    "registered",
    "words_of",
]
