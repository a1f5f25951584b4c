"""A column that a release is meant to be useful for: P(s, x, t), beside the joint P(s, x) it belongs to (theory 8.6).

It is there for the design alone. No promise speaks of it, and no file carries it: a file that had it would tell more
about the table than the promise needs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.arrays import Floats
from discreet.exceptions import AlphabetError, DistributionError

if TYPE_CHECKING:
    from discreet.attribute import Attribute
    from discreet.joint import Joint

SAME = 1e-9
"""How far the sums over t may be from the joint."""


@dataclass(frozen=True, eq=False)
class TaskColumn:
    """T and P(s, x1, …, xm, t), the last axis that of T."""

    attribute: Attribute
    cells: Floats

    @property
    def name(self) -> str:
        return self.attribute.name

    def check(self, probabilities: Floats) -> None:
        """DistributionError unless summing over t gives the joint."""
        wanted = (*probabilities.shape, len(self.attribute))
        if self.cells.shape != wanted or not np.allclose(self.cells.sum(axis=-1), probabilities, rtol=0, atol=SAME):
            raise DistributionError(
                "a task that does not sum to the joint", where=self.name, remedy="Count both from one table."
            )

    def changed(self, secrets: Callable[[Any], Any]) -> TaskColumn:
        """The same with other secrets."""
        return replace(self, cells=secrets(self.cells))

    def given_letter(self, joint: Joint) -> Floats:
        """P(t | z), one line per value of T; zero for letters that never occur."""
        flat = self.cells.reshape(len(self.cells), -1, len(self.attribute))
        together = flat.reshape(-1, flat.shape[2]) if joint.reads_secret else flat.sum(axis=0)
        prior = joint.prior[:, None]
        return np.ascontiguousarray(np.divide(together, prior, out=np.zeros_like(together), where=prior > 0).T)


def task_named(tasks: tuple[TaskColumn, ...], name: str) -> TaskColumn:
    """The task of this name."""
    for one in tasks:
        if one.name == name:
            return one
    raise AlphabetError(
        "a task that the joint does not know", where="Task", remedy='Count it: Joint.from_table(…, task="income").'
    )


def with_tasks(counted: Joint, number: int) -> Joint:
    """The joint without its last released columns, which are tasks; summed over the tasks that it does not need."""
    cut = len(counted.releases) - number
    axes = tuple(range(1 + cut, 1 + len(counted.releases)))

    def summed(cells: Any, kept: int | None = None) -> Any:
        return cells.sum(axis=tuple(axis for axis in axes if axis != kept))

    tasks = tuple(
        TaskColumn(attribute, np.asarray(summed(counted.probabilities, axis), dtype=float))
        for attribute, axis in zip(counted.releases[cut:], axes, strict=True)
    )
    counts = None if counted.counts is None else summed(counted.counts)
    probabilities = summed(counted.probabilities) if counts is None else counts / counted.n
    rows, releases = counted.rows and counted.rows.over(summed), counted.releases[:cut]
    return replace(counted, probabilities=probabilities, releases=releases, counts=counts, tasks=tasks, rows=rows)


def itself(joint: Joint, name: str) -> TaskColumn:
    """A released column as its own task: T is a function of X."""
    axis = next(i for i, attribute in enumerate(joint.releases) if attribute.name == name)
    attribute = joint.releases[axis]
    place = [1] * (joint.probabilities.ndim + 1)
    place[1 + axis] = place[-1] = len(attribute)
    return TaskColumn(attribute, joint.probabilities[..., None] * np.eye(len(attribute)).reshape(place))
