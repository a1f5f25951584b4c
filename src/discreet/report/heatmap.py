"""The channel as a picture: a row an output, a column an input letter, darker where likelier."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from discreet.naming import label as in_words
from discreet.protocol import Protocol
from discreet.report.markup import box, label, shortened, svg
from discreet.report.style import KEPT

WIDTH: Final = 720.0
LEFT: Final = 214.0
MOST_ROWS: Final = 40
MOST_COLUMNS: Final = 60
LABELLED: Final = 36


def heat_map(protocol: Protocol) -> tuple[str, str]:
    """The picture, and in words what it leaves out."""
    rows, letters = _chosen(protocol)
    matrix = protocol.matrix[np.ix_(rows, letters)]
    outputs = [in_words(protocol.outputs[y]) for y in rows]
    inputs = [in_words(protocol.inputs[z]) for z in letters]
    top = 112.0 if len(letters) <= LABELLED else 14.0
    width = (WIDTH - LEFT - 40) / len(letters)
    height = min(26.0, max(13.0, width))
    parts = []
    for i, output in enumerate(outputs):
        y = top + i * height
        parts.append(label(LEFT - 8, y + height / 2 + 4, shortened(output, 36), anchor="end", style="small"))
        for j, given in enumerate(inputs):
            told = f"{given} → {output}: {matrix[i, j]:.3g}"
            place = (LEFT + j * width + 0.5, y + 0.5, width - 1, height - 1)
            parts.append(box(*place, _shade(matrix[i, j]), told=told))
    if len(letters) <= LABELLED:
        for j, given in enumerate(inputs):
            x = LEFT + (j + 0.5) * width + 3
            parts.append(label(x, top - 6, shortened(given, 20), style="small", turn=-55))
    total = top + len(rows) * height + 4
    parts += _legend(total + 12)
    told = f"{len(rows)} outputs by {len(letters)} original values; the darker, the likelier."
    return svg(WIDTH, total + 40, parts, "The mechanism as a heat map", told), _left_out(protocol, rows, letters)


def _legend(y: float) -> list[str]:
    parts = [label(LEFT - 8, y + 10, "probability", anchor="end", style="quiet small")]
    for i, value in enumerate((0.0, 0.05, 0.2, 0.5, 1.0)):
        parts.append(box(LEFT + i * 44, y, 42, 12, _shade(value)))
        parts.append(label(LEFT + i * 44 + 21, y + 24, f"{value:.0%}", anchor="middle", style="quiet small"))
    return parts


def _chosen(protocol: Protocol) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The commonest outputs and letters; outputs in the order of the letters they stand for."""
    letters = np.sort(np.argsort(-protocol.joint.prior, kind="stable")[:MOST_COLUMNS])
    rows = np.argsort(-_marginal(protocol), kind="stable")[:MOST_ROWS]
    strongest = protocol.matrix[np.ix_(rows, letters)].argmax(axis=1)
    return rows[np.argsort(strongest, kind="stable")], letters


def _marginal(protocol: Protocol) -> NDArray[np.float64]:
    return np.asarray(protocol.matrix @ protocol.joint.prior)


def _left_out(protocol: Protocol, rows: NDArray[np.intp], letters: NDArray[np.intp]) -> str:
    said = []
    if len(rows) < len(protocol.outputs):
        rest = 1 - _marginal(protocol)[rows].sum()
        said.append(f"{len(protocol.outputs) - len(rows)} rarer outputs, {rest:.1%} of all records, are not shown.")
    if len(letters) < len(protocol.inputs):
        said.append(f"{len(protocol.inputs) - len(letters)} rarer original values are not shown.")
    return " ".join(said)


def _shade(value: float) -> str:
    """White to the colour of what is kept; the square root shows small probabilities."""
    strength = math.sqrt(min(1.0, max(0.0, value)))
    full = [int(KEPT[i : i + 2], 16) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(245 + (channel - 245) * strength):02x}" for channel in full)
