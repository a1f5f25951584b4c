"""Numbers are rounded against the one who promises; what comes from data is visible and not endless."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from discreet.studio import figures


@given(st.floats(0, 1))
def test_gains_are_rounded_down_and_limits_up(share: float) -> None:
    assert int(figures.kept_percent(share)[:-2]) <= 100 * share + 1e-6
    assert float(figures.raised_percent(share)[:-2]) >= 100 * share - 1e-6


@given(st.floats(0, 5))
def test_a_factor_is_never_understated(epsilon: float) -> None:
    assert float(figures.factor(epsilon)[2:]) >= math.exp(epsilon) - 1e-9


def test_the_examples_of_the_drawing() -> None:
    assert figures.factor(0.69) == "× 2.00"
    assert figures.kept_percent(0.8156) == "81\u202f%"
    assert figures.counted(1, "row") == "one row"
    assert figures.counted(40, "row") == "40 rows"
    assert figures.listed(["a", "b", "c"]) == "a, b and c"
    assert figures.listed([]) == ""
    assert figures.short_letter("26 to under 30", 9) == "26–30"
    assert figures.without_options("Leave it out; use --id. Group it.") == "Leave it out; Group it."


@given(st.text(max_size=300))
def test_nothing_from_data_moves_a_cursor(text: str) -> None:
    told = figures.name_shown(text)
    assert len(told) <= figures.LONGEST
    assert not any(ord(sign) < 32 or sign in "\u202a\u202b\u202c\u202d\u202e" for sign in told)


@given(st.floats(1e-6, 1))
def test_an_axis_is_round_and_holds_everything(highest: float) -> None:
    scale = figures.axis(highest)
    assert scale["end"] >= min(1.0, highest) * (1 - 1e-9)
    assert scale["ticks"][0]["at"] == "0.000%"
    assert scale["ticks"][-1]["at"] == "100.000%"
    assert len(scale["ticks"]) <= 6


def test_places_stay_in_the_picture() -> None:
    assert figures.at(2.0) == "100.000%"
    assert figures.at(-1.0) == "0.000%"
    assert figures.at(1.0, 0.0) == "0%"
