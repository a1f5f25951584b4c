"""robust-2: Mechanisms for Robust Local Differential Privacy (Entropy 26, 2024)."""

from __future__ import annotations

from discreet.papers.experiment import Item
from discreet.papers.robust_2 import examples, figure_2, figures_3_5, realised_level, table_2

ITEMS: tuple[Item, ...] = (
    Item("robust-2/example-1", "a chi-square set around 100 records", examples.first),
    Item("robust-2/example-2", "its projections, bounds and radii", examples.second),
    Item("robust-2/example-3", "PolyOpt by vertices and a linear program", examples.third),
    Item("robust-2/example-4", "GRR and SRR", examples.fourth),
    Item("robust-2/example-5", "Independent Reporting", examples.fifth),
    Item("robust-2/figure-2", "Adult: four pairs of attributes", figure_2.four_pairs),
    Item("robust-2/figure-3", "synthetic data of four sizes", figures_3_5.four_sizes),
    Item("robust-2/figure-4", "the realised privacy parameter ε*", realised_level.realised),
    Item("robust-2/figure-5", "utility under P̂ against utility under P*", figures_3_5.utility_robustness),
    Item("robust-2/table-2", "the impact of β", table_2.betas),
)
