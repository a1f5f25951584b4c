"""The promise from end to end: a private table first, a mechanism learnt from it afterwards (theory 5.4).

By enumeration: three records of two secrets and two letters, the others of any joint law, m and Q_m anything.
"""

import numpy as np

CASES, BATCH = 10_000, 500
SECRETS, LETTERS, OTHERS = 2, 2, 2
CELLS = SECRETS * LETTERS


def end_to_end(rng: np.random.Generator, epsilon: float, tables: int) -> tuple[np.ndarray, np.ndarray]:
    """ln of the largest Pr[m, y|s] / Pr[m, y|s'] over y, and of the largest P(y_i|s)/P(y_i|s') beside it; for m drawn
    `tables` times from one table of counts."""
    a = np.exp(-epsilon / 2)
    law = rng.dirichlet(np.full(CELLS**OTHERS, 0.3), BATCH).reshape(BATCH, CELLS, CELLS)
    if rng.random() < 0.3:
        law = np.eye(CELLS**OTHERS)[rng.integers(CELLS**OTHERS, size=BATCH)].reshape(BATCH, CELLS, CELLS)
    conditional = rng.dirichlet(np.full(LETTERS, 0.5), (BATCH, SECRETS))
    reported = rng.integers(-2, 5, (BATCH, tables, CELLS))
    q = rng.dirichlet(np.full(2, 0.7), (BATCH, CELLS))
    mine, first, second = np.meshgrid(*[np.arange(CELLS)] * 3, indexing="ij")
    counts = np.eye(CELLS)[mine] + np.eye(CELLS)[first] + np.eye(CELLS)[second]
    distance = np.abs(reported[:, :, None, None, None] - counts).sum(axis=(1, -1))
    table = a**distance
    joint = np.einsum("bzfg,bfg,bzy,bfv,bgw->bzyvw", table, law, q, q, q).reshape(BATCH, SECRETS, LETTERS, 2, 2, 2)
    given = np.einsum("bsxyvw,bsx->bsyvw", joint, conditional)
    alone = np.einsum("bsxy,bsx->bsy", q.reshape(BATCH, SECRETS, LETTERS, 2), conditional)[..., None, None]
    whole = np.log(given) - np.log(given[:, ::-1])
    record = np.log(alone) - np.log(alone[:, ::-1])
    excess = (whole - record).reshape(BATCH, -1)
    return excess.max(axis=1), whole.reshape(BATCH, -1).max(axis=1)


def test_a_private_table_and_a_record_add_up_and_no_more():
    rng, largest = np.random.default_rng(0), 0.0
    for _ in range(CASES // BATCH):
        excess, _ = end_to_end(rng, 0.8, tables=1)
        assert excess.max() <= 0.8 + 1e-10
        largest = max(largest, float(excess.max()))
    assert largest > 0.8 - 1e-6


def test_a_table_drawn_twice_is_caught():
    excess, _ = end_to_end(np.random.default_rng(0), 0.8, tables=2)
    assert excess.max() > 0.8 + 1e-3
