"""Panels drawn with matplotlib: colours for every eye, a marker a method, names beside lines, a legend for clouds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.exceptions import ParameterError
from discreet.papers.experiment import Panel, Quartiles, Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes


BLACK, ORANGE, SKY, GREEN, BLUE, RED, PINK, GREY, PURPLE, BROWN = (
    "#000000", "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7", "#7F7F7F", "#6A3D9A", "#8C510A",
)  # fmt: skip
LOOKS = {
    "GRR": (BLUE, "D"),
    "CR": (ORANGE, "^"),
    "OUE": (PINK, "v"),
    "Opt-LIP": (BLACK, "o"),
    "SRR": (SKY, "s"),
    "IR": (RED, "o"),
    "IR, single u": (PINK, "o"),
    "PolyOpt": (GREEN, "^"),
    "NR": (GREY, "o"),
    "curator": (GREEN, "*"),
    "exact": (BROWN, "P"),
    "coupling": (BLACK, "X"),
    "PolyOpt, s ≠ s'": (PURPLE, "<"),
    "ε* = ε": (BROWN, ""),
    "CR, exact level": (PINK, "v"),
    "direct": (BLACK, "o"),
    "product": (ORANGE, "^"),
    "safe product": (BLUE, "s"),
    "calibrated product": (GREEN, "v"),
    "ε = 0.5": (BLUE, "o"),
    "ε = 1": (ORANGE, "s"),
    "ε = 1.5": (GREEN, "^"),
    "ε = 2": (PINK, "D"),
    "printed": (ORANGE, "s"),
    "here": (BLUE, "o"),
    "LDP": (BLUE, "D"),
    "LIP": (BLACK, "o"),
    "PML": (GREEN, "^"),
    "maximal leakage": (PINK, "v"),
    "funnel": (ORANGE, "s"),
    "funnel under LIP(1)": (RED, "X"),
}
COLUMNS = 2
WIDTH, HEIGHT = 5.6, 3.7
LABEL_GAP = 0.055  # of the height of the axes


def draw(title: str, panels: tuple[Panel, ...], stem: Path) -> list[Path]:
    """Write `stem`.svg and `stem`.png."""
    plt = _pyplot()
    wide = any(len(panel.ticks) > 20 for panel in panels)
    columns = 1 if wide else min(COLUMNS, len(panels))
    width = WIDTH * (COLUMNS if wide else columns)
    rows = -(-len(panels) // columns)
    style = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "svg.hashsalt": "discreet"}
    with plt.rc_context(style):
        figure, grid = plt.subplots(rows, columns, figsize=(width, HEIGHT * rows), squeeze=False, layout="constrained")
        for axes, panel in zip(grid.flat, panels, strict=False):
            _panel(axes, panel)
        for axes in grid.flat[len(panels) :]:
            axes.set_visible(False)
        figure.suptitle(title, fontsize=10)
        written = [stem.with_suffix(".svg"), stem.with_suffix(".png")]
        figure.savefig(written[0], metadata={"Date": None})
        figure.savefig(written[1], dpi=130)
        plt.close(figure)
    return written


def _pyplot() -> Any:
    try:
        import matplotlib
    except ImportError as error:
        raise ParameterError(
            "drawing needs matplotlib", where="papers", remedy="pip install 'discreet[papers]'."
        ) from error
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


def _panel(axes: Axes, panel: Panel) -> None:
    boxes = [mark for mark in panel.marks if isinstance(mark, Quartiles)]
    clouds = [mark for mark in panel.marks if isinstance(mark, Series) and mark.shape == "points"]
    lines = [mark for mark in panel.marks if isinstance(mark, Series) and mark.shape == "line"]
    if panel.log_x:
        axes.set_xscale("log")
    if panel.log_y:
        axes.set_yscale("log")
    for series in (*clouds, *lines):
        _series(axes, series)
    for place, box in enumerate(boxes):
        _box(axes, place, box)
    axes.set_title(panel.title, fontsize=9, loc="left")
    axes.set_xlabel(panel.x)
    axes.set_ylabel(panel.y)
    axes.grid(alpha=0.25, linewidth=0.6)
    if boxes:
        axes.set_xticks(range(len(boxes)), [box.label for box in boxes])
        axes.set_xlim(-0.7, len(boxes) - 0.3)
        axes.axhline(0.0, color=BLACK, linewidth=0.6)
    if panel.ticks:
        axes.set_xticks(range(len(panel.ticks)), panel.ticks, rotation=90, fontsize=6)
    if len(clouds) > 1:
        axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5), handletextpad=0.2)
    _name_lines(axes, [line for line in lines if np.isfinite(line.y).any()])


def _series(axes: Axes, series: Series) -> None:
    colour, marker = _look(series.label)
    if series.shape == "points":
        axes.plot(series.x, series.y, marker, color=colour, alpha=0.7, markersize=4, label=series.label)
        return
    line = "--" if series.role == "reference" else "-"
    width = 2.2 if series.role == "new" else 1.3
    axes.plot(series.x, series.y, line, marker=marker, markersize=4, color=colour, linewidth=width)
    if series.low is None or series.high is None:
        return
    if series.spread == "band":
        axes.fill_between(series.x, series.low, series.high, color=colour, alpha=0.18, linewidth=0)
    else:
        axes.vlines(series.x, series.low, series.high, color=colour, linewidth=0.8, alpha=0.5)


def _box(axes: Axes, place: int, box: Quartiles) -> None:
    colour, _ = _look(box.label.split("\n")[0])
    low, first, middle, third, high = np.quantile(box.samples, [0, 0.25, 0.5, 0.75, 1])
    axes.vlines(place, low, high, color=colour, linewidth=1)
    axes.vlines(place, first, third, color=colour, linewidth=9, alpha=0.4)
    axes.plot(place, middle, "_", color=colour, markersize=14)


def _name_lines(axes: Axes, lines: list[Series]) -> None:
    """The name of every line beside its right end, moved apart where ends are close together."""
    if not lines:
        return
    low, high = axes.get_ylim()
    axes.set_ylim(low, high)
    scale = axes.yaxis.get_transform().transform
    bottom, top = scale(np.array([low, high]))
    ends = np.array([(scale(np.array([_end(line)]))[0] - bottom) / (top - bottom) for line in lines])
    for line, height in zip(lines, apart(ends, LABEL_GAP), strict=True):
        colour, _ = _look(line.label)
        weight = "bold" if line.role == "new" else "normal"
        axes.annotate(
            line.label, (1.01, height), xycoords="axes fraction", color=colour, va="center", fontsize=8,
            fontweight=weight, annotation_clip=False,
        )  # fmt: skip


def apart(heights: NDArray[np.float64], gap: float) -> NDArray[np.float64]:
    """The heights with at least this gap between any two: first upwards, then back down from 1."""
    order = np.argsort(heights, kind="stable")
    placed = heights[order].astype(float)
    for i in range(1, len(placed)):
        placed[i] = max(placed[i], placed[i - 1] + gap)
    placed[-1] = min(placed[-1], 1.0)
    for i in range(len(placed) - 2, -1, -1):
        placed[i] = min(placed[i], placed[i + 1] - gap)
    moved = np.empty(len(placed))
    moved[order] = placed
    return moved


def _end(line: Series) -> float:
    """The last value that is drawn."""
    return float(line.y[np.argmax(np.where(np.isfinite(line.y), line.x, -np.inf))])


def _look(label: str) -> tuple[str, str]:
    return LOOKS.get(label, (GREY, "."))
