"""funnel-1: The Privacy Funnel from the Viewpoint of Local Differential Privacy (ICDS 2020). The journal has it all."""

from __future__ import annotations

from discreet.papers.experiment import Item
from discreet.papers.funnel_2 import figure_3, figure_4

ITEMS = (
    Item("funnel-1/figure-3", "LDP against LIP at the same ε, c = 2, a = 5", figure_3.same_level),
    Item("funnel-1/figure-4", "ε-LDP against ε/2-LIP, c = 2, a = 5", figure_3.half_level),
    Item("funnel-1/figure-5", "SRLIP against LIP, c = 2, X of 3 × 3 × 4 values", figure_4.against_lip),
)
