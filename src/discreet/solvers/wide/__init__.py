"""Thousands of letters and several secrets: LDP and LIP on X, mutual information (theory 10).

Letters with the same posterior of the secret are solved as one and unfolded without loss (`classes`). Rows are vertices
with at most as many letters as there are secrets; walks along the edges find them by what they are really worth
(`vertex_walk`), a master program weighs them (`row_search`). Entrance: `search_classes`; to some 20,000 letters.
What nobody exceeds: a chord for every letter, always; the exact search of `columns` where classes are a few hundred.
"""
