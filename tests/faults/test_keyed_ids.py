"""Keyed draws as an attacker reads them: ids that must not meet, ids that are none, domains that must not touch, sums.

What two people share here, they share the draw of; and what two releases share, the ledger counts once.
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.exceptions import TableError
from discreet.release import keyed_draws
from discreet.release.batches import BatchSanitiser, ReleaseLaw
from discreet.release.keyed_draws import KeyedDraws

KEY, DIGEST = bytes(range(64)), "5" * 64
WORD_BITS = 64


def keyed(key: bytes = KEY, digest: str = DIGEST, column: str = "id") -> KeyedDraws:
    return KeyedDraws(column, key, digest)


def hashes(ids: pa.Array) -> list[tuple[int, ...]]:
    return [tuple(row) for row in keyed().hashes(ids).tolist()]


def test_one_number_in_every_type_is_one_person() -> None:
    """Otherwise the same table, stored in another format, would be a second draw of everybody."""
    kinds = [pa.int8(), pa.int64(), pa.uint64(), pa.uint8(), pa.float32(), pa.float64()]
    texts = [pa.array([text]) for text in ("7", " 7", "7 ", "7\n", "\t7")]
    others = [pa.array([b"7"]), pa.array(["7"], pa.string_view()), pa.array(["7"]).dictionary_encode()]
    found = [hashes(ids)[0] for ids in (*(pa.array([7], kind) for kind in kinds), *texts, *others)]
    assert set(found) == {hashes(pa.array([7]))[0]}


def test_ids_that_only_look_alike_are_different_people() -> None:
    """Each of these is nobody else, be it by sign, digit, zero byte, length, accent, or a block that begins alike."""
    block = "x" * keyed_draws.FIRST_TEXT_BYTES
    looks = [
        "7",
        "07",
        "007",
        "7.0",
        "+7",
        "-7",
        "0",
        "-0",
        "00",
        "0x7",
        "7e0",
        "\u0667",
        "\uff17",
        "\u200b7",
        "1" * 18,
        "1" * 19,
    ]
    looks += [
        "a",
        "a\0",
        "a\0\0",
        "A",
        "\u00e9",
        "e\u0301",
        block,
        block + "\0",
        block + "x",
        block * 2,
        (7).to_bytes(8).decode(),
    ]
    looks += [(7).to_bytes(8, "little").decode() + "\0" * 7 + "\1", "None", "nan"]
    found = [hashes(pa.array([look]))[0] for look in looks]
    assert len(set(found)) == len(looks)
    assert hashes(pa.array(looks)) == found, "beside others an id is somebody else"
    numbers = pa.array([7, -7, 2**63 - 1, -(2**63), 10**18])
    assert len({*found, *hashes(numbers)}) == len(looks) + 3  # 7 and -7 are there already
    large = hashes(pa.array([2**63, 2**64 - 1], pa.uint64()))
    assert not {*large} & {*hashes(pa.array([-(2**63), -1]))}, "numbers above 2^63 wrapped around"


def test_fractions_and_decimals_of_one_column_stay_apart() -> None:
    floats = pa.array([7.0, 7.5, 0.1 + 0.2, 0.3, 1e300, 5e-324, 2.0**53, 2.0**53 + 2])
    decimals = pa.array([decimal.Decimal(text) for text in ("7.00", "7.10", "7.01")])
    for ids in (floats, decimals, pa.array([True, False])):
        assert len(set(hashes(ids))) == len(ids)


@pytest.mark.parametrize(
    "ids",
    [
        pa.array(["a", ""]),
        pa.array(["a", " \t"]),
        pa.array([b"a", b""]),
        pa.array(["a", ""], pa.string_view()),
        pa.array(["a", ""]).dictionary_encode(),
        pa.array([1.0, float("nan")]),
        pa.array([1, None], pa.uint64()),
        pa.array([datetime.date(2020, 1, 1), None]),
    ],
    ids=lambda ids: f"{ids.type}".replace("/", " "),
)
def test_nothing_is_no_id_in_any_type(ids: pa.Array) -> None:
    """All of them would be one person; NaN once ended in another library's words, and spaces were an id."""
    with pytest.raises(TableError, match="row 12"):
        keyed().words(ids, np.zeros(len(ids), np.uint8), 11)


@pytest.mark.parametrize(
    ("ids", "repeated"),
    [
        (pa.array([b"\xe9", b"\\xe9"]), 0),
        (pa.array([10**17, 10**17 + 1], pa.timestamp("s")), 0),
        (pa.array([0.0, -0.0]), 1),
    ],
    ids=["bytes", "dates", "zeros"],
)
def test_ids_that_no_text_tells_apart_count_as_repeated(ids: pa.Array, repeated: int) -> None:
    """Rather refused than drawn together unnoticed. Bytes that are no UTF-8 and far dates were once among them."""
    draws = keyed()
    draws.words(ids, np.zeros(len(ids), np.uint8), 1)
    assert draws.identities.repeated() == repeated


