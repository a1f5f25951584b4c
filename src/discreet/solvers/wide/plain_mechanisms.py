"""What anybody would try first, and what a search must not fall short of (theory 10.2).

Tried, in this order, with their values compared and the best kept:

1. the closed form: a class of letters or a draw from all of them, each as strong as permitted. It keeps at least as
   much as randomised response and "the value itself or a draw": their rows are mixtures of its rows and a constant one
2. every released column by itself, and every two columns together, if they have few values; each by the exact search
3. groups of letters with nearby posteriors of the secret, by the exact search
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import sparse

from discreet.arrays import Floats, Indices, whole
from discreet.exceptions import UnfinishedError
from discreet.joint import Joint
from discreet.notions.lip import LIP
from discreet.notions.notion import Notion
from discreet.solvers.columns.generation import generate_columns
from discreet.solvers.driver import solve
from discreet.solvers.problem import Effort, Problem
from discreet.solvers.wide.classes import LetterClasses

MOST_VALUES = 42
"""Of a column, or of two together: the exact search of so many values takes well below a second."""
GROUPS = 16
"""Groups of letters with nearby posteriors."""
MOST_ENTRIES = 1 << 22
"""A closed form with more entries than this is not tried: nobody could release it."""
GAP = 1e-4
"""Nats: what a plain mechanism may be short of its optimum."""


@dataclass(frozen=True, eq=False)
class PlainMechanism:
    """A mechanism by name, the nats it keeps, and what makes it: rows v over the letters that somebody has, and their
    weights. It is made only if nothing better was found."""

    name: str
    value: float
    make: Callable[[], tuple[sparse.csr_array, Floats]]


def best_plain(classes: LetterClasses, joint: Joint, notion: Notion, effort: Effort) -> PlainMechanism:
    """The best of those tried in time; the first is always tried, and the constant row is there at the least."""
    letters = len(classes.letters)
    best = PlainMechanism("nothing", 0.0, lambda: (sparse.csr_array(np.ones((1, letters))), np.ones(1)))
    closed = one_class_or_a_draw(classes, joint, notion)
    if closed is not None and closed.value > best.value:
        best = closed
    tried = list(coarser_letters(classes, joint))
    for number, (name, labels) in enumerate(tried):
        if effort.late():
            break
        found = _read_by_group(name, labels, classes, joint, notion, effort.share(1 / (len(tried) - number)))
        if found is not None and found.value > best.value:
            best = found
    return best


def coarser_letters(classes: LetterClasses, joint: Joint) -> Iterator[tuple[str, Indices]]:
    """The coarser letters that are tried: a name, and the group of every letter that somebody has."""
    places = np.unravel_index(classes.letters, tuple(len(one.letters) for one in joint.releases))
    several = len(places) > 1
    for k, place in enumerate(places):
        if several and len(np.unique(place)) <= MOST_VALUES:
            yield joint.releases[k].name, place
    for k, m in combinations(range(len(places)), 2):
        both = places[k] * (int(places[m].max()) + 1) + places[m]
        if len(places) > 2 and len(np.unique(both)) <= MOST_VALUES:
            yield f"{joint.releases[k].name} and {joint.releases[m].name}", both
    centred = classes.posteriors - classes.prior @ classes.posteriors
    direction = np.linalg.svd(centred * np.sqrt(classes.prior)[:, None], full_matrices=False)[2][0]
    order = np.argsort(centred @ direction, kind="stable")
    group = np.empty(classes.size, np.intp)
    group[order] = np.minimum(GROUPS * np.cumsum(classes.prior[order]), GROUPS - 1).astype(np.intp)
    yield "letters with nearby posteriors", group[classes.of_letter]


def _read_by_group(
    name: str, labels: Indices, classes: LetterClasses, joint: Joint, notion: Notion, effort: Effort
) -> PlainMechanism | None:
    """The best mechanism found that reads the group of a letter alone."""
    _, labels = np.unique(labels, return_inverse=True)
    table = joint.table[joint.seen][:, classes.letters]
    masses = np.array([np.bincount(labels, line) for line in table])
    try:
        problem = Problem.of(Joint(masses / masses.sum()), notion)
        found = solve(generate_columns, problem, effort.quiet(GAP))
    except UnfinishedError:
        return None
    return PlainMechanism(name, found.value, lambda: (sparse.csr_array(whole(found.rows)[:, labels]), found.weights))


def one_class_or_a_draw(classes: LetterClasses, joint: Joint, notion: Notion) -> PlainMechanism | None:
    """Posteriors (1 − λ_T) p + λ_T e_T with weights proportional to p_T / λ_T, every λ_T as large as permitted."""
    if classes.size * len(classes.letters) > MOST_ENTRIES:
        return None
    prior, most = classes.prior, np.exp(notion.epsilon)
    likelihoods = classes.posteriors / joint.secret_prior[joint.seen]
    high, low = likelihoods.max(axis=1) - 1, likelihoods.min(axis=1) - 1
    if isinstance(notion, LIP):
        steep = np.maximum(high / (most - 1), -low / (1 - 1 / most))
    else:
        steep = (high - most * low) / (most - 1)
    strength = np.minimum(1.0, (1 - 1e-9) / np.maximum(steep, 1e-12))
    weights = prior / strength / (prior / strength).sum()
    split = (1 - strength)[:, None] * prior + np.diag(strength)
    value = float(weights @ (split * np.log(np.maximum(split, 1e-300))).sum(axis=1) - prior @ np.log(prior))
    return PlainMechanism(
        "a class of letters or a draw from all of them",
        value + classes.inside,
        lambda: classes.unfolded(sparse.csr_array(split), weights),
    )
