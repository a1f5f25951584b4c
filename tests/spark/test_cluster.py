"""What Spark needs and does not find is said in one line, before Spark says it in two hundred."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest
from standalone import missing

from discreet.cli.app import run
from discreet.exceptions import DiscreetError, ParameterError, ReleaseError
from discreet.spark import cluster


def one_line(error: pytest.ExceptionInfo[DiscreetError]) -> bool:
    return "\n" not in str(error.value) and bool(error.value.remedy)


def test_no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ParameterError, match="needs Java") as found:
        cluster.require_java()
    assert one_line(found)
    monkeypatch.setenv("JAVA_HOME", "/nothing")  # short, so that no line is folded
    with pytest.raises(ParameterError, match="needs Java"):
        cluster.require_java()


@pytest.mark.parametrize(("said", "fine"), [("1.8.0_292", False), ("11.0.2", False), ("17.0.1", True), ("21", True)])
def test_an_old_java(said: str, fine: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{said}\"' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    if fine:
        cluster.require_java()
        return
    with pytest.raises(ParameterError, match="too old") as found:
        cluster.require_java()
    assert one_line(found)


def test_no_pyspark_and_an_old_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "version", lambda name: "3.5.1")
    with pytest.raises(ParameterError, match=r"pyspark 3\.5\.1 is too old") as found:
        cluster.require_spark()
    assert one_line(found)

    def absent(name: str) -> str:
        raise cluster.PackageNotFoundError(name)

    monkeypatch.setattr(cluster, "version", absent)
    with pytest.raises(ParameterError, match=r"discreet\[spark\]") as found:
        cluster.require_spark()
    assert one_line(found)


def test_a_master_that_does_not_answer() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        port = nobody.getsockname()[1]
    with pytest.raises(ReleaseError, match="no Spark master answers") as found:
        cluster.require_master(f"spark://127.0.0.1:{port}")
    assert one_line(found)
    cluster.require_master("local[2]")
    with socket.socket() as somebody:
        somebody.bind(("127.0.0.1", 0))
        somebody.listen()
        cluster.require_master(f"spark://127.0.0.1:{somebody.getsockname()[1]}")


@pytest.mark.skipif(bool(missing()), reason=missing() or "Spark runs")
@pytest.mark.xdist_group("spark")
def test_a_session_on_the_cluster_answers(spark: Any) -> None:
    assert spark.range(10).count() == 10
    assert spark.conf.get(cluster.ENCRYPTION) == "true"


@pytest.mark.parametrize("fault", ["java", "old pyspark", "no pyspark", "master"])
def test_the_command_says_what_is_missing(
    fault: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a line each for what, where and what to do; and has written nothing."""

    def absent(name: str) -> str:
        raise cluster.PackageNotFoundError(name)

    said = {
        "java": "Spark needs Java",
        "old pyspark": "pyspark 3.5.1 is too old",
        "no pyspark": "pip install 'discreet[spark]'",
        "master": "no Spark master answers",
    }[fault]
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        master = f"spark://127.0.0.1:{nobody.getsockname()[1]}"
    if fault == "java":
        monkeypatch.setenv("JAVA_HOME", "/nothing")  # short, so that no line is folded
    elif fault == "master":
        monkeypatch.setattr(cluster, "require_java", lambda: None)
    else:
        monkeypatch.setattr(cluster, "version", absent if fault == "no pyspark" else lambda name: "3.5.1")
    before = sorted(tmp_path.iterdir())
    arguments = ["sanitise", str(tmp_path / "protocol.json"), str(tmp_path / "table.parquet"), str(tmp_path / "out")]
    assert run([*arguments, "--engine", "spark", "--master", master]) not in (0, None)
    told = capsys.readouterr()
    assert said in told.err
    assert [line.split(":")[0].strip() for line in told.err.splitlines()] == ["Error", "where", "remedy"]
    assert not told.out
    assert sorted(tmp_path.iterdir()) == before
