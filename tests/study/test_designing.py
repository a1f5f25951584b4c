"""One path from what is asked to a study, with given columns and without."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

import discreet as dc
from discreet.exceptions import ParameterError
from discreet.protocol.strata import StratifiedProtocol
from discreet.report import page
from discreet.study import OPTIMUM, begun, counted_joint, judged
from discreet.study_file import StudyFile


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path, rng = tmp_path_factory.mktemp("asked") / "people.csv", np.random.default_rng(3)
    lines = ["health,colour,region"]
    for i in range(1200):
        ill = rng.random() < 0.4
        colour = rng.choice(["red", "green", "blue"], p=[0.6, 0.3, 0.1] if ill else [0.2, 0.3, 0.5])
        lines.append(f"{'ill' if ill else 'well'},{colour},{'north' if i % 3 else 'south'}")
    path.write_text("\n".join(lines) + "\n")
    return path


def asked(table: Path, **keys: object) -> StudyFile:
    return StudyFile.stated(table=str(table), secret=["health"], release=["colour"], epsilon=0.5, **keys)


@pytest.mark.parametrize("given", [[], ["region"]])
@pytest.mark.parametrize("sees_secret", [False, True])
def test_every_part_of_a_study_is_there_with_given_columns_too(
    table: Path, given: list[str], sees_secret: bool
) -> None:
    said = asked(table, given=given, sees_secret=sees_secret, plan=3000, fewer_outputs=True)
    joint = counted_joint(said)
    study = judged(said, begun(said, joint, force=True), started=time.monotonic())
    assert isinstance(study.protocol, StratifiedProtocol) == bool(given)
    facts = study.facts()
    assert facts["n"] == 1200
    assert facts["purpose"] == "values"
    assert facts["upper_bound"] is None
    assert facts["unchanged"] == pytest.approx(facts["objective"]["value"])
    assert facts["objective"]["value"] <= facts["objective"]["upper_bound"] + 1e-9
    values = [point["value"] for point in facts["curves"][OPTIMUM]]
    assert len(values) == 5
    assert values == sorted(values)
    assert values[2] == pytest.approx(facts["unchanged"])
    assert facts["other_form"]["sees_secret"] is not sees_secret
    assert facts["plan"]["n"] == 3000
    assert sum(one["frequency"] for one in facts["plan"]["tables"][0]["letters"]) == pytest.approx(1)
    assert ("strata" in facts) == bool(given)
    assert "What analysts will get" in page(study)


def test_a_public_sample_serves_given_columns_as_well(table: Path) -> None:
    said = asked(table, given=["region"], public=str(table))
    study = begun(said, counted_joint(said))
    assert study.facts()["source"] == "public"
    assert not study.facts()["contains_counts_of_the_data"]


def test_the_confidence_of_all_strata_is_that_asked_for(table: Path) -> None:
    said = asked(table, given=["region"], notion="rldp", confidence=0.9, time_limit=4.0)
    study = begun(said, counted_joint(said))
    each, together = study.protocol.notion, study.notion
    assert isinstance(each, dc.RLDP)
    assert isinstance(together, dc.RLDP)
    assert each.uncertainty.confidence == pytest.approx(0.95)  # type: ignore[attr-defined]
    assert together.uncertainty.confidence == pytest.approx(0.9)  # type: ignore[attr-defined]


@pytest.mark.parametrize("wrong", [{"notion": "lip"}, {"notion": "rldp", "method": "nobody"}])
def test_what_is_refused_whatever_the_counts_costs_no_noise(table: Path, wrong: dict[str, str]) -> None:
    letters = table.with_name("letters.json")
    letters.write_text('{"health": ["ill", "well"], "colour": ["blue", "green", "red"]}')
    with pytest.raises(ParameterError, match=r"exact confidence limits|nobody knows"):
        counted_joint(asked(table, private=1.0, letters=str(letters), **wrong))
    assert not table.with_name("people.csv.ledger").exists()
