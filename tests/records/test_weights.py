"""Survey weights: the joint is the weighted one, limits take the effective number of records, and all of it is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.cli.app import run
from discreet.uncertainty.confidence import effective_counts


def survey(records: int = 3000, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    ill = rng.random(records) < 0.4
    colour = np.where(rng.random(records) < 0.7, np.where(ill, "red", "blue"), "green")
    weight = np.where(colour == "red", 3.0, 1.0) * rng.choice([0.5, 1.5], records)
    region = rng.choice(["north", "south"], records)
    return pa.table({"health": np.where(ill, "ill", "well"), "colour": colour, "region": region, "w": weight})


def test_the_joint_is_that_of_the_repeated_records() -> None:
    table = survey()
    twice = table.take(np.repeat(np.arange(len(table)), (2 * table["w"].to_numpy()).astype(int)))
    weighted = dc.Joint.from_table(table, secret="health", release="colour", weight="w")
    repeated = dc.Joint.from_table(twice, secret="health", release="colour")
    assert np.abs(weighted.probabilities - repeated.probabilities).max() < 1e-12
    assert weighted.counts is None
    w = table["w"].to_numpy()
    assert 1 < (weighted.n or 0) <= w.sum() ** 2 / (w**2).sum()
    plain = dc.Joint.from_table(table, secret="health", release="colour")
    assert np.abs(plain.probabilities - weighted.probabilities).max() > 0.05  # the control: weights change something


def test_equal_weights_are_worth_all_records() -> None:
    table = survey().set_column(3, "w", pa.array([2.5] * 3000))
    weighted = dc.Joint.from_table(table, secret="health", release="colour", weight="w")
    counted = dc.Joint.from_table(table, secret="health", release="colour")
    assert weighted.n == 3000
    assert (effective_counts(weighted) == counted.counts).all()


def test_no_secret_seems_to_have_more_records_than_its_weights_are_worth() -> None:
    table = survey()
    w, ill = table["w"].to_numpy(), table["health"].to_numpy() == "ill"
    w = np.where(ill, w**3, 1.0)
    joint = dc.Joint.from_table(table.set_column(3, "w", pa.array(w)), secret="health", release="colour", weight="w")
    own = w[ill].sum() ** 2 / (w[ill] ** 2).sum()
    assert (joint.n or 0) * joint.secret_prior[0] <= own * (1 + 1e-9)


@pytest.mark.parametrize("notion", [dc.LIP(0.5), dc.RLIP(0.5, dc.Confidence(0.95)), dc.RLDP(0.5, dc.ChiSquare(0.95))])
def test_the_promise_says_so_and_survives_the_file(notion: dc.LIP, tmp_path: Path) -> None:
    from discreet.wording import guarantee

    joint = dc.Joint.from_table(survey(), secret="health", release="colour", weight="w")
    protocol = dc.design(joint, notion, time_limit=5).protocol
    assert protocol.source == "data"
    protocol.save(tmp_path / "p.json")
    loaded = dc.Protocol.load(tmp_path / "p.json")
    assert loaded.joint.weight == "w"
    assert loaded.joint.n == joint.n
    assert loaded.digest == protocol.digest
    said = guarantee(loaded)
    assert "Records count by their weight, w" in said
    assert "exact confidence" not in said
    if isinstance(notion, dc.RLIP):
        assert "approximate confidence limits from the effective number" in said


def test_a_confidence_from_weights_covers_about_as_often_as_it_says() -> None:
    """20 surveys from one population, sampled by unequal chances and weighted back."""
    rng = np.random.default_rng(5)
    law = np.array([[0.3, 0.1, 0.1], [0.1, 0.15, 0.25]])
    inside, naive = 0, 0
    for _ in range(20):
        cells = rng.choice(6, 4000, p=law.ravel())
        chance = np.where(cells % 3 == 0, 0.1, 0.4)
        cells, chance = cells[kept := rng.random(4000) < chance], chance[kept]
        table = pa.table({"s": cells // 3, "x": cells % 3, "w": 1 / chance})
        truth = law / law.sum(axis=1, keepdims=True)

        def covers(joint: dc.Joint, truth: np.ndarray = truth) -> bool:
            limits = dc.Confidence(0.95).limits(joint, masses=False)
            low, high = limits.low, limits.high
            return bool(((low <= truth) & (truth <= high)).all())

        inside += covers(dc.Joint.from_table(table, secret="s", release="x", weight="w"))
        naive += covers(dc.Joint.from_table(table, secret="s", release="x"))
    assert inside >= 17
    assert naive <= 2  # the control: without weights the sample is another population


def test_strata_are_weighted_too() -> None:
    joint = dc.Joint.from_table(survey(), secret="health", release="colour", given="region", weight="w")
    table = survey()
    north = table.filter(pa.compute.equal(table["region"], "north"))
    alone = dc.Joint.from_table(north, secret="health", release="colour", weight="w")
    assert np.allclose(joint.strata[("north",)].probabilities, alone.probabilities)
    assert joint.strata[("north",)].n == alone.n
    assert joint.strata[("north",)].weight == "w"


@pytest.mark.parametrize(
    "wrong", [["1", "x", "2", "1"], ["1", "-1", "2", "1"], ["1", None, "2", "1"], ["1", "inf", "1", "1"]]
)
def test_a_record_without_a_weight_stops_everything(wrong: list[str | None]) -> None:
    table = pa.table({"s": ["a", "b", "a", "b"], "x": ["1", "2", "2", "1"], "w": wrong})
    with pytest.raises(dc.TableError, match="weight"):
        dc.Joint.from_table(table, secret="s", release="x", weight="w")
    with pytest.raises(dc.AlphabetError):
        dc.Joint.from_table(table, secret="s", release="x", weight="x")


def test_the_command_takes_weights(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import pyarrow.csv as pacsv

    path, out = tmp_path / "survey.csv", tmp_path / "p.json"
    pacsv.write_csv(survey(), path)
    command = ["design", str(path), "--secret", "health", "--release", "colour", "--weight", "w", "--no-curve"]
    assert run([*command, "--out", str(out)]) == 0
    told = capsys.readouterr()
    assert "effective, weighted by w" in told.err
    assert "Records count by their" in told.out
    assert run(["sanitise", str(out), str(path), str(tmp_path / "r.csv")]) == 0
