"""Files made to stop a reader: each shape as a function from a number of bytes to about so many bytes."""

import hashlib
import json
import math

import numpy as np

import discreet as dc
from discreet.protocol import file
from discreet.protocol.file import canonical, encode, pieces_1

ONE_HASH = 2**61 - 1
"""Python's integers have the same hash when they differ by a multiple of this."""


def smallest():
    joint = dc.Joint.from_counts([[1, 2], [3, 4]])
    return dc.Protocol.make(dc.Channel(np.full((1, 2), 1.0)), joint, dc.LDP(1.0))


def small():
    """The content of version 1."""
    return json.loads(b"".join(pieces_1(smallest())))


def small_2():
    return json.loads(encode(smallest()))


def written(content):
    """The content as the bytes of version 2."""
    data = canonical(content)
    for sign, escape in file.ESCAPED.items():
        data = data.replace(sign, escape)
    return data + b"\n"


def with_joint_2(**changed):
    content = small_2()
    content["joint"] = {key: value for key, value in (content["joint"] | changed).items() if value is not None}
    return written(content)


def sealed(content):
    """The content with its hash made right."""
    content = {key: value for key, value in content.items() if key != "sha256"}
    return canonical({**content, "sha256": hashlib.sha256(canonical(content)).hexdigest()})


def with_joint(**changed):
    content = small()
    content["joint"] |= changed
    return sealed(content)


def colliding(size):
    return [{"integer": str(ONE_HASH * i)} for i in range(2**20, 2**20 + size // 40)]


def binary_attributes(size):
    """Twenty-one attributes or so, which have as many letters as fit, for a notion that is quickly proven."""
    m = int(math.log2(size / 6))
    releases = [{"letters": [0, 1], "name": str(i)} for i in range(m)]
    content = small() | {"weights": [[2] * 2**m], "bits": 1, "outputs": [0], "epsilon": 0.0}
    content["joint"] |= {"releases": releases, "counts": [1] * 2 ** (m + 1), "n": 2 ** (m + 1)}
    return sealed(content | {"notion": {"name": "OrdinaryLDP", "epsilon": 1.0}})


def cells_2(secrets, letters, bits=52):
    """A file of version 2 whose tables are much larger than its lists."""
    content = small_2() | {"bits": bits, "outputs": [0]}
    content["joint"] |= {
        "secrets": [{"letters": list(range(secrets)), "name": "s"}],
        "releases": [{"letters": list(range(letters)), "name": "x"}],
        "counts": {"cells": [0, letters], "values": [1, 1]},
        "n": 2,
    }
    return written(content | {"weights": {"outputs": [[0]] * letters, "values": [[1 << bits]] * letters}})


def many_outputs_2(size, most=None, **more):
    """As many outputs as letters, or `most`: a matrix that may be as large as the square of the file."""
    many = size // 60
    outputs = many if most is None else min(many, most(many))
    content = small_2() | {"outputs": list(range(outputs)), "epsilon": "0.0"} | more
    content["joint"] |= {
        "releases": [{"letters": list(range(many)), "name": "x"}],
        "counts": [1] * (2 * many),
        "n": 2 * many,
    }
    weights = {"outputs": [[z % outputs] for z in range(many)], "values": [[1 << 52]] * many}
    return written(content | {"weights": weights})


def first_version_2(size):
    """A file of version 2 that says it was one of version 1, as large as those could be."""
    return many_outputs_2(size, lambda letters: file.LARGEST_FILE // 2 // letters, sha256_1="0" * 64)


def repeated(item, before=b"[", after=b"0]"):
    return lambda size: before + item * (size // len(item)) + after


SHAPES = {
    "backslashes after a quote": repeated(b'"\\', b"", b""),
    "quotes": repeated(b'"', b"", b""),
    "escaped quotes": repeated(b'\\"', b'"', b""),
    "escaped quotes, far apart": repeated(b'\\"......', b'"', b""),
    "quotes, far apart": repeated(b'".......', b"", b""),
    "backslashes": repeated(b"\\", b"", b""),
    "one text": repeated(b"a", b'"', b'"'),
    "one text of escapes": repeated(b"\\u0041", b'"', b'"'),
    "one text of large characters": repeated("😀".encode(), b'"', b'"'),
    "letters": repeated(b"x", b"", b""),
    "spaces": repeated(b" ", b"", b""),
    "nested lists": repeated(b"[", b"", b""),
    "nested lists in text": repeated(b"[", b'"', b'"'),
    "empty lists": repeated(b"[],"),
    "empty objects": repeated(b"{},"),
    "small objects": repeated(b'{"a":1},'),
    "small lists": repeated(b"[999],"),
    "small lists with space": repeated(b"[9999],  "),
    "one object": lambda size: b"{" + b",".join(b'"%06x":1' % i for i in range(size // 11)) + b"}",
    "one object with space": lambda size: (
        b"{" + b",".join(b'"%06x":1           ' % i for i in range(size // 22)) + b"}"
    ),
    "closing brackets": repeated(b"]", b"", b""),
    "colons": repeated(b":", b"", b""),
    "whole numbers": repeated(b"999,"),
    "one number": repeated(b"9", b"", b""),
    "long numbers": repeated(b"9" * 4000 + b","),
    "floats": repeated(b"0.5,"),
    "texts": repeated(b'"aa",'),
    "texts of large characters": repeated('"Ā",'.encode()),
    "texts with space": repeated('"Ā", '.encode()),
    "truths": repeated(b"true,"),
    "outputs": lambda size: sealed(small() | {"outputs": list(range(1000, 1000 + size // 7))}),
    "counts": lambda size: with_joint(counts=[999] * (size // 4)),
    "probabilities": lambda size: with_joint(counts=None, probabilities=[0.5] * (size // 4)),
    "weights": lambda size: sealed(small() | {"weights": [[999] * (size // 4)]}),
    "outputs of one hash": lambda size: sealed(small() | {"outputs": colliding(size)}),
    "secrets of one hash": lambda size: with_joint(secrets=[{"name": "a", "letters": colliding(size)}]),
    "binary attributes": binary_attributes,
    "outputs, version 2": lambda size: written(small_2() | {"outputs": list(range(1000, 1000 + size // 5))}),
    "counts, version 2": lambda size: with_joint_2(counts=[999] * (size // 4)),
    "few counts, version 2": lambda size: with_joint_2(
        counts={"cells": [9] * (size // 4), "values": [9] * (size // 4)}
    ),
    "probabilities, version 2": lambda size: with_joint_2(counts=None, probabilities=["0.5"] * (size // 6)),
    "weights of one letter": lambda size: written(
        small_2() | {"weights": {"outputs": [[1] * (size // 4)], "values": [[1] * (size // 4)]}}
    ),
    "outputs of one hash, version 2": lambda size: written(small_2() | {"outputs": colliding(size)}),
    "many secrets, many letters": lambda size: cells_2(size // 40, size // 40),
    "many letters": lambda size: cells_2(2, size // 24),
    "many letters of few bits": lambda size: cells_2(2, size // 16, bits=1),
    "many outputs": many_outputs_2,
    "many outputs, once version 1": lambda size: many_outputs_2(size, sha256_1="0" * 64),
    "as large as version 1 could be": first_version_2,
}
