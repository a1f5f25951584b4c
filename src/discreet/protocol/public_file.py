"""The public file as bytes: the same machinery, limits and canonical form as the protocol file, another content.

    format, version   "discreet public protocol", 1
    protocol          the SHA-256 of the full file
    form, notions, averages, bits, policy, source, statement    as there; each at the level that was asked for,
                                                                for all strata together
    promise, reveals  in words: what is promised, and what the file itself tells
    secrets           names of columns, no letters
    inputs            the columns of the input letters
    outputs, weights  as there; weights are means over the secret where the mechanism reads it and does not release it
    law               {inputs: decimal text, outputs: weights over 2^bits}; absent where the inputs contain the secret;
                      `records`, how many were counted, where the mechanism keeps their law
    prior             "weighted" or "noisy", where the laws are not those of the records that were counted
    given, strata     with given columns: {given, share, outputs, weights, law} for each stratum instead

Its identity is the SHA-256 of its bytes. Without the counts hardly anything in it can be proven again; what is checked
is that weights and laws are distributions and belong together, and that it does not contradict itself
(`public_claims`). Whole numbers and text only.
"""

from __future__ import annotations

import os
import re
from math import prod
from pathlib import Path
from typing import Any, Final

import numpy as np

from discreet.attribute import Attribute, Form
from discreet.exceptions import ProtocolError
from discreet.given_columns import Stratum
from discreet.protocol.columns_2 import (
    check_keys,
    decode_columns,
    decode_decimal,
    decode_integers,
    decode_letter_2,
    decode_letters_2,
    decode_strata_list,
    encode_column,
    encode_decimal,
    encode_integer,
    encode_letter_2,
    filled_list,
    texts,
    whole_number,
)
from discreet.protocol.document import LARGEST_BITS, POLICY, SAFE_INTEGER, SOURCES, wrong
from discreet.protocol.document_2 import (
    PROMISES,
    decode_cells,
    decode_probabilities,
    decode_promises,
    decode_statement,
    decode_weights,
    encode_cells,
    encode_promises,
    encode_weights,
    most_cells,
)
from discreet.protocol.file import (
    PUBLIC_FORMAT,
    PUBLIC_VERSION,
    check_canonical,
    digest_of,
    in_words_of_files,
    parsed_json,
    pieces_2,
    read_limited,
    readable_content,
)
from discreet.protocol.public import AnyPublic, PublicProtocol, StratifiedPublic
from discreet.protocol.public_claims import check_claims
from discreet.protocol.statement import LONGEST
from discreet.protocol.strata import AnyProtocol, decode_either

KIND: Final = (PUBLIC_FORMAT, PUBLIC_VERSION)
HEAD: Final = {
    "bits", "form", "inputs", "policy", "promise", "protocol", "reveals", "secrets", "source",
}  # fmt: skip
CHANNEL: Final = {"outputs", "weights"}
STRATUM: Final = {"given", "share"}
FORMAT_WITHIN: Final = 10_000  # bytes: averages of as many notions as there are take some hundred
PRIORS: Final = ("weighted", "noisy")
"""What is stated of the laws where they are not simply those of the records."""
SHA256: Final = re.compile(r"[0-9a-f]{64}")


def encode_public(public: AnyPublic) -> bytes:
    """The bytes of the public file."""
    return readable_content(_content(public), f"{len(public.outputs):,} outputs", lambda size: None, *KIND)


def public_digest(public: AnyPublic) -> str:
    return digest_of(pieces_2(_content(public), *KIND))


def _content(public: AnyPublic) -> dict[str, Any]:
    if isinstance(public, PublicProtocol):
        return {**_encode_head(public), **_encode_channel(public)}
    strata = [
        {
            "given": [encode_letter_2(letter) for letter in key],
            "share": encode_decimal(share),
            **_encode_channel(one),
        }
        for (key, one), share in zip(public.strata.items(), public.shares.tolist(), strict=True)
    ]
    given = [encode_column(attribute) for attribute in public.given]
    return {**_encode_head(public.first), "given": given, "strata": strata}


def _encode_head(one: PublicProtocol) -> dict[str, Any]:
    said = one.statement.said
    return {
        "bits": one.bits,
        "form": str(one.form),
        "inputs": [encode_column(attribute) for attribute in one.reads],
        **encode_promises(one.notion),
        "policy": POLICY,
        "promise": one.promise,
        "protocol": one.protocol_digest,
        "reveals": list(one.reveals),
        "secrets": list(one.secrets),
        **({} if one.prior == "exact" else {"prior": one.prior}),
        "source": one.source,
        **({"statement": said} if said else {}),
    }


def _encode_channel(one: PublicProtocol) -> dict[str, Any]:
    channel = {"outputs": [encode_letter_2(name) for name in one.outputs], "weights": encode_weights(one.columns)}
    if one.law is None or one.marginal is None:
        return channel
    inputs = encode_cells(one.law, encode_decimal)
    records = {} if one.records is None else {"records": one.records}
    outputs = [encode_integer(w) for w in one.marginal.tolist()]
    return {**channel, "law": {"inputs": inputs, "outputs": outputs, **records}}


