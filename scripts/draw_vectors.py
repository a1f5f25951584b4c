"""Test vectors for other implementations of the draw: docs/draws/public.json and docs/draws/vectors.csv.

5,000 lines of letter, word, output: a record with input letter number `letter` (from 0; one more than the last is a
record without a known letter, drawn from the law of the outputs) and the uniform 64-bit `word`, in hexadecimal, is
released as output number `output`. The first words are those on both sides of every border of every slot, where an
implementation goes wrong first; the others are the first eight bytes of SHA-256("discreet draws N"), N = 0, 1, ….
How a draw is made is in docs/public-file.md; docs/draws/draw.mjs is the same in JavaScript.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
from scipy import sparse

import discreet as dc
from discreet.protocol.public import PublicProtocol
from discreet.release.sampling import Sampler

FOLDER = Path(__file__).parents[1] / "docs" / "draws"
DRAWS = 5000
LETTERS = ("none", "low", "middle", "high", "<&>", "ünïcode", "all")
COUNTS = ((300, 200, 120, 90, 60, 33, 11), (100, 210, 180, 130, 140, 57, 29))


def example() -> PublicProtocol:
    """Letters with 1, 2, 3, 4, 5, 7 and 9 outputs, with weights of every size down to one unit."""
    joint = dc.Joint.from_counts(COUNTS, ["yes", "no"], LETTERS)
    bits, outputs = 52, 9
    weights = np.zeros((outputs, len(LETTERS)), np.int64)
    for z, used in enumerate((1, 2, 3, 4, 5, 7, 9)):
        places = np.sort((np.arange(used) * 4 + z) % outputs)
        shares = [(1 << bits) // 3 ** (i + 1) for i in range(used)]
        shares[-1] = 1 if used > 4 else shares[-1]
        shares[0] += (1 << bits) - sum(shares)
        weights[places, z] = shares
    names = tuple(f"output {y}" for y in range(outputs))
    protocol = dc.Protocol(weights, bits, joint, dc.LIP(4.0), names)
    return protocol.public()


def draws(public: PublicProtocol) -> list[tuple[int, int, int]]:
    """(letter, word, output) for words at the borders of slots, then for words that any language can compute."""
    assert public.marginal is not None
    law = sparse.csc_array(public.marginal[:, None])
    sampler = Sampler(sparse.hstack([public.columns, law], format="csc"), compressed=True)
    last, _ = sampler._table
    letter = np.repeat(np.arange(sampler.letters), 1 << sampler.slot_bits)
    borders = [
        (int(z), word) for z, end in zip(letter, last.tolist(), strict=True) for word in (end, (end + 1) % 2**64)
    ]
    hashed = (hashlib.sha256(f"discreet draws {n}".encode()).digest()[:8] for n in range(DRAWS - len(borders)))
    others = [(n % sampler.letters, int.from_bytes(word, "big")) for n, word in enumerate(hashed)]
    codes, words = zip(*borders, *others, strict=True)
    drawn = sampler.draw(np.array(codes, np.uint8), np.array(words, np.uint64))
    return list(zip(codes, words, map(int, drawn), strict=True))


def written() -> dict[str, bytes]:
    """The two files."""
    public = example()
    lines = [f"{letter},{word:016x},{output}\n" for letter, word, output in draws(public)]
    return {"public.json": public.encode(), "vectors.csv": ("letter,word,output\n" + "".join(lines)).encode()}


if __name__ == "__main__":
    for name, content in written().items():
        (FOLDER / name).write_bytes(content)
