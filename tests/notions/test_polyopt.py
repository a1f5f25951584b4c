"""PolyOpt's polytope: the printed matrix lies in it, and it lies inside RLDP."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.joint import Joint
from discreet.notions.notion import allows
from discreet.notions.polyopt import polyopt_cone, polyopt_rows
from discreet.notions.rldp import RLDP
from discreet.testing import epsilons, joints
from discreet.uncertainty import ChiSquare

EXAMPLE = Joint.from_counts([[7, 10], [26, 57]], include_secret=True)


PRINTED = np.array(
    [
        [0.0885, 0.3840, 0.6667, 0.0507],
        [0.0860, 0.3731, 0, 0.3080],
        [0.6162, 0.1813, 0, 0.6159],
        [0.2094, 0.0616, 0.3333, 0.0254],
    ]
)


def test_the_rows_of_example_3_lie_in_the_polytope() -> None:
    """Definition 3 with the corrected L; the matrix was computed with the right value."""
    rows = polyopt_rows(EXAMPLE, RLDP(np.log(2), ChiSquare(0.95)), same_secret=True)
    assert rows.shape == (16, 4)
    assert (rows @ PRINTED.T).max() < 1e-4


@settings(deadline=None, max_examples=30)
@given(joints(include_secret=True), epsilons, st.booleans(), st.integers(0, 10**6))
def test_the_polytope_lies_inside_rldp_and_both_its_forms_agree(
    joint: Joint, epsilon: float, same_secret: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    notion = RLDP(epsilon, ChiSquare(0.9))
    listed, lazy = polyopt_rows(joint, notion, same_secret), polyopt_cone(joint, notion, same_secret)
    for _ in range(5):
        row = 1 + rng.uniform(0, 3) * rng.random(len(joint.letters))
        scale = np.abs(listed * row).sum(axis=1)
        inside = bool((listed @ row <= 1e-11 * scale).all())
        assert inside == (lazy.excess(row) <= 1e-11)
        if inside:
            assert allows(notion, row, joint, tolerance=1e-9)
