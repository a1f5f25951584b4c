"""Hypothesis strategies for joints and channels, for the tests of discreet and of anything built on it.

Needs hypothesis, which the `dev` extra brings. The joints include what real tables include: empty cells, letters that
never occur, secrets that were never seen.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from discreet.channel import Channel
from discreet.joint import Joint

epsilons = st.floats(0.05, 4.0)


@st.composite
def joints(
    draw: st.DrawFn, *, max_secrets: int = 4, max_letters: int = 5, attributes: int = 1, include_secret: bool = False
) -> Joint:
    """Joints from small counts, about a third of the cells empty."""
    c = draw(st.integers(2, max_secrets))
    shape = tuple(draw(st.integers(2, max_letters)) for _ in range(attributes))
    size = c * int(np.prod(shape))
    cells = draw(st.lists(st.one_of(st.just(0), st.integers(1, 60), st.integers(1, 60)), min_size=size, max_size=size))
    counts = np.array(cells).reshape(c, *shape)
    if counts.sum() == 0:
        counts[(0,) * counts.ndim] = 1
    return Joint.from_counts(counts, include_secret=include_secret)


@st.composite
def channels(draw: st.DrawFn, joint: Joint, *, max_outputs: int = 5) -> Channel:
    """Channels for the letters of a joint, some entries zero."""
    return Channel(_columns(draw, len(joint.letters), max_outputs), joint.letters)


@st.composite
def joints_with_channels(draw: st.DrawFn, /, **kwargs: Any) -> tuple[Joint, Channel]:
    joint = draw(joints(**kwargs))
    return joint, draw(channels(joint))


@st.composite
def post_processings(draw: st.DrawFn, channel: Channel, *, max_outputs: int = 4) -> Channel:
    return Channel(_columns(draw, len(channel.outputs), max_outputs), channel.outputs)


def _columns(draw: st.DrawFn, columns: int, max_outputs: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    outputs = draw(st.integers(1, max_outputs))
    entry = st.one_of(st.just(0), st.integers(1, 20), st.integers(1, 20))
    weights = np.array(draw(st.lists(entry, min_size=outputs * columns, max_size=outputs * columns)), dtype=float)
    matrix = weights.reshape(outputs, columns)
    matrix[0, matrix.sum(axis=0) == 0] = 1
    return np.asarray(matrix / matrix.sum(axis=0))
