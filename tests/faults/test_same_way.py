"""What a design is compared with is designed in the same way: for the purpose asked for, by the same search."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import discreet as dc
from discreet.study import Study, costly_secrets
from discreet.study.comparisons import Way, rare_secrets, split_half
from discreet.study.purposes import Purpose, measure_of
from discreet.wording import rare_values

RARE_LIKE_THE_NEXT = [[400, 200, 200, 100, 100], [80, 320, 160, 80, 160], [60, 60, 120, 300, 60], [2, 2, 4, 10, 2]]
"""The last secret has the law of the third: merging the two changes nothing."""
PURPOSES = list(Purpose)


@pytest.mark.parametrize("purpose", PURPOSES)
def test_the_forecast_of_merging_is_what_following_the_advice_gives(purpose: Purpose) -> None:
    joint = dc.Joint.from_counts(RARE_LIKE_THE_NEXT, secrets=["u", "v", "w", "r"])
    begun = Study.begin(joint, dc.LIP(0.3), purpose=purpose)
    found = begun.with_rare_secrets().rare_secrets
    assert found is not None
    followed = Study.begin(joint.merge_secrets(["w", "r"], "C"), dc.LIP(0.3), purpose=purpose)
    assert found.now == pytest.approx(begun.share, abs=1e-9)
    assert found.then == pytest.approx(followed.share, abs=2e-3)
    assert rare_values("s", **vars(found)) == ""


def test_merging_is_still_advised_where_it_keeps_more() -> None:
    rare = [f"r{number}" for number in range(20)]
    few = [[3, 2, 0, 0, 0] if number % 2 else [1, 1, 2, 0, 1] for number in range(20)]
    counts = [[500, 500, 500, 500, 0], [400, 400, 400, 400, 400], *few]
    joint = dc.Joint.from_counts(counts, secrets=["u", "v", *rare])
    begun = Study.begin(joint, dc.LIP(0.3), purpose=Purpose.values).with_rare_secrets()
    assert begun.rare_secrets is not None
    followed = Study.begin(joint.merge_secrets(rare, "C"), dc.LIP(0.3), purpose=Purpose.values)
    assert begun.rare_secrets.then == pytest.approx(followed.share, abs=2e-3)
    assert "the information kept goes from" in rare_values("s", **vars(begun.rare_secrets))


@pytest.mark.parametrize("purpose", PURPOSES)
def test_the_level_on_the_other_half_is_that_of_the_design_asked_for(purpose: Purpose) -> None:
    rng, apart = np.random.default_rng(0), 0
    for _ in range(4):
        counts = rng.multinomial(2000, rng.dirichlet(np.ones(15))).reshape(3, 5) + 3
        begun = Study.begin(dc.Joint.from_counts(counts), dc.LIP(0.3), purpose=purpose)
        found = begun.with_other_half().other_half
        first = np.random.default_rng(0).multivariate_hypergeometric(counts.ravel(), int(counts.sum()) // 2,
                                                                     method="marginals").reshape(3, 5)  # fmt: skip
        joint, other = (dc.Joint.from_counts(half) for half in (first, counts - first))
        learnt = dc.design(joint, dc.LIP(0.3), utility=measure_of(purpose))
        assert found is not None
        assert found.measured == pytest.approx(dc.LIP(0.3).level(learnt.protocol.channel, other).epsilon, abs=5e-3)
        plain = split_half(begun.joint, dc.LIP(0.3), seconds=5.0)
        apart += plain is not None and abs(plain.measured - found.measured) > 0.01
    assert (apart > 0) == (purpose is not Purpose.information)


def test_a_search_by_name_is_searched_by_that_name() -> None:
    joint = dc.Joint.from_counts(RARE_LIKE_THE_NEXT)
    begun = Study.begin(joint, dc.LIP(0.3), method="grr").with_rare_secrets().with_other_half()
    assert begun.rare_secrets is not None
    assert begun.rare_secrets.then == pytest.approx(begun.rare_secrets.now, abs=1e-6)
    assert begun.rare_secrets != rare_secrets(begun.protocol)
    assert begun.other_half == split_half(joint, dc.LIP(0.3), Way(method="grr"), seconds=5.0)
    assert begun.sparser().way.method == "grr"


def test_what_a_secret_costs_is_told_of_what_was_asked_for() -> None:
    joint = dc.Joint.from_counts([[3, 6], [400, 300], [90, 700]], secrets=["rare", "a", "b"])
    way = Way(dc.Agreement())
    found = {one.secret: one.cost for one in costly_secrets(joint, dc.RLDP(0.3), way, seconds=5.0)}
    now = dc.design(joint, dc.RLDP(0.3), utility=dc.Agreement()).protocol.channel
    others = replace(dc.Joint.from_counts([[400, 300], [90, 700]], secrets=["a", "b"]), form=joint.form)
    then = dc.design(others, dc.RLDP(0.3), utility=dc.Agreement()).utility
    assert found["rare"] == pytest.approx(then / dc.Agreement().of(others, now) - 1, abs=1e-3)


def test_what_cannot_be_designed_so_costs_nothing_that_is_told() -> None:
    joint = dc.Joint.from_counts([[3, 6], [400, 300], [90, 700]])
    assert costly_secrets(joint, dc.RLDP(0.3), Way(method="cr"), seconds=2.0) == ()
