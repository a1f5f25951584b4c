"""From released tables of every kind, one or several, to counts and estimates."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.attribute import Attribute
from discreet.channel import Channel
from discreet.estimate import estimate, estimate_by
from discreet.estimate.estimation import count_outputs
from discreet.estimate.release_model import model_of
from discreet.exceptions import AlphabetError, ParameterError, TableError
from discreet.joint import Joint
from discreet.notions import LIP
from discreet.protocol import Protocol
from discreet.records.letters import spreadsheet_safe

NOISY = np.full((3, 3), 0.2) + 0.4 * np.eye(3)
LABELS = ("=red", "green, or blue", "7")
CHANNEL = Channel(NOISY, outputs=LABELS)
RECORDS = np.random.default_rng(0).integers(0, 3, size=500)
COUNTS = np.bincount(RECORDS)


def texts(safe: bool = False) -> list[str]:
    return [spreadsheet_safe(LABELS[i]) if safe else LABELS[i] for i in RECORDS]


def test_every_kind_of_table(tmp_path: Path) -> None:
    frame = pd.DataFrame({"output": texts()})
    pd.DataFrame({"other": 1, "output": texts(safe=True)}).to_csv(tmp_path / "r.csv", index=False)
    pq.write_table(pa.table({"output": texts()}), tmp_path / "r.parquet")
    kinds = [
        frame,
        frame.astype("category"),
        pl.DataFrame({"output": texts()}),
        pa.table({"output": pa.array(texts()).dictionary_encode()}),
        tmp_path / "r.csv",
        str(tmp_path / "r.parquet"),
        COUNTS,
    ]
    for released in kinds:
        np.testing.assert_array_equal(count_outputs(released, model_of(CHANNEL)), COUNTS)


def test_a_value_that_is_no_output_is_refused_without_showing_it() -> None:
    for cells in (["=red", "purple"], ["=red", None]):
        with pytest.raises(TableError, match="no output of this protocol") as caught:
            estimate(pa.table({"output": cells}), CHANNEL)
        assert "purple" not in str(caught.value)


@pytest.mark.parametrize("counts", [np.array([1, 2]), np.array([1, -1, 3]), np.array([0.5, 1, 2])])
def test_counts_that_are_none(counts: np.ndarray) -> None:
    with pytest.raises(TableError):
        estimate(counts, CHANNEL)


def test_too_few_records_and_impossible_outputs() -> None:
    with pytest.raises(TableError, match="fewer than two"):
        estimate(np.array([1, 0, 0]), CHANNEL)
    with pytest.raises(TableError, match="never gives"):
        estimate(np.array([5, 5, 1]), Channel(np.array([[0.7, 0.2], [0.3, 0.8], [0.0, 0.0]])))


def test_groups() -> None:
    groups = np.where(np.arange(500) % 5 == 0, "north", "south")
    table = pl.DataFrame({"output": texts(), "region": groups})
    found = estimate_by(table, CHANNEL, "region")
    assert {name: one.n for name, one in found.items()} == {"north": 100, "south": 400}
    north = estimate(np.bincount(RECORDS[groups == "north"], minlength=3), CHANNEL)
    np.testing.assert_allclose(found["north"].frequencies, north.frequencies)
    with pytest.raises(AlphabetError):
        estimate_by(table, CHANNEL, "output")


# ---- several releases -----------------------------------------------------------------------------------------------


def protocol(name: str, matrix: np.ndarray, letters: tuple[str, ...]) -> Protocol:
    size = len(letters)
    joint = Joint(np.full((2, size), 1 / (2 * size)), releases=(Attribute(name, letters),))
    return Protocol.make(Channel(matrix, joint.letters, joint.letters), joint, LIP(1.0))


COLOURS = protocol("colour", NOISY, ("red", "green", "blue"))
SIZES = protocol("size", np.array([[0.8, 0.3], [0.2, 0.7]]), ("small", "large"))


def test_waves_of_one_protocol_are_one_larger_release() -> None:
    waves = [np.array([60, 30, 10]), np.array([500, 300, 200])]
    for method in ("linear", "likelihood"):
        both = estimate(waves, [COLOURS, COLOURS], method=method)  # type: ignore[arg-type]
        pooled = estimate(waves[0] + waves[1], COLOURS, method=method)  # type: ignore[arg-type]
        assert both.n == 1100
        np.testing.assert_allclose(both.frequencies, pooled.frequencies, atol=1e-6)
        np.testing.assert_allclose(both.standard_errors, pooled.standard_errors, rtol=0.02)


def test_waves_of_different_protocols_are_unbiased_and_better_than_each() -> None:
    truth, better = (
        np.array([0.6, 0.3, 0.1]),
        protocol("colour", NOISY * 0.5 + 0.5 * np.eye(3), ("red", "green", "blue")),
    )
    rng = np.random.default_rng(1)
    first, second = (rng.multinomial(400, p.matrix @ truth, size=2000) for p in (COLOURS, better))
    both = [estimate([a, b], [COLOURS, better]) for a, b in zip(first, second, strict=True)]
    values = np.array([one.frequencies for one in both])
    z = (values.mean(axis=0) - truth) / (values.std(axis=0, ddof=1) / np.sqrt(2000))
    assert np.abs(z).max() < 5
    np.testing.assert_allclose(np.mean([one.standard_errors for one in both], axis=0), values.std(axis=0), rtol=0.1)
    assert (both[0].standard_errors < estimate(second[0], better).standard_errors).all()


def test_columns_released_together_give_the_cross_table() -> None:
    truth = np.array([[0.3, 0.1], [0.05, 0.25], [0.2, 0.1]])
    rng = np.random.default_rng(2)
    cells = rng.choice(6, size=40_000, p=truth.reshape(-1))
    drawn = {
        "colour": [COLOURS.outputs[rng.choice(3, p=COLOURS.matrix[:, x])] for x in cells // 2],
        "size": [SIZES.outputs[rng.choice(2, p=SIZES.matrix[:, x])] for x in cells % 2],
    }
    found = estimate(pa.table(drawn), [COLOURS, SIZES])
    assert found.letters[1] == ("red", "large")
    assert np.abs((found.frequencies - truth.reshape(-1)) / found.standard_errors).max() < 5
    np.testing.assert_allclose(found.table(["size", "colour"]).cells, found.cells.T)
    np.testing.assert_allclose(found.attribute("size").frequencies, found.cells.sum(axis=0))


def test_lists_that_do_not_fit() -> None:
    with pytest.raises(ParameterError, match="2 releases and 1 protocols"):
        estimate([COUNTS, COUNTS], [COLOURS])
    other = protocol("colour", NOISY, ("red", "green", "yellow"))
    with pytest.raises(AlphabetError, match="different letters"):
        estimate([COUNTS, COUNTS], [COLOURS, other])
    with pytest.raises(AlphabetError, match="not a column"):
        estimate(COUNTS, COLOURS).attribute("shape")
