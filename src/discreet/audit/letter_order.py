"""Which input of a channel is which letter of a joint: by name wherever there are names, by place only without any."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import Final

import numpy as np
from scipy import sparse

from discreet.arrays import Floats, Indices
from discreet.attribute import Attribute
from discreet.channel import Channel
from discreet.exceptions import AlphabetError, ChannelError
from discreet.joint import Joint

DEFAULT_NAME: Final = re.compile(r"(secret|release)\d*")
"""What a column is called that nobody named."""
MOST_FILLED: Final = 1 << 23
"""Entries for letters that nobody had: a hundred megabytes."""


def in_order_of(channel: Channel, joint: Joint) -> Channel:
    """The channel with its inputs in the order of the joint's letters: by name, by written name, or as it is if nobody
    named them."""
    inputs, letters = channel.inputs, joint.letters
    if len(inputs) == len(letters) and (channel.unnamed or inputs == letters):
        return Channel(channel.rows, letters, channel.outputs) if channel.unnamed else channel
    for key in (lambda letter: letter, _written):
        position = {key(name): i for i, name in enumerate(inputs)}
        wanted = [key(letter) for letter in letters]
        if len(position) == len(inputs) == len(letters) and set(wanted) == set(position):
            return Channel(channel.rows[:, [position[name] for name in wanted]], letters, channel.outputs)
    raise AlphabetError(
        f"a channel that reads {len(inputs)} letters, a joint with {len(letters)}, and their names differ",
        remedy="Name the inputs like the letters of the joint, or leave them unnamed and in the same order.",
    )


def _written(letter: Hashable) -> str | None:
    """As files of text have it; a missing value is no text."""
    return None if letter is None else str(letter)


def in_columns_of(channel: Channel, reads: Sequence[Attribute], joint: Joint) -> Channel:
    """A channel that reads these columns, its letters in the order of the joint's columns. Where one side has a column
    that nobody named, columns are matched by place; letters are in any case matched by name."""
    names, wanted = ([attribute.name for attribute in columns] for columns in (reads, joint.reads))
    if names == wanted or len(names) != len(wanted) or any(map(DEFAULT_NAME.fullmatch, (*names, *wanted))):
        return channel
    if sorted(names) != sorted(wanted):
        raise AlphabetError(
            "a joint of other columns than the mechanism reads",
            where=", ".join(names),
            remedy="Name the columns alike.",
        )
    order = [names.index(name) for name in wanted]
    inputs = [tuple(letter[place] for place in order) for letter in channel.inputs if isinstance(letter, tuple)]
    return Channel(channel.rows, inputs, channel.outputs)


def check_spoken(channel: Channel, joint: Joint) -> None:
    """ChannelError where a letter that people have has an empty column: nothing says what is released of it."""
    if not isinstance(channel.rows, np.ndarray) and (joint.prior[channel.silent] > 0).any():
        raise ChannelError(
            "an empty column, of a letter that people have",
            where=f"column {int(channel.silent[joint.prior[channel.silent] > 0][0])}",
            remedy="Q[y, x]: a column that adds up to one for every letter.",
        )


def columns_filled(channel: Channel, letters: Indices, law: Floats) -> Channel | None:
    """The channel with this law of outputs in the empty columns of these letters. None where that would be too much."""
    drawn = np.flatnonzero(law)
    if isinstance(channel.rows, np.ndarray) or not len(letters):
        return channel
    if len(letters) * len(drawn) > MOST_FILLED:
        return None
    places = np.tile(drawn, len(letters)), np.repeat(letters, len(drawn))
    columns = sparse.csr_array((np.tile(law[drawn], len(letters)), places), shape=channel.rows.shape)
    return Channel(sparse.csr_array(channel.rows + columns), channel.inputs, channel.outputs)
