"""One promise for all strata of given columns, and what each of them must promise for it (theory 7.2).

A set that misses the truth with probability β does so with β/|K| in each of |K| strata, so that all of them hold
together with probability 1 − β. In decimals, rounded so that the strata never promise less than all of them state.
"""

from __future__ import annotations

import math
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

from discreet.exceptions import ParameterError
from discreet.notions.average import OnAverage
from discreet.notions.conjunction import Conjunction
from discreet.notions.notion import Notion

STEPS = 10**12
"""The confidence of all strata together is stated in steps of 1e-12."""


def in_each_stratum(notion: Notion, strata: int) -> Notion:
    """The notion for one of so many strata, so that all of them together have this one."""
    return _with_doubt(notion, Fraction(1, strata))


def in_all_strata(notion: Notion, strata: int) -> Notion:
    """The notion for all of so many strata together, each of which has this one; ParameterError where that is none."""
    return _with_doubt(notion, Fraction(strata))


def _with_doubt(notion: Notion, times: Fraction) -> Notion:
    """The same with another probability that its set misses the truth."""
    if times == 1:
        return notion
    if isinstance(notion, Conjunction):
        return Conjunction(tuple(_with_doubt(one, times) for one in notion.parts))
    if isinstance(notion, OnAverage) and notion.ceiling is not None:
        return replace(notion, ceiling=_with_doubt(notion.ceiling, times))
    about: Any = getattr(notion, "uncertainty", None)
    if about is None or "confidence" not in {one.name for one in fields(about)}:
        return notion
    sure = 1 - (1 - _decimal(about.confidence)) * times
    changed: Any = notion
    shared = replace(about, confidence=_raised(sure) if times < 1 else _lowered(sure))
    return replace(changed, uncertainty=shared)  # type: ignore[no-any-return]


def _decimal(number: float) -> Fraction:
    return Fraction(repr(float(number)))


def _raised(sure: Fraction) -> float:
    """The confidence of a stratum: not less than this."""
    found = float(sure)
    return found if _decimal(found) >= sure else math.nextafter(found, 1.0)


def _lowered(sure: Fraction) -> float:
    """The confidence of all strata together: not more than this."""
    units = math.floor(sure * STEPS)
    if units <= 0:
        raise ParameterError(
            "strata whose confidences leave none for all of them together",
            where="strata",
            remedy="Design them together, dc.design(joint, …) of the joint with all strata: it shares one confidence.",
        )
    return units / STEPS
