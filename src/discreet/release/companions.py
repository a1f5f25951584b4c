"""What lies beside a released file TARGET, so that people and programs know what they hold.

    TARGET.manifest.json      what was done: counts, hashes, order, randomness (`sanitise`)
    TARGET.public.json        the public file of the protocol: all that estimates need, no counts with the secret
    TARGET.datapackage.json   a Frictionless Data Package: columns, types, values and hash of the released file
    TARGET.decoding.csv       what every output means, where outputs are not values (`decoding`)

A Data Package and not CSVW: one descriptor serves CSV, Parquet and Arrow files alike, it is plain JSON with room for
fields of one's own, and R, Python and Julia read it; CSVW is about CSV alone, and its JSON is JSON-LD, whose context
would have to be fetched. `discreet` in it names the notion, the epsilon that was asked for, and both protocol files by
their hashes. It says nothing about the raw data: it is made of the public file, the columns, and the released bytes.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from discreet.files.atomic_file import PIPE, AtomicFile, Target, unpublished
from discreet.notions.notion import words_of
from discreet.phrases import names, rounded_up
from discreet.protocol.public import AnyPublic, StratifiedPublic
from discreet.records.letters import released_columns, spreadsheet_safe
from discreet.records.source import Format
from discreet.records.writer import written_schema
from discreet.release.decoding import decoding

MANIFEST, PUBLIC, PACKAGE, DECODING = "manifest.json", "public.json", "datapackage.json", "decoding.csv"
COMPANIONS: Final = (MANIFEST, PUBLIC, PACKAGE)
"""Beside every release; a decoding is there only where there is something to decode."""
MEDIA_TYPES: Final[Mapping[Format, str]] = {
    "csv": "text/csv",
    "parquet": "application/vnd.apache.parquet",
    "arrow": "application/vnd.apache.arrow.file",
}
PROFILE: Final = "https://datapackage.org/profiles/2.0/datapackage.json"


def beside(target: str | Path, name: str) -> Path:
    return Path(f"{target}.{name}")


def written_files(target: str | Path) -> tuple[Path, ...]:
    """Every file that a release to this target may write: none for a pipe."""
    return () if str(target) == PIPE else (Path(target), *(beside(target, name) for name in (*COMPANIONS, DECODING)))


@contextmanager
def unpublished_beside(target: str) -> Iterator[dict[str, AtomicFile]]:
    """The files beside a target, open and without their names; what is not published is gone at the end."""
    with ExitStack() as stack:
        yield {name: stack.enter_context(unpublished(beside(target, name))) for name in (*COMPANIONS, DECODING)}


def published(files: Mapping[str, AtomicFile], contents: Mapping[str, bytes], target: str) -> None:
    """Write all of them, then give them their names. A decoding that belonged to an earlier release goes."""
    for name, content in contents.items():
        files[name].write(content)
    for name in contents:
        files[name].publish()
    if DECODING not in contents:
        beside(target, DECODING).unlink(missing_ok=True)


def described(
    public: AnyPublic, schema: pa.Schema, kind: Format, target: Target, path: str, law: Mapping[str, Any] | None = None
) -> dict[str, bytes]:
    """Public file, descriptor, and a decoding where outputs are not values; `law` is what holds in the place of a
    promise that is broken."""
    encoded = public.encode()
    digest = hashlib.sha256(encoded).hexdigest()
    contents = {PUBLIC: encoded, PACKAGE: data_package(public, digest, schema, kind, target, path, law)}
    meanings = decoding(public)
    return contents if meanings is None else {**contents, DECODING: meanings}


def data_package(
    public: AnyPublic,
    digest: str,
    schema: pa.Schema,
    kind: Format,
    target: Target,
    path: str,
    law: Mapping[str, Any] | None = None,
) -> bytes:
    """The descriptor of the released file, whose columns `schema` has, and of the public file with this digest."""
    one = public.first if isinstance(public, StratifiedPublic) else public
    file, slug = Path(path).name, _slug(Path(path).name)
    lead, *others = one.notion.promises
    title = f"{names(one.reads)}, released under {words_of(lead).title} at epsilon {rounded_up(lead.epsilon)}"
    said = {
        "$schema": PROFILE,
        "name": slug,
        "title": title,
        "description": one.promise if law is None else f"Not promised of these records: {law['accepted']}.",
        "discreet": {
            "notion": words_of(lead).name,
            "epsilon": lead.epsilon,
            **({"also": [{"notion": words_of(n).name, "epsilon": n.epsilon} for n in others]} if others else {}),
            "protocol_sha256": one.protocol_digest,
            **({} if law is None else {"law": law}),
            "public": f"{file}.{PUBLIC}",
            "public_sha256": digest,
        },
        "resources": [
            {
                "name": slug,
                "path": file,
                "format": kind,
                "mediatype": MEDIA_TYPES[kind],
                **({"encoding": "utf-8"} if kind == "csv" else {}),
                "bytes": target.size,
                "hash": f"sha256:{target.sha256()}",
                "schema": {"fields": _fields(public, schema, kind), "missingValues": [""]},
            }
        ],
    }
    return (json.dumps(said, indent=2, ensure_ascii=True) + "\n").encode()


def _fields(public: AnyPublic, schema: pa.Schema, kind: Format) -> list[dict[str, Any]]:
    """Released columns are the dictionaries of the schema, with their values; the others were kept as they were."""
    values = _values(public)
    found = []
    for field, written in zip(schema, written_schema(schema, kind), strict=True):
        safe = spreadsheet_safe if kind == "csv" else str
        entry: dict[str, Any] = {"name": safe(field.name), "type": _type(written.type)}
        if field.name in values:
            listed = list(dict.fromkeys(safe(value) for value in values[field.name]))
            entry |= {"description": "sanitised", "constraints": {"required": True, "enum": listed}}
        found.append(entry)
    return found


def _values(public: AnyPublic) -> dict[str, tuple[str, ...]]:
    """The released columns, each with the labels that it can have."""
    one = public.first if isinstance(public, StratifiedPublic) else public
    return dict(released_columns(one, public.outputs))


def _type(kind: pa.DataType) -> str:
    """The name of a type in a Table Schema."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    tests = {
        "boolean": pa.types.is_boolean,
        "integer": pa.types.is_integer,
        "number": lambda t: pa.types.is_floating(t) or pa.types.is_decimal(t),
        "date": pa.types.is_date,
        "datetime": pa.types.is_timestamp,
        "time": pa.types.is_time,
        "string": lambda t: pa.types.is_string(t) or pa.types.is_large_string(t),
    }
    return next((name for name, holds in tests.items() if holds(kind)), "any")


def _slug(name: str) -> str:
    """A name as the standard wants it: lower case letters, digits, dots, hyphens."""
    found = re.sub(r"[^a-z0-9._-]+", "-", name.lower()).strip("-.")
    return found or f"release-{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:8]}"
