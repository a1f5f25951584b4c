"""`discreet estimate`: what a released table says about the data, with honest errors."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from discreet.cli.options import Json, ProtocolPath
from discreet.cli.show import as_json, paragraph, stdout, working
from discreet.naming import label
from discreet.report.words import percent

if TYPE_CHECKING:
    from discreet.estimate import Estimate


class Methods(StrEnum):
    linear = "linear"
    likelihood = "likelihood"


class Placements(StrEnum):
    raw = "raw"
    clip = "clip"
    simplex = "simplex"


def estimate(
    protocol: ProtocolPath,
    released: Annotated[Path, typer.Argument(help="The released table: CSV, Parquet or Arrow.")],
    attribute: Annotated[
        list[str] | None, typer.Option(help="An attribute to estimate; repeat for a cross-table.")
    ] = None,
    by: Annotated[str | None, typer.Option(help="A public column: one estimate for each of its groups.")] = None,
    method: Annotated[Methods, typer.Option(help="Unbiased, or most likely.")] = Methods.linear,
    on: Annotated[Placements, typer.Option(help="As it comes, clipped to [0, 1], or a distribution.")] = Placements.raw,
    assume_secret: Annotated[
        bool, typer.Option(help="For a mechanism that read the secret: assume P(s|x) as in the protocol.")
    ] = False,
    level: Annotated[float, typer.Option(help="The level of the confidence intervals.")] = 0.95,
    column: Annotated[str | None, typer.Option(help="The column of the outputs, if it was renamed.")] = None,
    json: Json = False,
) -> None:
    """Estimate the distribution of the released attributes, with confidence intervals."""
    from discreet.estimate import estimate as estimated
    from discreet.estimate import estimate_by
    from discreet.protocol import Protocol

    options: dict[str, Any] = {"method": method.value, "on": on.value, "column": column}
    with working("Estimating"):
        loaded = Protocol.load(protocol)
        options["assume"] = "P(s|x)" if assume_secret else None
        found = (
            {by: estimated(released, loaded, **options)}
            if by is None
            else {str(name): one for name, one in estimate_by(released, loaded, by, **options).items()}
        )
        views = {name: one.table(attribute) if attribute else one for name, one in found.items()}
        summaries = {name: summary(view, level) for name, view in views.items()}
    if json:
        as_json(summaries[by] if by is None else {"by": by, "groups": summaries})
        return
    for name, view in views.items():
        _show(view, level, "" if name is None else f"{by} = {name}: ")


def summary(found: Estimate, level: float) -> dict[str, Any]:
    """The result for machines."""
    limits = found.interval(level)
    return {
        "n": found.n,
        "attributes": list(found.names),
        "level": level,
        "letters": [
            {
                "letter": letter if isinstance(letter, str | int | float | None) else label(letter),
                "frequency": float(found.frequencies[i]),
                "standard_error": float(found.standard_errors[i]),
                "low": float(limits[i, 0]),
                "high": float(limits[i, 1]),
                "determined": bool(found.determined[i]),
            }
            for i, letter in enumerate(found.letters)
        ],
        "covariance": found.covariance.tolist(),
        "effective_sample_size": found.effective_sample_size,
        "notes": list(found.notes),
    }


def _show(found: Estimate, level: float, group: str) -> None:
    title = f"{group}{' × '.join(found.names)}, {found.n:,} records"
    table = Table(title=title, title_justify="left", title_style="bold", box=None)
    table.add_column("letter", overflow="fold")
    for name in ("frequency", "± s.e.", f"{percent(level)} interval"):
        table.add_column(name, justify="right")
    limits = found.interval(level)
    for letter, value, error, (low, high) in zip(
        found.letters, found.frequencies, found.standard_errors, limits, strict=True
    ):
        known = value == value
        shown = (f"{value:.4f}", f"{error:.4f}") if known else ("not determined", "")
        table.add_row(Text(label(letter)), *shown, f"{low:.4f} … {high:.4f}")
    stdout.print(table)
    stdout.print()
    if found.effective_sample_size:
        paragraph(f"This release is worth about {found.effective_sample_size:,.0f} clean records.", style="bold")
    for note in found.notes:
        paragraph(note)
