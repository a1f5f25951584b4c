"""Secrets under bands: groups of letters, climbs, kinds of outputs, and what a state says it keeps."""

from dataclasses import replace

import numpy as np
import pytest

import discreet as dc
from discreet.information import utility
from discreet.solvers.problem import Effort
from discreet.solvers.robust.bands import search
from discreet.solvers.robust.bands.curves import Curves, again, pruned, split, splits, start, with_kinds
from discreet.solvers.robust.bands.rows import POOL, BandClimber, KindSettings, Splitter
from discreet.solvers.robust.bands.search import improve
from discreet.solvers.robust.bands.shapes import GROUPS, OtherSecrets, SecretUnderBand
from discreet.solvers.robust.gluing import cells
from discreet.solvers.robust.polishing import polished
from discreet.solvers.robust.rescaling import at_level
from discreet.uncertainty.extremes import largest
from discreet.uncertainty.sets import ball_around

NOTION = dc.RLDP(1.5, dc.ChiSquare(0.9))
PRICE = float(np.exp(1.5))


def drawn(c, k, seed=0, n=32_561, heavy=1.0):
    rng = np.random.default_rng(seed)
    cells = rng.dirichlet(np.full(c * k, 0.5)).reshape(c, k)
    cells[0] *= heavy
    return dc.Joint.from_counts(rng.multinomial(n, (cells / cells.sum()).ravel()).reshape(c, k), include_secret=True)


def never():
    return False


def secrets(joint, size=20):
    ball = ball_around(NOTION.uncertainty, joint)
    return ball, [SecretUnderBand(ball, s, splits(ball, size)) for s in range(len(ball.mass))]


def others_of(secret, kinds):
    """The others at their averages, varying on their own."""
    return OtherSecrets(np.full(kinds, 1 - secret.mass), np.ones(kinds), np.ones(kinds))


def test_a_row_that_is_constant_on_groups_moves_as_far_as_under_the_grouped_distribution():
    _, (secret, *_) = secrets(drawn(3, 2 * GROUPS))
    assert len(secret.p) == GROUPS
    assert secret.p.max() - secret.p.min() <= secret.ball.conditional[0].max()
    row = np.random.default_rng(1).uniform(0.1, 3, GROUPS)
    grouped = largest(row, secret.p, 0.3, 2.0).value
    spread = largest(row[secret.group], secret.ball.conditional[0, secret.letters], 0.3, 2.0).value
    assert grouped == pytest.approx(float(spread), rel=1e-9)
    ungrouped = secrets(drawn(3, GROUPS))[1][0]
    assert np.array_equal(ungrouped.p, ungrouped.ball.conditional[0, ungrouped.letters])


def test_what_is_left_of_a_constant_row_is_not_a_shape():
    _, (secret, *_) = secrets(drawn(3, 4))
    noisy = np.full((1, len(secret.p)), 0.7) + 1e-16 * np.arange(len(secret.p))
    assert not secret.shapes(noisy).w.any()
    assert secret.shapes(noisy + 1e-3 * np.eye(len(secret.p))[:1]).w.any()


@pytest.mark.parametrize("left", [0.0, 0.4, 1.0])
def test_slope_is_the_gradient_of_worth(left):
    _, (secret, *_) = secrets(drawn(4, 5))
    row, step = np.random.default_rng(2).uniform(0.2, 2, (1, len(secret.p))), 1e-6
    others = OtherSecrets(np.array([0.8]), np.array([1.1]), np.array([left]))
    moved = row + step * np.eye(len(secret.p))
    slope = (secret.worth(moved, others) - secret.worth(row, others)) / step
    assert slope == pytest.approx(secret.slope(row, others)[0], abs=1e-4)


def test_a_climb_ends_inside_the_band_and_no_lower_than_it_began():
    _, (secret, *_) = secrets(drawn(4, 6))
    (band,) = Curves.first(20, PRICE, heaviest=0).bands(1)
    prices = np.random.default_rng(3).normal(0, 0.3, len(secret.p)) * secret.p
    others = others_of(secret, 1).at(0)
    begin = np.vstack([np.ones(len(secret.p)), 1 + 0.1 * np.random.default_rng(4).uniform(-1, 1, len(secret.p))])
    found = BandClimber(secret).climb(band, prices, begin, others, never)
    assert len(found)
    shapes = secret.shapes(found)
    assert (shapes.strength(found @ secret.p, band) >= 1 - 1e-6).all()
    gains = secret.worth(found, others) - found @ prices
    assert gains.max() > (secret.worth(begin, others) - begin @ prices).max()


def test_every_splitting_adds_up_letter_by_letter_and_kind_by_kind():
    _, (secret, *_) = secrets(drawn(4, 5))
    splitter, curves = Splitter(secret), Curves.first(20, PRICE, heaviest=0)
    curves = curves.joined([curves.alone()])
    setting = KindSettings(curves.bands(0), np.array([0.7, 0.3]), others_of(secret, 2))
    splitter.search(setting, 3, 6, never)
    part = splitter.splitting(setting)
    assert part.weights @ part.rows == pytest.approx(np.ones(len(secret.p)), abs=1e-7)
    assert np.bincount(part.kind, part.weights) == pytest.approx(setting.shares, abs=1e-7)