# ---- reading ---------------------------------------------------------------------------------------------------------


def load_public(path: str | os.PathLike[str]) -> AnyPublic:
    """A public file, of either kind."""
    return decode_public(read_limited(Path(path)))


def load_either(path: str | os.PathLike[str]) -> AnyProtocol | AnyPublic:
    """A protocol file, proven again, or a public one: the file says what it is."""
    return decode_any(read_limited(Path(path)))


def decode_any(data: bytes) -> AnyProtocol | AnyPublic:
    """The same from its bytes."""
    return decode_public(data) if is_public(data) else decode_either(data)


def is_public(data: bytes) -> bool:
    """Whether these bytes begin like a public file: keys are in order, so before the format there are averages at most.
    No text has it inside, where quotes are escaped."""
    return f'"format":"{PUBLIC_FORMAT}"'.encode() in data[:FORMAT_WITHIN]


def decode_public(data: bytes) -> AnyPublic:
    content = parsed_json(data)
    if not isinstance(content, dict) or content.pop("format", None) != PUBLIC_FORMAT:
        raise ProtocolError("not a public file", remedy="Choose a file that `discreet publish` has written.")
    version = content.pop("version", None)
    if type(version) is not int or version != PUBLIC_VERSION:
        raise ProtocolError("another version of the public file", remedy=f"This release reads {PUBLIC_VERSION}.")
    with in_words_of_files():
        public = _decoded(content, most_cells(len(data)))
        check_claims(public)
    vars(public)["digest"] = check_canonical(_content(public), data, *KIND)
    return public


def _decoded(content: dict[str, Any], most: int) -> AnyPublic:
    if "strata" not in content:
        check_keys(content, HEAD | CHANNEL, {"law", "prior", "statement"} | PROMISES, "the file")
        return _decode_one(content, _decode_head(content, most), content)
    check_keys(content, HEAD | {"given", "strata"}, {"prior", "statement"} | PROMISES, "the file")
    given, listed = decode_strata_list(content)
    head = _decode_head(content, most)
    strata: dict[Stratum, PublicProtocol] = {}
    shares = []
    for one in listed:
        check_keys(one, CHANNEL | STRATUM, {"law"}, "strata")
        key = tuple(map(decode_letter_2, filled_list(one["given"], "strata")))
        if key in strata:
            raise wrong("strata", "a stratum occurs twice")
        strata[key] = _decode_one(content, head, one)
        shares.append(decode_decimal(one["share"], "share"))
    return StratifiedPublic(given, strata, np.array(shares))


def _decode_head(content: dict[str, Any], most: int) -> tuple[Attribute, ...]:
    """The columns of the input letters, once everything beside the channels was checked."""
    if content["policy"] != POLICY:
        raise wrong("policy", "a policy this release does not know")
    if not isinstance(content["form"], str) or content["form"] not in list(Form):
        raise wrong("form", "an unknown form")
    if content["source"] not in SOURCES:
        raise wrong("source", "an unknown source of the prior")
    if content.get("prior", "weighted") not in PRIORS:
        raise wrong("prior", "an unknown kind of law")
    if not isinstance(content["protocol"], str) or not SHA256.fullmatch(content["protocol"]):
        raise wrong("protocol", "not a SHA-256")
    said = texts([content["promise"], *filled_list(content["reveals"], "reveals")], "promise")
    if not all(0 < len(text) <= LONGEST for text in said):
        raise wrong("promise", "not a sentence or two")
    reads = decode_columns(content["inputs"], "inputs")
    if prod(len(attribute) for attribute in reads) > most:
        raise wrong("inputs", "more letters than a protocol of its size has")
    return reads


def _decode_one(content: dict[str, Any], reads: tuple[Attribute, ...], given: dict[str, Any]) -> PublicProtocol:
    """One channel with the head of the file."""
    size, bits = prod(len(attribute) for attribute in reads), whole_number(content["bits"], "bits", LARGEST_BITS)
    outputs = decode_letters_2(filled_list(given["outputs"], "outputs"), "outputs")
    columns = decode_weights(given["weights"], len(outputs), size)
    law = marginal = records = None
    if "law" in given:
        check_keys(given["law"], {"inputs", "outputs"}, {"records"}, "law")
        law = decode_cells(given["law"]["inputs"], size, "law", decode_probabilities)
        listed = filled_list(given["law"]["outputs"], "law")
        marginal = decode_integers(listed, "law", low=0, high=1 << LARGEST_BITS)
        if "records" in given["law"]:
            records = whole_number(given["law"]["records"], "records", SAFE_INTEGER)
    return PublicProtocol(
        columns=columns,
        bits=bits,
        form=Form(content["form"]),
        notion=decode_promises(content),
        outputs=outputs,
        reads=reads,
        secrets=texts(content["secrets"], "secrets"),
        law=law,
        marginal=marginal,
        source=content["source"],
        promise=content["promise"],
        reveals=tuple(content["reveals"]),
        statement=decode_statement(content.get("statement", {})),
        protocol_digest=content["protocol"],
        prior=content.get("prior", "exact"),
        records=records,
    )
