"""funnel-2: Data Sanitisation Protocols for the Privacy Funnel with Differential Privacy Guarantees (2020)."""

from __future__ import annotations

from discreet.papers.experiment import Item
from discreet.papers.funnel_2 import figure_3, figure_4, figures_5_8, figures_6_7

ITEMS = (
    Item("funnel-2/figure-3a", "LDP against LIP at the same ε, c = 2, a = 5", figure_3.same_level),
    Item("funnel-2/figure-3b", "ε-LDP against ε/2-LIP, c = 2, a = 5", figure_3.half_level),
    Item("funnel-2/figure-4", "SRLIP against LIP, c = 2, X of 3 × 3 × 4 values", figure_4.against_lip),
    Item("funnel-2/figure-5", "Adult: optimum, GRR, CR and OUE under LIP", figures_5_8.utilities),
    Item("funnel-2/figure-6", "GRR against CR on synthetic data of six sizes", figures_6_7.six_sizes),
    Item(
        "funnel-2/figure-7",
        "difference in α against difference in utility, a = c = 5",
        figures_6_7.strength_differences,
    ),
    Item("funnel-2/figure-8", "Adult: α of GRR and of CR for a given ε", figures_5_8.strengths),
)
