"""Rows of different secrets become outputs by a shared uniform (theory 1.6, 5.5).

All secrets of a kind lay their rows along [0, W]; a cell of the common refinement is an output. Secrets come in order
of p_s times the spread of t_s; each lays its rows in ascending order of t_s along the cells in descending order of the
t̄ so far, so that t̄ is nearly constant and little is lost in E[h(t̄)]. For a curator all rows lie in the order of the
letters they favour, so that outputs tell letters whatever the secret is.
"""

from __future__ import annotations

import numpy as np

from discreet.arrays import Floats
from discreet.solvers.robust.intervals.lists import Secret
from discreet.solvers.robust.intervals.plan import Kind, Planned

THINNEST = 1e-11
"""Shares of a plan below this are what the linear program leaves of zero."""


def glued(plan: Planned, secrets: list[Secret], kinds: list[Kind], *, by_letter: bool = False) -> Floats:
    """Outputs, one row per secret each."""
    outputs = []
    for g, kind in enumerate(kinds):
        for t in range(1 if kind.even else len(secrets)):
            if plan.shares[g, t] > THINNEST:
                outputs.append(_one_kind(plan, secrets, g, None if kind.even else t, by_letter))
    return np.concatenate([part for part in outputs if len(part)])


def _one_kind(plan: Planned, secrets: list[Secret], g: int, t: int | None, by_letter: bool) -> Floats:
    """The outputs of one kind; every secret's weights are scaled to one."""
    layers = []
    for s, secret in enumerate(secrets):
        mine = (plan.kind == g) & (plan.secret == s) & (plan.wide == (s == t))
        if not mine.any():
            return np.zeros((0, len(secrets), plan.rows.shape[1]))
        rows, weights = plan.rows[mine], plan.weights[mine] / plan.weights[mine].sum()
        means = rows @ secret.estimate
        favoured = (rows * secret.estimate).argmax(axis=1)
        order = np.argsort(favoured if by_letter else means, kind="stable")
        spread = np.sqrt(weights @ (means - weights @ means) ** 2)
        layers.append((-secret.mass * spread, s, rows[order], weights[order], means[order]))
    layers.sort(key=lambda layer: layer[:2])
    widths, level = np.ones(1), np.zeros(1)
    chosen = np.zeros((1, len(secrets)), dtype=np.intp)
    for _, s, _, weights, means in layers:
        order = np.arange(len(level)) if by_letter else np.argsort(-level, kind="stable")
        widths, level, chosen = widths[order], level[order], chosen[order]
        ends = np.concatenate([np.cumsum(widths), np.cumsum(weights)])
        cuts = np.unique(np.round(np.concatenate([[0.0], np.minimum(ends, 1.0), [1.0]]), 13))
        middles = (cuts[1:] + cuts[:-1]) / 2
        old = np.minimum(np.searchsorted(np.cumsum(widths), middles), len(widths) - 1)
        new = np.minimum(np.searchsorted(np.cumsum(weights), middles), len(weights) - 1)
        widths, level, chosen = np.diff(cuts), level[old] + secrets[s].mass * means[new], chosen[old].copy()
        chosen[:, s] = new
    kept = widths > THINNEST
    outputs = np.empty((int(kept.sum()), len(secrets), plan.rows.shape[1]))
    for _, s, rows, _, _ in layers:
        outputs[:, s] = rows[chosen[kept, s]]
    return outputs
