"""Two secrets: LDP or LIP is one condition with two ends, and the best outputs are single letters and pairs.

Problem: split the prior into letters within a band and pairs whose average lies at one of its ends.
Theorem: pairing in the order of the letters is best; the best pair at any prices takes n log n (theory 1.2, 10.3).
Entrance: `pair_generation.generate_pairs`.
Size: a hundred thousand letters.
Proves: the optimum, to 1e-6 and less.
"""
