"""Privacy notions, one short file each: the cone of permitted rows, and the exact level of a channel."""

from discreet.notions.cone import Cone
from discreet.notions.ldp import LDP
from discreet.notions.level import Level, Notion, Witness, allows
from discreet.notions.lip import LIP
from discreet.notions.ordinary import OrdinaryLDP
from discreet.notions.srlip import SRLIP

__all__ = ["LDP", "LIP", "SRLIP", "Cone", "Level", "Notion", "OrdinaryLDP", "Witness", "allows"]
