"""Optima under averages: a linear program over a grid of posteriors, closed forms, certificates, planted faults."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.special import xlogy

import discreet as dc
from discreet.information import entropy, mutual_information
from discreet.solvers.columns.boxes import _tangent
from discreet.solvers.columns.generation import generate_columns, pricer_of
from discreet.solvers.columns.row_master import Master
from discreet.solvers.driver import solve
from discreet.solvers.problem import Effort, Problem

STEPS = 24


def random_joint(seed: int) -> dc.Joint:
    random = np.random.default_rng(seed)
    c = int(random.integers(2, 5))
    return dc.Joint(random.dirichlet(np.full(3 * c, 0.7)).reshape(c, 3))


def on_a_grid(joint: dc.Joint, limit: float, kind: str, guessed: bool = False) -> float:
    """The best mechanism whose posteriors lie on a grid: permitted, so no bound may lie below it."""
    parts = np.array([p for p in product(range(STEPS + 1), repeat=2) if sum(p) <= STEPS])
    grid = np.hstack([parts, STEPS - parts.sum(axis=1, keepdims=True)]) / STEPS
    grid = np.vstack([grid, joint.prior])
    secrets = grid @ (joint.table / joint.prior).T
    worth = grid.max(axis=1) if guessed else (xlogy(grid, grid) - grid * np.log(joint.prior)).sum(axis=1)
    told = {
        "funnel": (xlogy(secrets, secrets) - secrets * np.log(joint.secret_prior)).sum(axis=1),
        "leakage": (secrets / joint.secret_prior).max(axis=1),
        "guess": secrets.max(axis=1),
    }[kind]
    found = linprog(-worth, told[None, :], [limit], grid.T, joint.prior, bounds=(0, None), method="highs")
    return float(-found.fun)


@pytest.mark.parametrize("seed", range(34))
def test_no_grid_beats_the_bound(seed: int) -> None:
    joint = random_joint(seed)
    share = [0.02, 0.1, 0.5][seed % 3]
    nats = share * mutual_information(joint.table)
    guess = joint.secret_prior.max() + share * (joint.table.max(axis=0).sum() - joint.secret_prior.max()) + 1e-6
    for notion, limit, kind in (
        (dc.Funnel(nats), nats, "funnel"),
        (dc.MaximalLeakage(share), np.exp(share), "leakage"),
        (dc.Guess(guess), guess, "guess"),
    ):
        found = dc.design(joint, notion, method="columns")
        best = on_a_grid(joint, limit, kind)
        assert found.gap < 2e-6
        assert best <= found.upper_bound + 1e-9
        assert found.utility > best - 1e-6
        assert found.protocol.epsilon <= notion.epsilon


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("ceiling", [None, dc.LIP(0.8)])
def test_no_grid_guesses_better_under_a_funnel(seed: int, ceiling: dc.LIP | None) -> None:
    """A largest of linear functions under a sum over secrets once ended in an error of numpy."""
    joint = random_joint(seed)
    nats = [0.02, 0.1, 0.5][seed % 3] * mutual_information(joint.table)
    found = dc.design(joint, dc.Funnel(nats, ceiling=ceiling), utility=dc.CorrectGuess)
    assert found.gap < 2e-6
    assert found.protocol.leakage <= nats + 1e-12
    assert found.utility == pytest.approx(dc.CorrectGuess.of(joint, found.protocol.channel), abs=1e-9)
    best = on_a_grid(joint, nats, "funnel", guessed=True)
    if ceiling is None:
        assert best <= found.upper_bound + 1e-9
        assert found.utility > best - 1e-6
    # Planted: the bound of half the leakage is none of the whole.
    assert dc.design(joint, dc.Funnel(nats / 2), utility=dc.CorrectGuess).upper_bound < found.utility - 1e-6 or ceiling


def test_the_best_guess_of_a_task_under_a_funnel() -> None:
    joint = dc.Joint.from_counts([[30, 10, 5, 9], [5, 20, 40, 8], [9, 9, 2, 30]], include_secret=True)
    found = dc.design(joint, dc.Funnel(0.05), utility=dc.CorrectGuess)
    assert found.gap < 2e-6
    assert found.protocol.leakage <= 0.05


def test_one_certificate_bounds_all_limits() -> None:
    joint = random_joint(3)
    everything = mutual_information(joint.table)
    shares = np.array([0.05, 0.2, 0.5, 0.9])
    solved = [solve(generate_columns, Problem.of(joint, dc.Funnel(s * everything)), Effort()) for s in shares]
    for one in solved:
        assert one.certificate is not None
        fixed, price = one.certificate
        assert price >= 1 - 1e-6
        for share, other in zip(shares, solved, strict=True):
            assert other.value <= fixed + price * share * everything + 1e-9
            assert on_a_grid(joint, share * everything, "funnel") <= fixed + price * share * everything + 1e-9
        # Planted: prices without that of the average. The grid says that this is no bound.
        assert one.value > fixed + 1e-4
    curve = dc.funnel_curve(joint, [0.05 * everything, everything], gap=1e-2)
    assert curve.gap <= 1e-2
    for share, one in zip(shares, solved, strict=True):
        assert curve.at_least(share * everything) <= one.upper_bound + 1e-9
        assert curve.at_most(share * everything) >= one.value - 1e-9


def test_the_secret_released_with_the_rest_is_a_closed_form() -> None:
    joint = dc.Joint.from_counts([[30, 10, 5], [5, 20, 40], [9, 9, 2]], include_secret=True)
    rest = entropy(joint.table) - entropy(joint.secret_prior)
    found = dc.design(joint, dc.Funnel(0.1))
    assert found.method == "nr"
    assert found.utility == pytest.approx(0.1 + rest, abs=1e-9)
    assert dc.design(joint, dc.Funnel(0.1), method="columns").utility == pytest.approx(0.1 + rest, abs=2e-6)
    under = dc.design(joint, dc.Funnel(0.1, ceiling=dc.LIP(0.2)))
    assert under.utility == pytest.approx(dc.design(joint, dc.LIP(0.2)).utility, abs=2e-6)


@pytest.mark.parametrize("seed", range(6))
def test_a_ceiling_that_implies_the_average_is_all_there_is(seed: int) -> None:
    joint = random_joint(seed)
    alone = dc.design(joint, dc.LIP(0.5))
    loose = dc.Funnel(0.5 * np.tanh(0.25) + 1e-9, ceiling=dc.LIP(0.5))
    found = dc.design(joint, loose)
    assert abs(found.utility - alone.utility) < 3e-6
    tight = dc.Funnel(0.6 * alone.protocol.leakage + 1e-9, ceiling=dc.LIP(0.5))
    both = dc.design(joint, tight)
    assert both.utility <= alone.upper_bound + 1e-9
    assert dc.audit(both.protocol).lip <= 0.5 + 1e-9
    assert both.protocol.leakage <= tight.nats


@pytest.mark.parametrize("seed", range(6))
def test_nobody_beats_the_funnel_at_their_own_leakage(seed: int) -> None:
    joint = random_joint(seed)
    for notion in (dc.LIP(0.3), dc.LDP(0.6), dc.PML(0.3), dc.MaximalLeakage(0.1)):
        other = dc.design(joint, notion)
        nats = max(other.protocol.leakage, 1e-7)
        assert other.utility <= dc.design(joint, dc.Funnel(nats * (1 + 1e-9))).upper_bound + 1e-9


def test_prices_are_never_below_zero() -> None:
    """λ = −0.0 once let a search believe that telling about the secret pays."""
    joint = random_joint(1)
    master = Master(Problem.of(joint, dc.Funnel(5.0)))
    for given in (-0.0, 0.0, -1e-12):
        price = master._prices(np.append(np.ones(3), given))[-1]
        assert price == 0
        assert not np.signbit(price)
    everything = dc.design(joint, dc.Funnel(5.0))
    assert everything.utility == pytest.approx(joint.entropy, abs=1e-9)


# ---- the tangent, and faults planted in its place --------------------------------------------------------------------


def too_low(tangent: object, seed: int) -> bool:
    """Whether a replacement of −λ Σ τ ln(τ/p) is somewhere below it."""
    joint = random_joint(seed)
    problem = Problem.of(joint, dc.Funnel(0.01))
    area = pricer_of(problem).body.area(np.append(np.zeros(3), 0.03))
    random = np.random.default_rng(seed)
    for anchor, x in random.dirichlet(np.full(3, 0.5), size=(50, 2)):
        cost, odds = np.zeros(3), np.empty(len(area.odds))
        constant = tangent(area, anchor, odds, cost)  # type: ignore[operator]
        tau = area.secrets @ x
        if cost @ x + constant < -area.price * float((xlogy(tau, tau) - tau * np.log(area.odds)).sum()) - 1e-9:
            return True
    return False


def chord(area: object, anchor: np.ndarray, odds: np.ndarray, cost: np.ndarray) -> float:
    """A chord of −h where its tangent belongs: between the anchor and certainty."""
    constant = 0.0
    for secrets, mass in zip(area.secrets, area.odds, strict=True):  # type: ignore[attr-defined]
        o = min(float(secrets @ anchor), 1 - 1e-9)
        start, end = -xlogy(o, o / mass), np.log(mass)
        slope = (end - start) / (1 - o)
        cost += area.price * slope * secrets  # type: ignore[attr-defined]
        constant += area.price * (start - slope * o)  # type: ignore[attr-defined]
    return float(constant)


def less(area: object, anchor: np.ndarray, odds: np.ndarray, cost: np.ndarray) -> float:
    """Offsets times 0.99."""
    _tangent.py_func(area, anchor, odds, cost)
    return area.price * (0.99 * odds.sum() - 1)  # type: ignore[attr-defined, no-any-return]


def test_a_tangent_lies_above_and_faults_are_caught() -> None:
    assert not any(too_low(_tangent, seed) for seed in range(5))
    assert any(too_low(chord, seed) for seed in range(5))
    assert any(too_low(less, seed) for seed in range(5))
