"""Least levels: below the level of every distribution that a sample leaves, near it for large samples, and no more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.attribute import Form
from discreet.audit import least_levels
from discreet.audit.least_levels import LEAST, TableSample, least_level
from discreet.notions.notion import Notion

NOTIONS: dict[str, Notion] = {
    "LDP": dc.LDP(1),
    "LIP": dc.LIP(1),
    "PML": dc.PML(1),
    "ALIP": dc.ALIP(0.3, 0.6),
    "Shift": dc.Shift(0.1),
    "Guess": dc.Guess(0.9),
    "MaximalLeakage": dc.MaximalLeakage(0.1),
    "Funnel": dc.Funnel(0.1),
}


def sampled(seed: int, records: int, form: Form) -> tuple[dc.Joint, dc.Channel, TableSample]:
    """A law, a mechanism for it, and what a sample of it leaves."""
    draw = np.random.default_rng(seed)
    secrets, letters = int(draw.integers(2, 5)), int(draw.integers(2, 6))
    law = draw.dirichlet(np.ones(secrets * letters)).reshape(secrets, letters)
    joint = replace(dc.Joint(law), form=form)
    channel = dc.Channel(draw.dirichlet(np.ones(3) * 0.5, size=len(joint.letters)).T, joint.letters)
    counts = draw.multinomial(records, law.ravel()).reshape(law.shape)
    return joint, channel, TableSample(channel, replace(dc.Joint.from_counts(counts), form=form), dc.Confidence(0.95))


def members(sample: TableSample, number: int) -> list[np.ndarray[Any, Any]]:
    """Distributions that the sample leaves, extreme ones: conditionals and masses fill greedily at random."""
    draw, found = np.random.default_rng(7), []
    narrow = sample.stated.around(sample.joint)  # without limits of masses, those of LDP
    for _ in range(number):
        rows, masses = draw.normal(size=sample.joint.table.shape), draw.normal(size=len(sample.joint.table))
        conditionals = narrow.ranges(np.broadcast_to(rows, (1, *rows.shape)))[0].attained_at[0]
        found.append(least_levels.largest_fill(masses, *sample.masses).attained_at[:, None] * conditionals)
    return found


def lowest(notion: Notion, sample: TableSample, form: Form) -> float:
    return min(
        notion.level(sample.channel, replace(dc.Joint(member / member.sum()), form=form)).epsilon
        for member in members(sample, 40)
    )


@pytest.mark.parametrize("form", list(Form))
@pytest.mark.parametrize("name", NOTIONS)
def test_no_member_of_the_set_has_a_smaller_level(name: str, form: Form) -> None:
    for seed in range(8):
        for records in (200, 20_000):
            _, _, sample = sampled(seed, records, form)
            least = least_level(NOTIONS[name], sample)
            assert least is not None
            assert least <= lowest(NOTIONS[name], sample, form) + 1e-12


@pytest.mark.parametrize("name", NOTIONS)
def test_large_samples_leave_little_room(name: str) -> None:
    for seed in range(8):
        joint, channel, sample = sampled(seed, 8_000_000, Form.FUNNEL)
        least, truth = least_level(NOTIONS[name], sample), NOTIONS[name].level(channel, joint).epsilon
        assert least is not None
        assert 0.9 * truth <= least <= truth


def test_the_wrong_side_of_the_limits_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: largest means in the place of the smallest."""
    monkeypatch.setattr(TableSample, "means", property(lambda self: (self.conditionals[1], self.conditionals[0])))
    found = [sampled(seed, 200, Form.FUNNEL)[2] for seed in range(8)]
    for name in ("LIP", "PML", "ALIP", "Shift"):
        notion = NOTIONS[name]
        assert any(LEAST[type(notion)](notion, one) > lowest(notion, one, Form.FUNNEL) + 1e-9 for one in found), name


def test_a_notion_that_rests_on_no_distribution_has_none() -> None:
    assert least_level(dc.OrdinaryLDP(1.0), sampled(0, 200, Form.FUNNEL)[2]) is None
