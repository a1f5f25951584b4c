"""`discreet keygen`: a key to sign public files with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.options import Json
from discreet.cli.show import as_json, facts, paragraph


def keygen(
    key: Annotated[Path, typer.Argument(help="Where the secret key goes; its public half goes to KEY.pub.")],
    json: Json = False,
) -> None:
    """Make an Ed25519 key to sign public files with."""
    from discreet.protocol.signature import make_keys

    public = make_keys(key)
    if json:
        as_json({"key": str(key), "public": str(public)})
        return
    facts("A new key", {"secret": f"{key}: keep it", "public": f"{public}: give it to everybody"})
    paragraph("Sign with `discreet publish … --sign KEY`; check with `discreet audit … --verify KEY.pub`.")
