"""`discreet report`: a protocol as a page for a board."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.options import Bits, Force, Json
from discreet.cli.progress import working
from discreet.cli.show import as_json, paragraph
from discreet.cli.target_files import may_replace, write_file


def report(
    protocol: Annotated[Path, typer.Argument(help="A protocol file, or its public file.", metavar="PROTOCOL")],
    out: Annotated[Path | None, typer.Option(help="Where to write the page; beside the protocol if not given.")] = None,
    force: Force = False,
    bits: Bits = False,
    json: Json = False,
) -> None:
    """Write one self-contained HTML page about a protocol."""
    from discreet.protocol.public import PublicProtocol, StratifiedPublic
    from discreet.protocol.public_file import load_either
    from discreet.report import page, public_page
    from discreet.study import Study

    target = out or protocol.parent / f"{protocol.stem}.html"
    may_replace(target, force=force, inputs=(protocol,))
    with working("Writing the report") as ticker:
        loaded = load_either(protocol)
        if isinstance(loaded, PublicProtocol | StratifiedPublic):
            content = public_page(loaded, bits=bits).encode()
        else:
            study = Study(loaded).with_curves(watcher=ticker).with_costs(watcher=ticker)
            content = page(study, bits=bits).encode()
        write_file(target, content)
    if json:
        as_json({"report": str(target), "bytes": len(content)})
    else:
        paragraph(f"Written to {target}")
