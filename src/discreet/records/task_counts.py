"""Counting a table whose release shall be useful for a column that is not released (theory 8.6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from discreet.exceptions import AlphabetError
from discreet.given_columns import StratifiedJoint
from discreet.joint import Joint
from discreet.records.counting import count_strata, joint_of_file
from discreet.task_column import itself, with_tasks


def count_tasks(
    source: Any,
    secret: str | Sequence[str],
    release: str | Sequence[str],
    given: str | Sequence[str],
    task: str | Sequence[str],
    **options: Any,
) -> Joint | StratifiedJoint:
    """A joint, or one for every stratum of given columns, that knows the columns its release shall be useful for.

    They are counted with the released ones and then set apart; one that is released itself is a function of X.
    """
    secrets, releases, kept, tasks = (
        (names,) if isinstance(names, str) else tuple(names) for names in (secret, release, given, task)
    )
    for name in tasks:
        if name in secrets + kept or tasks.count(name) > 1:
            raise AlphabetError(
                "a task that is secret, given, or named twice", where="task", remedy="Name each column once."
            )
    others = tuple(name for name in tasks if name not in releases)

    def set_apart(counted: Joint) -> Joint:
        found = with_tasks(counted, len(others))
        return replace(found, tasks=(*found.tasks, *(itself(found, name) for name in tasks if name in releases)))

    if kept:
        strata = count_strata(source, secrets, releases + others, kept, **options)
        return replace(strata, strata={key: set_apart(one) for key, one in strata.strata.items()})
    return set_apart(joint_of_file(source, secrets, releases + others, **options))
