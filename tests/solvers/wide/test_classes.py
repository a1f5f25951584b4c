"""Classes of letters: nothing is lost by solving them as one, and unfolding gives every letter its mass."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import discreet as dc
from discreet.solvers.wide.classes import LetterClasses


def repeated(seed: int, letters: int = 6) -> dc.Joint:
    """A joint in which every posterior of the secret occurs for several letters of different mass."""
    rng = np.random.default_rng(seed)
    base = rng.integers(1, 6, size=(3, letters))
    return dc.Joint.from_counts(np.hstack([base, 2 * base[:, :4], 5 * base[:, 1:3]]))


def test_letters_of_equal_posterior_are_one_class() -> None:
    classes = LetterClasses.of(repeated(0))
    assert classes.size == 6
    assert len(classes.letters) == 12
    assert classes.prior.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("notion", [dc.LIP(0.4), dc.LDP(0.4)])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_kept_is_that_of_the_classes_and_all_inside_them(seed: int, notion: dc.LIP | dc.LDP) -> None:
    """I* = I*(T) + H(X | T), both sides by the exact search over all letters or all classes (theory 10.1)."""
    joint = repeated(seed)
    classes = LetterClasses.of(joint)
    merged = np.zeros((3, classes.size))
    np.add.at(merged.T, classes.of_letter, joint.table[:, classes.letters].T)
    together = dc.design(dc.Joint(merged), notion, method="columns").utility
    assert dc.design(joint, notion, method="columns").utility == pytest.approx(together + classes.inside, abs=3e-6)


@pytest.mark.parametrize("seed", range(4))
def test_unfolding_splits_every_letter_and_loses_nothing(seed: int) -> None:
    joint = repeated(seed)
    classes = LetterClasses.of(joint)
    rng = np.random.default_rng(seed)
    masses = rng.dirichlet(np.ones(5), size=classes.size).T * classes.prior  # any split of the classes over 5 outputs
    weights = masses.sum(axis=1)
    posteriors = sparse.csr_array(masses / weights[:, None])
    rows, parts = classes.unfolded(posteriors, weights)
    assert parts @ rows == pytest.approx(np.ones(len(classes.letters)), abs=1e-9)
    assert rows.shape[0] <= 5 + len(classes.letters) - classes.size
    for row in rows.toarray():  # one letter of each class at most
        used = classes.of_letter[row > 0]
        assert len(set(used.tolist())) == len(used)
    entropy = float(
        sum(q * -np.sum(w[w > 0] * np.log(w[w > 0])) for q, w in zip(weights, posteriors.toarray(), strict=True))
    )
    letters = rows.toarray() * classes.masses
    after = float(sum(q * -np.sum(w[w > 0] * np.log(w[w > 0])) for q, w in zip(parts, letters, strict=True)))
    assert after == pytest.approx(entropy, abs=1e-9)
