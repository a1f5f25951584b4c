from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_cases import CURVES, make

from discreet.attribute import Attribute
from discreet.channel import Channel
from discreet.joint import Joint
from discreet.notions import LIP
from discreet.protocol import Protocol
from discreet.report.charts import (
    MOST_TICKS,
    beliefs_picture,
    distinct_labels,
    heat_map,
    log_ticks,
    percent_words,
    round_ticks,
    shade,
    shortened,
    trade_off_picture,
)


def is_round(value: float) -> bool:
    mantissa = value / 10 ** math.floor(math.log10(value) + 1e-9)
    return any(math.isclose(mantissa, one, rel_tol=1e-6) for one in (1, 2, 5, 10))


@given(st.floats(1e-6, 1.0))
def test_ticks_are_round_and_reach_the_top(highest: float) -> None:
    ticks = round_ticks(highest)
    assert ticks[0] == 0
    assert is_round(ticks[1])
    assert len(ticks) <= MOST_TICKS + 1
    assert ticks[-1] >= highest * (1 - 1e-9)
    assert ticks[-2] < highest


@given(st.floats(1e-4, 100.0), st.floats(1.0, 1e4))
def test_ticks_of_epsilon_are_round_and_inside(low: float, factor: float) -> None:
    ticks = log_ticks(low, low * factor)
    assert ticks == sorted(ticks)
    assert all(low * (1 - 1e-6) <= tick <= low * factor * (1 + 1e-6) for tick in ticks)
    if factor >= 10:
        assert all(is_round(tick) for tick in ticks)
        assert len(ticks) >= 1
    if factor >= 16 and factor <= 100:
        assert 3 <= len(ticks) <= 7


@given(st.lists(st.text("ab ", max_size=12), max_size=12), st.integers(4, 8))
def test_labels_stay_distinguishable(labels: list[str], length: int) -> None:
    found = distinct_labels(labels, length)
    assert len(set(found)) == len(labels)
    assert all(len(one) <= length + len(" (12)") for one in found)


def test_a_label_is_cut_where_it_is_alike() -> None:
    assert shortened("abcdef", 4) == "abc…"
    assert distinct_labels(["short", "a long label, first", "a long label, second"], 12) == (
        "short", "a long…first", "a long…econd"
    )  # fmt: skip
    assert distinct_labels(["same", "same", "other"], 10) == ("same (1)", "same (2)", "other")


def test_the_chosen_point_and_its_bound_are_where_they_belong() -> None:
    joint = make(LIP(1.0)).joint
    picture = trade_off_picture(CURVES, lambda value: value / joint.entropy, 1.0)
    assert picture.chosen.place == pytest.approx(50)
    assert picture.chosen.words == f"{0.3 / joint.entropy:.0%}"
    assert [curve.style for curve in picture.curves] == ["best", "second"]
    assert [curve.at_chosen for curve in picture.curves] == [f"{v / joint.entropy:.1%}" for v in (0.3, 0.2)]
    top = float(picture.shares[-1].words.removesuffix(" %")) / 100
    assert picture.height_of_chosen == pytest.approx(100 * (1 - 0.3 / joint.entropy / top))
    assert picture.possible
    assert [tick.words for tick in picture.epsilons] == ["0.5", "1", "2"]
    tight = {name: [type(p)(p.epsilon, p.value, p.value) for p in points] for name, points in CURVES.items()}
    assert trade_off_picture(tight, lambda value: value / joint.entropy, 1.0).possible == ""


def test_a_curve_of_one_point() -> None:
    joint = make(LIP(1.0)).joint
    alone = {"best found": CURVES["best found"][1:2]}
    picture = trade_off_picture(alone, lambda value: value / joint.entropy, 1.0)
    assert picture.chosen.place == 50
    assert [tick.words for tick in picture.epsilons] == ["1"]


def test_beliefs_go_from_least_to_most() -> None:
    prior, least, most = np.array([0.2, 0.8, 0.0]), np.array([0.1, 0.7, 0.0]), np.array([0.3, 0.9, 0.0])
    picture = beliefs_picture(["a", "b\n", "nobody"], prior, least, most)
    assert [row.secret for row in picture.rows] == ["b\\n", "a"]
    assert picture.ticks[-1].words == "100 %"
    assert picture.place(0.5) == pytest.approx(50)
    assert picture.rows[1].growth == "1.50"
    assert picture.left_out == 0
    many = np.full(80, 1 / 80)
    assert beliefs_picture(range(80), many, many, many).left_out == 20


@pytest.mark.parametrize(
    ("probability", "words", "step"),
    [
        (0, "0", 0), (1e-9, "<1", 0), (0.01, "1", 1), (0.05, "5", 2),
        (0.2, "20", 3), (0.5, "50", 4), (0.999, ">99", 5), (1, "100", 5),
    ],
)  # fmt: skip
def test_a_cell_never_says_never_or_always_where_it_is_not(probability: float, words: str, step: int) -> None:
    assert percent_words(probability) == words
    assert shade(probability) == step


def test_the_heat_map_keeps_alike_labels_apart() -> None:
    names = tuple(f"a label that is far too long to be shown, number {i}" for i in range(8))
    joint = Joint.from_counts(np.full((2, 8), 5), None, [Attribute("x", names)])
    outputs = tuple(f"mostly a label that is far too long to be shown, number {i}" for i in range(8))
    picture = heat_map(Protocol.make(Channel(0.5 * np.eye(8) + 0.5 / 8, joint.letters, outputs), joint, LIP(1.0)))
    assert len(set(picture.inputs)) == len(set(picture.outputs)) == 8
    assert picture.room == "full"
    assert picture.cells[0][0].words == "56"
    assert names[0] in picture.cells[0][0].told
    assert picture.hidden_outputs == picture.hidden_inputs == 0
