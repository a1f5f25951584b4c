"""funnel-1: The Privacy Funnel from the Viewpoint of Local Differential Privacy (ICDS 2020). The journal has it all."""

from __future__ import annotations

from discreet.papers.funnel_2 import optimal, side_channels
from discreet.papers.model import Item

ITEMS = (
    Item("funnel-1/figure-3", "LDP against LIP at the same ε, c = 2, a = 5", optimal.same_level),
    Item("funnel-1/figure-4", "ε-LDP against ε/2-LIP, c = 2, a = 5", optimal.half_level),
    Item("funnel-1/figure-5", "SRLIP against LIP, c = 2, X of 3 × 3 × 4 values", side_channels.against_lip),
)
