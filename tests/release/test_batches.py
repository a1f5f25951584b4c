from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import chisquare, kstest

from discreet.exceptions import ParameterError, ReleaseError, TableError
from discreet.protocol import Protocol
from discreet.release import Job, sanitise_file
from discreet.release.batches import KeyedDraws
from discreet.release.sampling import Sampler


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    path.write_bytes(bytes(range(1, 65)))
    path.chmod(0o600)
    return path


def released(people: pa.Table, protocol_path: Path, key: Path, name: str, **options: object) -> dict[str, str]:
    source, target = protocol_path.with_name("in.parquet"), protocol_path.with_name(name)
    pq.write_table(people, source)
    job = Job(protocol_path, str(source), str(target), keep=("id",), key=key, identity="id", **options)
    sanitise_file(job)
    table = pq.read_table(target)
    return dict(zip(table["id"].to_pylist(), table["colour×size"].to_pylist(), strict=True))


def test_the_same_person_and_value_give_the_same_cell(people: pa.Table, protocol_path: Path, key: Path) -> None:
    first = released(people, protocol_path, key, "a.parquet")
    shuffled = people.take(pa.array(np.random.default_rng(0).permutation(len(people))))
    assert released(shuffled, protocol_path, key, "b.parquet") == first
    some = released(people.slice(100, 50), protocol_path, key, "c.parquet", data="some of them")
    assert some.items() <= first.items()


def test_another_key_gives_other_draws(people: pa.Table, protocol_path: Path, key: Path) -> None:
    first = released(people, protocol_path, key, "a.parquet")
    key.write_bytes(bytes(range(2, 66)))
    second = released(people, protocol_path, key, "b.parquet", repeat=True)
    same = sum(first[person] == second[person] for person in first) / len(first)
    assert 0.1 < same < 0.6


def test_another_value_gives_an_independent_draw(key: Path) -> None:
    keyed = KeyedDraws.from_file(key, "id", "digest")
    ids = pa.array([f"p{i}" for i in range(20_000)])
    one, other = (keyed.words(ids, np.full(20_000, code, np.uint8), 1).astype(float) / 2**64 for code in (0, 1))
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.04
    assert kstest(one, "uniform").pvalue > 1e-6


def test_keyed_draws_follow_the_law(protocol: Protocol, key: Path) -> None:
    keyed = KeyedDraws.from_file(key, "id", protocol.digest)
    codes = np.zeros(100_000, np.uint8)
    drawn = Sampler(protocol.weights).draw(codes, keyed.words(pa.array(np.arange(100_000)), codes, 1))
    assert chisquare(np.bincount(drawn, minlength=6), 100_000 * protocol.matrix[:, 0]).pvalue > 1e-6
    swapped = protocol.matrix[[1, 0, 2, 3, 4, 5], 0]
    assert chisquare(np.bincount(drawn, minlength=6), 100_000 * swapped).pvalue < 1e-6


def test_an_id_is_its_text_whatever_the_file(key: Path) -> None:
    keyed = KeyedDraws.from_file(key, "id", "digest")
    codes = np.zeros(2, np.uint8)
    expected = keyed.words(pa.array([7, 8]), codes, 1)
    for ids in (pa.array(["7", " 8 "]), pa.array(["7", "8"]).dictionary_encode(), pa.array([b"7", b"8"])):
        assert np.array_equal(keyed.words(ids, codes, 1), expected)


def test_a_record_without_id_names_its_row(key: Path) -> None:
    keyed = KeyedDraws.from_file(key, "id", "digest")
    with pytest.raises(TableError, match="row 12, column id"):
        keyed.words(pa.array(["a", "b", None]), np.zeros(3, np.uint8), 10)


def test_protocols_and_keys_are_told_apart(key: Path) -> None:
    names = {KeyedDraws.from_file(key, "id", digest).name for digest in ("a", "b")}
    key.write_bytes(bytes(range(2, 66)))
    assert len(names | {KeyedDraws.from_file(key, "id", "a").name}) == 3


@pytest.mark.parametrize("content", [b"", b"short", bytes(64)])
def test_weak_keys_are_refused(key: Path, content: bytes) -> None:
    key.write_bytes(content)
    with pytest.raises(ReleaseError, match="32 bytes"):
        KeyedDraws.from_file(key, "id", "digest")


def test_keys_that_others_can_read_are_refused(key: Path) -> None:
    key.chmod(0o644)
    with pytest.raises(ReleaseError, match="others can read"):
        KeyedDraws.from_file(key, "id", "digest")
    with pytest.raises(ReleaseError, match="cannot be read"):
        KeyedDraws.from_file(key.with_name("missing"), "id", "digest")


def test_key_and_id_go_together(protocol_path: Path, key: Path) -> None:
    with pytest.raises(ParameterError, match="go together"):
        sanitise_file(Job(protocol_path, "in.csv", "out.csv", key=key))
