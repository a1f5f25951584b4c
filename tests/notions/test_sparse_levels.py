"""Every notion has the same level for a channel with all entries and for one with those that are not zero."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from discreet import Channel, ChiSquare, Confidence, Everything, Exactly, Joint, Renyi
from discreet.joint import Form
from discreet.notions import NOTIONS, RLDP, RLIP
from discreet.notions.notion import AVERAGES
from discreet.uncertainty.grouped_rows import grouped_rows

SETS = (ChiSquare(0.95), Renyi(0.3, 0.01), Renyi(1.0, 0.02), Renyi(2.0, 0.05), Renyi(2.0, 0.6), Exactly(), Everything())


def example(seed: int, form: Form, silent: bool) -> tuple[Channel, Channel, Joint]:
    """A sparse channel and the dense one that it stands for: letters without a column are released like the average."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 40, (3, 2, 4))
    counts[rng.random(counts.shape) < 0.2] = 0
    counts[0, 0, 0] = 5
    if silent:
        counts[:, 1, 2] = 0
    joint = replace(Joint.from_counts(counts), form=form)
    a = len(joint.letters)
    matrix = rng.random((9, a)) * (rng.random((9, a)) < 0.35) + 1e-3 * (np.arange(9)[:, None] == 0)
    if seed % 2:
        matrix[1] = rng.random(a)  # one row without zeros
    matrix /= matrix.sum(axis=0)
    nobody = np.flatnonzero(joint.prior == 0) if silent else np.zeros(0, np.intp)
    matrix[:, nobody] = 0.0
    thin = Channel(sparse.csr_array(matrix), joint.letters)
    matrix[:, nobody] = (matrix @ joint.prior)[:, None]
    return thin, Channel(matrix, joint.letters), joint


def same(one: float, other: float) -> bool:
    return one == other or abs(one - other) < 1e-9 * (1 + abs(other))


@pytest.mark.parametrize("form", list(Form))
@pytest.mark.parametrize("silent", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_levels_agree(seed: int, form: Form, silent: bool) -> None:
    thin, dense, joint = example(seed, form, silent)
    notions = [found for kind in NOTIONS.values() if (found := kind.audited(Confidence(0.9))) is not None]
    notions += [kind.asked(1.0, confidence=0.5) for kind in AVERAGES.values()]
    notions += [RLDP(1.0, known) for known in SETS]
    for notion in notions:
        mine, theirs = notion.level(thin, joint), notion.level(dense, joint)
        assert same(mine.epsilon, theirs.epsilon), notion


def test_a_finite_robust_level_is_that_of_the_worst_law_found() -> None:
    _, dense, joint = example(1, Form.FUNNEL, False)
    kept = sparse.csr_array(np.where(dense.matrix > 0, dense.matrix, 0.0) * 0.5 + 0.5 / 9)
    for known in SETS[:4]:
        level = RLDP(1.0, known).level(Channel(kept, joint.letters), joint)
        assert 0 < level.epsilon < np.inf
        assert level.witness is not None
        assert level.witness.distribution is not None
        cells = level.witness.distribution
        conditionals = cells / cells.sum(axis=1, keepdims=True)
        s, t = (joint.secret_letters.index(secret) for secret in (level.witness.secret, level.witness.other))
        row = kept.toarray()[level.witness.output]
        assert np.log(row @ conditionals[s] / (row @ conditionals[t])) == pytest.approx(level.epsilon, rel=1e-5)


def test_groups_that_lose_a_letter_are_noticed() -> None:
    """The control: laws of groups add up to one; without the group of zeros they would not, and levels would differ."""
    thin, _, joint = example(2, Form.FUNNEL, True)
    zeros = 0.0
    for groups in grouped_rows(thin.entries, joint, ChiSquare(0.95).around(joint)):
        zeros += groups.laws[:, :, -2].sum()
        assert np.allclose(groups.laws.sum(axis=2), 1)
        means = (groups.values * groups.laws).sum(axis=2)
        assert np.allclose(means, thin.matrix[groups.outputs] @ joint.release_given_secret.T)
    assert zeros > 1


def test_rows_of_a_robust_interval_set_agree() -> None:
    thin, dense, joint = example(3, Form.FUNNEL, True)
    for notion in (RLIP(1.0, Confidence(0.9)), RLDP(1.0, Confidence(0.9))):
        assert same(notion.level(thin, joint).epsilon, notion.level(dense, joint).epsilon)
