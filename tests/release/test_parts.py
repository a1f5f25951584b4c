"""What machines of a release in parts say to each other: the same cells whoever draws, an order of its own, sealed."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cryptography.exceptions import InvalidTag
from parts_carrier import TableCarrier

from discreet.exceptions import ReleaseError
from discreet.protocol import Protocol
from discreet.release.assembly import PartsRequest, release_in_parts
from discreet.release.parts import PartJob, Seal, _buckets, drawn_part, ordered_part


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    path.touch(0o600)
    path.write_bytes(bytes(range(32)))
    return path


@pytest.fixture
def job(people: pa.Table, protocol: Protocol, key: Path, tmp_path: Path) -> PartJob:
    carrier = TableCarrier(people)
    request = PartsRequest(protocol, tmp_path / "first", ("note",), True, key, "id", ledger=tmp_path / "ledger")
    release_in_parts(request, carrier)
    (tmp_path / "parts").mkdir()
    return replace(carrier.jobs[0], folder=str(tmp_path / "parts"))


def drafts(job: PartJob, people: pa.Table) -> dict[str, tuple[int, ...]]:
    """The place and output of every note, opened."""
    columns = ["colour", "size", "id", "note", *job.counted]
    seal, found = Seal.of(job), {}
    for bucket, sealed in drawn_part(job, people.select(list(dict.fromkeys(columns))).to_batches(), 5):
        for batch in seal.open_batches(sealed) if bucket >= 0 else []:
            for row in batch.to_pylist():
                found[row["1"]] = (bucket, row["place"], row["0"])
    return {note: found[note] for note in people["note"].to_pylist()}


def test_a_part_read_again_gives_the_same_drafts_in_the_same_places(job: PartJob, people: pa.Table) -> None:
    first = drafts(job, people)
    assert first == drafts(job, people.take(pa.array(np.random.default_rng(0).permutation(len(people)))))
    assert len(first) == len(people)


def test_places_are_those_of_one_release_only(job: PartJob, people: pa.Table) -> None:
    """Another release has another order, with equal cells: laid side by side they say nothing more."""
    first, second = drafts(job, people), drafts(replace(job, nonce=bytes(16)), people)
    assert {note: cell for note, (_, _, cell) in first.items()} == {note: cell for note, (_, _, cell) in second.items()}
    ranks = [np.argsort(np.argsort([place for _, place, _ in found.values()])) for found in (first, second)]
    assert abs(np.corrcoef(*ranks)[0, 1]) < 6 / np.sqrt(len(people))
    source = np.arange(len(people))
    assert abs(np.corrcoef(ranks[0], source)[0, 1]) < 6 / np.sqrt(len(people))


def test_rows_of_one_id_do_not_stand_together(job: PartJob, people: pa.Table) -> None:
    alike = people.set_column(0, "id", pa.array(["one person"] * len(people)))
    places = {place for _, place, _ in drafts(replace(job, several_rows=True), alike).values()}
    assert len(places) == len(people)
    assert len({place for _, place, _ in drafts(job, alike).values()}) == 1


def test_buckets_follow_places() -> None:
    places = np.sort(np.random.default_rng(2).integers(0, 2**64, 10_000, np.uint64, endpoint=False))
    for count in (1, 7, 1600, 80_000):
        found = _buckets(places, count).astype(np.int64)
        assert (np.diff(found) >= 0).all()
        assert found.max() < count
        assert np.bincount(found, minlength=count).max() < 10_000 / count + 6 * np.sqrt(10_000 / count) + 6


def test_what_travels_and_what_is_shipped_tells_nothing(job: PartJob, people: pa.Table, key: Path) -> None:
    columns = people.select(["colour", "size", "id", "note", "health"]).to_batches()
    sent = b"".join(sealed for _, sealed in drawn_part(job, columns, 0))
    opened = b"".join(Seal.of(job).open(sealed) for _, sealed in drawn_part(job, columns, 0))
    assert b"CANARY" in opened
    assert b"CANARY" not in sent
    shipped = pickle.dumps(job)
    assert key.read_bytes() not in shipped
    assert "counts" not in set(vars(job.law))
    assert not [part for part in vars(job.law).values() if type(part).__name__ == "Joint"]


def test_a_message_that_was_changed_is_not_opened(job: PartJob) -> None:
    seal = Seal.of(job)
    sealed = bytearray(seal.say("tally", {"records": 1}))
    assert seal.hear(bytes(sealed))[0] == {"kind": "tally", "records": 1}
    sealed[-1] ^= 1
    with pytest.raises(InvalidTag):
        seal.hear(bytes(sealed))
    with pytest.raises(ReleaseError, match="broke off"):
        list(ordered_part(job, [(0, bytes(sealed))]))


def test_another_key_on_a_worker_is_refused(job: PartJob, people: pa.Table, key: Path) -> None:
    key.write_bytes(bytes(range(1, 33)))
    with pytest.raises(ReleaseError, match="another key"):
        list(drawn_part(job, people.to_batches(), 0))


def test_a_key_from_the_environment(
    people: pa.Table, protocol: Protocol, key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_TEST", key.read_bytes().hex())
    found = {}
    for where in (str(key), "env:SECRET_OF_TEST"):
        to = tmp_path / f"out{len(found)}"
        request = PartsRequest(protocol, to, ("note",), True, where, "id", ledger=tmp_path / "ledger")
        release_in_parts(request, TableCarrier(people))
        found[where] = pq.read_table(to).sort_by("note")
    assert found[str(key)].equals(found["env:SECRET_OF_TEST"])
    monkeypatch.setenv("SECRET_OF_TEST", "not hexadecimal")
    with pytest.raises(ReleaseError, match="not in the environment"):
        release_in_parts(replace(request, to=tmp_path / "no"), TableCarrier(people))


def test_a_folder_that_a_worker_does_not_see(job: PartJob, people: pa.Table) -> None:
    lost = replace(job, folder="/nowhere/that/is")
    sent = list(drawn_part(lost, people.select(["colour", "size", "id", "note", "health"]).to_batches(), 0))
    said, _ = Seal.of(lost).hear(list(ordered_part(lost, sorted(sent, key=lambda one: one[0])))[-1])
    assert (said["kind"], said["error"]) == ("refusal", "ReleaseError")
    assert "cannot write" in said["what"]
