"""Numbers of a promise are rounded against the one who promises: levels up, confidence and lower limits down."""

from __future__ import annotations

import json
import re
from decimal import Decimal

import pyarrow as pa
import pytest

import discreet as dc
from discreet.notions.notion import words_of
from discreet.phrases import percent
from discreet.release.companions import data_package
from discreet.release.draws_together import draws_told
from discreet.report.mathml import formulae
from discreet.studio.figures import level_words
from discreet.uncertainty.sets import Renyi
from discreet.uncertainty.uncertainty import set_words
from discreet.wording import notion_name, other_half

BELT = 2.3456712
JOINT = dc.Joint.from_counts([[30, 10], [10, 30]], secrets=["s", "t"], releases=["a", "b"])
CHANNEL = dc.Channel([[0.6, 0.4], [0.4, 0.6]], JOINT.letters, ("a", "b"))


def numbers(text: str) -> list[Decimal]:
    return [Decimal(found) for found in re.findall(r"\d+\.\d+", text)]


@pytest.mark.parametrize(
    ("first", "belt"), [(dc.LIP(0.5), BELT), (dc.Shift(0.3), 1.2345674), (dc.LDP(1.0), 1.0986122886681098)], ids=str
)
def test_a_belt_is_not_stated_smaller_than_it_is(first: dc.Notion, belt: float) -> None:
    notion = first & dc.OrdinaryLDP(belt)
    protocol = dc.Protocol.make(CHANNEL, JOINT, notion)
    exact = Decimal(repr(belt))
    stated = numbers(notion_name(notion)) + numbers(formulae(notion)[2][0])
    assert stated
    assert all(exact <= number <= exact + Decimal("1e-5") for number in stated)
    of_belt, each = numbers(draws_told(protocol).split("With the belt of ")[1])
    assert of_belt >= exact
    if isinstance(first, dc.Shift):  # k draws shift by at most tanh(kε/4)
        assert each == Decimal("0.299202")
    else:
        assert each >= exact


def test_levels_in_short_are_not_smaller_than_they_are() -> None:
    level = 1.0986122886681098
    protocol = dc.Protocol.make(CHANNEL, JOINT, dc.LDP(level))
    assert min(numbers(repr(protocol.public()))) >= Decimal(repr(level))


class Written:
    """A released file, as far as its descriptor looks at it."""

    size = 9

    def sha256(self) -> str:
        return "0" * 64


def test_the_title_of_a_released_file_rounds_up() -> None:
    public = dc.Protocol.make(CHANNEL, JOINT, dc.LDP(1.0986122886681098)).public()
    schema = pa.schema([(JOINT.releases[0].name, pa.string())])
    title = json.loads(data_package(public, "0" * 64, schema, "csv", Written(), "t.csv"))["title"]  # type: ignore[arg-type]
    assert title.endswith("at epsilon 1.09862")


@pytest.mark.parametrize(
    ("level", "words"),
    [(1.8249, "1.825"), (1.82, "1.82"), (0.5, "0.5"), (12.3450001, "12.346"), (0.0, "0"), (2.0, "2")],
)
def test_pages_round_levels_up(level: float, words: str) -> None:
    assert level_words(level) == words


def test_the_other_half_is_told_by_limits_outwards() -> None:
    said = other_half(0.5, 0.544, 0.446, 0.6449, 0.95)
    assert "is 0.55 (95% limits 0.44 to 0.65), where 0.5 was asked for" in said


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.95, "95%"), (0.07, "7%"), (0.57, "57%"), (0.9999999999999, "99.99999999%"), (1.0, "100%"), (0.0, "0%"),
        (1 - 0.05 / 3, "98.33333333%"), (0.999999999996, "99.99999999%"), (1e-12, "0.0000000001%"),
    ],
)  # fmt: skip
def test_a_confidence_is_not_stated_larger_than_it_is(share: float, words: str) -> None:
    assert percent(share) == words
    stated = set_words(dc.Confidence(0.999999999996)).holds(dc.Confidence(0.999999999996))
    assert "at least 99.99999999%" in stated


def test_a_ball_is_not_stated_larger_than_it_is() -> None:
    """A smaller radius and a higher order are a smaller ball."""
    radius, order = numbers(set_words(Renyi(2.00000049, 0.12345678)).holds(Renyi(2.00000049, 0.12345678)))
    assert (radius, order) == (Decimal("0.123456"), Decimal("2.00001"))


def test_words_of_a_conjunction_have_the_same_numbers() -> None:
    words = words_of(dc.LIP(0.5) & dc.OrdinaryLDP(BELT))
    assert numbers(words.title) == numbers(words.symbol) == [Decimal("2.34568")]
