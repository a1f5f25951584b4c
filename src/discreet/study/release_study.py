"""The study that a release amounts to: what its protocol and its options say, as a study file would have it.

A protocol knows what was protected, promised, given, grouped and counted by. A study is shown only where it says all of
that (`replay`): read back, and with its table counted, it makes the same promise about the same counts. What a protocol
does not know is what its mechanism was searched for: outputs that are values are taken for "values", others for
"information", and the text says so.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any, Final

import numpy as np

from discreet.attribute import Attribute, Form
from discreet.exceptions import ParameterError, visible
from discreet.files.atomic_file import PIPE
from discreet.notions.average import OnAverage
from discreet.notions.by_name import spelling
from discreet.notions.notion import words_of
from discreet.notions.ordinary_ldp import OrdinaryLDP
from discreet.protocol.strata import AnyProtocol, StratifiedProtocol, promise_of, strata_of
from discreet.records.grouping import Bins, Grouping, Merged, Rest
from discreet.records.header import header_of
from discreet.records.kinds import Progress
from discreet.records.persons import Rule, WhoseRows
from discreet.release import Job
from discreet.study.replay import would_differ
from discreet.study_file import StudyFile

NOT_HELD: Final = (
    "task", "need", "accuracy", "plan", "method", "gap", "time_limit", "fewer_outputs", "about",
)  # fmt: skip
"""The keys of a design that no protocol holds: they choose among mechanisms that keep the promise."""
REMEDY: Final = (
    "Leave --show-study out: the release needs no study. The study of a design is what discreet design --show-study "
    "prints, with the options of the design."
)


def shown_study(protocol: AnyProtocol, job: Job, progress: Progress = lambda stage, records: None) -> str:
    """The text of the study, and what it cannot know."""
    told = (
        f"# The same promise about the same counts as {visible(job.protocol.name)}. What its mechanism was searched\n"
        f"# for is in no protocol: purpose is told by the outputs, and these are as if nothing had been asked:\n"
        f"# {', '.join(NOT_HELD)}.\n"
    )
    return told + study_of(protocol, job, progress).text()


def study_of(protocol: AnyProtocol, job: Job, progress: Progress = lambda stage, records: None) -> StudyFile:
    """The study that a release with this protocol amounts to; its table is counted. ParameterError where what is
    promised or done is nothing that a study can say."""
    if job.source == PIPE:
        raise ParameterError(
            "a study reads its table several times", where="--show-study", remedy="Give the table as a file."
        )
    said = _said(protocol, job)
    columns, records = header_of(job.source, job.encoding)
    text = replace(said, columns=columns, records=records).text()
    asked = StudyFile.of(tomllib.loads(text))  # what is compared is what will be read
    if lost := _options_lost(asked.job(), job) or would_differ(asked, protocol, progress):
        raise _unsayable(f"a release that no study file can say: a study would differ in {', '.join(lost)}")
    return asked


def _unsayable(what: str) -> ParameterError:
    return ParameterError(what, where="--show-study", remedy=REMEDY)


def _said(protocol: AnyProtocol, job: Job) -> StudyFile:
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
    """The first promise by its name, with what may stand beside it: a belt, or the ceiling of an average; to a person,
    where it is made to one whose rows are drawn by themselves, and for all strata together."""
    leading, *others = promise_of(protocol).promises
    leading = leading.at(protocol.statement.to_a_unit(leading.epsilon))
    alone = "epsilon" in {one.name for one in fields(leading)}
    belts = [one for one in others if isinstance(one, OrdinaryLDP)]
    ceilings = [one for one in others if isinstance(leading, OnAverage) and one not in belts]
    sets: list[Any] = [getattr(one, "uncertainty", None) for one in (leading, *ceilings[:1])]
    confidence = next((one.confidence for one in sets if hasattr(one, "confidence")), None)
    return {
        "notion": words_of(leading).command if alone else spelling(leading),
        "epsilon": leading.epsilon if alone else None,
        "belt": belts[0].epsilon if belts else None,
        "ceiling": spelling(ceilings[0]) if ceilings else None,
        "confidence": None if confidence is None else round(confidence, 12),
    }


def _options_lost(asked: Job, job: Job) -> list[str]:
    """In which of its options the release of a study would differ. Whose rows they are is held against the protocol."""
    compared = [one.name for one in fields(Job) if one.name != "rows" and (job.target or one.name != "target")]
    return [name for name in compared if getattr(asked, name) != getattr(job, name)]


def _whose(protocol: AnyProtocol, job: Job) -> dict[str, Any]:
    """Whose rows they are: as the release was told, or as the protocol states it, also where it is told that nobody has
    two: then a release looks there."""
    asked, stated = job.rows, protocol.statement.rows
    if asked.unit is None and isinstance(stated, WhoseRows):
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
    raise _unsayable("a grouping that no study file can say: its names have signs such as : or a comma")


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
