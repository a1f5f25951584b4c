"""Formulae in MathML, which browsers draw and screen readers read without any script, from one line of text each.

    P(y|s)/P(y)     an upper case letter before "(" is a function; "/" is a fraction of the two things beside it
    e^{−ε}, x_J     powers and indices; braces hold together what is longer than one letter or number
    s′  ∑_{x,y}     a prime belongs to its letter, what a sum runs over stands below it
    ln  ≤ = | , ;   the logarithm, signs; "~" is a wide space, other white space means nothing

The tree is built by a library of XML, so whatever stands in a formula is text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from xml.etree.ElementTree import Element, tostring

from discreet.exceptions import ParameterError
from discreet.notions.notion import Notion, words_of
from discreet.phrases import rounded_up

MECHANISM: Final = "Q_{y,x} = P({Y = y}|{X = x})"
INFORMATION: Final = "I(X;Y) = ∑_{x,y} p_x Q_{y,x} ln Q_{y,x}/q_y"
LEAKAGE: Final = "I(S;Y) = ∑_{s,y} P(s,y) ln P(y|s)/P(y)"
WEIGHTS: Final = "Q_{y,x} = w_{y,x}/2^k,~ ∑_y w_{y,x} = 2^k"
POPULATION: Final = "q_y = ∑_x p_x Q_{y,x}"
SIGNS: Final = "≤≥≠<>=|,;+−·∑"
TOKEN: Final = re.compile(rf"\s*(ln|[^\W\d_]|\d+|[(){{}}/_^′~{SIGNS}])")
GAP: Final = "0.6em"


def formulae(notion: Notion) -> list[tuple[str, str]]:
    """What each formula says, and the formula."""
    first, *others = notion.promises
    words = words_of(first)
    shown = [
        ("The mechanism: an input letter x becomes output y with probability", MECHANISM),
        (f"What is promised ({words.symbol}), for every output y {words.over}:", words.formula),
        *(
            (
                f"And at ε = {rounded_up(one.epsilon)} ({words_of(one).symbol}), "
                f"for every output y {words_of(one).over}:",
                words_of(one).formula,
            )
            for one in others
        ),
        ("What is kept, the mutual information between the released data and the output:", INFORMATION),
        ("What is told about the secret on average:", LEAKAGE),
        (
            "Every probability is a whole number of 2⁻ᵏ, so the law that is drawn from is the law that was proven:",
            WEIGHTS,
        ),
        ("A value that is missing or unknown is released as a draw from the population’s law:", POPULATION),
    ]
    return [(says, mathml(formula)) for says, formula in shown]


def mathml(formula: str) -> str:
    """The formula as a `math` element; ParameterError if it is not written as above."""
    tokens, place = [], 0
    for found in TOKEN.finditer(formula.rstrip()):
        if found.start() == place:
            tokens.append(found[1])
            place = found.end()
    if place != len(formula.rstrip()):
        raise _unreadable(formula)
    root = Element("math", display="block")
    root.append(_Reader(formula, tokens).row(""))
    return tostring(root, encoding="unicode")


class _Reader:
    """Recursive descent over the tokens, first to last; every method takes the tokens of what it returns."""

    def __init__(self, formula: str, tokens: list[str]) -> None:
        self.formula, self.tokens = formula, tokens[::-1]

    def row(self, end: str) -> Element:
        """Everything up to the closing sign, which is taken as well."""
        row = _element("mrow", *self._terms(end))
        if end:
            self.tokens.pop()
        return row

    def _terms(self, end: str) -> Iterator[Element]:
        while self._next() != end:
            term = self._scripted()
            if self._next() == "/":
                self.tokens.pop()
                term = _element("mfrac", term, self._scripted())
            yield term

    def _scripted(self) -> Element:
        below = "munder" if self._next() == "∑" else "msub"
        base = self._thing()
        while self._next() in ("_", "^"):
            name = {"_": below, "^": "msup"}[self.tokens.pop()]
            base = _element(name, base, self._thing())
        return base

    def _thing(self) -> Element:
        """A letter with its prime or its argument, a number, a sign, a group."""
        token = self.tokens.pop() if self.tokens else ""
        if token == "{":
            return self.row("}")
        if token == "~":
            return Element("mspace", width=GAP)
        if token.isdigit():
            return _leaf("mn", token)
        if token and token in SIGNS:
            return _leaf("mo", token)
        if not token.isalpha():
            raise _unreadable(self.formula)
        if self._next() == "′":
            return _element("mrow", _leaf("mi", token), _leaf("mo", self.tokens.pop()))
        if self._next() == "(" and token.isupper():
            self.tokens.pop()
            return _element("mrow", _leaf("mi", token), _leaf("mo", "("), self.row(")"), _leaf("mo", ")"))
        return _leaf("mi", token)

    def _next(self) -> str:
        return self.tokens[-1] if self.tokens else ""


def _element(name: str, *children: Element) -> Element:
    element = Element(name)
    element.extend(children)
    return element


def _leaf(name: str, text: str) -> Element:
    element = Element(name)
    element.text = text
    return element


def _unreadable(formula: str) -> ParameterError:
    return ParameterError(f"a formula that cannot be read: {formula}", where="mathml", remedy="See report.mathml.")
