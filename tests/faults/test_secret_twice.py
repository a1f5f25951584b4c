"""A table with two columns of the secret's name: what is measured beside the secret was once silently not measured."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.release import Job, rehearse, sanitise, sanitise_batches, sanitise_file

ROWS = 3000
RNG = np.random.default_rng(3)
SECRET = RNG.integers(0, 2, ROWS)
RELEASED = RNG.integers(0, 2, ROWS)
COLUMNS = {"s": SECRET, "x": RELEASED, "k": SECRET, "id": np.arange(ROWS)}
TWICE = pa.table([*COLUMNS.values(), SECRET], names=[*COLUMNS, "s"])
TURNED = pa.table([SECRET, SECRET, SECRET], names=["s", "x", "s"])


@pytest.fixture
def protocol(tmp_path):
    made = dc.design(dc.Joint.from_table(pa.table(COLUMNS), secret="s", release="x"), dc.LIP(0.3)).protocol
    made.save(tmp_path / "p.json")
    return made


def refused(call):
    with pytest.raises(dc.AlphabetError, match=r"two columns of this name \(s\)") as caught:
        call()
    assert "name of its own" in caught.value.remedy


@pytest.mark.parametrize("keep", [[], ["k"]])
@pytest.mark.parametrize("table", [TWICE, TURNED.append_column("k", pa.array(SECRET))], ids=["same", "turned"])
def test_a_release_in_memory_and_its_rehearsal_are_refused(table, keep, protocol):
    refused(lambda: sanitise(table, protocol, keep=keep))
    refused(lambda: sanitise(table.combine_chunks().to_batches()[0], protocol, keep=keep))
    assert "two columns of this name" in [one.what for one in rehearse(table, protocol, keep=keep).refusals]
    if keep:
        refused(lambda: sanitise(table.to_reader(), protocol, keep=keep))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("keep", [(), ("k",)])
def test_files_are_refused(kind, keep, protocol, tmp_path):
    path = tmp_path / f"t.{kind}"
    (pa.csv.write_csv if kind == "csv" else pq.write_table)(TWICE, path)
    refused(lambda: sanitise_file(Job(tmp_path / "p.json", str(path), str(tmp_path / "out.csv"), keep)))
    assert not (tmp_path / "out.csv").exists()


def test_batches_are_refused(protocol, tmp_path):
    key = tmp_path / "key"
    key.touch(0o600)
    key.write_bytes(bytes(range(64)))
    refused(lambda: sanitise_batches(TWICE, protocol, key=key, identity="id", keep=["k"]).read_all())


def test_other_columns_may_be_there_twice(protocol):
    more = pa.table([*COLUMNS.values(), SECRET], names=[*COLUMNS, "other"]).append_column("other", pa.array(SECRET))
    assert len(sanitise(more, protocol)) == ROWS
