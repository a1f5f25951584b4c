"""Formulae in MathML, which browsers draw and screen readers read without any script."""

from __future__ import annotations

from discreet.notions import LDP, LIP, SRLIP, OrdinaryLDP
from discreet.notions.level import Notion
from discreet.notions.rldp import RLDP
from discreet.report.markup import tag, text


def formulae(notion: Notion) -> list[tuple[str, str]]:
    """What each formula says, and the formula."""
    return [
        ("The mechanism: an input letter x becomes output y with probability", _math(Q)),
        (f"What is promised ({_name(notion)}), for every output y {_range(notion)}:", _math(_condition(notion))),
        ("What is kept, the mutual information between the released data and the output:", _math(INFORMATION)),
        ("What is told about the secret on average:", _math(LEAKAGE)),
        (
            "Every probability is a whole number of 2⁻ᵏ, so the law that is drawn from is the law that was proven:",
            _math(WEIGHTS),
        ),
        ("A value that is missing or unknown is released as a draw from the population's law:", _math(POPULATION)),
    ]


def _math(content: str) -> str:
    return tag("div", tag("math", tag("mrow", content), {"display": "block"}), {"class": "formula"})


def _i(name: str) -> str:
    return tag("mi", text(name))


def _o(sign: str) -> str:
    return tag("mo", text(sign))


def _sub(base: str, below: str) -> str:
    return tag("msub", base + below)


def _group(*parts: str) -> str:
    return tag("mrow", "".join(parts))


def _probability(*parts: str, name: str = "P") -> str:
    return _group(_i(name), _o("("), *parts, _o(")"))


def _given(left: str, right: str) -> str:
    return left + _o("|") + right


def _sum(below: str) -> str:
    return tag("munder", _o("∑") + below)


S, T, X, Y = _i("s"), _group(_i("s"), _o("′")), _i("x"), _i("y")
Q = (
    _sub(_i("Q"), _group(Y, _o(","), X))
    + _o("=")
    + _probability(_given(_group(_i("Y"), _o("="), Y), _group(_i("X"), _o("="), X)))
)
EXP = tag("msup", _i("e") + _i("ε"))
MINUS_EXP = tag("msup", _i("e") + _group(_o("−"), _i("ε")))
_LOG = tag("mi", "ln")
INFORMATION = (
    _probability(_i("X"), _o(";"), _i("Y"), name="I")
    + _o("=")
    + _sum(_group(X, _o(","), Y))
    + _sub(_i("p"), X)
    + _sub(_i("Q"), _group(Y, _o(","), X))
    + _LOG
    + tag("mfrac", _sub(_i("Q"), _group(Y, _o(","), X)) + _sub(_i("q"), Y))
    + _o(",")
    + tag("mspace", "", {"width": "0.6em"})
    + _sub(_i("q"), Y)
    + _o("=")
    + _sum(X)
    + _sub(_i("p"), X)
    + _sub(_i("Q"), _group(Y, _o(","), X))
)
LEAKAGE = (
    _probability(_i("S"), _o(";"), _i("Y"), name="I")
    + _o("=")
    + _sum(_group(S, _o(","), Y))
    + _probability(S, _o(","), Y)
    + _LOG
    + tag("mfrac", _probability(_given(Y, S)) + _probability(Y))
)
WEIGHTS = (
    _sub(_i("Q"), _group(Y, _o(","), X))
    + _o("=")
    + tag("mfrac", _sub(_i("w"), _group(Y, _o(","), X)) + tag("msup", tag("mn", "2") + _i("k")))
    + _o(",")
    + tag("mspace", "", {"width": "0.6em"})
    + _sum(Y)
    + _sub(_i("w"), _group(Y, _o(","), X))
    + _o("=")
    + tag("msup", tag("mn", "2") + _i("k"))
)
POPULATION = _sub(_i("q"), Y) + _o("=") + _sum(X) + _sub(_i("p"), X) + _sub(_i("Q"), _group(Y, _o(","), X))


def _name(notion: Notion) -> str:
    return {LIP: "ε-LIP", LDP: "ε-LDP", SRLIP: "ε-SRLIP", RLDP: "(ε, F)-RLDP", OrdinaryLDP: "ε-LDP of the data"}.get(
        type(notion), type(notion).__name__
    )


def _range(notion: Notion) -> str:
    if isinstance(notion, SRLIP):
        return "and secret s, and everything x_J that may be known beforehand"
    if isinstance(notion, LIP):
        return "and secret s"
    if isinstance(notion, RLDP):
        return "and secrets s ≠ s′, and every distribution P in the set F"
    return "and values x ≠ x′" if isinstance(notion, OrdinaryLDP) else "and secrets s ≠ s′"


def _condition(notion: Notion) -> str:
    known = _sub(X, _i("J"))
    if isinstance(notion, SRLIP):
        middle = tag("mfrac", _probability(_given(Y, _group(S, _o(","), known))) + _probability(_given(Y, known)))
        return MINUS_EXP + _o("≤") + middle + _o("≤") + EXP
    if isinstance(notion, LIP):
        return MINUS_EXP + _o("≤") + tag("mfrac", _probability(_given(Y, S)) + _probability(Y)) + _o("≤") + EXP
    if isinstance(notion, OrdinaryLDP):
        other = _group(X, _o("′"))
        return _sub(_i("Q"), _group(Y, _o(","), X)) + _o("≤") + EXP + _sub(_i("Q"), _group(Y, _o(","), other))
    return _probability(_given(Y, S)) + _o("≤") + EXP + _probability(_given(Y, T))
