"""`discreet estimate`: what a released table says about the data, with honest errors."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from discreet.channel import label
from discreet.cli.options import Encoding, Json
from discreet.cli.progress import working
from discreet.cli.show import as_json, paragraph, stdout
from discreet.exceptions import ParameterError, visible
from discreet.phrases import named_apart, percent, shown

if TYPE_CHECKING:
    from discreet.estimate import Estimate


class Methods(StrEnum):
    linear = "linear"
    likelihood = "likelihood"


class Placements(StrEnum):
    raw = "raw"
    clip = "clip"
    simplex = "simplex"


GIVEN = "given"
"""`--by given`: every stratum of a protocol with given columns."""


def estimate(
    protocol: Annotated[Path, typer.Argument(help="A protocol file, or its public file.", metavar="PROTOCOL")],
    released: Annotated[Path, typer.Argument(help="The released table: CSV, Parquet or Arrow.")],
    attribute: Annotated[
        list[str] | None, typer.Option(help="An attribute to estimate; repeat for a cross-table.")
    ] = None,
    by: Annotated[str | None, typer.Option(help="A public column: one estimate for each of its groups.")] = None,
    method: Annotated[Methods, typer.Option(help="Unbiased, or most likely.")] = Methods.linear,
    on: Annotated[Placements, typer.Option(help="As it comes, clipped to [0, 1], or a distribution.")] = Placements.raw,
    assume_secret: Annotated[
        bool | None,
        typer.Option(
            help="For a mechanism that read the secret: assume P(s|x) as in the protocol. Without either, it is "
            "assumed where the released table itself was counted, and not for groups of it."
        ),
    ] = None,
    level: Annotated[float, typer.Option(help="The level of the confidence intervals.")] = 0.95,
    column: Annotated[str | None, typer.Option(help="The column of the outputs, if it was renamed.")] = None,
    rows_per_person: Annotated[
        int | None, typer.Option(help="Rows of one person, at most, if the protocol does not say: wider errors.")
    ] = None,
    encoding: Encoding = None,
    json: Json = False,
) -> None:
    """Estimate the distribution of the released attributes, with confidence intervals."""
    from discreet.cli.show import strata_labels
    from discreet.estimate import estimate as estimated
    from discreet.estimate import estimate_by, estimate_strata
    from discreet.protocol.public import StratifiedPublic
    from discreet.protocol.public_file import load_either
    from discreet.protocol.strata import StratifiedProtocol

    options: dict[str, Any] = {"method": method.value, "on": on.value, "column": column, "encoding": encoding}
    options["rows_per_person"] = rows_per_person
    with working("Estimating"):
        loaded = load_either(protocol)
        if isinstance(loaded, StratifiedProtocol | StratifiedPublic) and by is not None and by != GIVEN:
            raise ParameterError("groups of a protocol with given columns", where="--by", remedy=f"Use --by {GIVEN}.")
        options["assume"] = None if assume_secret is None else "P(s|x)" if assume_secret else "nothing"
        if by is None:
            found: dict[str | None, Estimate] = {None: estimated(released, loaded, **options)}
        elif isinstance(loaded, StratifiedProtocol | StratifiedPublic):
            strata = estimate_strata(released, loaded, **options)
            found = dict(zip(strata_labels(strata), strata.values(), strict=True))
        else:
            groups = estimate_by(released, loaded, by, **options)
            found = dict(zip(named_apart(list(groups), str), groups.values(), strict=True))
        views = {name: one.table(attribute) if attribute else one for name, one in found.items()}
        summaries = {name: summary(view, level) for name, view in views.items()}
    if json:
        as_json(summaries[None] if by is None else {"by": by, "groups": summaries})
        return
    for name, view in views.items():
        _show(view, level, "" if name is None else f"{by} = {name}: ")


def summary(found: Estimate, level: float) -> dict[str, Any]:
    """The result for machines."""
    from discreet.estimate.many_letters import MOST_COVARIANCES

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
        "covariance": found.covariance.tolist() if len(found.letters) <= MOST_COVARIANCES else None,
        "effective_sample_size": found.effective_sample_size,
        "notes": list(found.notes),
    }


def _show(found: Estimate, level: float, group: str) -> None:
    title = f"{group}{' × '.join(found.names)}, {found.n:,} records"
    table = Table(title=Text(visible(title)), title_justify="left", title_style="bold", box=None)
    table.add_column("letter", overflow="fold")
    for name in ("frequency", "± s.e.", f"{percent(level)} interval"):
        table.add_column(name, justify="right")
    limits = found.interval(level)
    for letter, value, error, (low, high) in zip(
        found.letters, found.frequencies, found.standard_errors, limits, strict=True
    ):
        known = value == value
        cells = (f"{value:z.4f}", f"{error:.4f}") if known else ("not determined", "")
        table.add_row(Text(shown(letter)), *cells, f"{low:z.4f} … {high:z.4f}")
    stdout.print(table)
    stdout.print()
    if found.effective_sample_size:
        clean = f"{found.effective_sample_size:,.0f}"
        paragraph(f"Summed over all values, the errors are those of about {clean} clean records.", style="bold")
    for note in found.notes:
        paragraph(note)
