"""Agreement: the linear program against an unscaled one, its bound, the law it keeps, and the printed values."""

import numpy as np
import pytest
from scipy.optimize import linprog

import discreet as dc
from discreet.datasets import adult
from discreet.joint import Joint
from discreet.solvers.agreement import most_agreeing


def plainly(joint: Joint, rows: np.ndarray, gain: np.ndarray) -> float:
    """The same program, written down without any scaling."""
    p, law = joint.prior, joint.target_prior
    k, n = len(law), len(p)
    inputs = np.hstack([np.eye(n)] * k)
    outputs = np.kron(np.eye(k), p)
    cost = (gain[joint.target_of].T * p).ravel()
    equal = np.vstack([inputs, outputs])
    found = linprog(
        -cost, A_ub=np.kron(np.eye(k), rows), b_ub=np.zeros(k * len(rows)), A_eq=equal, b_eq=[*np.ones(n), *law]
    )
    assert found.status == 0
    return float(-found.fun)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("curator", [False, True])
def test_the_value_is_that_of_the_plain_program(seed: int, curator: bool) -> None:
    draws = np.random.default_rng(seed)
    joint = Joint.from_counts(draws.integers(1, 60, (3, 4)))
    joint = joint.curator() if curator else joint
    notion = (dc.LIP, dc.LDP)[seed % 2](0.2 + 0.1 * (seed % 5))
    gain = np.eye(4) if seed % 3 else -np.abs(np.subtract.outer(np.arange(4), np.arange(4))).astype(float)
    rows = notion.cone(joint).rows
    found = most_agreeing(joint.prior, joint.target_of, notion.cone(joint), gain)
    assert found.value == pytest.approx(plainly(joint, rows, gain), abs=1e-7)
    assert found.value - 1e-9 <= found.upper_bound <= found.value + 1e-7
    assert np.abs(found.matrix @ joint.prior - joint.target_prior).max() < 2.0**-40
    assert notion.level(dc.Channel(found.matrix, joint.letters), joint).epsilon <= notion.epsilon + 1e-9


def test_a_bound_from_wrong_prices_is_no_smaller() -> None:
    """Weak duality holds for any prices, so no price can prove less than the optimum."""
    from discreet.linear_program import ProgramSolution
    from discreet.solvers.agreement import _CellProgram

    draws = np.random.default_rng(5)
    joint = Joint.from_counts(draws.integers(1, 60, (3, 4)))
    cone = dc.LIP(0.3).cone(joint)
    best = most_agreeing(joint.prior, joint.target_of, cone, np.eye(4)).value
    program = _CellProgram(joint.prior, joint.target_of, joint.target_prior, np.eye(4), cone.rows)
    prices = program.solved().prices
    for _ in range(200):
        other = prices + draws.normal(0, 0.1, len(prices))
        assert program.bound(ProgramSolution(np.zeros(16), other)) >= best - 1e-9


@pytest.mark.parametrize(
    ("secret", "release", "curator", "epsilon", "unchanged"),
    [
        ("marital-status", "education", True, 0.5, 0.994),
        ("occupation", "education", True, 0.1, 0.786),
        ("occupation", "sex", True, 0.5, 0.931),
        ("marital-status", "relationship", True, 1.5, 0.890),
        ("marital-status", "education", False, 0.5, 0.854),
        ("race", "education", False, 0.1, 0.674),
    ],
)
def test_adult(secret: str, release: str, curator: bool, epsilon: float, unchanged: float) -> None:
    joint = Joint.from_table(adult(), secret=secret, release=release)
    joint = joint.curator() if curator else joint
    gain = np.eye(len(joint.target_letters))
    found = most_agreeing(joint.prior, joint.target_of, dc.LIP(epsilon).cone(joint), gain)
    assert found.value == pytest.approx(unchanged, abs=1e-3)
    assert found.upper_bound - found.value < 1e-7


def test_letters_without_mass_are_never_released_and_cuts_are_made() -> None:
    joint = Joint.from_counts(np.array([[30, 0, 12, 9], [10, 0, 25, 8]]))
    notion = dc.RLDP(0.7, dc.ChiSquare())
    found = most_agreeing(joint.prior, joint.target_of, notion.cone(joint), np.eye(4))
    assert found.finished
    assert not found.matrix[1].any()
    assert notion.level(dc.Channel(found.matrix[[0, 2, 3]], joint.letters), joint).epsilon <= 0.7 + 1e-6


@pytest.mark.parametrize("curator", [False, True])
def test_without_time_a_closed_form_is_returned_with_a_bound(curator: bool) -> None:
    """Whatever is returned is permitted, keeps the law, and lies below a bound that the optimum does not exceed."""
    joint = Joint.from_table(adult(), secret="marital-status", release="education")
    best = dc.design(joint, dc.LIP(0.5), utility=dc.Agreement(), sees_secret=curator)
    cut = dc.design(joint, dc.LIP(0.5), utility=dc.Agreement(), sees_secret=curator, time_limit=1e-3)
    assert cut.status == "time limit"
    assert cut.protocol.epsilon <= 0.5
    assert np.abs(cut.protocol.matrix @ cut.protocol.joint.prior - joint.target_prior).max() <= 2.0**-40
    assert cut.utility < best.utility <= cut.upper_bound
    assert best.is_optimal()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("curator", [False, True])
def test_the_bound_of_single_outputs_holds(seed: int, curator: bool) -> None:
    from discreet.solvers.agreement import single_outputs
    from discreet.solvers.problem import Effort

    joint = Joint.from_counts(np.random.default_rng(seed).integers(1, 60, (3, 5)))
    joint = joint.curator() if curator else joint
    cone, law = dc.LIP(0.1).cone(joint), joint.target_prior
    best = most_agreeing(joint.prior, joint.target_of, cone, np.eye(5)).value
    worth = np.eye(5)[joint.target_of].T * joint.prior
    bound = single_outputs(joint.prior, law, worth, cone, Effort())
    assert best - 1e-9 <= bound
    assert bound < 1 or curator
    assert single_outputs(joint.prior, law, worth, cone, Effort.within(-1.0)) == pytest.approx(1.0)


@pytest.mark.parametrize("uncertain", [dc.ChiSquare(0.9), dc.Renyi(2, 0.02), dc.Confidence(0.9), dc.Everything()])
def test_a_robust_curator_is_no_worse_than_one_who_reads_less(uncertain: object) -> None:
    joint = Joint.from_counts(np.random.default_rng(2).integers(20, 200, (3, 4)))
    notion = dc.RLDP(0.8, uncertain)  # type: ignore[arg-type]
    less, more = (
        dc.design(joint, notion, utility=dc.Agreement(), sees_secret=sees, time_limit=4) for sees in (False, True)
    )
    assert more.utility >= less.utility - 1e-5
    assert less.utility <= more.upper_bound + 1e-9
