"""`discreet design --plan`: what analysts will get from a release, before it is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from discreet.cli.show import paragraph, stdout
from discreet.exceptions import ParameterError
from discreet.joint import Joint
from discreet.naming import label
from discreet.report.words import names

if TYPE_CHECKING:
    from discreet.design import Design
    from discreet.estimate import Forecast, Reached
    from discreet.protocol import Protocol

MOST_LETTERS = 30
"""The letters of a cross-table that people still read; of a larger one only the summary is shown."""


def check_plan(plan: int | None, accuracy: float | None, epsilon: float | None) -> None:
    if plan is not None and plan < 1:
        raise ParameterError("not a number of records", where="--plan", remedy="Give a whole number from 1.")
    if accuracy is None:
        return
    if plan is None:
        raise ParameterError("an accuracy needs a number of records", where="--accuracy", remedy="Add --plan.")
    if epsilon is not None:
        raise ParameterError(
            "an accuracy and an epsilon", where="--accuracy", remedy="Give one; the other is found from it."
        )


def smallest(
    search: Callable[[float], Design], joint: Joint, n: int, accuracy: float, tell: Callable[[str], None]
) -> tuple[Design, Reached]:
    """The design at the smallest epsilon that reaches the accuracy."""
    from discreet.estimate import smallest_epsilon

    found: dict[float, Design] = {}

    def protocol_at(epsilon: float) -> Protocol:
        tell(f"epsilon {epsilon:.4g}")
        found[epsilon] = search(epsilon)
        return found[epsilon].protocol

    reached = smallest_epsilon(protocol_at, joint, n, accuracy, assume=_assumed(joint))
    return found[reached.epsilon], reached


def forecasts(protocol: Protocol, n: int) -> list[Forecast]:
    """For every attribute by itself, and at the end for all of them together if there are several."""
    from discreet.estimate import forecast

    joint = protocol.joint
    attributes = joint.secrets + joint.releases if joint.include_secret else joint.releases
    each = [[attribute.name] for attribute in attributes]
    asked = each if len(each) == 1 else [*each, [attribute.name for attribute in attributes]]
    return [forecast(protocol, joint, n, names=one, assume=_assumed(joint)) for one in asked]


def summary(protocol: Protocol, n: int, reached: Reached | None) -> dict[str, Any]:
    """The plan for machines; what is not determined is null."""
    return {
        "n": n,
        "assumed": _assumed(protocol.joint),
        "tables": [
            {
                "attributes": list(one.names),
                "effective_sample_size": one.effective_sample_size,
                "letters": [
                    {"letter": label(letter), "frequency": float(p), "half_width": float(half)}
                    for letter, p, half in zip(one.letters, one.frequencies, one.half_widths(), strict=True)
                ],
            }
            for one in forecasts(protocol, n)
        ],
        "tried": [] if reached is None else [list(pair) for pair in reached.tried],
    }


def show_plan(protocol: Protocol, n: int, reached: Reached | None) -> None:
    """Tables for the steward."""
    if reached is not None:
        _show_tried(reached)
    for one in forecasts(protocol, n):
        _show_forecast(one)
    if _assumed(protocol.joint):
        paragraph(
            f"This holds for analysts who take from the protocol how {names(protocol.joint.secrets)} depends on the "
            "rest (discreet estimate --assume-secret); without that assumption most frequencies have bounds only."
        )


def _assumed(joint: Joint) -> Any:
    return "P(s|x)" if joint.sees_secret else None


def _show_tried(reached: Reached) -> None:
    table = Table("epsilon", "widest 95 % interval", title="Tried", title_justify="left", title_style="bold", box=None)
    for epsilon, half in reached.tried:
        mark = "  chosen" if epsilon == reached.epsilon else ""
        table.add_row(f"{epsilon:.4g}", (f"± {half:.4f}" if half < float("inf") else "not determined") + mark)
    stdout.print(table)
    stdout.print()


def _show_forecast(expected: Forecast) -> None:
    title = f"{' × '.join(expected.names)}: what {expected.n:,} released records will tell"
    halves = expected.half_widths()
    if len(expected.letters) <= MOST_LETTERS or len(expected.names) == 1:
        table = Table(title=title, title_justify="left", title_style="bold", box=None)
        table.add_column("letter", overflow="fold")
        for name in ("frequency", "95 % interval"):
            table.add_column(name, justify="right")
        for letter, value, half in zip(expected.letters, expected.frequencies, halves, strict=True):
            known = f"± {half:.4f}" if half < float("inf") else "not determined"
            table.add_row(Text(label(letter)), f"{value:.4f}", known)
        stdout.print(table)
    else:
        told = f"at most ± {halves.max():.4f}" if halves.max() < float("inf") else "not all determined"
        stdout.print(Text(f"{title}\n  {len(expected.letters)} cells, 95 % intervals {told}"), style="bold")
    stdout.print()
    worth = expected.effective_sample_size
    if worth:
        paragraph(f"That is worth about {worth:,.0f} clean records." if worth >= 1 else "That is worth less than one.")
