"""The walk lists exactly the vertices, says so only when it can prove it, and hands out permitted rows."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from discreet.exceptions import InfeasibleError, UnfinishedError
from discreet.solvers.vertices.walk import lifted_ratios, list_vertices, mixed_inside, polyhedron_of

sys.path.insert(0, str(Path(__file__).parent))
from small_cones import Floats, every_vertex, ldp, lip, table_of


def furthest(rows: Floats, others: Floats) -> float:
    """How far a row may be from the nearest of the others."""
    return float(np.abs(rows[:, None] - others[None]).max(axis=2).min(axis=1).max())


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("secrets", "letters"), [(2, 5), (3, 4), (3, 6), (4, 5)])
def test_the_list_is_every_vertex(seed: int, secrets: int, letters: int) -> None:
    prior, rows = lip(table_of(seed, secrets, letters), 0.4)
    found = list_vertices(polyhedron_of(prior, rows))
    permitted = found.permitted(np.arange(len(found)))
    brute = every_vertex(prior, rows)
    assert furthest(brute, permitted) < 1e-6
    assert furthest(permitted, brute) < 1e-6
    assert (rows @ permitted.T).max() <= 1e-14
    assert permitted.min() >= 0
    assert np.abs(permitted @ prior - 1).max() < 1e-12
    assert np.diff(found.posteriors.indptr).max() <= secrets


def test_the_lifted_list_covers_every_vertex_of_ldp() -> None:
    table = table_of(3, 3, 5)
    prior, rows = ldp(table, 0.6)
    lifted, start = lifted_ratios(table / table.sum(axis=1, keepdims=True), 0.6)
    found = list_vertices(polyhedron_of(prior, lifted, start))
    permitted = found.permitted(np.arange(len(found)))
    assert (rows @ permitted.T).max() <= 1e-14
    assert furthest(every_vertex(prior, rows), permitted) < 1e-6


def degenerate() -> tuple[Floats, Floats]:
    """Letters alike in pairs: many conditions meet in one vertex."""
    table = np.array([[4.0, 4, 1, 1, 2, 2], [1, 1, 4, 4, 2, 2], [2, 2, 2, 2, 2, 2]])
    return lip(table / table.sum(), np.log(2.0) / 2)


def test_a_degenerate_polytope_is_refused_unless_it_is_pushed() -> None:
    """Planted fault: without the push the same polytope has ties, and the walk's own check must see them."""
    prior, rows = degenerate()
    doubled = polyhedron_of(prior, np.vstack([rows, rows]))
    assert len(list_vertices(polyhedron_of(prior, rows))) > 0
    assert len(list_vertices(doubled)) > 0
    with pytest.raises(UnfinishedError, match="proven complete"):
        list_vertices(replace(doubled, push=np.zeros(len(doubled.push))))


def test_a_push_below_rounding_is_refused() -> None:
    """Planted fault: ties broken by 1e-15 are rounding, whatever order the walk then finds."""
    prior, rows = degenerate()
    doubled = polyhedron_of(prior, np.vstack([rows, rows * (1 + 1e-9)]))
    with pytest.raises(UnfinishedError, match="proven complete"):
        list_vertices(replace(doubled, push=doubled.push * 1e-8))


def test_a_degenerate_polytope_pushed_is_listed_rightly() -> None:
    prior, rows = degenerate()
    found = list_vertices(polyhedron_of(prior, rows))
    permitted = found.permitted(np.arange(len(found)))
    assert (rows @ permitted.T).max() <= 1e-14
    assert furthest(every_vertex(prior, rows), permitted) < 1e-6


def test_limits_hold() -> None:
    prior, rows = lip(table_of(1, 6, 12), 0.5)
    with pytest.raises(UnfinishedError, match="more extreme rows"):
        list_vertices(polyhedron_of(prior, rows), most=20)
    with pytest.raises(UnfinishedError, match="more extreme rows"):
        list_vertices(polyhedron_of(prior, rows), seconds=0.0)


def test_no_interior_is_refused() -> None:
    prior, rows = lip(table_of(1, 3, 5), 0.0)
    with pytest.raises(InfeasibleError):
        polyhedron_of(prior, rows)
    with pytest.raises(InfeasibleError):
        polyhedron_of(np.array([0.5, 0.5, 0.0]), np.zeros((0, 3)))


def test_a_row_a_little_outside_is_brought_inside() -> None:
    prior, rows = lip(table_of(2, 3, 5), 0.4)
    polyhedron = polyhedron_of(prior, rows)
    vertex = every_vertex(prior, rows)[0]
    outside = 1 + (vertex - 1) * (1 + 1e-6)
    assert (rows @ outside).max() > 1e-10 or outside.min() < 0
    inside = mixed_inside(polyhedron, (outside * prior)[None, :], np.zeros((1, 0)))[0]
    assert (rows @ inside).max() <= 1e-15
    assert inside.min() >= 0
    assert np.abs(inside - vertex).max() < 1e-4
