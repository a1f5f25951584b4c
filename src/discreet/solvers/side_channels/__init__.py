"""SRLIP: the promise towards somebody who already knows some of the released columns.

Problem: conditions for every set of columns and every value of it, far more than letters.
Theorem: a product of mechanisms is SRLIP at the sum of safe levels; fewer conditions bound from above (theory 1.5).
Entrance: `attribute_budgets.safe_product` and `audited_product`; `disclosure_bound.disclosure_bound`.
Size: products to 20,000 letters and beyond; the bound to some hundred.
Proves: the bound; a product proves its level, not that it is the best.
"""
