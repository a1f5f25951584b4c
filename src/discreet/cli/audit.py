"""`discreet audit`: what a protocol, or anybody's matrix, really guarantees."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.table import Table
from rich.text import Text

from discreet.cli.options import BinsOf, Bits, Encoding, Json, Merge, grouping_of
from discreet.cli.progress import working
from discreet.cli.show import as_json, facts, stdout, strata_labels, strata_table
from discreet.exceptions import ParameterError, visible
from discreet.phrases import BITS, NATS, rounded_down, rounded_up

if TYPE_CHECKING:
    from discreet.audit import Audit
    from discreet.given_columns import Stratum
    from discreet.protocol.strata import StratifiedProtocol


def audit(
    mechanism: Annotated[Path, typer.Argument(help="A protocol file, or a CSV of a transition matrix.")],
    data: Annotated[str | None, typer.Option(help="Audit at the distribution of this table.")] = None,
    secret: Annotated[list[str] | None, typer.Option(help="With --data: the column to protect.")] = None,
    release: Annotated[list[str] | None, typer.Option(help="With --data: the column that is released.")] = None,
    given: Annotated[
        list[str] | None,
        typer.Option(
            help="With --data: what the protocol tells beside these columns, kept as they are; repeat, or commas."
        ),
    ] = None,
    bins: BinsOf = None,
    merge: Merge = None,
    encoding: Encoding = None,
    inputs: Annotated[
        Literal["rows", "columns"] | None,
        typer.Option(help="Of a matrix: which are the inputs; PRAM matrices of sdcMicro have them in rows."),
    ] = None,
    verify: Annotated[
        Path | None, typer.Option(metavar="PUB", help="First check the file's signature, FILE.sig, under this key.")
    ] = None,
    bits: Bits = False,
    json: Json = False,
) -> None:
    """The exact level under every notion, with the worst case in words."""
    from discreet.audit import audit as inspect
    from discreet.audit import audit_strata
    from discreet.cli.public_facts import show_public
    from discreet.protocol.public import PublicProtocol, StratifiedPublic
    from discreet.protocol.strata import StratifiedProtocol
    from discreet.release import joint_of_file

    loaded = _mechanism(mechanism, verify, inputs)
    if data is None and isinstance(loaded, PublicProtocol | StratifiedPublic):
        show_public(loaded, verify, json)
        return
    if data is None and isinstance(loaded, StratifiedProtocol):
        _show_strata(loaded, audit_strata(loaded), json)
        return
    if given:
        _beside(loaded, data, [name.strip() for one in given for name in one.split(",")], encoding, json)
        return
    joint = None
    if data is not None:
        if not secret or not release:
            raise ParameterError("a table without its columns", where="--data", remedy="Give --secret and --release.")
        joint = joint_of_file(data, secret=secret, release=release, encoding=encoding, group=grouping_of(bins, merge))
    with working("Auditing"):
        found: Any = inspect(loaded, joint)
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
        stated = "∞" if math.isinf(level.epsilon) else f"{level.epsilon:.6g}"
        table.add_row(name, stated, Text(visible(found.witnesses[name])))
    stdout.print(table)
    stdout.print()
    facts(
        "Information",
        {
            "about the released data": unit(found.mutual_information),
            "about the secret": unit(found.leakage),
            **({} if found.proven is None else {"proven epsilon": rounded_up(found.proven, digits=9)}),
        },
    )


def _mechanism(path: Path, verify: Path | None, inputs: Literal["rows", "columns"] | None) -> Any:
    """What is audited, from one reading of the file: what was verified is what is shown."""
    from discreet.audit import read_matrix
    from discreet.audit.matrix_file import matrix_of
    from discreet.protocol.public_file import decode_any, load_either
    from discreet.protocol.signature import verify as verified

    content = None if verify is None else verified(path, verify)
    if path.suffix.lower() == ".json":
        return load_either(path) if content is None else decode_any(content)
    return read_matrix(path, inputs) if content is None else matrix_of(content, inputs)


def _beside(loaded: Any, data: str | None, columns: list[str], encoding: str | None, json: bool) -> None:
    """What a protocol that exists tells beside columns that are kept, at the proportions of a table with the secret."""
    from discreet.protocol.protocol import Protocol
    from discreet.protocol.strata import StratifiedProtocol
    from discreet.release.kept_columns import check_kept
    from discreet.release.rows_law import law_of_table
    from discreet.release.table_checks import readable_twice
    from discreet.release.whose_rows import RowsInForce

    if not isinstance(loaded, Protocol | StratifiedProtocol):
        raise ParameterError("no full protocol file", where="--given", remedy="Audit the steward's own file.")
    protocol = loaded
    if data is None:
        raise ParameterError("columns without a table", where="--given", remedy="Give --data, a table with the secret.")
    with working("Auditing"):
        law = law_of_table(data, protocol, encoding) if readable_twice(data) else {}
        found = check_kept(data, protocol, columns, None, True, encoding, RowsInForce(**law))
    if found is None:
        raise ParameterError(
            "nothing can be measured beside these columns",
            where="--given",
            remedy="The table needs the secret, and columns that the protocol is not given already.",
        )
    levels = {
        "the columns by themselves": (found.alone, found.alone_limit),
        "the release beside them": (found.beside, found.beside_limit),
    }
    if json:
        as_json({**vars(found), "given": columns, "promised": protocol.notion.epsilon})
        return
    shown = {
        name: f"{_level(at)}, at least {rounded_down(low, digits=3)} with confidence 95 %"
        for name, (at, low) in levels.items()
    }
    shown["… if X is shuffled among equals"] = _level(found.shuffled)
    facts(f"Beside {', '.join(found.columns)}", {**shown, "promised": rounded_up(protocol.notion.epsilon)})
    if max(found.alone_limit, found.beside_limit) > protocol.notion.epsilon:
        stdout.print(f"Design again with {' '.join(f'--given {name}' for name in found.columns)}.", markup=False)


def _level(epsilon: float) -> str:
    return "∞" if math.isinf(epsilon) else f"{epsilon:.3g}"


def _show_strata(protocol: StratifiedProtocol, found: Mapping[Stratum, Audit], json: bool) -> None:
    """The levels within every stratum."""
    named = dict(zip(strata_labels(found), found.values(), strict=True))
    if json:
        levels = {called: {n: v.epsilon for n, v in one.levels.items()} for called, one in named.items()}
        as_json({"strata": levels, "proven": protocol.epsilon})
        return
    table = strata_table(protocol, *next(iter(found.values())).levels)
    for called, one in named.items():
        cells = ("∞" if math.isinf(level.epsilon) else f"{level.epsilon:.6g}" for level in one.levels.values())
        table.add_row(Text(called), *cells)
    stdout.print(table)
