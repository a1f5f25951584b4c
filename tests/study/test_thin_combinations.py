"""Thin combinations: counted as a count by hand has them, named only where no letter of few people is told."""

from __future__ import annotations

import numpy as np
import pytest

from discreet import Attribute, Joint
from discreet.given_columns import StratifiedJoint
from discreet.records.grouping import Bins, ColumnGrouping, Merged
from discreet.study.thin_combinations import thin_combinations

WORK = Attribute("work", ("full", "none", "rare"))
AGE = Attribute("age", ("under 30", "30 and over"), grouping=ColumnGrouping((Bins(("30",)),)))


def joint(cells: list[list[int]], work: Attribute = WORK) -> Joint:
    counts = np.array([cells, np.zeros((3, 2), int)]) + np.array([[[0]], [[1]]]) * (np.array(cells) > 100)
    return Joint.from_counts(counts, (Attribute("ill", ("no", "yes")),), (work, AGE))


def test_what_is_named_and_what_is_counted() -> None:
    found = thin_combinations(joint([[400, 49], [50, 300], [20, 0]]))
    assert found.count == 2  # 49 and 20; 50 is enough, and where nobody is there is nothing thin
    assert found.named == (("full", "30 and over"),)  # "rare" has 20 people: it is not told


def test_a_group_that_the_steward_wrote_is_told() -> None:
    merged = Attribute("work", WORK.letters, grouping=ColumnGrouping((Merged(("x", "y"), "rare"),)))
    found = thin_combinations(joint([[400, 49], [50, 300], [20, 0]], merged))
    assert found.named == (("full", "30 and over"), ("rare", "under 30"))


def test_strata_are_counted_together() -> None:
    half = joint([[400, 30], [50, 300], [200, 0]], WORK)
    both = StratifiedJoint((Attribute("sex", ("f", "m")),), {("f",): half, ("m",): half})
    assert thin_combinations(half).count == 1
    assert thin_combinations(both).count == 0  # 60 people together


@pytest.mark.parametrize("probabilities", [np.full((2, 3, 2), 1 / 12)])
def test_nobody_was_counted(probabilities: np.ndarray) -> None:
    assert thin_combinations(Joint(probabilities, (Attribute("ill", ("no", "yes")),), (WORK, AGE))).count == 0
