"""Pictures as numbers: where marks stand, what ticks say, which labels are shown. `templates/charts.html` draws them.

Places are percentages of a picture's width and height. The template draws into a picture of full width and fixed
height, so that a mark moves with the width of the page and text never shrinks. Ticks are round: 1, 2 or 5 times a power
of ten.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from discreet.arrays import Floats, Indices, whole
from discreet.phrases import shown
from discreet.protocol import Protocol
from discreet.protocol.public import PublicProtocol
from discreet.study import Balanced, Curves, Point

MOST_TICKS: Final = 5
"""Intervals on an axis: as many labels as a telephone has room for."""
WIDE_RANGE: Final = 100.0
"""A logarithmic axis longer than this factor has ticks at powers of ten only."""
STYLES: Final = ("best", "second", "third", "fourth")
"""How a curve is drawn: the best one, and the three closed forms beside it."""
MOST_SECRETS: Final = 60
MOST_ROWS, MOST_COLUMNS = 40, 40
"""What fits on one printed page, with labels that can still be read."""
MANY_LETTERS, MOST_TELLING = 1_000, 20
"""Of so many letters the common ones say little: so many outputs and letters that tell most are shown instead."""
FEW_COLUMNS, FULL_COLUMNS = 6, 16
"""Up to so many columns the cells of the heat map have room for their numbers, on a telephone and on a sheet."""
OUTPUT_LENGTH, INPUT_LENGTH = 36, 24
"""Signs of a label: three lines on a telephone, and a column head of a hand's breadth."""
SHADES: Final = (0.01, 0.05, 0.2, 0.5, 0.8)
"""Where one shade of the heat map ends and the next begins; small probabilities are told apart more finely."""


@dataclass(frozen=True)
class Tick:
    place: float
    words: str


@dataclass(frozen=True)
class Curve:
    """A line through its points; `at_chosen` is what it keeps at the chosen epsilon."""

    name: str
    style: str
    places: tuple[tuple[float, float], ...]
    at_chosen: str

    @property
    def path(self) -> str:
        return _path(self.places)


@dataclass(frozen=True)
class TradeOff:
    """The share kept over epsilon, on a logarithmic axis; `possible` is the area between the best found and its bound,
    empty where they cannot be told apart."""

    told: str
    epsilons: tuple[Tick, ...]
    shares: tuple[Tick, ...]
    curves: tuple[Curve, ...]
    possible: str
    chosen: Tick
    height_of_chosen: float


def trade_off_picture(curves: Curves, share_of: Callable[[float], float], chosen: float) -> TradeOff:
    """The first curve is the best found; its points are those with bounds."""
    best = next(iter(curves.values()))
    epsilons = sorted({point.epsilon for curve in curves.values() for point in curve})
    points = [point for curve in curves.values() for point in curve]
    highest = max(*(point.value for point in points), *(point.bound for point in best))
    levels = round_ticks(min(1.0, max(1e-6, share_of(highest))))

    def x(epsilon: float) -> float:
        span = math.log(epsilons[-1] / epsilons[0])
        return 100 * math.log(epsilon / epsilons[0]) / span if span > 0 else 50.0

    def y(value: float) -> float:
        return 100 * (1 - min(1.0, max(0.0, share_of(value)) / levels[-1]))

    def curve(name: str, style: str, found: Sequence[Point]) -> Curve:
        at_chosen = [point.value for point in found if point.epsilon == chosen]
        told = f"{share_of(at_chosen[0]):.1%}" if at_chosen else "–"
        return Curve(name, style, tuple((x(point.epsilon), y(point.value)) for point in found), told)

    bounds = [(x(point.epsilon), y(point.bound)) for point in best]
    lower = [(x(point.epsilon), y(point.value)) for point in best]
    apart = any(low[1] - high[1] > 0.5 for low, high in zip(lower, bounds, strict=True))
    nearest = min(best, key=lambda point: abs(point.epsilon - chosen))
    share = share_of(nearest.value)
    return TradeOff(
        told=f"At epsilon {chosen:.3g} the chosen mechanism keeps {share:.1%}.",
        epsilons=tuple(Tick(x(tick), f"{tick:g}") for tick in log_ticks(epsilons[0], epsilons[-1])),
        shares=tuple(Tick(100 * (1 - tick / levels[-1]), f"{100 * tick:.10g} %") for tick in levels),
        curves=tuple(curve(name, style, curves[name]) for name, style in zip(curves, STYLES, strict=False)),
        possible=_path([*lower, *reversed(bounds)]) + "Z" if apart else "",
        chosen=Tick(x(nearest.epsilon), f"{share:.0%}"),
        height_of_chosen=y(nearest.value),
    )


