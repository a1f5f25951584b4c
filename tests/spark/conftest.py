"""One cluster and one session for all: a master, two workers, a session that retries, speculates and logs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
import discreet.spark

sys.path.insert(0, str(Path(__file__).parent))
from standalone import Cluster, missing

RECORDS = 20_000


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("spark")


@pytest.fixture(scope="session")
def cluster(place: Path) -> Iterator[Cluster]:
    if reason := missing():
        pytest.skip(reason)
    found = Cluster(place / "cluster")
    yield found
    found.stop()


@pytest.fixture(scope="session")
def driver_log(place: Path) -> Path:
    return place / "driver.log"


@pytest.fixture(scope="session")
def spark(cluster: Cluster, driver_log: Path) -> Iterator[Any]:
    import discreet.spark

    made = discreet.spark.session(cluster.master, cluster.settings(driver_log))
    yield made
    made.stop()


@pytest.fixture(scope="session")
def people() -> pa.Table:
    """`health` is the secret, told by `colour`. Ids, a secret and an odd colour are canaries."""
    rng = np.random.default_rng(3)
    health = rng.choice(["ill", "well"], RECORDS, p=[0.3, 0.7])
    telling = np.where(health == "ill", "red", "blue")
    colour = np.where(rng.random(RECORDS) < 0.6, telling, "green").astype("<U20")
    colour[::1000] = "CANARY-unknown"
    return pa.table(
        {
            "id": pa.array([f"CANARY-id-{i}" for i in range(RECORDS)]),
            "health": pa.array(np.where(health == "ill", "CANARY-ill", "well").tolist()),
            "colour": pa.array(colour.tolist()),
            "number": pa.array(np.arange(RECORDS)),
            "region": pa.array(rng.choice(["north", "south"], RECORDS).tolist()),
            "when": pa.array(rng.integers(0, 10**15, RECORDS), pa.timestamp("us")),
        }
    )


@pytest.fixture(scope="session")
def source(people: pa.Table, place: Path) -> Path:
    """Eight files: eight parts."""
    folder = place / "people"
    folder.mkdir()
    step = RECORDS // 8
    for number in range(8):
        pq.write_table(people.slice(number * step, step), folder / f"{number}.parquet")
    return folder


@pytest.fixture(scope="session")
def protocol(people: pa.Table) -> Any:
    known = people.filter(pa.compute.not_equal(people["colour"], "CANARY-unknown"))
    return dc.design(dc.Joint.from_table(known, secret="health", release="colour"), dc.LIP(0.4)).protocol


@pytest.fixture(scope="session")
def key(place: Path) -> Path:
    path = place / "key"
    path.touch(0o600)
    path.write_bytes(bytes(range(7, 39)))
    return path


@pytest.fixture
def frame(spark: Any, source: Path) -> Any:
    spark.conf.set("spark.sql.files.maxPartitionBytes", str(1 << 17))
    return spark.read.parquet(str(source))


@pytest.fixture(scope="session")
def alone(people: pa.Table, protocol: Any, key: Path) -> pa.Table:
    """What one machine releases with the same key, by number."""
    options = {"keep": ["number", "region"], "key": key, "identity": "id", "keep_anyway": True}
    os.environ.setdefault("XDG_DATA_HOME", str(key.parent))
    return protocol.sanitise(people, **options).sort_by("number")


@pytest.fixture
def released(protocol: Any, key: Path, tmp_path: Path) -> Any:
    """A release with the options of `alone`, read back by number."""
    count = iter(range(100))

    def release(frame: Any, **options: Any) -> pa.Table:
        to = tmp_path / f"out{next(count)}"
        usual = {
            "key": key,
            "identity": "id",
            "keep": ["number", "region"],
            "keep_anyway": True,
            "ledger": tmp_path / "ledger",
        }
        discreet.spark.sanitise(frame, protocol, to=to, **{**usual, **options})
        return pq.read_table(to).sort_by("number")

    return release
