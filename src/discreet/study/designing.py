"""From what a study says to a design: one path for the command line, for study files and for pages.

Whatever a steward can ask for is a key of `StudyFile`. How the table is counted is said in `counted_joint`, how the
mechanism is found in `begun`; a new option is a key there and one line here.
"""

from __future__ import annotations

import time
from typing import Any

from discreet.design import check_level
from discreet.exceptions import ParameterError
from discreet.given_columns import AnyJoint
from discreet.notions.average import OnAverage
from discreet.protocol.protocol import check_covers_noise
from discreet.records.counting import count_privately, count_strata, joint_of_file
from discreet.records.grouping import Grouping
from discreet.records.noise import Noise
from discreet.records.private_prior import read_letters
from discreet.records.task_counts import count_tasks
from discreet.solvers.methods import METHODS
from discreet.study.expected_size import expected_size
from discreet.study.purposes import Purpose
from discreet.study.study import SEARCH, Study, Watcher
from discreet.study_file import StudyFile
from discreet.utilities.task import Task


def counted_joint(asked: StudyFile, progress: Any = lambda stage, records: None, *, force: bool = False) -> AnyJoint:
    """The distribution that the study starts from, counted, in the form that it asks for.

    A column that names people is refused unless `force` is said."""
    options: dict[str, Any] = {
        "include_secret": asked.include_secret,
        "encoding": asked.encoding,
        "group": Grouping.parse(asked.bins, asked.merge),
        "weight": asked.weight,
        "person": asked.person,
        "household": asked.household,
        "rows": asked.rows,
        "force": force,
        "progress": progress,
    }
    joint: AnyJoint
    private = asked.private is not None or asked.letters is not None
    if asked.task and private:
        raise ParameterError(
            "a task is counted as it is, which a private prior forbids", where="task", remedy="Leave one of them out."
        )
    if private:
        joint = _private(asked, {**options, "given": asked.given})
    elif asked.task:
        joint = count_tasks(asked.sample, asked.secret, asked.release, asked.given, asked.task, **options)
    elif asked.given:
        joint = count_strata(asked.sample, asked.secret, asked.release, asked.given, **options)
    else:
        joint = joint_of_file(asked.sample, secret=asked.secret, release=asked.release, **options)
    return joint.curator() if asked.sees_secret else joint


def _private(asked: StudyFile, options: dict[str, Any]) -> AnyJoint:
    """A private prior is drawn from the table itself, once; what is refused whatever it is costs no noise."""
    if asked.private is None or asked.letters is None or asked.public is not None:
        raise ParameterError(
            "a private prior needs a level and letters, and no public sample",
            where="--private, --letters, --public",
            remedy="Give --private 1.0 --letters letters.json.",
        )
    check_covers_noise(asked.asked_notion)
    if asked.method not in (None, "auto", *METHODS):
        raise ParameterError("a method nobody knows", where="method", remedy="Nothing was drawn. Leave it out: auto.")
    noise = Noise(asked.private, again=asked.same_noise)
    letters = read_letters(asked.folder / asked.letters)
    return count_privately(
        asked.sample, asked.secret, asked.release, noise, letters,
        **{key: value for key, value in options.items() if key != "progress"},
    )  # fmt: skip


def begun(
    asked: StudyFile, joint: AnyJoint, *, compare: bool = False, force: bool = False, watcher: Watcher | None = None
) -> Study:
    """The design that the study asks for. Where comparisons follow, they have their share of its time limit.

    Promises about averages are designed for information, whatever the purpose. One that would take too much is refused
    before it is begun, with what would work instead, unless `force` is said."""
    check_level(asked.asked_notion)
    expected_size(joint, asked.asked_notion, time_limit=asked.time_limit).check(asked.time_limit, force=force)
    reaching = None if asked.accuracy is None else (asked.plan or joint.n or 1, asked.accuracy)
    limit, shared = asked.time_limit, compare and reaching is None and asked.need is None
    study = Study.begin(
        joint,
        asked.asked_notion,
        method=asked.method or "auto",
        gap=1e-6 if asked.gap is None else asked.gap,
        time_limit=limit * SEARCH if limit is not None and shared else limit,
        purpose=Purpose.information if isinstance(asked.asked_notion, OnAverage) else Purpose(asked.purpose),
        need=asked.need,
        reaching=reaching,
        force=force,
        utility=None if asked.task is None else Task(asked.task),
        watcher=watcher,
    )
    study = study.sparser() if asked.fewer_outputs else study
    return study if asked.public is None else study.from_public()


def judged(
    asked: StudyFile, study: Study, *, started: float, compare: bool = True, watcher: Watcher | None = None
) -> Study:
    """With what it is compared with, in the time that is left since `started` (a monotonic clock), and with forecasts
    for as many records as were asked for, or else as were counted."""
    if compare:
        left = None if asked.time_limit is None else asked.time_limit - (time.monotonic() - started)
        study = study.compared(seconds=left, watcher=watcher)
    records = asked.plan or study.joint.n
    return study.with_forecasts(records) if records else study
