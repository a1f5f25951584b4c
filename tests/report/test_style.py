"""The style sheet: dark where preferred, A4 when printed, text that can be read on its ground."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import discreet.report

SHEET = (Path(discreet.report.__file__).parent / "templates/style.css").read_text()


def tokens(theme: str) -> dict[str, str]:
    light, dark = (
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))
        for block in re.findall(r":root \{(.*?)\}", SHEET, re.S)[:2]
    )
    return light if theme == "light" else {**light, **dark}


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_can_be_read(theme: str) -> None:
    found = tokens(theme)
    pairs = [(ink, ground) for ink in ("ink", "ink-2", "ink-3") for ground in ("paper", "sunken")]
    pairs += (
        [("ink-3", "h0")]
        + [("ink", f"h{i}") for i in range(1, 4)]
        + [("on-mark", "h4"), ("on-mark", "h5"), ("released", "paper")]
    )
    weak = {pair: round(contrast(found[pair[0]], found[pair[1]]), 2) for pair in pairs}
    assert {pair: ratio for pair, ratio in weak.items() if ratio < 4.5} == {}
    marks = ("secret", "released", "chosen", "second", "third", "fourth")
    assert {mark for mark in marks if contrast(found[mark], found["paper"]) < 3} == set()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_neighbouring_shades_are_told_apart(theme: str) -> None:
    found = tokens(theme)
    steps = [luminance(found[f"h{i}"]) for i in range(6)]
    assert steps == sorted(steps, reverse=theme == "light")
    assert all(contrast(found[f"h{i}"], found[f"h{i + 1}"]) > 1.12 for i in range(5))


def test_the_dark_theme_is_another() -> None:
    assert "@media screen and (prefers-color-scheme: dark)" in SHEET
    assert tokens("dark")["paper"] != tokens("light")["paper"]
    assert set(tokens("dark")) == set(tokens("light"))


def test_it_prints_on_a4() -> None:
    assert "size: A4" in SHEET
    assert "@media print" in SHEET