@dataclass(frozen=True)
class BalancePoint:
    place: tuple[float, float]
    kept: str
    worth: str


@dataclass(frozen=True)
class BalancePicture:
    """Information kept to the right, the worth of a record upwards."""

    points: tuple[BalancePoint, ...]
    kept: tuple[Tick, ...]
    worths: tuple[Tick, ...]

    @property
    def path(self) -> str:
        return _path([point.place for point in self.points])


def balance_picture(points: Sequence[Balanced]) -> BalancePicture:
    """The curve between information and accuracy, both axes from zero."""
    kept = round_ticks(max(point.information for point in points))
    worths = round_ticks(max(point.worth for point in points))

    def placed(point: Balanced) -> BalancePoint:
        place = 100 * point.information / kept[-1], 100 * (1 - point.worth / worths[-1])
        return BalancePoint(place, f"{point.information:.1%}", f"{point.worth:.1%}")

    return BalancePicture(
        tuple(placed(point) for point in points),
        tuple(Tick(100 * tick / kept[-1], f"{100 * tick:.10g} %") for tick in kept),
        tuple(Tick(100 * (1 - tick / worths[-1]), f"{100 * tick:.10g} %") for tick in worths),
    )


@dataclass(frozen=True)
class Belief:
    """What can be believed about one secret: before, and at least and at most after seeing a record."""

    secret: str
    before: float
    least: float
    most: float

    @property
    def growth(self) -> str:
        """How many times as likely at most, rounded up."""
        return f"{math.ceil(100 * self.most / self.before - 1e-9) / 100:.2f}"


@dataclass(frozen=True)
class Beliefs:
    """A bar for each secret, on an axis from 0 to `most`, the last tick."""

    rows: tuple[Belief, ...]
    ticks: tuple[Tick, ...]
    most: float
    left_out: int

    def place(self, share: float) -> float:
        return 100 * share / self.most


def beliefs_picture(secrets: Sequence[object], prior: Floats, least: Floats, most: Floats) -> Beliefs:
    """The commonest secrets first; those that nobody has are left out."""
    possible = [int(s) for s in np.argsort(-prior, kind="stable") if prior[s] > 0]
    order = possible[:MOST_SECRETS]
    levels = round_ticks(float(most[order].max()))
    rows = [Belief(shown(secrets[s]), float(prior[s]), float(least[s]), float(most[s])) for s in order]
    ticks = tuple(Tick(100 * tick / levels[-1], f"{100 * tick:.10g} %") for tick in levels)
    return Beliefs(tuple(rows), ticks, levels[-1], len(possible) - len(order))


@dataclass(frozen=True)
class Cell:
    words: str
    shade: int
    told: str


