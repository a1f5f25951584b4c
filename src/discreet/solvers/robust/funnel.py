"""A robust mechanism that reads X only, for alphabets too large for the optimum.

It begins with one output per letter, each as strong as F permits by itself: rows v_z = 1 + λ_z (1_z / p_z − 1) with
weights p_z / λ_z add up to a multiple of one, whatever the λ_z are. Then the outputs are polished as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from discreet.arrays import Floats, Indices
from discreet.channel import Channel
from discreet.joint import Joint
from discreet.mechanisms.calibration import robust
from discreet.notions.rldp import RLDP
from discreet.notions.rlip import RLIP
from discreet.solvers.problem import Effort, Problem, Solution, named
from discreet.solvers.robust.polishing import polished
from discreet.solvers.robust.rescaling import at_level, provable, weaker
from discreet.uncertainty.sets import ball_around

BEGINNING = 0.3
"""The share of the time that the outputs to begin with may take, their proof included."""


def polish_funnel(problem: Problem, effort: Effort) -> Iterator[Solution]:
    """One output per letter that was seen, then whatever polishing makes of it."""
    joint, asked = problem.asked
    notion = robust(asked, "coupling")
    begun = begin_with_letters(
        joint, notion, provable(ball_around(notion.uncertainty, joint), BEGINNING * effort.left())
    )
    yield Solution.of_channel(problem, named(joint, begun))
    best, status = polished(joint, notion, begun, effort)
    yield Solution.of_channel(problem, named(joint, best), status=status)


def begin_with_letters(joint: Joint, notion: RLDP | RLIP, most: int | None = None) -> Channel:
    """One output per letter that was seen; letters never seen are no more likely to give one than another.

    With `most` outputs at the most letters share them: the heaviest first, each with the lightest so far, so that an
    output says as little about the secret as any.
    """
    seen = np.flatnonzero(joint.prior > 0)
    p = joint.prior[seen]
    size = min(len(seen), len(seen) if most is None else most)
    if size == 1:
        return at_level(joint, notion, np.ones(1), np.ones((1, len(joint.letters))), grow=False)
    group = lightest_groups(p, size)
    mass = np.bincount(group, p)
    rows = np.where(joint.prior > 0, 0.0, np.ones((size, 1)))
    rows[group, seen] = 1 / mass[group]
    rows = weaker(joint, notion, rows)
    first = np.array([seen[group == g][0] for g in range(size)])
    strength = (rows[np.arange(size), first] - 1) / (1 / mass - 1)
    widths = mass / strength
    return at_level(joint, notion, widths / widths.sum(), rows, grow=True)


def lightest_groups(masses: Floats, size: int) -> Indices:
    """Groups of about the same mass; each letter alone if there are enough groups."""
    group, filled = np.arange(len(masses)), np.zeros(size)
    for letter in np.argsort(-masses, kind="stable") if len(masses) > size else ():
        group[letter] = filled.argmin()
        filled[group[letter]] += masses[letter]
    return group
