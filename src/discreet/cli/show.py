"""Tables for people and JSON for machines. Results go to standard output, everything else to standard error."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from discreet.exceptions import unseen, visible
from discreet.information import share_kept
from discreet.joint import Form
from discreet.phrases import Unit, names, rounded_up, shown
from discreet.wording import caveats, costly, guarantee, notion_name, other_half, unsupported

if TYPE_CHECKING:
    from discreet.estimate import Forecast, Reached
    from discreet.joint import Joint
    from discreet.study import Curves, Study

PROVEN: Final = 1e-6
"""A gap in nats that no figure shown here has a digit for."""
MOST_LETTERS: Final = 30
"""The letters of a cross-table that people still read; of a larger one only the summary is shown."""
WIDTH, HEIGHT = 56, 10
"""The plot in characters: with its axis it fits the 80 columns of a plain terminal."""
MARKS: Final = "●+×○"
stdout = Console(highlight=False)
stderr = Console(stderr=True, highlight=False)


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
        table.add_row(Text(visible(name)), Text(visible(value)))
    console.print(table)
    console.print()


def paragraph(text: str, console: Console = stdout, style: str = "") -> None:
    console.print(Text(visible(text)), style=style)
    console.print()


def show_joint(joint: Joint, source: str) -> None:
    """What was counted, and where it came from."""
    secret, letters = len(joint.secret_letters), len(joint.release_letters)
    rows = {
        "secret": f"{names(joint.secrets)}: {secret} values",
        "released": f"{names(joint.releases)}: {letters} values",
        "records": f"{joint.n:,}" if joint.n else "unknown",
        "distribution": source,
    }
    facts("The data", rows, stderr)


def show_study(study: Study, unit: Unit) -> None:
    """The mechanism and its promise; then whatever the study compares it with."""
    protocol, joint = study.protocol, study.joint
    rows = {"value kept": f"{unit(protocol.utility)}, {study.share:.1%} of what the data tell"}
    if study.design is not None:
        bound, gap = study.design.upper_bound, study.design.gap
        proven = " (proven)" if gap <= PROVEN else f"; gap {unit(gap, 6)}"
        rows["at most possible"] = f"{unit(bound)}, {share_kept(joint, bound):.1%}{proven}"
    if study.other_form is not None:
        told = f"{unit(study.other_form.utility)}, {study.other_share}"
        if joint.form is Form.CURATOR:
            rows["if it read the released columns only"] = told
        else:
            rows["if it read the secret too"] = f"{told} (--sees-secret, for a data owner)"
    rows["told about the secret"] = f"{unit(protocol.leakage)} on average"
    rows["outputs"] = f"{len(protocol.outputs)}{_merged(study)}"
    if study.design is not None:
        found = study.design
        rows["found by"] = f"{found.method}, {found.status}, {found.seconds:.1f} s"
    promise = f"{notion_name(protocol.notion)} at epsilon {rounded_up(protocol.epsilon)}"
    facts("The mechanism", {**rows, "promise": f"{promise}, proven in exact arithmetic"})
    paragraph(guarantee(protocol), style="bold")
    if few := unsupported(joint, study.protocol.notion):
        paragraph(few)
    if study.other_half is not None:
        paragraph(other_half(study.protocol.notion.epsilon, **vars(study.other_half)))
    if costs := costly(joint, study.costs):
        paragraph(costs)
    for caveat in caveats(protocol):
        stdout.print(f"  - {visible(caveat)}", markup=False)
    stdout.print()
    if study.curves:
        stdout.print(plot(study.curves, joint, protocol.notion.epsilon), markup=False)
        stdout.print()
    _show_forecasts(study)


def _merged(study: Study) -> str:
    """What merging outputs would cost, where it saves a third of them."""
    if study.merged is None:
        return ""
    fewer, share = len(study.merged.protocol.outputs), study.merged.utility / study.protocol.utility
    return f"; {fewer} would keep {share:.1%} of it (--fewer-outputs)"


def _show_forecasts(study: Study) -> None:
    if study.reached is not None:
        _show_tried(study.reached)
    for one in study.forecasts:
        _show_forecast(one)
    if study.forecasts and study.joint.form is Form.CURATOR:
        how = f"from the protocol how {names(study.joint.secrets)} depends on the rest"
        if study.protocol.source == "data":
            paragraph(f"This holds for analysts who take {how}, as discreet estimate does; the table was counted.")
        else:
            paragraph(f"Who may take {how} gets more: discreet estimate --assume-secret.")


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
    worth = expected.effective_sample_size
    if worth:
        paragraph(f"That is worth about {worth:,.0f} clean records." if worth >= 1 else "That is worth less than one.")


def _half(half: float) -> str:
    return f"± {half:.4f}" if half < math.inf else "not determined"


def plot(curves: Curves, joint: Joint, chosen: float) -> str:
    """Epsilon to the right on a logarithmic scale, the share of I(T;Y) in H(T) upwards; the chosen one is marked."""
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
            share = min(1.0, max(0.0, share_kept(joint, point.value)))
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
