"""Tasks: useful for another column; what is a function of X is judged as before; fairness of decisions."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dc
from discreet.datasets import adult
from discreet.exceptions import AlphabetError
from discreet.information import mutual_information
from discreet.utilities.task import area_under_curve


@pytest.fixture(scope="module")
def people() -> object:
    return adult()


def test_a_released_column_as_its_own_task_is_todays_utility(people: object) -> None:
    joint = dc.Joint.from_table(people, secret="race", release="education", task="education")
    today, task = dc.design(joint, dc.LIP(0.5)), dc.design(joint, dc.LIP(0.5), utility=dc.Task("education"))
    assert task.utility == pytest.approx(today.utility, abs=3e-6)
    guesses = dc.design(joint, dc.LIP(0.5), utility=dc.Task("education", dc.CorrectGuess))
    assert guesses.utility == pytest.approx(dc.design(joint, dc.LIP(0.5), utility=dc.CorrectGuess).utility, abs=1e-5)


def test_income_from_education(people: object) -> None:
    joint = dc.Joint.from_table(people, secret="sex", release="education", task="income")
    task = dc.Task("income")
    cells = joint.task("income").cells
    possible = mutual_information(cells.sum(axis=0).T)
    found = dc.design(joint, dc.LIP(0.1), utility=task)
    assert found.gap < 2e-6
    value = task.judged(joint, found.protocol.channel)
    assert value.possible_information == pytest.approx(possible)
    assert value.information == pytest.approx(found.utility)
    assert 0.85 < value.share < 0.92
    assert value.blind <= value.correct <= value.possible_correct
    assert 0.5 < value.area < value.possible_area < 1  # type: ignore[operator]
    other = dc.design(joint, dc.LIP(0.1))
    assert task.of(joint, other.protocol.channel) <= found.upper_bound + 1e-9
    curator = dc.design(joint, dc.LIP(0.1), utility=task, sees_secret=True, time_limit=5)
    assert curator.utility >= found.utility - 1e-4


def test_a_task_under_a_funnel_is_proven_to_the_end(people: object) -> None:
    """Two seconds. Tangents taken on the way to the last vertex alone left 7e-4 open after 600,000 boxes."""
    joint = dc.Joint.from_table(people, secret="sex", release="education", task="income")
    funnel = dc.design(joint, dc.Funnel.share(0.1, joint), utility=dc.Task("income"), time_limit=120)
    assert funnel.gap <= 1e-6
    assert funnel.utility == pytest.approx(0.0530646, abs=2e-6)
    assert funnel.protocol.leakage <= 0.1 * mutual_information(joint.table)


def test_tasks_stay_with_the_joint_and_out_of_the_file(people: object) -> None:
    joint = dc.Joint.from_table(people, secret="race", release="education", task=["income", "sex"])
    assert [one.name for one in joint.tasks] == ["income", "sex"]
    assert joint.n == 32561
    merged = joint.merge_secrets(["Other", "Black"], "merged")
    np.testing.assert_allclose(merged.task("income").cells.sum(axis=-1), merged.probabilities)
    strata = dc.Joint.from_table(people, secret="race", release="education", given=["sex"], task="income")
    assert all(one.tasks for one in strata.strata.values())
    with pytest.raises(AlphabetError):
        joint.task("age")
    with pytest.raises(AlphabetError):
        dc.Joint.from_table(people, secret="race", release="education", task="race")


def test_area_under_curve_by_counting_pairs() -> None:
    together = np.array([[3, 1, 2], [1, 4, 2]]) / 13
    pairs = [(a, b) for a in range(3) for b in range(3)]
    score = together[1] / together.sum(axis=0)
    first, second = together / together.sum(axis=1, keepdims=True)
    by_pairs = sum(second[b] * first[a] * ((score[b] > score[a]) + 0.5 * (score[b] == score[a])) for a, b in pairs)
    assert area_under_curve(together) == pytest.approx(by_pairs)


@pytest.mark.parametrize("secret", ["sex", "race"])
def test_four_fifths_for_every_threshold_of_every_score(people: object, secret: str) -> None:
    """LDP(ln 1.25): whatever is decided from Y, every group is selected at least 0.8 times as often as any other."""
    joint = dc.Joint.from_table(people, secret=secret, release="education", task="income")
    channel = dc.design(joint, dc.LDP(np.log(1.25)), utility=dc.Task("income")).protocol.channel
    clean = dc.Channel(np.eye(16), joint.letters)

    def worst_ratio(channel: dc.Channel) -> float:
        likelihoods = channel.matrix @ joint.letter_given_secret.T
        together = (dc.Task("income").shares(joint) * joint.prior) @ channel.matrix.T
        order = np.argsort(-together[1] / together.sum(axis=0))
        rates = np.cumsum(likelihoods[order], axis=0)
        return float((rates.min(axis=1) / rates.max(axis=1)).min())

    assert worst_ratio(channel) >= 0.8 - 1e-9
    assert worst_ratio(clean) < 0.8
