"""What an audit of a public file can show: that it is what it says. The levels need the counts of the full file."""

from __future__ import annotations

from pathlib import Path

from discreet.cli.show import as_json, facts, paragraph
from discreet.notions.notion import words_of
from discreet.protocol.public import AnyPublic, StratifiedPublic

NO_LEVELS = (
    "A public file has no counts of secret and release together, so no level can be computed from it: give --data with "
    "a table, or audit the full protocol file, whose SHA-256 it names."
)


def show_public(public: AnyPublic, verified: Path | None, json: bool) -> None:
    """The promise, the hashes, and whether the signature was checked; weights and laws were checked by reading it."""
    one = public.first if isinstance(public, StratifiedPublic) else public
    said = {
        "notion": words_of(one.notion).name,
        "asked_epsilon": one.epsilon,
        "promise": one.promise,
        "sha256": public.digest,
        "protocol": one.protocol_digest,
        "signature": None if verified is None else str(verified),
    }
    if json:
        as_json({**said, "reveals": list(one.reveals)})
        return
    facts(
        "The public file",
        {
            "promise": one.promise,
            "its SHA-256": public.digest,
            "full file": one.protocol_digest,
            "signature": "not checked" if verified is None else f"valid under {verified}",
        },
    )
    for sentence in (*one.reveals, NO_LEVELS):
        paragraph(sentence)
