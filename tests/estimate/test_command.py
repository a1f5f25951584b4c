"""`discreet estimate`, as a command."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
import typer
from typer.testing import CliRunner

from discreet.cli.estimate import estimate
from discreet.joint import Joint
from discreet.mechanisms.randomised_response import grr
from discreet.notions import LIP
from discreet.protocol import Protocol
from discreet.release.sanitise import NotPrivate


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    counts = np.array([[[40, 10], [5, 30]], [[20, 30], [25, 10]]])
    joint = Joint.from_counts(counts, releases=[("no", "yes"), ("low", "high")])
    protocol = Protocol.make(grr(joint, 2.0), joint, LIP(2.0))
    protocol.save(tmp_path / "protocol.json")
    records = np.repeat(np.arange(8), counts.reshape(-1))
    table = pa.table(
        {
            "secret": records // 4,
            "release1": np.array(["no", "yes"])[records // 2 % 2],
            "release2": np.array(["low", "high"])[records % 2],
            "region": np.array(["north", "south"])[records % 3 % 2],
        }
    )
    pacsv.write_csv(_tested(protocol, table).cast(
        pa.schema([(name, pa.string()) for name in ("release1", "release2", "region")])
    ), tmp_path / "released.csv")  # fmt: skip
    return tmp_path / "protocol.json", tmp_path / "released.csv"


def _tested(protocol: Protocol, table: pa.Table) -> pa.Table:
    with pytest.warns(NotPrivate):
        return protocol.sanitise(table, keep=["region"], testing=True)


def run(*arguments: object) -> str:
    app = typer.Typer()
    app.command()(estimate)
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_for_people(files: tuple[Path, Path]) -> None:
    shown = run(*files, "--attribute", "release1")
    assert "release1, 170 records" in shown
    assert "95% interval" in shown
    assert "clean records" in shown


def test_for_machines(files: tuple[Path, Path]) -> None:
    found = json.loads(run(*files, "--json", "--on", "simplex", "--level", "0.9"))
    assert found["n"] == 170
    assert sum(letter["frequency"] for letter in found["letters"]) == pytest.approx(1)
    assert all(letter["low"] <= letter["frequency"] <= letter["high"] for letter in found["letters"])
    assert len(found["covariance"]) == 4
    groups = json.loads(run(*files, "--json", "--by", "region"))["groups"]
    assert groups["north"]["n"] + groups["south"]["n"] == 170
