"""`discreet report`: a protocol as a page for a board."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.options import Bits, Json, ProtocolPath
from discreet.cli.show import as_json, paragraph, working


def report(
    protocol: ProtocolPath,
    out: Annotated[Path | None, typer.Option(help="Where to write the page; beside the protocol if not given.")] = None,
    bits: Bits = False,
    json: Json = False,
) -> None:
    """Write one self-contained HTML page about a protocol."""
    from discreet.protocol import Protocol
    from discreet.release.publish import unpublished
    from discreet.report import page

    target = out or protocol.with_suffix(".html")
    with working("Writing the report"):
        content = page(Protocol.load(protocol), bits=bits)
        with unpublished(target) as file:
            file.write(content.encode())
            file.publish()
    if json:
        as_json({"report": str(target), "bytes": len(content.encode())})
    else:
        paragraph(f"Written to {target}")
