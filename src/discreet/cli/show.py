"""Tables for people and JSON for machines. Results go to standard output, everything else to standard error."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from discreet.attribute import Form
from discreet.exceptions import unseen, visible
from discreet.given_columns import AnyJoint, StratifiedJoint, Stratum
from discreet.information import share_kept
from discreet.notions.notion import words_of
from discreet.phrases import LONGEST_SHOWN, InformationUnit, cut, named_apart, names, rounded_up, shown
from discreet.protocol.strata import StratifiedProtocol
from discreet.study.purposes import Purpose, purpose_of
from discreet.uncertainty.confidence import has_limits
from discreet.utilities.utility import MutualInformation
from discreet.wording import (
    caveats,
    costly,
    guarantee,
    notion_name,
    other_half,
    other_people,
    rare_values,
    unsupported,
)

if TYPE_CHECKING:
    from discreet.estimate import Forecast, Reached
    from discreet.study import Curves, Needed, Study
    from discreet.study.expected_size import ExpectedSize
    from discreet.utilities.task import TaskValue

PROVEN: Final = 1e-6
"""A gap in nats that no figure shown here has a digit for."""
MOST_LETTERS: Final = 30
"""The letters of a cross-table that people still read; of a larger one only the summary is shown."""
WIDTH, HEIGHT = 56, 10
"""The plot in characters: with its axis it fits the 80 columns of a plain terminal."""
MOST_OF: Final = {
    Purpose.values: "values unchanged",
    Purpose.statistics: "worth of a record",
    Purpose.information: "information",
}
MARKS: Final = "●+×○"
ENDLESS: Final = re.compile(rf"\S{{{LONGEST_SHOWN + 1},}}")
"""No word of a language."""
stdout = Console(highlight=False, emoji=False)
stderr = Console(stderr=True, highlight=False, emoji=False)


def as_json(content: Mapping[str, Any]) -> None:
    """One JSON object on standard output: numbers that JSON does not have are null, what cannot be seen is escaped."""
    text = json.dumps(_finite(content), ensure_ascii=False, indent=2)
    if not text.isascii() or "\x7f" in text:
        text = "".join(json.dumps(sign)[1:-1] if unseen(sign) and sign != "\n" else sign for sign in text)
    typer.echo(text)


def _finite(content: Any) -> Any:
    if isinstance(content, Mapping):
        return {str(key): _finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


def facts(title: str, rows: Mapping[str, str], console: Console = stdout) -> None:
    """A table of two columns."""
    table = Table(title=title, title_justify="left", title_style="bold", show_header=False, box=None, padding=(0, 2))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for name, value in rows.items():
        table.add_row(Text(visible(name)), Text(visible(shortened_words(value))))
    console.print(table)
    console.print()


def paragraph(text: str, console: Console = stdout, style: str = "") -> None:
    console.print(Text(visible(shortened_words(text))), style=style)
    console.print()


def shortened_words(text: str) -> str:
    """Whatever is as long as only a value can be, cut: a terminal takes time in the square of a line."""
    return ENDLESS.sub(lambda found: cut(found[0]), text)


def show_joint(joint: AnyJoint, source: str, size: ExpectedSize | None = None) -> None:
    """What was counted, where it came from, and what a design will take."""
    first = joint.first if isinstance(joint, StratifiedJoint) else joint
    secret, letters = len(first.secret_letters), len(first.release_letters)
    given = {"given": f"{names(joint.given)}: {len(joint.strata)} groups"} if isinstance(joint, StratifiedJoint) else {}
    rows = {
        "secret": f"{names(joint.secrets)}: {secret} values",
        "released": f"{names(joint.releases)}: {letters} values",
        **given,
        "records": f"{joint.n:,}{' effective, weighted by ' + first.weight if first.weight else ''}"
        if joint.n
        else "unknown",
        "distribution": source,
        **({} if size is None else {"design": size.words}),
    }
    facts("The data", rows, stderr)
    if size is not None and (sparse := str(size.sparseness or "")):
        paragraph(sparse, stderr)


def show_study(study: Study, unit: InformationUnit) -> None:
    """The mechanism and its promise; then whatever the study compares it with."""
    protocol, joint = study.protocol, study.joint
    rows = _headline(study, unit)
    if study.other_form is not None:
        told = study.other_share
        if joint.form is Form.CURATOR:
            rows["if it read the released columns only"] = told
        else:
            rows["if it read the secret too"] = f"{told} (--sees-secret, for a data owner)"
    rows["information kept"] = f"{unit(protocol.utility)}, {study.share:.1%} of what the data tell"
    rows["told about the secret"] = f"{unit(protocol.leakage)} on average"
    rows["outputs"] = f"{len(protocol.outputs)}{_merged(study)}"
    if study.design is not None:
        found = study.design
        rows["found by"] = f"{found.method}, {found.status}, {found.seconds:.1f} s"
    if isinstance(protocol, StratifiedProtocol):
        show_strata(protocol)
    promise = f"{notion_name(protocol.notion)} at {words_of(protocol.notion).measure} {rounded_up(protocol.epsilon)}"
    facts("The mechanism", {**rows, "promise": f"{promise}, proven in exact arithmetic"})
    paragraph(guarantee(protocol), style="bold")
    for sentence in (study.remark, *study.warnings):
        if sentence:
            paragraph(sentence)
    if few := unsupported(joint, study.protocol.notion):
        paragraph(few)
    if study.other_half is not None:
        paragraph(other_half(study.protocol.notion.epsilon, **vars(study.other_half)))
    if costs := costly(joint, study.costs):
        paragraph(costs)
    if study.rare_secrets is not None:
        secret = "×".join(attribute.name for attribute in joint.secrets)
        if advice := rare_values(secret, **vars(study.rare_secrets), by_name=has_limits(study.protocol.notion)):
            paragraph(advice)
    for caveat in caveats(protocol):
        stdout.print(f"  - {visible(caveat)}", markup=False)
    stdout.print()
    if study.curves:
        stdout.print(plot(study.curves, study.as_share, protocol.notion.epsilon), markup=False)
        stdout.print()
    if study.balance:
        _show_balance(study)
    _show_forecasts(study)


def _headline(study: Study, unit: InformationUnit) -> dict[str, str]:
    """What the design is for and how much of that it has; then what analysts get of every column."""
    rows = {}
    if study.unchanged is not None:
        rows["values unchanged"] = f"{study.unchanged:.1%}"
    for one in study.forecasts:
        if len(one.names) == 1:
            rows[f"worth for {one.names[0]}"] = worth_told(one)
    if (task := study.task) is not None and study.design is not None:
        return rows | task_rows(task, study.design.gap, unit)
    if study.design is not None:
        measure, bound = study.design.measure, study.design.upper_bound
        gap = study.design.gap
        apart = unit(gap, 6) if measure is MutualInformation else f"{gap:.6f}"
        proven = " (proven)" if gap <= PROVEN else f"; gap {apart}"
        what = MOST_OF[purpose_of(measure)]
        rows[f"at most possible, {what}"] = f"{study.as_share(bound):.1%}{proven}"
    return rows


def worth_told(one: Forecast) -> str:
    """A release in clean records, in words."""
    if one.worth == 0:
        return f"not all of {one.names[0]} is determined by {one.n:,} records"
    records = f"{one.n * one.worth:,.0f} clean ones" if one.n * one.worth >= 1 else "less than one clean one"
    return f"{one.n:,} released records tell as much as {records} ({one.worth:.1%})"


def _show_balance(study: Study) -> None:
    title = "Between information and accuracy"
    table = Table(
        "information kept", "worth of a record", title=title, title_justify="left", title_style="bold", box=None
    )
    for point in study.balance:
        table.add_row(f"{point.information:.1%}", f"{point.worth:.1%}")
    stdout.print(table)
    stdout.print()


def task_rows(task: TaskValue, gap: float, unit: InformationUnit) -> dict[str, str]:
    """What the release is worth for its task."""
    proven = "nothing keeps more (proven)" if gap <= PROVEN else f"gap {unit(gap, 6)}"
    told = f"{unit(task.information)}, {task.share:.1%} of what the data tell about it; {proven}"
    guesses = f"{task.correct:.1%} right, {task.possible_correct:.1%} from the data, {task.blind:.1%} without any"
    rows = {f"about {visible(task.column)}": told, f"guesses of {visible(task.column)}": guesses}
    if task.area is not None and task.possible_area is not None:
        rows["area under the curve"] = f"{task.area:.3f}, {task.possible_area:.3f} from the data"
    return rows


def strata_labels(keys: Iterable[Stratum]) -> list[str]:
    """What strata are called, each by a name of its own."""
    return named_apart([key if len(key) > 1 else key[0] for key in keys], shown)


def strata_table(protocol: StratifiedProtocol, *columns: str) -> Table:
    """A table with one row per stratum, still empty."""
    table = Table(title=Text(f"Groups of {names(protocol.given)}"), title_justify="left", title_style="bold", box=None)
    table.add_column("group", overflow="fold")
    for name in columns:
        table.add_column(name, justify="right")
    return table


def show_strata(protocol: StratifiedProtocol) -> None:
    """What is kept and proven in every stratum."""
    table = strata_table(protocol, "records", "kept", "epsilon", "outputs")
    for called, one in zip(strata_labels(protocol.strata), protocol.strata.values(), strict=True):
        share = f"{share_kept(one.joint, one.utility):.1%}"
        cells = f"{one.joint.n:,}", share, rounded_up(one.epsilon), str(len(one.outputs))
        table.add_row(Text(called), *cells)
    stdout.print(table)
    stdout.print()


def _merged(study: Study) -> str:
    """What merging outputs would cost, where it saves a third of them."""
    if study.merged is None:
        return ""
    fewer, share = len(study.merged.protocol.outputs), study.merged.utility / study.protocol.utility
    return f"; {fewer} would keep {share:.1%} of it (--fewer-outputs)"


def _show_forecasts(study: Study) -> None:
    if study.reached is not None:
        _show_tried(study.reached)
    if study.needed is not None:
        _show_needed(study.needed)
    for one in study.forecasts:
        _show_forecast(one)
    for one in study.for_others:
        paragraph(other_people(one.names[0], one.worth))
    if study.forecasts and not study.for_others and study.joint.form is Form.CURATOR:
        how = f"from the protocol how {names(study.joint.secrets)} depends on the rest"
        if study.protocol.source == "data":
            paragraph(f"This holds for analysts who take {how}, as discreet estimate does; the table was counted.")
        else:
            paragraph(f"Who may take {how} gets more: discreet estimate --assume-secret.")


def _show_needed(needed: Needed) -> None:
    table = Table("epsilon", "share", title="Tried", title_justify="left", title_style="bold", box=None)
    for epsilon, share in needed.tried:
        table.add_row(f"{epsilon:.4g}", f"{share:.2%}" + ("  chosen" if epsilon == needed.epsilon else ""))
    stdout.print(table)
    stdout.print()


def _show_tried(reached: Reached) -> None:
    table = Table("epsilon", "widest 95 % interval", title="Tried", title_justify="left", title_style="bold", box=None)
    for epsilon, half in reached.tried:
        mark = "  chosen" if epsilon == reached.epsilon else ""
        table.add_row(f"{epsilon:.4g}", _half(half) + mark)
    stdout.print(table)
    stdout.print()


def _show_forecast(expected: Forecast) -> None:
    title = f"{visible(' × '.join(expected.names))}: what {expected.n:,} released records will tell"
    halves = expected.half_widths()
    if len(expected.letters) <= MOST_LETTERS or len(expected.names) == 1:
        table = Table(title=Text(title), title_justify="left", title_style="bold", box=None)
        table.add_column("letter", overflow="fold")
        for name in ("frequency", "95 % interval"):
            table.add_column(name, justify="right")
        for letter, value, half in zip(expected.letters, expected.frequencies, halves, strict=True):
            table.add_row(Text(shown(letter)), f"{value:z.4f}", _half(half))
        stdout.print(table)
    else:
        told = f"at most {_half(halves.max())}" if halves.max() < math.inf else "not all determined"
        stdout.print(Text(f"{title}\n  {len(expected.letters)} cells, 95 % intervals {told}"), style="bold")
    stdout.print()
    if len(expected.names) == 1:
        paragraph(f"{worth_told(expected)[:1].upper()}{worth_told(expected)[1:]}.")


def _half(half: float) -> str:
    return f"± {half:.4f}" if half < math.inf else "not determined"


def plot(curves: Curves, share_of: Callable[[float], float], chosen: float) -> str:
    """Epsilon to the right on a logarithmic scale, the share kept upwards; the chosen one is marked."""
    points = [point for curve in curves.values() for point in curve]
    low, high = (math.log(f(point.epsilon for point in points)) for f in (min, max))
    grid = [[" "] * (WIDTH + 1) for _ in range(HEIGHT + 1)]

    def column(epsilon: float) -> int:
        return round(WIDTH * (math.log(epsilon) - low) / ((high - low) or 1))

    for row in grid:
        row[column(chosen)] = "┊"
    best, *others = curves  # the optimum comes first, and is drawn last
    marks = dict(zip(curves, MARKS, strict=False))
    for name in (*others, best):
        for point in curves[name]:
            share = min(1.0, max(0.0, share_of(point.value)))
            grid[HEIGHT - round(HEIGHT * share)][column(point.epsilon)] = marks[name]
    lines = [f"{100 * (HEIGHT - i) // HEIGHT:>4} % ┤{''.join(row)}" for i, row in enumerate(grid)]
    ticks = [" "] * (WIDTH + 12)
    for point in curves[best]:
        tick = f"{point.epsilon:.3g}"
        start = max(0, min(column(point.epsilon) - len(tick) // 2, WIDTH + 8))
        ticks[start : start + len(tick)] = tick
    legend = "   ".join(f"{mark} {name}" for name, mark in marks.items())
    return "\n".join(
        [*lines, "       └" + "─" * (WIDTH + 1), "        " + "".join(ticks).rstrip(), f"  epsilon; {legend}"]
    )
