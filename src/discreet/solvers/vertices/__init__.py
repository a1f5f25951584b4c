"""What analysts get from a release: rows and weights of least variance, alone or beside information (theory 6).

Problem: minimise tr C(M⁻¹ − ppᵀ), M = Σ q v vᵀ, over permitted rows v and weights q with Σ q v = 1.
Theorem: Balinski, a list closed under edges is complete; and ψ* ≥ [tr (C^½AC^½)^½]² / max(wᵀAw − λ·w) for every A ⪰ 0.
Entrance: `accurate_rows.accurate_rows`; on a list `balance_curve.BalanceCurve` and `largest_effect.smallest_largest`.
Size: every extreme row up to two million of them; beyond that climbing and moments, up to about 300 letters.
Proves: a lower bound on the variance of every permitted mechanism, and an upper bound on the information of every one.
"""
