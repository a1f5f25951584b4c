"""A rehearsal foretells that a file has no place for a kept column, and a release says so before it draws."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.release import Job, rehearse, rehearse_file, sanitise_file

ROWS = 400
ODD = {
    "list": pa.array([[1]] * ROWS),
    "struct": pa.array([{"CANARY": 1}] * ROWS),
    "map": pa.array([[("CANARY", 1)]] * ROWS, pa.map_(pa.string(), pa.int64())),
    "month_day_nano_interval": pa.array([(1, 2, 3)] * ROWS, pa.month_day_nano_interval()),
}
PLAIN = {
    "dictionary": pa.array(["a"] * ROWS).dictionary_encode(),
    "numbers": pa.array([1] * ROWS).dictionary_encode(),
    "bytes": pa.array([b"ab"] * ROWS, pa.binary(2)),
    "moment": pa.array([1] * ROWS, pa.timestamp("ns", "UTC")),
}


@pytest.fixture
def made(tmp_path):
    def at(cells, form):
        table = pa.table({"s": ["a", "b", "a", "b"] * (ROWS // 4), "x": ["u", "u", "v", "v"] * (ROWS // 4), "k": cells})
        dc.design(dc.Joint.from_table(table, secret="s", release="x"), dc.LIP(0.3)).protocol.save(tmp_path / "p.json")
        source = tmp_path / f"t.{form}"
        if form == "parquet":
            pq.write_table(table, source)
        else:
            with pa.OSFile(str(source), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
                writer.write_table(table)
        return table, source

    return at


def job(tmp_path, source, target, **more):
    return Job(tmp_path / "p.json", str(source), str(tmp_path / target) if target else "", ("k",), **more)


@pytest.mark.parametrize("keep_order", [False, True])
@pytest.mark.parametrize("kind", ODD)
def test_what_csv_cannot_hold(kind, keep_order, made, tmp_path):
    _, source = made(ODD[kind], "arrow")
    asked = job(tmp_path, source, "out.csv", keep_order=keep_order)
    foretold = [(one.what, one.where) for one in rehearse_file(asked).refusals]
    assert foretold == [(f"cells of type {kind} cannot be written as csv", "k")]
    with pytest.raises(dc.TableError, match=f"cells of type {kind} cannot be written as csv") as caught:
        sanitise_file(asked)
    assert "CANARY" not in str(caught.value)
    assert not (tmp_path / "out.csv").exists()
    assert rehearse_file(job(tmp_path, source, "", format="csv")).refusals
    assert not rehearse_file(job(tmp_path, source, "")).refusals
    assert not rehearse_file(job(tmp_path, source, "out.arrow")).refusals


def test_what_parquet_cannot_hold(made, tmp_path):
    _, source = made(ODD["month_day_nano_interval"], "arrow")
    asked = job(tmp_path, source, "out.parquet")
    assert "cannot be written as parquet" in rehearse_file(asked).refusals[0].what
    with pytest.raises(dc.TableError, match="cannot be written as parquet"):
        sanitise_file(asked)


@pytest.mark.parametrize("target", ["out.csv", "out.parquet", "out.arrow"])
@pytest.mark.parametrize("kind", PLAIN)
def test_what_can_be_written_is(kind, target, made, tmp_path):
    table, source = made(PLAIN[kind], "parquet")
    asked = job(tmp_path, source, target)
    assert not rehearse_file(asked).refusals
    assert sanitise_file(asked).records == ROWS
    assert not rehearse(table, dc.load_protocol(tmp_path / "p.json"), keep=["k"]).refusals
