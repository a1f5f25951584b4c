from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from discreet.exceptions import ParameterError
from discreet.notions import NOTIONS
from discreet.report.mathml import formulae, mathml


def inner(line: str) -> str:
    found = mathml(line)
    return found.removeprefix('<math display="block"><mrow>').removesuffix("</mrow></math>")


@pytest.mark.parametrize(
    ("line", "drawn"),
    [
        ("x", "<mi>x</mi>"),
        ("s′ ≠ 12", "<mrow><mi>s</mi><mo>′</mo></mrow><mo>≠</mo><mn>12</mn>"),
        ("e^{−ε}", "<msup><mi>e</mi><mrow><mo>−</mo><mi>ε</mi></mrow></msup>"),
        ("p_x", "<msub><mi>p</mi><mi>x</mi></msub>"),
        ("∑_y w", "<munder><mo>∑</mo><mi>y</mi></munder><mi>w</mi>"),
        ("P(y)", "<mrow><mi>P</mi><mo>(</mo><mrow><mi>y</mi></mrow><mo>)</mo></mrow>"),
        ("a/2^k", "<mfrac><mi>a</mi><msup><mn>2</mn><mi>k</mi></msup></mfrac>"),
        ("ln {a/b}", "<mi>ln</mi><mrow><mfrac><mi>a</mi><mi>b</mi></mfrac></mrow>"),
        ("a,~ b", '<mi>a</mi><mo>,</mo><mspace width="0.6em" /><mi>b</mi>'),
        ("a < b", "<mi>a</mi><mo>&lt;</mo><mi>b</mi>"),
    ],
)
def test_a_line_becomes_a_mathml(line: str, drawn: str) -> None:
    assert inner(line) == drawn


def test_a_fraction_takes_the_whole_terms_beside_it() -> None:
    top, bottom = ET.fromstring(mathml("P(y|{s,x_J})/P(y|x_J) ≤ e^ε")).find(".//mfrac") or ()
    assert "".join(top.itertext()) == "P(y|s,xJ)"
    assert "".join(bottom.itertext()) == "P(y|xJ)"


@pytest.mark.parametrize("line", ["P(y", "a_", "{a", "a/", "a^", "(a)", "a & b", "a}"])
def test_a_formula_that_cannot_be_read_is_refused(line: str) -> None:
    with pytest.raises(ParameterError, match="cannot be read"):
        mathml(line)


@pytest.mark.parametrize("name", NOTIONS)
def test_the_formulae_of_every_notion_are_whole(name: str) -> None:
    notion = NOTIONS[name].asked(1.0, 0.95)
    found = formulae(notion)
    assert len(found) == 6
    for says, line in found:
        assert says.endswith((":", "probability"))
        for element in ET.fromstring(line).iter():
            if element.tag in ("mfrac", "msub", "msup", "munder"):
                assert len(element) == 2
