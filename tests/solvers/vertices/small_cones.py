"""Small cones as plain arrays, and their vertices by trying every basis."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def table_of(seed: int, secrets: int, letters: int) -> Floats:
    table = np.random.default_rng(seed).gamma(1.0, size=(secrets, letters)) + 0.02
    return table / table.sum()


def lip(table: Floats, epsilon: float) -> tuple[Floats, Floats]:
    """Prior and conditions of e^−ε ≤ t_s ≤ e^ε."""
    prior, given = table.sum(axis=0), table / table.sum(axis=1, keepdims=True)
    return prior, np.vstack([given - np.exp(epsilon) * prior, np.exp(-epsilon) * prior - given])


def ldp(table: Floats, epsilon: float) -> tuple[Floats, Floats]:
    prior, given = table.sum(axis=0), table / table.sum(axis=1, keepdims=True)
    pairs = [(i, j) for i in range(len(given)) for j in range(len(given)) if i != j]
    return prior, np.array([given[i] - np.exp(epsilon) * given[j] for i, j in pairs])


def curator(table: Floats, epsilon: float) -> tuple[Floats, Floats, Floats]:
    """Prior over (s, x), LIP conditions, and the averaging over x."""
    secrets, letters = table.shape
    flat = table.ravel()
    secret, letter = np.repeat(np.arange(secrets), letters), np.tile(np.arange(letters), secrets)
    given = np.where(secret[None, :] == np.arange(secrets)[:, None], flat / table.sum(axis=1)[secret], 0.0)
    rows = np.vstack([given - np.exp(epsilon) * flat, np.exp(-epsilon) * flat - given])
    averaging = np.where(letter[:, None] == np.arange(letters), (flat / table.sum(axis=0)[letter])[:, None], 0.0)
    return flat, rows, averaging


def every_vertex(prior: Floats, rows: Floats) -> Floats:
    """Every choice of tight conditions, solved and tested."""
    letters = len(prior)
    conditions = np.vstack([rows, -np.eye(letters)])
    scale = np.abs(conditions).max(axis=1)
    found = []
    for tight in combinations(range(len(conditions)), letters - 1):
        system = np.vstack([prior, conditions[list(tight)]])
        if abs(np.linalg.det(system / np.abs(system).max(axis=1, keepdims=True))) < 1e-12:
            continue
        row = np.linalg.solve(system, np.eye(letters)[0])
        if (conditions @ row <= 1e-9 * scale).all():
            found.append(row)
    return np.unique(np.round(found, 7), axis=0)
