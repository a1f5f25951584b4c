"""Letters, time, memory and file are known before the search, and what is too much is refused with what would work."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest

import discreet as dc
from discreet.cli.app import run
from discreet.datasets import adult
from discreet.information import entropy
from discreet.study.comparisons import rare_secrets
from discreet.study.expected_size import amount, duration, expected_size
from discreet.wording import rare_values


def test_the_file_is_within_a_factor_of_three_and_sparse_cells_are_counted() -> None:
    for release in (["education"], ["education", "sex"], ["education", "workclass"]):
        joint = dc.Joint.from_table(adult(), secret="income", release=release)
        size = expected_size(joint, dc.LIP(1.0))
        written = len(dc.design(joint, dc.LIP(1.0)).protocol.encode())
        assert size.file_bytes / 4 <= written <= 3 * size.file_bytes + 4096
        assert not size.too_much(None)
        counts = np.asarray(joint.counts)
        assert size.sparseness is not None
        assert size.sparseness.few == ((counts > 0) & (counts < 5)).sum()


def test_what_is_too_much_is_refused_with_what_would_work_and_what_that_keeps() -> None:
    columns = ["education", "workclass", "race", "relationship", "sex"]
    joint = dc.Joint.from_table(adult(), secret="marital-status", release=columns)
    size = expected_size(joint, dc.SRLIP(1.0))
    assert size.too_much(None)
    with pytest.raises(dc.ParameterError, match="What would work") as caught:
        size.check(None)
    assert size.remedies
    assert f"keeps {size.remedies[0].keeps:.0%}" in caught.value.remedy
    size.check(None, force=True)
    without = next(one for one in size.remedies if one.words.startswith("without"))
    left = [name for name in columns if name not in without.words.partition(" with ")[0]]
    if " with " not in without.words:
        law = dc.Joint.from_table(adult(), secret="marital-status", release=left).target_prior
        assert without.keeps == pytest.approx(entropy(law) / joint.entropy)
    assert [one.keeps for one in size.remedies] == sorted((one.keeps for one in size.remedies), reverse=True)


def test_a_time_limit_is_enough_where_only_time_is_too_long() -> None:
    joint = dc.Joint.from_table(adult(), secret="marital-status", release=["education", "workclass", "race"])
    assert not expected_size(joint.curator(), dc.LIP(1.0)).too_much(None)  # many letters have a method of their own
    size = expected_size(joint.curator(), dc.SRLIP(1.0))
    assert "no time limit" in size.too_much(None)
    assert size.too_much(10.0) == ""


def test_the_command_stops_before_the_search(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "adult.csv", tmp_path / "p.json"
    columns = ["education", "workclass", "race", "relationship", "sex", "marital-status"]
    pacsv.write_csv(adult().select(columns), path)
    release = [word for name in columns[:-1] for word in ("--release", name)]
    assert (
        run(["design", str(path), "--secret", "marital-status", *release, "--notion", "srlip", "--out", str(out)]) == 3
    )
    told = " ".join(capsys.readouterr().err.split())
    assert "What would work" in told
    assert "fewer than 5 records" in told
    assert not out.exists()


def test_rare_values_of_the_secret_and_what_grouping_keeps() -> None:
    rng = np.random.default_rng(0)
    secret = np.concatenate([rng.choice(["a", "b"], 4000), [f"rare {i}" for i in range(40) for _ in range(5)]])
    x = np.where(secret == "a", rng.integers(0, 4, len(secret)), rng.integers(0, 5, len(secret)))
    x[4000:] = np.arange(200) % 2  # what is rare looks like nobody else
    joint = dc.Joint.from_table(pa.table({"s": secret, "x": x}), secret="s", release="x")
    found = rare_secrets(dc.design(joint, dc.LIP(0.5)).protocol)
    assert found is not None
    assert (found.values, found.rare) == (42, 40)
    grouped = dc.Joint.from_table(
        pa.table({"s": secret, "x": x}), secret="s", release="x", group=dc.Grouping(rare={"s": 30})
    )
    then = dc.design(grouped, dc.LIP(0.5))
    assert found.then == pytest.approx(then.utility / grouped.entropy, abs=1e-4)
    assert found.then > found.now
    said = rare_values("s", **vars(found))
    assert "42 values, 40 with fewer than 30 records" in said
    assert "rare:30" in said
    assert rare_values("s", 3, 1, 2, 0.9, 0.9) == ""


def test_words() -> None:
    assert [duration(s) for s in (0.1, 90, 130, 9000, 400_000)] == ["1 s", "90 s", "2 minutes", "2 hours", "5 days"]
    assert [amount(n) for n in (10, 5 << 20, 3 << 30)] == ["1 KiB", "5.0 MiB", "3.0 GiB"]
