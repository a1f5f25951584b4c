"""`discreet publish`: what everybody may have of a protocol, signed if a key is given."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.options import Force, Json, ProtocolPath
from discreet.cli.progress import working
from discreet.cli.show import as_json, facts, paragraph
from discreet.cli.target_files import may_replace, remove_file, write_file


def publish(
    protocol: ProtocolPath,
    target: Annotated[Path, typer.Argument(help="Where the public file goes.", metavar="PUBLIC")],
    sign: Annotated[
        Path | None, typer.Option(metavar="KEY", help="Sign it with this key of `discreet keygen`, into PUBLIC.sig.")
    ] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Write the public file of a protocol: weights, laws and promise, no counts with the secret."""
    from discreet.protocol.public import StratifiedPublic
    from discreet.protocol.signature import signature_beside, signed
    from discreet.protocol.strata import load_protocol

    beside = signature_beside(target)
    may_replace(target, beside, force=force, inputs=(protocol, *([sign] if sign else [])))
    with working("Publishing"):
        public = load_protocol(protocol).public()
        content = public.encode()
        signature = None if sign is None else signed(content, sign)
        write_file(target, content)
        if signature is None:
            remove_file(beside)
        else:
            write_file(beside, signature)
    said = {"public": str(target), "sha256": public.digest, "protocol": public.protocol_digest}
    if json:
        as_json({**said, "bytes": len(content), "signature": str(beside) if sign else None})
        return
    facts(
        "Published",
        {"written to": str(target), "its SHA-256": public.digest, **({"signed": str(beside)} if sign else {})},
    )
    one = public.first if isinstance(public, StratifiedPublic) else public
    for sentence in one.reveals:
        paragraph(sentence)
