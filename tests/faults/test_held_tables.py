"""A table that is read several times in one step: recipes and streams are evaluated once, files may not change."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pytest
from polars.io.plugins import register_io_source

import discreet as dc
from discreet.datasets import adult
from discreet.records import counting
from discreet.release import Job, rehearsal, sanitise_file
from discreet.release.sanitise import NotPrivate

DOOR = import_module("discreet.release.sanitise")
ADULTS = adult().select(["sex", "education", "race"])
PEOPLE = pa.concat_tables(
    [ADULTS.filter(pc.equal(ADULTS["sex"], sex)).slice(0, n) for sex, n in {"Female": 600, "Male": 1400}.items()]
)
IDS = [f"p{i // 2:04}" for i in range(len(PEOPLE))]
TABLE = PEOPLE.append_column("pid", pa.array(IDS))
LETTERS = dc.Joint.from_table(TABLE, secret="sex", release="education", person="pid", rows="one")
PROTOCOL = dc.design(LETTERS, dc.LIP(0.5)).protocol


class Recipe:
    """A frame that gives its records in another order whenever it is evaluated, and counts how often that is."""

    def __init__(self) -> None:
        self.evaluated = 0

    def table(self) -> pa.Table:
        self.evaluated += 1
        return TABLE.take(pa.array(np.random.default_rng(self.evaluated).permutation(len(TABLE))))

    def polars(self) -> pl.LazyFrame:
        def source(columns: Any, predicate: Any, n_rows: Any, batch_size: Any) -> Iterator[pl.DataFrame]:
            frame = pl.from_arrow(self.table())
            assert isinstance(frame, pl.DataFrame)
            yield frame.select(columns) if columns is not None else frame

        schema = dict.fromkeys(TABLE.schema.names, pl.String)
        return register_io_source(source, schema=schema)

    def stream(self) -> Any:
        recipe = self

        class Once:
            def __arrow_c_stream__(self, requested_schema: object = None) -> object:
                if recipe.evaluated:
                    raise ValueError("used up")
                return recipe.table().__arrow_c_stream__(requested_schema)

        return Once()


FRAMES: dict[str, Callable[[Recipe], Any]] = {"polars": Recipe.polars, "stream": Recipe.stream}


@pytest.mark.parametrize("kind", FRAMES)
def test_a_recipe_is_evaluated_once_for_a_release(kind):
    recipe = Recipe()
    with pytest.warns(NotPrivate):
        out = PROTOCOL.sanitise(FRAMES[kind](recipe), person="pid", rows="one", keep=["race"], testing=True)
    assert recipe.evaluated == 1
    out = out.collect() if isinstance(out, pl.LazyFrame) else out
    assert len(out) == len(TABLE) // 2


@pytest.mark.parametrize("kind", FRAMES)
def test_a_recipe_is_evaluated_once_for_a_check(kind):
    recipe = Recipe()
    check = PROTOCOL.check(FRAMES[kind](recipe), person="pid", rows="one", keep=["race"])
    assert recipe.evaluated == 1
    assert not check.refusals
    assert check.records == len(TABLE) // 2


@pytest.mark.parametrize("kind", FRAMES)
def test_a_recipe_is_evaluated_once_for_a_count(kind):
    recipe = Recipe()
    joint = dc.Joint.from_table(
        FRAMES[kind](recipe), secret="sex", release="education", group=dc.Grouping(rare={"education": 100})
    )
    assert recipe.evaluated == 1
    assert joint.n == len(TABLE)


def test_rows_of_a_person_are_those_that_were_read_with_the_id():
    """Of a relation whose order is drawn anew, one row of each person comes out, and no person twice."""
    frame = TABLE.append_column("given", pa.array(IDS))
    connection = duckdb.connect()
    connection.register("people", frame)
    relation = connection.sql("select * from people order by random()")
    with pytest.warns(NotPrivate):
        out = PROTOCOL.sanitise(relation, person="pid", rows="one", keep=["given"], testing=True)
    ids = [one for (one,) in out.select("given").fetchall()]
    assert len(ids) == len(set(ids)) == len(set(IDS))


def written_again(path: Any) -> None:
    """The same size, another content, another time."""
    before = os.stat(path)
    path.write_bytes(path.read_bytes())
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))


def test_a_file_that_changes_between_two_readings_is_not_released(tmp_path, monkeypatch):
    source, protocol, target = tmp_path / "table.csv", tmp_path / "p.json", tmp_path / "out.csv"
    pyarrow.csv.write_csv(TABLE, source)
    PROTOCOL.save(protocol)

    def changed(*asked: Any, **options: Any) -> Any:
        written_again(source)
        return rows(*asked, **options)

    rows = DOOR.rows_in_force
    monkeypatch.setattr(DOOR, "rows_in_force", changed)
    with pytest.raises(dc.TableError, match="changed while it was read"):
        sanitise_file(Job(protocol, str(source), str(target)))
    assert not target.exists()
    assert not (tmp_path / "p.json.ledger").exists()
    with pytest.raises(dc.TableError, match="changed while it was read"):
        PROTOCOL.sanitise(source)


def test_a_check_says_that_the_file_changed(tmp_path, monkeypatch):
    source = tmp_path / "table.csv"
    pyarrow.csv.write_csv(TABLE, source)

    def changed(*asked: Any, **options: Any) -> Any:
        written_again(source)
        return rows(*asked, **options)

    rows = rehearsal.rows_in_force
    monkeypatch.setattr(rehearsal, "rows_in_force", changed)
    assert any("changed while it was read" in one.what for one in PROTOCOL.check(source).refusals)
    monkeypatch.undo()
    assert not PROTOCOL.check(source).refusals


def test_a_file_that_changes_while_it_is_counted_is_refused(tmp_path, monkeypatch):
    source = tmp_path / "table.csv"
    pyarrow.csv.write_csv(TABLE, source)

    def changed(*asked: Any, **options: Any) -> Any:
        found = totals(*asked, **options)
        written_again(source)
        return found

    totals = counting.value_totals
    monkeypatch.setattr(counting, "value_totals", changed)
    with pytest.raises(dc.TableError, match="changed while it was read"):
        dc.Joint.from_table(source, secret="sex", release="education", group=dc.Grouping(rare={"education": 100}))
