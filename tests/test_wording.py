"""What a board reads: the promise of the notion at the proven level, the caveats that apply, a worst case."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import discreet as dc
from discreet.attribute import Attribute
from discreet.channel import Channel
from discreet.joint import Joint
from discreet.notions import LDP, LIP, RLDP, SRLIP, Level, Notion, OrdinaryLDP, Witness
from discreet.protocol import Protocol
from discreet.protocol.protocol import Source
from discreet.uncertainty import ChiSquare, Everything, Exactly, Renyi
from discreet.wording import caveats, costly, guarantee, has_counts, in_words, notion_name, unsupported

JOINT = Joint.from_counts(
    [[50, 30, 20], [20, 30, 50]],
    [Attribute("illness", ("yes", "no"))],
    [Attribute("income", ("low", "middle", "high"))],
)


def make(notion: Notion, source: Source | None = None) -> Protocol:
    matrix = 0.2 * np.eye(3) + 0.8 / 3
    return Protocol.make(Channel(matrix, JOINT.letters), JOINT, notion, source=source)


@pytest.mark.parametrize(
    ("notion", "words"),
    [
        (
            LIP(1.0),
            "finds no value of illness more than 1.0979 times as likely, or as unlikely, as in the whole population",
        ),
        (LDP(1.0), "the odds between any two values of illness change at most 1.196-fold."),
        (SRLIP(1.0), "even knows some of the original income"),
        (OrdinaryLDP(3.0), "the odds between any two original values change at most 1.751-fold."),
        (RLDP(3.0, ChiSquare(0.95)), "This holds for every distribution in the 95% confidence set of the estimate."),
        (RLDP(3.0, Renyi(2.0, 0.01)), "This holds for every distribution within Rényi divergence 0.01 (order 2)."),
        (RLDP(3.0, Everything()), "This holds whatever the true distribution is."),
        (RLDP(3.0, Exactly()), "This holds for the estimated distribution."),
    ],
    ids=str,
)
def test_the_promise_is_that_of_the_notion_at_the_proven_level(notion: Notion, words: str) -> None:
    assert words in guarantee(make(notion))


def test_a_promise_of_the_chance_of_a_secret_does_not_speak_of_odds() -> None:
    """P(s|y)/P(s) is a ratio of chances; a ratio of odds is what LDP bounds."""
    assert all("odds" not in guarantee(make(notion)) for notion in (LIP(1.0), SRLIP(1.0)))


@pytest.mark.parametrize("notion", [LIP(1.0), LDP(1.0), SRLIP(1.0), OrdinaryLDP(3.0), RLDP(3.0)], ids=str)
def test_only_a_promise_at_the_prior_needs_the_prior(notion: Notion) -> None:
    stated = any("at the stated distribution" in said for said in caveats(make(notion, source="public")))
    assert stated == isinstance(notion, (LIP, LDP, SRLIP))
    assert not any("at the stated distribution" in said for said in caveats(make(notion)))


def test_counts_of_the_released_table_are_announced() -> None:
    assert has_counts(make(LIP(1.0)))
    assert any("exact table of counts of illness and income, 6 cells" in said for said in caveats(make(LIP(1.0))))
    assert not has_counts(make(LIP(1.0), source="public"))


def test_titles() -> None:
    assert notion_name(LIP(1.0)) == "local information privacy"
    assert notion_name(RLDP(1.0)) == "robust local differential privacy"


def test_worst_cases() -> None:
    pair, alone = Witness("y", "s", "t"), Witness("y", "s")
    assert in_words(Level(0.0, pair)) == "no output tells anything about the secret"
    assert in_words(Level(math.log(2), pair)) == "output 'y' makes 's' 2 times as likely as 't'"
    assert in_words(Level(math.inf, pair)) == "output 'y' excludes 't' and leaves 's' possible"
    assert in_words(Level(math.log(2), alone), raised=False) == "output 'y' makes 's' 2 times less likely than before"
    knows = replace(alone, side_channel=(("size", 3),))
    assert in_words(Level(math.log(2), knows)).endswith("as likely as before for somebody who knows size = 3")
    robust = replace(pair, distribution=np.full((2, 2), 0.25))
    assert in_words(Level(math.log(2), robust)).endswith(", at the worst distribution of the set")


def test_small_costs_are_not_told() -> None:
    assert costly(JOINT, [("yes", 0.004)]) == ""
    assert "yes (2.0%)" in costly(JOINT, [("yes", 0.02), ("no", 0.001)])


def test_a_confidence_that_the_data_cannot_support_is_told() -> None:
    joint = dc.Joint.from_counts([[12, 11], [400, 300], [90, 700]], secrets=["rare", "a", "b"])
    said = unsupported(joint, dc.RLDP(1.0))
    assert "rare (23)" in said
    assert "1 of 3" in said
    assert unsupported(joint, dc.RLDP(1.0, dc.Confidence(0.3))) == ""
    assert unsupported(joint, dc.LIP(1.0)) == ""
    assert "nobody (0)" in unsupported(
        dc.Joint.from_counts([[0, 0], [400, 300]], secrets=["nobody", "a"]), dc.RLIP(1.0)
    )