def agreement(one: np.ndarray, two: np.ndarray) -> float:
    """The largest standard score over all pairs of bits in the same place: below 6 for independent words."""
    bits = np.unpackbits((one ^ two).view(np.uint8)).reshape(len(one), WORD_BITS).mean(axis=0)
    return float(np.abs(bits - 0.5).max() * 2 * np.sqrt(len(one)))


PEOPLE, ROWS = pa.array(np.arange(1 << 15)), 1 << 15
ZEROS = np.zeros(ROWS, np.uint64)
DOMAINS: dict[str, Callable[[], np.ndarray]] = {
    "protocol": lambda: keyed(digest="5" * 63 + "6").words(PEOPLE, ZEROS, 1),
    "key": lambda: keyed(KEY[:-1] + b"\0").words(PEOPLE, ZEROS, 1),
    "letter": lambda: keyed().words(PEOPLE, ZEROS + 1, 1),
    "a letter beyond 32 bits": lambda: keyed().words(PEOPLE, ZEROS + (1 << 40), 1),
    "the last letter": lambda: keyed().words(PEOPLE, ~ZEROS, 1),
    "as text": lambda: keyed().words(pa.array([f"0{i}" for i in range(ROWS)]), ZEROS, 1),
    "the half for the books": lambda: keyed_draws._encrypted(keyed()._word, keyed().hashes(PEOPLE))[:, 1].copy(),
    "the hash itself": lambda: keyed().hashes(PEOPLE)[:, 0].copy(),
}


@pytest.mark.parametrize("domain", DOMAINS)
def test_domains_do_not_touch(domain: str) -> None:
    assert agreement(keyed().words(PEOPLE, ZEROS, 1), DOMAINS[domain]()) < 6


def test_agreement_would_be_seen() -> None:
    """The negative control: the same domain under another name of the column, and a word with one bit in common."""
    words = keyed().words(PEOPLE, ZEROS, 1)
    assert np.array_equal(words, keyed(column="person").words(PEOPLE, ZEROS, 1))
    other = DOMAINS["letter"]()
    assert agreement(words, other & ~np.uint64(1) | words & np.uint64(1)) > 6


def test_strata_are_letters_of_their_own() -> None:
    """The same value in another stratum is another input; truncation to the letter within the stratum would show."""
    rng = np.random.default_rng(0)
    columns = {
        "s": rng.choice(["a", "b"], 400),
        "x": rng.choice(["u", "v"], 400),
        "g": np.repeat(["east", "west"], 200),
    }
    protocol = dc.design(
        dc.Joint.from_table(pa.table(columns), secret="s", release="x", given="g"), dc.LIP(0.5)
    ).protocol
    met: list[np.ndarray] = []

    class Watched(KeyedDraws):
        def words(self, ids: pa.Array, codes: np.ndarray, first_row: int) -> np.ndarray:
            met.append(codes)
            return super().words(ids, codes, first_row)

    kernel = BatchSanitiser(ReleaseLaw.of(protocol), None, (), Watched("id", KEY, protocol.digest))  # type: ignore[arg-type]
    rows = pa.record_batch({"id": [1, 1, 1, 1], "x": ["u", "u", "odd", "v"], "g": ["east", "west", "east", "west"]})
    kernel.draft(rows)
    assert len(set(met[0].tolist())) == 4


def test_the_digest_is_of_a_multiset_and_of_pairs() -> None:
    """Ids twice, ids exchanged for others, values exchanged between two people, a column of another name."""

    def digest(ids: list[object], letters: list[int], column: str = "id") -> str:
        draws = keyed(column=column)
        draws.words(pa.array(ids), np.array(letters, np.uint64), 1)
        return draws.identity_digest

    told = [
        digest([1, 2, 3], [0, 1, 0]),
        digest([1, 2, 3], [1, 0, 0]),  # the same ids and the same letters, paired otherwise
        digest([1, 2, 2], [0, 1, 0]),
        digest([1, 2, 2, 3], [0, 1, 1, 0]),
        digest([1, 2], [0, 1]),
        digest([1, 2, 4], [0, 1, 0]),
        digest([1, 2, 3], [0, 1, 0], "person"),
        digest(["01", "02", "03"], [0, 1, 0]),
    ]
    assert len(set(told)) == len(told)
    assert digest([3, 1, 2], [0, 0, 1]) == told[0]
    assert digest(["1", "2", "3"], [0, 1, 0]) == told[0]


def test_an_exclusive_or_in_the_place_of_the_sum_would_forget_pairs() -> None:
    """Why it is a sum: whoever is there twice would be as good as absent."""
    found = keyed().hashes(pa.array([1, 2, 2]))
    assert np.array_equal(np.bitwise_xor.reduce(found), found[0])
    assert not np.array_equal(found.sum(axis=0, dtype=np.uint64), found[0])
