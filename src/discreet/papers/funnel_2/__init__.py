"""funnel-2: Data Sanitisation Protocols for the Privacy Funnel with Differential Privacy Guarantees (2020)."""

from __future__ import annotations

from discreet.papers.funnel_2 import adult, optimal, side_channels, synthetic
from discreet.papers.model import Item

ITEMS = (
    Item("funnel-2/figure-3a", "LDP against LIP at the same ε, c = 2, a = 5", optimal.same_level),
    Item("funnel-2/figure-3b", "ε-LDP against ε/2-LIP, c = 2, a = 5", optimal.half_level),
    Item("funnel-2/figure-4", "SRLIP against LIP, c = 2, X of 3 × 3 × 4 values", side_channels.against_lip),
    Item("funnel-2/figure-5", "Adult: optimum, GRR, CR and OUE under LIP", adult.utilities),
    Item("funnel-2/figure-6", "GRR against CR on synthetic data of six sizes", synthetic.six_sizes),
    Item("funnel-2/figure-7", "difference in α against difference in utility, a = c = 5", synthetic.strengths),
    Item("funnel-2/figure-8", "Adult: α of GRR and of CR for a given ε", adult.strengths),
)
