"""The study that a release amounts to: what its protocol and its options say, as a study file would have it.

A protocol knows what was protected, promised, given, grouped and counted by. It does not know for which purpose its
mechanism was searched: outputs that are values are taken for "values", others for "information".
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any

import numpy as np

from discreet.attribute import Attribute, Form
from discreet.exceptions import ParameterError
from discreet.notions.average import OnAverage
from discreet.notions.by_name import spelling
from discreet.notions.conjunction import belt_of
from discreet.notions.notion import words_of
from discreet.protocol.strata import AnyProtocol, StratifiedProtocol, promise_of, strata_of
from discreet.records.grouping import Bins, Grouping, Merged, Rest
from discreet.records.persons import Rule, WhoseRows
from discreet.release import Job
from discreet.study_file import StudyFile


def study_of(protocol: AnyProtocol, job: Job) -> StudyFile:
    """The study that a release with this protocol amounts to."""
    joint = protocol.joint
    given = protocol.given if isinstance(protocol, StratifiedProtocol) else ()
    bins, merge = _groups(protocol, (*joint.secrets, *joint.releases, *given))
    asked = StudyFile(
        table=job.source,
        secret=tuple(attribute.name for attribute in joint.secrets),
        release=tuple(attribute.name for attribute in joint.releases),
        given=tuple(attribute.name for attribute in given),
        keep=job.keep,
        bins=bins,
        merge=merge,
        weight=joint.weight or None,
        purpose="values" if set(protocol.outputs) <= set(joint.target_letters) else "information",
        sees_secret=joint.form is Form.CURATOR,
        include_secret=joint.form is Form.RELEASES_SECRET,
        keep_anyway=job.keep_anyway,
        keep_order=job.keep_order,
        to=job.format,
        key=None if job.key is None else str(job.key),
        id=job.identity,
        several_rows=job.several_rows,
        encoding=job.encoding,
        people=job.data,
        budget=job.budget,
        repeat=job.repeat,
        unknown_anyway=job.unknown_anyway,
        law_anyway=job.law_anyway,
        policy=None if job.policy is None else str(job.policy),
        targets={"protocol": str(job.protocol), **({"released": job.target} if job.target else {})},
    )
    return replace(asked, **_promised(protocol), **_whose(protocol, job))


def _promised(protocol: AnyProtocol) -> dict[str, Any]:
    """The first promise by its name, with its belt, or the ceiling of an average; to a person, where it is made to one
    whose rows are drawn by themselves, and for all strata together."""
    notion = promise_of(protocol)
    leading = notion.promises[0]
    epsilon = protocol.statement.to_a_unit(leading.epsilon)
    ceiling = notion.ceiling if isinstance(notion, OnAverage) else None
    alone = "epsilon" in {one.name for one in fields(leading)}
    belted = ceiling is None and len(notion.promises) > 1
    confidence = getattr(getattr(leading, "uncertainty", None), "confidence", None)
    return {
        "notion": words_of(leading).command if alone else spelling(leading),
        "epsilon": epsilon if alone else None,
        "belt": belt_of(notion) if belted else None,
        "ceiling": spelling(ceiling) if ceiling is not None and len(ceiling.promises) == 1 else None,
        "confidence": confidence,
    }


def _whose(protocol: AnyProtocol, job: Job) -> dict[str, Any]:
    """Whose rows they are: as the release was told, or as the protocol states it."""
    asked, stated = job.rows, protocol.statement.rows
    if asked.unit is None and not asked.one_row_per_person and isinstance(stated, WhoseRows):
        rule = None if stated.rule is Rule.single else str(stated.rule)
        return {stated.unit: stated.column, "rows": asked.rows or rule}
    return {
        "person": asked.person,
        "household": asked.household,
        "rows": asked.rows,
        "one_row_per_person": asked.one_row_per_person,
    }


def _groups(protocol: AnyProtocol, columns: Sequence[Attribute]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Bins and merges in words. Rare values are not in the protocol: they had fewer records than any that was kept."""
    bins, merges = [], []
    for column in columns:
        for step in () if column.grouping is None else column.grouping.steps:
            if isinstance(step, Bins):
                bins.append(_readable(f"{column.name}={','.join(step.edges)}", {column.name: step.edges}, {}))
            elif isinstance(step, Merged):
                words, said = f"{column.name}: {', '.join(step.values)} -> {step.into}", {step.into: step.values}
                merges.append(_readable(words, {}, {column.name: said}))
            else:
                merges.append(_readable(f"{column.name}:rare:{_fewest(protocol, column, step)}", {}, {}))
    return tuple(bins), tuple(merges)


def _readable(words: str, bins: dict[str, Any], merge: dict[str, Any]) -> str:
    """The words, if they are read as what they are to say: names and values may have signs that words have too."""
    with suppress(ParameterError):
        found = Grouping.parse(*(([words], []) if bins else ([], [words])))
        read = {name: tuple(edges) for name, edges in found.bins.items()}
        made = {name: {new: tuple(old) for new, old in one.items()} for name, one in found.merge.items()}
        if (read, made) == (bins, merge):
            return words
    raise ParameterError(
        "a grouping that no study file can say",
        where="--show-study",
        remedy="Its names have signs such as : or a comma.",
    )


def _fewest(protocol: AnyProtocol, column: Attribute, step: Rest) -> int:
    """The records of the rarest value that was kept."""
    records = np.zeros(len(column.letters))
    for one in strata_of(protocol):
        axes = (*one.joint.secrets, *one.joint.releases)
        if one.joint.counts is None or column.name not in [axis.name for axis in axes]:
            raise ParameterError(
                "which values are rare is not in the protocol",
                where="--show-study",
                remedy=f'Write merge = ["{column.name}:rare:…"] by hand, as the design had it.',
            )
        table = one.joint.counts.reshape([len(axis.letters) for axis in axes])
        place = [axis.name for axis in axes].index(column.name)
        records += table.sum(axis=tuple(axis for axis in range(table.ndim) if axis != place))
    return max(1, int(min(n for letter, n in zip(column.letters, records, strict=True) if letter in step.kept)))
