"""The rehearsal of a release: its figures against a script of their own, its refusals against the release itself."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from scipy import sparse

import discreet as dc
from discreet.attribute import Attribute
from discreet.channel import Channel
from discreet.datasets import adult
from discreet.exceptions import DiscreetError, ReleaseError, TableError
from discreet.files.ledger_book import common_book
from discreet.joint import Joint
from discreet.notions import LIP
from discreet.protocol import Protocol
from discreet.release import Job, rehearse, rehearse_file, sanitise_file
from discreet.release.identity_risk import best_guess
from discreet.release.record_counts import LARGEST_KEY, distinct

KEPT = ("sex", "race", "age", "native-country", "income")


@pytest.fixture(scope="module")
def census() -> pa.Table:
    return adult()


@pytest.fixture(scope="module")
def half(census: pa.Table) -> Protocol:
    joint = dc.Joint.from_table(census, secret="marital-status", release="education")
    return dc.design(joint, dc.LIP(0.5)).protocol


def books(folder: Path, protocol: Protocol) -> dict[str, bytes | None]:
    """Every ledger there is, byte by byte."""
    paths = [*folder.glob("*.ledger"), folder / "protocol.json.ledger", common_book(protocol.digest)]
    return {str(path): path.read_bytes() if path.exists() else None for path in paths}


# ---- figures --------------------------------------------------------------------------------------------------------


def test_adult_agrees_with_a_script_of_its_own(census: pa.Table, half: Protocol) -> None:
    """Cells and guesses counted with dictionaries and fractions of whole weights, row by row."""
    found = half.check(census, keep=list(KEPT))
    rows = list(zip(*(census[name].to_pylist() for name in KEPT), strict=True))
    secrets, letters = census["marital-status"].to_pylist(), census["education"].to_pylist()
    cells = Counter(rows)
    n = len(rows)
    assert found.records == n
    assert found.identity.unique == sum(k == 1 for k in cells.values()) == 1690
    assert found.identity.below_3 == sum(k for k in cells.values() if k < 3)
    assert found.identity.below_5 == sum(k for k in cells.values() if k < 5) == 3452
    met: dict[Any, set[Any]] = {}
    for row, secret in zip(rows, secrets, strict=True):
        met.setdefault(row, set()).add(secret)
    alone = [row for row, values in met.items() if len(values) == 1]
    assert found.identity.single_secret_cells == len(alone)
    assert found.identity.single_secret_records == sum(cells[row] for row in alone)
    adding = {}
    for i, name in enumerate(KEPT):
        fewer = Counter(row[:i] + row[i + 1 :] for row in rows)
        adding[name] = found.identity.below_5 - sum(k for k in fewer.values() if k < 5)
    assert found.identity.adding_most == tuple(sorted(adding.items(), key=lambda one: -one[1])[:3])

    def chance(known: list[Any], released: bool) -> float:
        masses: dict[Any, Counter[Any]] = {}
        for (secret, letter, key), count in Counter(zip(secrets, letters, known, strict=True)).items():
            column = half.inputs.index(letter)
            for y in range(len(half.outputs) if released else 1):
                weight = int(half.weights[y, column]) if released else 1
                masses.setdefault((key, y), Counter())[secret] += count * weight
        best = sum(max(cell.values()) for cell in masses.values())
        return float(Fraction(best, n * (2**half.bits if released else 1)))

    nothing: list[Any] = [0] * n
    expected = [chance(nothing, False), chance(rows, False), chance(nothing, True), chance(rows, True)]
    guess = found.guess
    shown = [guess.nothing, guess.kept, guess.release, guess.kept_and_release]
    assert shown == pytest.approx(expected, rel=1e-13)
    assert (round(guess.nothing, 3), round(guess.release, 3)) == (0.460, 0.472)


def test_the_law_of_the_designed_table_has_not_changed(census: pa.Table, half: Protocol) -> None:
    found = half.check(census)
    assert found.code == 0
    assert found.law.distance == pytest.approx(0, abs=1e-12)
    assert found.law.level == pytest.approx(half.epsilon, abs=1e-6)


def test_a_changed_law_is_told_with_its_level(census: pa.Table, half: Protocol) -> None:
    """Only people under thirty: most of them never married, and the promise is about another law."""
    young = census.filter(pa.compute.less(census["age"], 30))
    found = half.check(young)
    assert found.code == 3
    assert found.law.distance > found.law.by_chance
    counts = Counter(zip(young["marital-status"].to_pylist(), young["education"].to_pylist(), strict=True))
    table = np.array([[counts[s, x] for x in half.joint.letters] for s in half.joint.secret_letters])
    there = Joint.from_counts(table, half.joint.secrets, half.joint.releases)
    assert found.law.level == pytest.approx(LIP(0.5).level(half.channel, there).epsilon)
    assert any("level" in str(one) for one in found.warnings)


def test_a_table_without_its_secret_is_checked_as_far_as_it_goes(census: pa.Table, half: Protocol) -> None:
    found = half.check(census.drop_columns("marital-status"), keep=["sex"])
    assert found.guess is None
    assert found.law.level is None
    assert found.law.of == "release"
    assert found.identity.single_secret_cells is None
    assert found.code == 0


def test_kinds_are_the_same_however_many_columns_there_are() -> None:
    rng = np.random.default_rng(3)
    columns = [rng.integers(0, 1 << 20, 50) for _ in range(6)]
    columns = [np.concatenate([column, column[:20]]) for column in columns]
    assert LARGEST_KEY < (1 << 20) ** 6
    rows, counts = distinct(columns, np.ones(70, np.int64))
    expected = Counter(zip(*(column.tolist() for column in columns), strict=True))
    assert dict(zip(map(tuple, rows.T.tolist()), counts.tolist(), strict=True)) == expected


def test_a_guess_cannot_fall_when_more_is_known() -> None:
    rng = np.random.default_rng(4)
    for _ in range(20):
        size = 60
        secret, letter, kept = rng.integers(0, 3, size), rng.integers(0, 4, size), [rng.integers(0, 5, size)]
        law = rng.dirichlet(np.ones(3), 5).T
        guess = best_guess(kept, secret, letter, rng.integers(1, 9, size), sparse.csc_array(law))
        assert guess is not None
        assert guess.nothing <= min(guess.kept, guess.release) + 1e-12
        assert max(guess.kept, guess.release) <= guess.kept_and_release + 1e-12


def test_guesses_block_by_block_are_those_of_the_formula(monkeypatch: pytest.MonkeyPatch) -> None:
    """Σ_c Σ_y max_s Σ_z n(s, z, c) Q[y, z] in plain loops, with all cells at once and a few at a time."""
    rng = np.random.default_rng(5)
    secret, letter, kept, counts = (rng.integers(0, high, 90) for high in (3, 6, 5, 9))
    law = rng.dirichlet(np.ones(4), 6).T * (rng.random((4, 6)) < 0.6)
    kinds = list(zip(kept.tolist(), secret.tolist(), letter.tolist(), counts.tolist(), strict=True))
    right = 0.0
    for cell in range(5):
        mine = np.zeros((3, 4))
        for own, s, z, n in kinds:
            mine[s] += n * law[:, z] * (own == cell)
        right += float(mine.max(axis=0).sum())
    law_of_all = sparse.csc_array(law)
    for block in (1 << 21, 7):
        monkeypatch.setattr("discreet.release.identity_risk.BLOCK", block)
        guess = best_guess([kept], secret, letter, counts, law_of_all)
        assert guess is not None
        assert guess.kept_and_release == pytest.approx(right / counts.sum())


def test_letters_that_nobody_had_are_guessed_as_they_are_drawn() -> None:
    """They have no column of their own; a check that forgot it would count their records as never guessed."""
    full = np.full((2, 3), 1 << 51, np.int64)
    thin = sparse.csc_array(np.where([True, True, False], full, 0))
    joint = Joint.from_counts(np.array([[3, 4, 0], [5, 1, 0]]), ("a", "b"), ("x", "y", "z"))
    protocol = Protocol(thin, 52, joint, LIP(1.0))
    assert protocol.silent.tolist() == [2]
    found = rehearse(pa.table({"secret": ["a", "b", "b"], "release": ["z", "z", "x"]}), protocol)
    assert found.guess is not None
    assert found.guess.release == pytest.approx(2 / 3)


# ---- 30 messes ------------------------------------------------------------------------------------------------------


def labels(counts: list[list[int]]) -> Protocol:
    joint = Joint.from_counts(
        np.array(counts), [Attribute("health", ("ill", "well"))], [Attribute("colour", ("red", "green", "blue"))]
    )
    return Protocol.make(Channel(0.4 * np.eye(3) + 0.2, joint.letters, ("red", "green", "blue")), joint, LIP(2.0))


def messes(folder: Path, rng: np.random.Generator) -> Iterator[tuple[str, Job]]:
    """Thirty tables and jobs: whole ones, and those with one or two things wrong with them."""
    path = folder / "protocol.json"
    key = folder / "key"
    key.write_bytes(os.urandom(32))
    key.chmod(0o600)
    for number in range(30):
        kind = number % 15
        n = int(rng.integers(200, 600))
        colours = rng.choice(["red", "green", "blue"], n).tolist()
        table = {"health": rng.choice(["ill", "well"], n).tolist(), "colour": colours, "id": list(range(n))}
        table["region"] = rng.integers(0, 4, n).tolist()
        source, target = folder / f"in{number}.csv", folder / f"out{number}.csv"
        job = Job(path, str(source), str(target), keep=("region",))
        share = float(rng.choice([0.0, 0.03, 0.2]))
        bad = rng.random(n) < share
        match kind:
            case 0 if number:
                table["region"] = [int(health == "ill") for health in table["health"]]
            case 1:
                table["colour"] = [str(["red", "green", "blue"].index(colour)) for colour in colours]
            case 2:
                job = replace(job, target=str(target.with_suffix(".sav")))
            case 3:
                job = replace(job, target=str(target.with_suffix(".xlsx")))
            case 4:
                table["farbe"] = table.pop("colour")
            case 5:
                table["colour"] = ["mauve" if b else c for b, c in zip(bad, colours, strict=True)]
            case 6:
                table["colour"] = ["" if b else c for b, c in zip(bad, colours, strict=True)]
            case 7:
                job = replace(job, keep=("health",))
            case 8:
                table["id"] = [i // 2 for i in table["id"]]
                job = replace(job, key=key, identity="id", keep=())
            case 9:
                job = replace(job, key=key)
            case 10:
                job = replace(job, target=str(folder / "nowhere" / "out.csv"))
            case 11:
                job = replace(job, budget=0.001)
            case 12:
                job = replace(job, source=str(folder / "not there.csv"))
            case 13:
                (folder / f"policy{number}.toml").write_text("[epsilon]\nLIP = 0.1\n" if number > 14 else "k = 1000\n")
                job = replace(job, policy=folder / f"policy{number}.toml")
            case 14:
                table["colour"] = ["vert é" if b else c for b, c in zip(bad, colours, strict=True)]
        pacsv.write_csv(pa.table(table), source)
        if kind == 14:
            source.write_bytes(source.read_text().encode("latin-1"))
        yield f"{number}: {kind}", job


def failure(job: Job) -> DiscreetError | None:
    try:
        sanitise_file(job)
    except DiscreetError as error:
        return error
    return None


def test_what_is_refused_is_foretold_and_leaves_no_trace(tmp_path: Path) -> None:
    protocol = labels([[30, 20, 10], [15, 25, 40]])
    protocol.save(tmp_path / "protocol.json")
    refused = 0
    for name, job in messes(tmp_path, np.random.default_rng(7)):
        job = replace(job, data=name)
        before = books(tmp_path, protocol)
        foretold = rehearse_file(job)
        assert books(tmp_path, protocol) == before, name
        assert not Path(job.target).exists()
        error = failure(job)
        if error is not None:
            assert foretold.code == 4, name
            assert error.what in [one.what for one in foretold.refusals], name
            assert books(tmp_path, protocol) == before, name
            assert not Path(job.target).exists()
            refused += 1
        else:
            assert foretold.code != 4, (name, foretold.refusals)
            assert books(tmp_path, protocol) != before
    assert 15 <= refused < 30


def test_codes_against_labels_are_named_and_refused(tmp_path: Path) -> None:
    protocol = labels([[30, 20, 10], [15, 25, 40]])
    coded = pa.table({"colour": np.random.default_rng(0).integers(1, 4, 4000)})
    found = protocol.check(coded)
    assert found.unknown == 4000
    assert found.code == 4
    assert found.columns[0].looks_like == "codes, where the protocol has labels"
    for frame in (coded, coded.to_pandas()):
        with pytest.raises(TableError, match="does not know"):
            protocol.sanitise(frame, ledger=tmp_path / "ledger")
    assert not (tmp_path / "ledger").exists()
    assert len(protocol.sanitise(coded, unknown_anyway=True)) == 4000


@pytest.mark.parametrize(("unknown", "refused"), [(9, False), (10, True), (5, False)])
def test_few_unknown_values_are_no_misunderstanding(unknown: int, refused: bool) -> None:
    protocol = labels([[30, 20, 10], [15, 25, 40]])
    table = pa.table({"colour": ["red"] * (100 - unknown) + ["mauve"] * unknown})
    assert (protocol.check(table).code == 4) == refused
    if refused:
        with pytest.raises(TableError):
            protocol.sanitise(table)
    else:
        protocol.sanitise(table)


# ---- policy ---------------------------------------------------------------------------------------------------------


def test_one_changed_letter_in_the_policy(
    census: pa.Table, half: Protocol, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = tmp_path / "policy.toml"
    rules.write_text('notions = ["LIP"]\nk = 2\n[epsilon]\nLIP = 0.5\n')
    monkeypatch.setenv("DISCREET_POLICY", str(rules))
    assert half.check(census, keep=["sex"], keep_anyway=True).code == 0
    beside = half.check(census, keep=["sex"])
    assert "kept columns tell about the secret" in str(beside.refusals[0])
    assert beside.level_beside_kept is not None
    assert beside.level_beside_kept > 0.5
    released = half.sanitise(census, keep=["sex"], keep_anyway=True)
    assert b'"k": 10771' in released.schema.metadata[b"discreet release"]
    rules.write_text('notions = ["LIP"]\nk = 2\n[epsilon]\nLIP = 0.4\n')
    found = half.check(census, keep=["sex"], keep_anyway=True)
    assert found.code == 4
    assert "epsilon.LIP = 0.4" in str(found.refusals[0])
    with pytest.raises(ReleaseError, match=r"epsilon\.LIP = 0\.4"):
        half.sanitise(census, keep=["sex"], keep_anyway=True)
    rules.write_text("k = 2\n")
    with pytest.raises(ReleaseError, match="k = 2; here it is 1"):
        half.sanitise(census, keep=list(KEPT), keep_anyway=True)
    assert half.check(census, keep=list(KEPT)).code == 4
    rules.write_text("kk = 2\n")
    assert "Did you mean k?" in str(half.check(census).refusals[0])


def test_parquet_and_pipes(people: pa.Table, protocol_path: Path, tmp_path: Path) -> None:
    pq.write_table(people, tmp_path / "in.parquet")
    found = rehearse_file(Job(protocol_path, str(tmp_path / "in.parquet"), "", keep=("region",)))
    assert found.records == len(people)
    assert found.guess is not None
    assert found.account is not None
    assert found.account.draws == 1


@pytest.mark.parametrize("place", ["nowhere/book", "protocol.json/book", "."])
def test_a_ledger_that_cannot_be_begun_is_foretold(
    census: pa.Table, half: Protocol, tmp_path: Path, place: str
) -> None:
    half.save(tmp_path / "protocol.json")
    (refused,) = rehearse(census, half, ledger=tmp_path / place).refusals
    with pytest.raises(ReleaseError) as found:
        half.sanitise(census, ledger=tmp_path / place)
    assert refused.what == found.value.what


@pytest.mark.parametrize("name", ["taken.csv", "a" * 245 + ".csv", "a\0b.csv", "protocol.json/out.csv", "mine.csv"])
def test_a_target_whose_files_cannot_be_written_is_foretold(
    people: pa.Table, half: Protocol, tmp_path: Path, name: str
) -> None:
    """The files beside it are written with it: a folder in the place of one, a name that is too long, an input."""
    path = tmp_path / "mine.csv.public.json"
    half.save(tmp_path / "protocol.json")
    half.save(path)
    (tmp_path / "taken.csv.manifest.json").mkdir()
    pacsv.write_csv(people, tmp_path / "in.csv")
    job = Job(path, str(tmp_path / "in.csv"), str(tmp_path / name))
    before, content = books(tmp_path, half), path.read_bytes()
    foretold = rehearse_file(job)
    error = failure(job)
    assert error is not None
    assert error.what in [one.what for one in foretold.refusals]
    assert books(tmp_path, half) == before
    assert path.read_bytes() == content
