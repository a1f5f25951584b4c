"""Given columns: the confidence that is stated is that of all strata at once, in words and in the public file."""

from __future__ import annotations

from copy import copy
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.protocol.strata import StratifiedProtocol, promise_of
from discreet.protocol.together import in_all_strata, in_each_stratum
from discreet.wording import guarantee

CHANNEL = [[0.6, 0.4], [0.4, 0.6]]


def exact(confidence: float) -> Fraction:
    return Fraction(repr(confidence))


def protocol(notion: dc.Notion, strata: int) -> StratifiedProtocol:
    """Strata that promise this notion each."""
    joint = dc.Joint.from_counts([[300, 100], [120, 280]])
    one = dc.Protocol.make(dc.Channel(CHANNEL, joint.letters, ("p", "q")), joint, notion)
    return StratifiedProtocol((dc.Attribute("g", tuple(range(strata))),), {(k,): one for k in range(strata)})


@pytest.mark.parametrize("asked", [0.95, 0.9, 0.99, 0.999, 0.5])
def test_the_strata_never_miss_more_often_than_all_of_them_state(asked: float) -> None:
    for strata in range(1, 201):
        each: Any = in_each_stratum(dc.RLDP(1.0, dc.Confidence(asked)), strata)
        whole: Any = in_all_strata(each, strata)
        together = whole.uncertainty.confidence
        assert strata * (1 - exact(each.uncertainty.confidence)) <= 1 - exact(together)
        assert together == asked


@pytest.mark.parametrize(
    "asked", [dc.RLDP(1.0), dc.RLIP(1.0), dc.RLDP(1.0) & dc.OrdinaryLDP(3), dc.RLDP(1.0, dc.ChiSquare(0.95))], ids=str
)
def test_words_and_public_file_state_the_confidence_of_all_strata(asked: dc.Notion) -> None:
    """Once they stated that of a single one: 99.875 % of forty, where 95 % was promised."""
    made = protocol(in_each_stratum(asked, 40), 40)
    public = made.public()
    for words in (guarantee(made), public.first.promise):
        assert "95%" in words
        assert "99.8" not in words
    assert made.notion == in_each_stratum(asked, 40)
    assert public.notion == promise_of(made) == asked
    assert copy(public).first.promise == public.first.promise  # read again, and its claims checked


def test_confidences_that_leave_none_together_are_refused(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """Once "at least 50%" was said of three strata, which need not ever hold all at once."""
    half = dc.RLDP(5.0, dc.Confidence(0.5))
    for strata in (2, 3):
        with pytest.raises(dc.ParameterError, match=r"leave none.*Design them together"):
            protocol(half, strata)
    made = protocol(dc.RLDP(5.0, dc.Confidence(0.75)), 3)
    assert "at least 25%" in guarantee(made)
    changed = made.encode().replace(b'"confidence":"0.75"', b'"confidence":"0.55"')
    assert changed != made.encode()
    (tmp_path / "p.json").write_bytes(changed)
    with pytest.raises(dc.DiscreetError, match="leave none for all of them together"):
        dc.load_protocol(tmp_path / "p.json")


def test_the_remedy_shares_one_confidence() -> None:
    counts = np.array([[300, 100], [120, 280]])
    strata = {(k,): dc.Joint.from_counts(counts) for k in range(3)}
    joint = dc.StratifiedJoint((dc.Attribute("g", (0, 1, 2)),), strata)
    found = dc.design(joint, dc.RLDP(2.0, dc.Confidence(0.5)), time_limit=6).protocol
    assert "at least 50%" in guarantee(found)
    each: Any = found.notion
    assert each.uncertainty.confidence > 0.83
