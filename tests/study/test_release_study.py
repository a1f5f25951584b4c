"""The study that a release amounts to: followed, it releases in the same way."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet.exceptions import ParameterError
from discreet.records.grouping import Grouping
from discreet.release import Job
from discreet.study.release_study import study_of
from discreet.study_file import StudyFile


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    x = rng.choice(["a", "b", "c, or d", "e", "f"], 900, p=[0.5, 0.3, 0.17, 0.02, 0.01])
    return pd.DataFrame({"s": rng.choice(["u", "v"], 900), "x": x, "k": rng.integers(0, 2, 900)})


def designed(table: pd.DataFrame, group: Grouping, **options: object) -> dc.Protocol:
    return dc.design(dc.Joint.from_table(table, secret="s", release="x", group=group, **options), dc.LIP(0.5)).protocol


def job_for(table: pd.DataFrame, folder: Path, **options: object) -> Job:
    table.to_csv(folder / "t.csv", index=False)
    return Job(Path("p.json"), str(folder / "t.csv"), "out.csv", **options)


def test_a_keyed_release_is_not_drawn_anew_by_its_study(table: pd.DataFrame, tmp_path: Path) -> None:
    """Without its key, following the study would draw the same records a second time."""
    job = job_for(
        table, tmp_path, key=Path("key"), identity="id", several_rows=True, keep_anyway=True, format="parquet"
    )
    (tmp_path / "study.toml").write_text(study_of(designed(table, Grouping()), job).text())
    read = StudyFile.read(tmp_path / "study.toml").job()
    assert (read.key, read.identity, read.several_rows) == (tmp_path / "key", "id", True)
    assert (read.keep_anyway, read.format, read.rows) == (True, "parquet", job.rows)


@pytest.mark.parametrize("given", [[], ["k"]])
def test_rare_values_are_grouped_again_and_not_named(table: pd.DataFrame, given: list[str], tmp_path: Path) -> None:
    protocol = designed(table, Grouping(rare=30), given=given)
    study = study_of(protocol, job_for(table, tmp_path))
    again = designed(table, Grouping.parse(study.bins, study.merge), given=given)
    assert again.joint.letters == protocol.joint.letters
    assert "other" in again.joint.letters
    assert not {"e", "f"} & set(study.text().split('"'))


def test_a_grouping_that_words_cannot_say_is_refused(table: pd.DataFrame, tmp_path: Path) -> None:
    """Read back, it would merge two other values."""
    job = job_for(table, tmp_path)
    with pytest.raises(ParameterError, match="no study file can say"):
        study_of(designed(table, Grouping(merge={"x": {"rest": ["c, or d", "e"]}})), job)
    said = study_of(designed(table, Grouping(merge={"x": {"a: b": ["e", "f"]}})), job)
    assert said.merge == ("x: e, f -> a: b",)


def test_where_the_counts_are_gone_rare_values_are_not_made_up(table: pd.DataFrame, tmp_path: Path) -> None:
    protocol = designed(table.assign(w=2.5), Grouping(rare=30), weight="w")
    with pytest.raises(ParameterError, match="which values are rare"):
        study_of(protocol, job_for(table.assign(w=2.5), tmp_path))


def test_a_study_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text('table = "t.csv"\nsecret = "s"\nrelease = "x"\n#' + "." * (1 << 20) + "\nbudget = 0.1\n")
    with pytest.raises(ParameterError, match="above 1 MiB"):
        StudyFile.read(path)
