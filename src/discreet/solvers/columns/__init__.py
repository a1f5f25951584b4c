"""Column generation with exact pricing: any cone, any separable or piecewise linear utility.

Problem: maximise Σ q_y μ(v_y) with Σ q_y v_y = 1 over permitted rows, without listing their vertices.
Theorem: for any prices α, Σ α + max(μ(v) − α·v) bounds every mechanism; chords bound the maximum (theory 1.3–4).
Entrance: `generation.generate_columns`.
Size: to a hundred letters proven to 1e-6 in seconds; beyond, the best found and its gap. Averages and tasks too.
Proves: an upper bound on the value of every permitted mechanism.
"""