@pytest.mark.parametrize("share", [1.0, 0.6, 0.0])
def test_whatever_is_forgotten_there_are_weights_that_add_up(share):
    """Rows of a kind without a share can all look better than those of the other."""
    _, (secret, *_) = secrets(drawn(4, 12))
    splitter, curves = Splitter(secret), Curves.first(20, PRICE, heaviest=0)
    curves = curves.joined([curves.alone()])
    setting = KindSettings(curves.bands(0), np.array([share, 1 - share]), others_of(secret, 2))
    splitter.search(setting, 1, 0, never)
    many = 1 + 0.01 * np.random.default_rng(5).uniform(-1, 1, (POOL, len(secret.p)))
    splitter.offer(secret.shapes(many), np.ones(POOL), 1)
    splitter._trim(np.where(splitter.kinds == 1, 0.0, -1.0))
    assert len(splitter.kinds) < POOL
    part = splitter.splitting(setting)
    assert np.bincount(part.kind, part.weights, 2) == pytest.approx(setting.shares, abs=1e-7)


def test_a_heavy_secret_earns_a_kind_of_its_own_and_the_value_said_is_kept():
    joint = drawn(12, 3, n=3_000, heavy=60.0)
    ball, every = secrets(joint, 60)
    splitters = [Splitter(secret) for secret in every]
    one = start(splitters, Curves.first(60, PRICE, int(ball.mass.argmax())), never)
    two = with_kinds(splitters, one, [one.curves.alone()], never)
    assert two.value > one.value * 1.001
    assert (two.draw.shares > 0.01).all()
    two = again(splitters, two, rounds=1, late=never)
    glued = search._glued(ball, splitters, two)
    channel = at_level(joint, NOTION, glued.widths, glued.rows.reshape(len(glued.widths), -1), grow=True)
    assert utility(joint, channel) == pytest.approx(two.value, rel=0.02)


def test_one_kind_made_into_two_keeps_more_and_rows_without_a_share_are_forgotten():
    ball, every = secrets(drawn(8, 12))
    splitters = [Splitter(secret) for secret in every]
    one = start(splitters, Curves.first(20, PRICE, int(ball.mass.argmax())), never)
    one = improve(splitters, one, free=False, region=0.05, steps=8, late=never)
    two = improve(splitters, split(splitters, one, 0.2, never), free=False, region=0.05, steps=8, late=never)
    more = improve(splitters, pruned(splitters, one), free=False, region=0.05, steps=8, late=never)
    assert (two.draw.shares > 0.05).all()
    assert two.value > more.value * 1.001
    assert {kind for splitter in splitters for kind in splitter.kinds} == {0}


def test_glued_secrets_make_up_for_each_other():
    """The negative control glues by means that are not theirs."""
    rng = np.random.default_rng(5)
    masses, weights = rng.dirichlet(np.full(12, 8.0)), list(rng.dirichlet(np.ones(17), 12))
    means = [t / (q @ t) for q, t in zip(weights, rng.uniform(0.5, 2, (12, 17)), strict=True)]

    def lost(believed):
        cut = cells(masses, weights, believed)
        total = sum(m * t[chosen] for m, t, chosen in zip(masses, means, cut.chosen.T, strict=True))
        assert cut.widths @ total == pytest.approx(1)
        return cut.widths @ (total * np.log(total))

    assert lost(means) < 1e-4 < 1e-3 < lost([rng.permutation(t) for t in means])


def test_rows_of_different_kinds_must_not_meet():
    """The planted fault: all rows glued as if they were of one kind lose much when they are made private."""
    joint = drawn(12, 3, n=3_000, heavy=60.0)
    ball, every = secrets(joint, 60)
    splitters = [Splitter(secret) for secret in every]
    one = start(splitters, Curves.first(60, PRICE, int(ball.mass.argmax())), never)
    two = with_kinds(splitters, one, [one.curves.alone()], never)
    together = [replace(part, kind=np.zeros_like(part.kind)) for part in two.parts]
    mixed = replace(two, draw=replace(two.draw, shares=np.ones(1)), parts=together)
    kept = []
    for state in (two, mixed):
        glued = search._glued(ball, splitters, state)
        channel = at_level(joint, NOTION, glued.widths, glued.rows.reshape(len(glued.widths), -1), grow=True)
        kept.append(utility(joint, channel))
    assert kept[1] < 0.97 * kept[0]


def test_polishing_the_whole_problem_keeps_more_and_stays_nearly_private():
    joint = drawn(6, 3, n=2_500)
    ball, every = secrets(joint, 60)
    splitters = [Splitter(secret) for secret in every]
    state = start(splitters, Curves.first(60, PRICE, int(ball.mass.argmax())), never)
    before = search._glued(ball, splitters, state)
    before = at_level(joint, NOTION, before.widths, before.rows.reshape(len(before.widths), -1), grow=True)
    values = []
    after, _ = polished(joint, NOTION, before, Effort(progress=lambda value, *_: values.append(value)))
    assert np.diff(values).min() > -1e-9
    assert utility(joint, after) == pytest.approx(values[-1], rel=0.01)
    assert utility(joint, after) > 1.01 * utility(joint, before)
