"""What no robust mechanism keeps more than."""

import numpy as np
import pytest
from catalogue import solved

import discreet as dc
from discreet.solvers.known_joint.refinement import refine
from discreet.solvers.problem import Effort, Problem
from discreet.solvers.robust.bands.search import search_bands
from discreet.solvers.robust.rescaling import highest, robust_bound
from discreet.uncertainty.extremes import largest, smallest


def drawn(c, k, n, seed=0):
    rng = np.random.default_rng(seed)
    cells = rng.dirichlet(np.full(c * k, 0.5))
    return dc.Joint.from_counts(rng.multinomial(n, cells).reshape(c, k), include_secret=True)


def strongest(ball, s, epsilon, rows):
    """Rows of mean one, as strong as A ≤ e^2ε B lets them be."""
    p, price = ball.conditional[s], np.exp(2 * epsilon)
    w = rows - (rows @ p)[:, None]
    rise = largest(w, p, ball.radii[s], ball.order).value
    fall = -smallest(w, p, ball.radii[s], ball.order).value
    strength = np.minimum((price - 1) / (rise + price * fall), 1 / -w.min(axis=1))
    return 1 + strength[:, None] * w


@pytest.mark.parametrize("order", [0.5, 1.0, 2.0, 5.0])
def test_no_row_of_a_secret_rises_above_the_highest_and_indicators_reach_it(order):
    """The planted fault believes in e^ε where two comparisons are needed."""
    ball = dc.Renyi(order, 0.05).around(drawn(3, 5, 2_000))
    others = np.random.default_rng(1).exponential(1, (300, 5))
    for s in range(3):
        seen = ball.conditional[s] > 0
        rows = strongest(ball, s, 0.4, np.vstack([np.eye(5)[seen], others]))[:, seen]
        top = highest(ball, 0.4)[s, seen]
        assert (rows <= top * (1 + 1e-9)).all()
        assert rows.max(axis=0) == pytest.approx(top)
        assert (rows > highest(ball, 0.2)[s, seen]).any()


@pytest.mark.parametrize("epsilon", [0.05, 0.3, 1.0, 4.0])
def test_between_what_is_found_and_what_is_kept_if_the_estimate_is_the_truth(epsilon):
    joint, notion = drawn(4, 4, 500), dc.RLDP(epsilon, dc.ChiSquare(0.9))
    bound = robust_bound(joint, notion, Effort())
    known = solved(refine, Problem.of(joint, dc.RLDP(epsilon, dc.Exactly())))
    assert solved(search_bands, Problem.of(joint, notion), time_limit=3.0).value <= bound <= known.upper_bound + 1e-9
    assert epsilon > 0.5 or bound < 0.97 * known.value
    assert robust_bound(joint, dc.RLDP(epsilon, dc.Exactly()), Effort()) == pytest.approx(known.upper_bound, abs=1e-6)


def test_secrets_and_letters_never_seen_do_not_matter_to_the_bound():
    counts = np.array([[300, 200, 100], [50, 400, 250]])
    padded = np.vstack([np.hstack([counts, np.zeros((2, 1))]), np.zeros((1, 4))]).astype(int)
    bounds = [
        robust_bound(dc.Joint.from_counts(table, include_secret=True), dc.RLDP(0.2, dc.Renyi(2.0, 0.01)), Effort())
        for table in (counts, padded)
    ]
    assert np.isfinite(bounds).all()
    assert bounds[0] == pytest.approx(bounds[1], rel=1e-6)
