"""Drafts in files: what a part stored is what an orderer reads, whole and in its bucket, or it is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from parts_carrier import TableCarrier

from discreet.exceptions import ReleaseError
from discreet.protocol import Protocol
from discreet.release import parts
from discreet.release.assembly import PartsRequest, release_in_parts
from discreet.release.draft_files import _drafts, ordered_share, stored_part
from discreet.release.parts import PartJob, Seal

COLUMNS = ["colour", "size", "id", "note", "health"]


@pytest.fixture
def job(people: pa.Table, protocol: Protocol, tmp_path: Path) -> PartJob:
    key = tmp_path / "key"
    key.touch(0o600)
    key.write_bytes(bytes(range(32)))
    carrier = TableCarrier(people)
    request = PartsRequest(protocol, tmp_path / "first", ("note",), True, key, "id", ledger=tmp_path / "ledger")
    release_in_parts(request, carrier)
    (tmp_path / "parts").mkdir()
    return replace(carrier.jobs[0], folder=str(tmp_path / "parts"), buckets=7)


@pytest.mark.parametrize("held", [1 << 22, 700])
def test_every_bucket_is_read_back_once(
    job: PartJob, people: pa.Table, held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Flushed once or often, from one file or several."""
    monkeypatch.setattr(parts, "HELD_ROWS", held)
    table, seal = people.select(COLUMNS), Seal.of(job)
    names = [stored_part(job, table.slice(first, 2500).to_batches(500), first).name for first in (0, 2500)]
    notes = []
    for share in (range(0, 3), range(3, 4), range(4, 7)):
        for bucket, sealed in _drafts(job, names, share):
            assert bucket in share
            for batch in seal.open_batches(sealed):
                assert set(parts._buckets(batch.column(0).to_numpy(), 7).tolist()) == {bucket}
                notes += batch.column(3).to_pylist()
    assert sorted(notes) == sorted(people["note"].to_pylist())
    folder = Path(job.folder)
    assert all(path.stat().st_mode & 0o077 == 0 for path in folder.iterdir())
    assert not [path for path in folder.iterdir() if b"CANARY" in path.read_bytes()]


def test_shares_hold_every_record(job: PartJob, people: pa.Table) -> None:
    stored = stored_part(job, people.select(COLUMNS).to_batches(), 0)
    seal = Seal.of(job)
    drawn, _ = seal.hear(stored.said)
    files = [
        seal.hear(said)[0] for share in (range(0, 4), range(4, 7)) for said in ordered_share(job, [stored.name], share)
    ]
    assert [one["kind"] for one in files] == ["file", "file"]
    assert sum(one["records"] for one in files) == drawn["records"] == len(people)
    assert sum(one["places"] for one in files) % 2**64 == drawn["places"]


def test_an_empty_part_stores_nothing(job: PartJob, people: pa.Table) -> None:
    stored = stored_part(job, people.select(COLUMNS).slice(0, 0).to_batches(), 0)
    assert stored.octets == 0
    assert list(ordered_share(job, [stored.name], range(7))) == []


def test_what_cannot_be_stored_or_found_is_refused(job: PartJob, people: pa.Table) -> None:
    batches = people.select(COLUMNS).to_batches()
    lost, seal = replace(job, folder="/nowhere/that/is"), Seal.of(job)
    for said in (stored_part(lost, batches, 0).said, *ordered_share(lost, ["nothing"], range(7))):
        refusal, _ = seal.hear(said)
        assert (refusal["kind"], refusal["error"]) == ("refusal", "ReleaseError")
        assert "cannot" in refusal["what"]


def test_a_file_that_was_cut_or_changed_is_not_released(job: PartJob, people: pa.Table) -> None:
    stored = stored_part(job, people.select(COLUMNS).to_batches(), 0)
    path, seal = Path(job.folder) / stored.name, Seal.of(job)
    whole = path.read_bytes()
    path.write_bytes(whole[-8 * 9 :])
    (said,) = ordered_share(job, [stored.name], range(7))
    assert seal.hear(said)[0]["kind"] == "refusal"
    path.write_bytes(bytes([whole[0] ^ 1]) + whole[1:])
    with pytest.raises(ReleaseError, match="broke off"):
        list(ordered_share(job, [stored.name], range(7)))


def test_a_refusal_is_said_and_not_raised(job: PartJob, people: pa.Table) -> None:
    nobody = people.set_column(people.schema.get_field_index("id"), "id", pa.nulls(len(people), pa.string()))
    said, _ = Seal.of(job).hear(stored_part(job, nobody.select(COLUMNS).to_batches(), 3).said)
    assert (said["kind"], said["error"]) == ("refusal", "TableError")
    assert "part 3" in said["where"]
