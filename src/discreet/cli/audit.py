"""`discreet audit`: what a protocol, or anybody's matrix, really guarantees."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from discreet.cli.options import BinsOf, Bits, Encoding, Json, Merge, grouping_of
from discreet.cli.progress import working
from discreet.cli.show import as_json, facts, stdout
from discreet.exceptions import ParameterError
from discreet.phrases import BITS, NATS


def audit(
    mechanism: Annotated[Path, typer.Argument(help="A protocol file, or a CSV of a transition matrix.")],
    data: Annotated[str | None, typer.Option(help="Audit at the distribution of this table.")] = None,
    secret: Annotated[list[str] | None, typer.Option(help="With --data: the column to protect.")] = None,
    release: Annotated[list[str] | None, typer.Option(help="With --data: the column that is released.")] = None,
    bins: BinsOf = None,
    merge: Merge = None,
    encoding: Encoding = None,
    bits: Bits = False,
    json: Json = False,
) -> None:
    """The exact level under every notion, with the worst case in words."""
    from discreet.audit import audit as inspect
    from discreet.audit import audit_strata
    from discreet.cli.strata import show_stratum_audits
    from discreet.protocol.strata import StratifiedProtocol, load_protocol
    from discreet.release import joint_of_file

    if data is None and mechanism.suffix.lower() == ".json":
        loaded = load_protocol(mechanism)
        if isinstance(loaded, StratifiedProtocol):
            show_stratum_audits(loaded, audit_strata(loaded), json)
            return
    joint = None
    if data is not None:
        if not secret or not release:
            raise ParameterError("a table without its columns", where="--data", remedy="Give --secret and --release.")
        joint = joint_of_file(data, secret=secret, release=release, encoding=encoding, group=grouping_of(bins, merge))
    with working("Auditing"):
        found: Any = inspect(mechanism, joint)
    if json:
        as_json(
            {
                "levels": {name: level.epsilon for name, level in found.levels.items()},
                "witnesses": dict(found.witnesses),
                "mutual_information": found.mutual_information,
                "leakage": found.leakage,
                "proven": found.proven,
            }
        )
        return
    unit = BITS if bits else NATS
    table = Table("notion", "level", "worst case", title="Levels", title_justify="left", title_style="bold", box=None)
    for name, level in found.levels.items():
        table.add_row(name, "∞" if math.isinf(level.epsilon) else f"{level.epsilon:.6g}", found.witnesses[name])
    stdout.print(table)
    stdout.print()
    facts(
        "Information",
        {
            "about the released data": unit(found.mutual_information),
            "about the secret": unit(found.leakage),
            **({} if found.proven is None else {"proven epsilon": f"{found.proven:.9g}"}),
        },
    )
