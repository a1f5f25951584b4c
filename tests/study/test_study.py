"""A study grows part by part, and tells everything as plain data."""

from __future__ import annotations

import json
import time

import pytest

import discreet as dc
from discreet.study import OPTIMUM, Study

JOINT = dc.Joint.from_counts([[50, 30, 20], [20, 30, 50]], secrets=["ill", "well"])
NOTION = dc.LIP(0.4)


class Witness:
    def __init__(self) -> None:
        self.stages: list[str] = []

    def stage(self, what: str) -> None:
        self.stages.append(what)

    def best(self, value: float, bound: float, seconds: float) -> None:
        assert value <= bound + 1e-9


@pytest.fixture(scope="module")
def begun() -> Study:
    return Study.begin(JOINT, NOTION)


def test_a_study_begins_with_the_design(begun: Study) -> None:
    found = dc.design(JOINT, NOTION)
    facts = begun.facts()
    assert facts["utility"] == pytest.approx(found.utility, abs=1e-9)
    assert facts["upper_bound"] >= facts["utility"]
    assert (facts["method"], facts["status"]) == (found.method, found.status)
    assert facts["curves"] == {}
    assert "other_form" not in facts
    assert "plan" not in facts


def test_every_part_is_added_to_a_new_study(begun: Study) -> None:
    witness = Witness()
    grown = begun.compared(watcher=witness).with_forecasts(1000)
    assert begun.other_form is None
    assert not begun.curves
    facts = json.loads(json.dumps(grown.facts()))
    assert facts["other_form"]["sees_secret"]
    assert facts["other_form"]["utility"] >= facts["utility"] - 1e-4
    assert facts["curves"][OPTIMUM][2]["value"] == facts["utility"]
    assert facts["plan"]["n"] == 1000
    assert facts["plan"]["assumed"] is None
    assert witness.stages[0] == "The other form"
    told = ["Trade-off, 5 of 5", "The other half", "Between information and accuracy"]
    assert [stage for stage in witness.stages if stage in told] == told
    worths = [point["worth"] for point in facts["balance"]]
    assert worths == sorted(worths)


def test_the_other_form_of_a_curator_reads_the_released_columns_only(begun: Study) -> None:
    owner = Study.begin(JOINT.curator(), NOTION).with_other_form()
    assert owner.other_form is not None
    assert owner.other_form.utility == pytest.approx(begun.protocol.utility, abs=1e-3)
    assert owner.facts()["other_form"]["sees_secret"] is False
    assert owner.with_forecasts(100).facts()["plan"]["assumed"] == "P(s|x)"


def test_there_is_no_other_form_where_the_secret_is_released() -> None:
    joint = dc.Joint.from_counts([[50, 30], [20, 30]], include_secret=True)
    assert Study.begin(joint, dc.LDP(1.0)).with_other_form().other_form is None


def test_a_protocol_that_was_read_tells_no_search(begun: Study) -> None:
    facts = Study(begun.protocol).facts()
    assert facts["utility"] == pytest.approx(begun.protocol.utility)
    assert {"upper_bound", "method", "seconds"}.isdisjoint(facts)
    assert Study(begun.protocol).merged is None


def test_the_smallest_epsilon_of_an_accuracy() -> None:
    study = Study.begin(JOINT, NOTION, reaching=(5000, 0.03)).with_forecasts(5000)
    assert study.reached is not None
    assert study.protocol.notion.epsilon == study.reached.epsilon
    assert max(letter["half_width"] for letter in study.facts()["plan"]["tables"][0]["letters"]) <= 0.03


def test_the_protocol_says_that_the_sample_was_public(begun: Study) -> None:
    public = begun.from_public()
    assert public.facts()["source"] == "public"
    assert not public.facts()["contains_counts_of_the_data"]
    assert begun.facts()["contains_counts_of_the_data"]


def test_comparisons_without_time_are_left_out(begun: Study) -> None:
    started = time.process_time()
    bare = begun.compared(seconds=0.0)
    assert time.process_time() - started < 1
    assert bare.other_form is None
    assert bare.curves == {}


def test_costs_are_not_measured_in_a_hurry() -> None:
    joint = dc.Joint.from_counts([[3, 6], [400, 300], [90, 700]], secrets=["rare", "a", "b"], include_secret=True)
    begun = Study.begin(joint, dc.RLDP(0.3), time_limit=2.0)
    hurried = begun.compared(seconds=3.0)
    assert hurried.costs == ()
    assert OPTIMUM in hurried.curves
    assert [one.secret for one in begun.with_costs(seconds=1.0).costs]
