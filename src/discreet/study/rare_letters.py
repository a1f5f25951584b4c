"""What a steward must hear before releasing: releases that are worth little, and the letters that make them so."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Final

import numpy as np

from discreet.estimate import Forecast
from discreet.given_columns import StratifiedJoint
from discreet.phrases import few_as_one, shown
from discreet.uncertainty.confidence import has_limits

if TYPE_CHECKING:
    from discreet.study.study import Study

LITTLE: Final = 0.1
"""A release that is worth less than a tenth of its records deserves a second thought."""
FEW_RECORDS: Final = 4
"""Letters of one to four records push the mean design effect by tens, honestly."""
MOST_NAMED: Final = 5
"""Letters that a sentence names."""


def study_warnings(study: Study) -> tuple[str, ...]:
    """Sentences, empty if all is well."""
    rare = few_as_one("", 50, by_name=has_limits(study.protocol.notion))
    said = [one for expected in study.forecasts if (one := _worth_little(expected, rare))]
    return (*said, *_rare(study))


def _worth_little(expected: Forecast, rare: str) -> str:
    if expected.worth >= LITTLE or len(expected.names) > 1:
        return ""
    column = expected.names[0]
    if expected.worth == 0:
        return (
            f"This release does not determine how common every value of {column} is. Design for statistics "
            f"(--for statistics), merge rare values ({rare}), or allow a larger epsilon."
        )
    return (
        f"For how common each value of {column} is, {expected.n:,} released records are worth "
        f"{expected.n * expected.worth:,.0f} clean ones, less than a tenth. Design for statistics "
        f"(--for statistics), merge rare values ({rare}), or allow a larger epsilon."
    )


def rare_letters(study: Study) -> dict[str, list[tuple[Hashable, int]]]:
    """For every released column the values that one to four records have."""
    joint = study.joint
    strata = list(joint.strata.values()) if isinstance(joint, StratifiedJoint) else [joint]
    if any(one.counts is None for one in strata):
        return {}
    found: dict[str, list[tuple[Hashable, int]]] = {}
    for axis, attribute in enumerate(joint.releases):
        total = np.zeros(len(attribute), np.int64)
        for one in strata:
            counts = one.counts
            assert counts is not None
            others = tuple(place for place in range(counts.ndim) if place != 1 + axis)
            total += counts.sum(axis=others)
        few = [(attribute.letters[x], int(n)) for x, n in enumerate(total) if 0 < n <= FEW_RECORDS]
        if few:
            found[attribute.name] = few
    return found


def _rare(study: Study) -> list[str]:
    """Which letters are rare, and what merging or reweighting them gives."""
    said = []
    for name, few in rare_letters(study).items():
        expected = next((one for one in study.forecasts if one.names == (name,)), None)
        listed = ", ".join(shown(letter) for letter, _ in few[:MOST_NAMED]) + (", …" if len(few) > MOST_NAMED else "")
        sentence = (
            f"{len(few)} values of {name} have one to {FEW_RECORDS} records: {listed}. Whoever has one can nearly be "
            "recognised by it"
        )
        if expected is not None and 0 < expected.worth < 1:
            without = _without(expected, [letter for letter, _ in few])
            sentence += (
                f", and they weigh on the mean: a released record is worth {expected.worth:.1%} of a clean one over "
                f"all values, {without:.1%} over the others"
            )
        merge = few_as_one(name, FEW_RECORDS + 1, by_name=has_limits(study.protocol.notion))
        said.append(f"{sentence}. Merge them ({merge}) or leave them out of the weights.")
    return said


def _without(expected: Forecast, letters: list[Hashable]) -> float:
    """The worth over the other letters."""
    left_out = set(letters)
    p = expected.frequencies
    kept = np.array(
        [letter not in left_out and 0 < share < 1 for letter, share in zip(expected.letters, p, strict=True)]
    )
    if not kept.any():
        return expected.worth
    effects = expected.n * expected.standard_errors[kept] ** 2 / (p[kept] * (1 - p[kept]))
    return float(1 / effects.mean())
