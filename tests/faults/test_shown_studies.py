"""A study that is shown for a release replays to the same promise, or is refused: nothing is left out in silence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet.cli.app import run
from discreet.exceptions import ParameterError
from discreet.protocol.statement import Statement
from discreet.protocol.strata import load_protocol
from discreet.release import Job, RowsAsked
from discreet.study import begun, counted_joint
from discreet.study.release_study import NOT_HELD, study_of
from discreet.study_file import StudyFile

LETTERS = {"s": ["case", "no"], "x": ["p", "q", "r"]}


def counted(path: Path) -> dc.Joint:
    return dc.Joint.from_table(path, secret="s", release="x")


def noisy(path: Path) -> dc.Joint:
    noise = dc.Noise(1.0, ledger=path.with_name("draws.json"))
    return dc.Joint.from_table(pd.read_csv(path), secret="s", release="x", letters=LETTERS, private=noise)


def protocol_of(notion: dc.Notion, joint: Callable[[Path], dc.Joint] = counted) -> Callable[[Path], dc.Protocol]:
    return lambda path: dc.design(joint(path), notion).protocol


def other_table(path: Path) -> dc.Protocol:
    pd.read_csv(path).iloc[:-1].to_csv(other := path.with_name("other.csv"), index=False)
    return protocol_of(dc.LIP(0.5))(other)


def stated(path: Path) -> dc.Protocol:
    return protocol_of(dc.LIP(0.5))(path).stating(Statement(purpose="Teaching."))


FUNNEL = dc.Funnel(0.01, ceiling=dc.LIP(0.5) & dc.OrdinaryLDP(1.5))
UNSAYABLE = {
    "a promise over everything": (protocol_of(dc.RLDP(1.5, dc.Everything())), "what it promises"),
    "two promises": (protocol_of(dc.LIP(1.0) & dc.Shift(0.02)), "what it promises"),
    "a ceiling of two": (protocol_of(dc.Funnel(0.01, ceiling=dc.LIP(0.5) & dc.LDP(0.8))), "what it promises"),
    "a private prior": (protocol_of(dc.OrdinaryLDP(1.0), noisy), "the noise of its counts"),
    "a public sample": (lambda path: protocol_of(dc.LIP(0.5))(path).with_source("public"), "where its distribution"),
    "another table": (other_table, "its counts"),
    "a statement": (stated, "what is stated beside its proof"),
}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    s = np.where(rng.random(3000) < 0.1, "case", "no")
    x = np.where(s == "case", rng.choice(list("pqr"), 3000, p=[0.6, 0.2, 0.2]), rng.choice(list("pqr"), 3000))
    pd.DataFrame({"s": s, "x": x}).to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


def job_for(table: Path, **options: Any) -> Job:
    return Job(table.with_name("p.json"), str(table), str(table.with_name("out.csv")), **options)


@pytest.mark.parametrize("release", UNSAYABLE)
def test_what_no_study_can_say_is_refused(table: Path, release: str, capsys: pytest.CaptureFixture[str]) -> None:
    made, lost = UNSAYABLE[release]
    made(table).save(job_for(table).protocol)
    command = ["check", str(job_for(table).protocol), str(table), "out.csv", "--show-study"]
    assert run(command) != 0
    shown = capsys.readouterr()
    assert not shown.out
    assert "no study file can say" in (told := " ".join(shown.err.split()))
    assert lost in told
    assert run([*command[:-1], "--one-row-per-person"]) in (0, 3), "the remedy: without it"


@pytest.mark.parametrize("notion", [FUNNEL, dc.Funnel(0.01) & dc.OrdinaryLDP(1.5), dc.LIP(0.5) & dc.OrdinaryLDP(4.0)])
def test_what_is_shown_promises_the_same(table: Path, notion: dc.Notion, capsys: pytest.CaptureFixture[str]) -> None:
    job = job_for(table)
    protocol_of(notion)(table).save(job.protocol)
    assert run(["sanitise", str(job.protocol), str(table), job.target, "--show-study"]) == 0
    text = capsys.readouterr().out
    assert all(key in text.partition("\ntable")[0] for key in NOT_HELD), "what it cannot know, it says"
    table.with_name("study.toml").write_text(text)
    asked = StudyFile.read(table.with_name("study.toml"))
    again = begun(asked, counted_joint(asked)).protocol
    assert again.notion == load_protocol(job.protocol).notion == notion


def test_every_option_of_a_release_is_said_or_refused(table: Path) -> None:
    protocol = protocol_of(dc.LIP(0.5))(table)
    said: dict[str, Any] = {"keep": ("s",), "format": "parquet", "data": "us", "budget": 2.0, "encoding": "utf-8"}
    said |= {"key": table.with_name("key"), "identity": "x", "policy": table.with_name("policy.toml")}
    said |= {"rows": RowsAsked(one_row_per_person=True), "protocol": table.with_name("q.json"), "target": "there.csv"}
    said |= {"source": str(table.with_name("copy.csv")), "digest": "abc"}
    table.with_name("copy.csv").write_bytes(table.read_bytes())
    for one in fields(Job):
        job = replace(job_for(table), **{one.name: said.get(one.name, True)})
        if one.name in ("testing", "digest"):
            with pytest.raises(ParameterError, match=one.name):
                study_of(protocol, job)
        else:
            assert getattr(study_of(protocol, job).job(), one.name) == getattr(job, one.name), one.name


def test_it_is_known_of_every_key_where_it_comes_from() -> None:
    """A new key is read from the protocol, from the release, or named as one that no protocol holds."""
    protocol = "secret release given bins merge weight notion epsilon confidence belt ceiling purpose"
    protocol += " sees_secret include_secret person household rows"
    release = "table keep one_row_per_person keep_anyway keep_order to key id several_rows encoding people data budget"
    release += " repeat unknown_anyway law_anyway policy columns records targets folder"
    refused = "public private letters same_noise"
    assert {one.name for one in fields(StudyFile)} == {*NOT_HELD, *f"{protocol} {release} {refused}".split()}


def test_a_stream_is_not_read_for_a_study(table: Path) -> None:
    protocol = protocol_of(dc.LIP(0.5))(table)
    with pytest.raises(ParameterError, match="several times"):
        study_of(protocol, replace(job_for(table), source="-"))


def test_a_name_that_json_does_not_escape_is_read_back(table: Path) -> None:
    frame = pd.read_csv(table).rename(columns={"x": "x\x7f"})
    frame.to_csv(table, index=False)
    protocol = dc.design(dc.Joint.from_table(table, secret="s", release="x\x7f"), dc.LIP(0.5)).protocol
    assert study_of(protocol, job_for(table)).release == ("x\x7f",)