@dataclass(frozen=True)
class HeatMap:
    """One row per output, one column per original value, darker where likelier."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]
    hidden_outputs: int
    hidden_share: float
    hidden_inputs: int
    of_many: bool = False

    @property
    def room(self) -> str:
        """Where the cells have room for their numbers: "few" everywhere, "full" on a sheet, "dense" nowhere."""
        size = len(self.inputs)
        return "few" if size <= FEW_COLUMNS else "full" if size <= FULL_COLUMNS else "dense"


def heat_map(protocol: Protocol | PublicProtocol) -> HeatMap:
    many = len(protocol.inputs) > MANY_LETTERS
    rows, letters = _most_telling(protocol) if many else _commonest(protocol)
    matrix = whole(protocol.channel.rows[rows][:, letters])
    outputs = [shown(protocol.outputs[y]) for y in rows]
    inputs = [shown(protocol.inputs[z]) for z in letters]
    cells = tuple(
        tuple(Cell(percent_words(p), shade(p), f"{z} → {y}: {p:.3g}") for z, p in zip(inputs, row, strict=True))
        for y, row in zip(outputs, matrix.tolist(), strict=True)
    )
    return HeatMap(
        inputs=distinct_labels(inputs, INPUT_LENGTH),
        outputs=distinct_labels(outputs, OUTPUT_LENGTH),
        cells=cells,
        hidden_outputs=len(protocol.outputs) - len(rows),
        hidden_share=float(1 - _marginal(protocol)[rows].sum()),
        hidden_inputs=len(protocol.inputs) - len(letters),
        of_many=many,
    )


def _commonest(protocol: Protocol | PublicProtocol) -> tuple[Indices, Indices]:
    """The commonest outputs and letters; outputs in the order of the letters they stand for."""
    letters = np.sort(np.argsort(-_prior(protocol), kind="stable")[:MOST_COLUMNS])
    rows = np.argsort(-_marginal(protocol), kind="stable")[:MOST_ROWS]
    strongest = whole(protocol.channel.rows[rows][:, letters]).argmax(axis=1)
    return rows[np.argsort(strongest, kind="stable")], letters


def _most_telling(protocol: Protocol | PublicProtocol) -> tuple[Indices, Indices]:
    """Of many, the outputs with the largest part of I(X;Y), and the letters that have most of these outputs' mass."""
    prior, weights, entries = _prior(protocol), _marginal(protocol), protocol.channel.entries
    owner = np.repeat(np.arange(entries.shape[0]), np.diff(entries.indptr))
    masses = entries.data * prior[entries.indices]
    told = np.bincount(owner, masses * np.log(entries.data / weights[owner]), minlength=len(weights))
    rows = np.sort(np.argsort(-told, kind="stable")[:MOST_TELLING])
    mine = np.isin(owner, rows)
    met = np.bincount(entries.indices[mine], masses[mine], minlength=len(prior))
    letters = np.argsort(-met, kind="stable")[:MOST_TELLING]
    letters = np.sort(letters[met[letters] > 0])
    strongest = whole(protocol.channel.rows[rows][:, letters]).argmax(axis=1)
    return rows[np.argsort(strongest, kind="stable")], letters


def _prior(protocol: Protocol | PublicProtocol) -> Floats:
    """The law of the input letters; all alike where none may be known."""
    if isinstance(protocol, PublicProtocol):
        return np.full(len(protocol.inputs), 1 / len(protocol.inputs)) if protocol.law is None else protocol.law
    return protocol.joint.prior


def _marginal(protocol: Protocol | PublicProtocol) -> Floats:
    return np.asarray(protocol.channel.rows @ _prior(protocol))


def shade(probability: float) -> int:
    """From 0 to 5."""
    return sum(probability >= border for border in SHADES)


def percent_words(probability: float) -> str:
    """Whole percent; what is possible is never shown as 0, what is not certain never as 100."""
    if 0 < probability < 0.005:
        return "<1"
    return ">99" if 0.995 <= probability < 1 else f"{100 * probability:.0f}"


def distinct_labels(labels: Sequence[str], length: int) -> tuple[str, ...]:
    """Labels of at most about `length` signs, no two alike: cut at the end, or in the middle, or numbered."""
    short = [shortened(label, length) for label in labels]
    short = [_middle(label, length) if short.count(cut) > 1 else cut for label, cut in zip(labels, short, strict=True)]
    counts, used, found = Counter(short), set(short), []
    for cut in short:
        number, name = 1, cut
        while counts[cut] > 1 and name in used:
            name, number = f"{cut} ({number})", number + 1
        used.add(name)
        found.append(name)
    return tuple(found)


def shortened(label: str, length: int) -> str:
    return label if len(label) <= length else label[: length - 1].rstrip() + "…"


def _middle(label: str, length: int) -> str:
    if len(label) <= length:
        return label
    tail = (length - 1) // 2
    return label[: length - 1 - tail].rstrip() + "…" + label[-tail:].lstrip()


def round_ticks(highest: float) -> list[float]:
    """0, and equal round steps up to the first that is not below `highest`."""
    power = 10.0 ** math.floor(math.log10(highest / MOST_TICKS))
    step = next(s * power for s in (1, 2, 5, 10) if s * power * MOST_TICKS >= highest * (1 - 1e-9))
    return [i * step for i in range(math.ceil(highest / step - 1e-9) + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times powers of ten, from low to high; the ends themselves where there is nothing between."""
    factors = (1, 2, 5) if high <= WIDE_RANGE * low else (1,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [float(f"{factor}e{power}") for power in powers for factor in factors]
    return [tick for tick in ticks if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)] or sorted({low, high})


def _path(places: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.2f},{y:.2f}" for x, y in places)
