"""What a person with several rows is told to have released: rows chosen anew, rows under one id, books that forget."""

import json
import time
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import discreet as dc
from discreet.exceptions import BudgetError, ParameterError, ProofError, ReleaseError
from discreet.records.persons import Rule, WhoseRows
from discreet.release import Job, rehearse_file, sanitise_file
from discreet.release.draws_together import total_epsilon
from discreet.release.keyed_draws import keyed_draws
from discreet.release.whose_rows import RowsAsked
from discreet.wording import guarantee

PERSONS, ROWS = 400, 3
LETTERS = ("a", "b")


def rows_of_persons() -> pd.DataFrame:
    rng = np.random.default_rng(7)
    secret = np.repeat(rng.choice(["ill", "well"], PERSONS), ROWS)
    ill = np.where(secret == "ill", 0.7, 0.4)
    return pd.DataFrame(
        {"pid": np.repeat(np.arange(PERSONS), ROWS), "s": secret, "x": np.where(rng.random(len(ill)) < ill, "a", "b")}
    )


@pytest.fixture
def folder(tmp_path):
    rows_of_persons().to_csv(tmp_path / "people.csv", index=False)
    joint = dc.Joint.from_table(rows_of_persons(), secret="s", release="x")
    dc.Protocol.make(dc.Channel(np.eye(2), joint.letters, LETTERS), joint, dc.LIP(1.0)).save(tmp_path / "p.json")
    key = tmp_path / "key"
    key.write_bytes(bytes(range(32)))
    key.chmod(0o600)
    return tmp_path


def job(folder, name, **options) -> Job:
    return Job(folder / "p.json", str(folder / "people.csv"), str(folder / name), **options)


def said(folder, name):
    return json.loads((folder / f"{name}.manifest.json").read_text())


def level_of_rows(protocol, draws: int, one_of: int) -> float:
    """LIP of so many releases, each of a row that is chosen anew, by trying every choice and every output."""
    matrix, given = protocol.channel.matrix, protocol.joint.letter_given_secret
    prior = protocol.joint.secret_prior
    choices = list(product(range(one_of), repeat=draws))
    worst = 0.0
    for outputs in product(range(len(matrix)), repeat=draws):
        chance = np.zeros(len(prior))
        for choice in choices:
            part = np.ones(len(prior))
            for row in set(choice):
                drawn = [y for y, chosen in zip(outputs, choice, strict=True) if chosen == row]
                part *= given @ np.prod(matrix[drawn], axis=0)
            chance += part / len(choices)
        if chance.max() > 0:
            worst = max(worst, float(np.abs(np.log(chance / (chance @ prior))).max()))
    return worst


def test_a_row_that_is_chosen_anew_is_not_the_same_row_again(folder) -> None:
    """A mechanism that shows x: the same row twice tells nothing new, another row of the person does."""
    once = RowsAsked(person="pid", rows="one")
    joint = dc.Joint.from_table(rows_of_persons(), secret="s", release="x", person="pid", rows="one")
    dc.Protocol.make(dc.Channel(np.eye(2), joint.letters, LETTERS), joint, dc.LIP(1.0)).save(folder / "p.json")
    first = sanitise_file(job(folder, "1.csv", rows=once))
    second = sanitise_file(job(folder, "2.csv", rows=once, repeat=True))
    protocol = dc.Protocol.load(folder / "p.json")
    assert first.epsilon == protocol.epsilon
    true = level_of_rows(protocol, 2, ROWS)
    assert true > 1.3 * protocol.epsilon
    assert said(folder, "2.csv")["total_epsilon"] == second.epsilon >= true
    foretold = rehearse_file(job(folder, "3.csv", rows=once, repeat=True)).account
    assert foretold is not None
    assert foretold.epsilon > second.epsilon


def test_totals_of_chosen_rows_are_never_below_what_every_choice_tells() -> None:
    rng = np.random.default_rng(5)
    for _ in range(40):
        joint = dc.Joint.from_counts(rng.integers(1, 40, (int(rng.integers(2, 4)), 3)))
        channel = dc.Channel(rng.dirichlet(np.ones(3), 3).T, joint.letters)
        protocol = dc.Protocol.make(channel, joint, dc.LIP(dc.LIP(1.0).level(channel, joint).epsilon + 1e-6))
        for draws, one_of in ((2, 2), (2, 3), (3, 2), (3, 3)):
            true = level_of_rows(protocol, draws, one_of)
            assert total_epsilon(protocol, draws, one_of=one_of) >= true - 1e-12
        assert total_epsilon(protocol, 2, one_of=1) == total_epsilon(protocol, 2)


def test_rows_of_one_id_with_different_values_share_no_draws(folder) -> None:
    """Which cells of a person are alike told which values are equal: 0.102 was stated, and three rows told 2.47."""
    keyed = {"key": folder / "key", "identity": "pid", "several_rows": True}
    with pytest.raises(ReleaseError, match="different values"):
        sanitise_file(job(folder, "1.csv", **keyed))
    protocol = dc.Protocol.load(folder / "p.json")
    with pytest.raises(ReleaseError, match="has no bound"):
        protocol.sanitise(rows_of_persons(), **keyed)
    assert any("has no bound" in one.what for one in rehearse_file(job(folder, "2.csv", **keyed)).refusals)
    alike = rows_of_persons().assign(x=lambda rows: rows.groupby("pid")["x"].transform("first"))
    with pytest.raises(ReleaseError, match=r"counted rows: its level is not theirs.*--person pid --rows tied"):
        protocol.sanitise(alike, **keyed)
    counted = dc.Joint.from_table(alike, secret="s", release="x", person="pid", rows="tied")
    told = dc.design(counted, dc.LIP(1.0)).protocol.sanitise(alike, **keyed).attrs["discreet release"]
    assert "rows of one person share one draw" in told["rows"]
    told = protocol.sanitise(alike, **keyed, one_row_per_person=True).attrs["discreet release"]
    assert told["rows"].startswith("one row per person: stated by the steward, not checked; rows of one id with equal")


def test_rows_that_are_drawn_by_themselves_share_no_draws(folder) -> None:
    """A key with ids of persons made equal values one draw: 0.5 was stated, and which cells are alike told 1.3."""
    table = rows_of_persons().assign(rid=range(PERSONS * ROWS))
    joint = dc.Joint.from_table(table, secret="s", release="x", person="pid", rows="independent")
    protocol = dc.design(joint, dc.LIP(0.5)).protocol
    keyed = {"key": folder / "key", "identity": "pid", "several_rows": True}
    for asked in ({}, {"person": "pid", "rows": "independent"}):
        with pytest.raises(ReleaseError, match="different values, and draws that equal values share"):
            protocol.sanitise(table, **keyed, **asked)
        assert protocol.check(table, **keyed, **asked).refusals
    alike = table.assign(x=table.groupby("pid")["x"].transform("first"))
    with pytest.raises(ReleaseError, match="to be drawn by themselves"):
        protocol.sanitise(alike, **keyed)
    with pytest.raises(ReleaseError, match="different values"):
        protocol.sanitise(table, **keyed, person="rid")
    told = protocol.sanitise(alike, **keyed, person="rid").attrs["discreet release"]["rows"]
    assert "share one draw" in told
    own = protocol.sanitise(table, key=folder / "key", identity="rid", several_rows=True).attrs["discreet release"]
    assert "each drawn by itself" in own["rows"]


def test_a_promise_to_households_is_not_kept_to_persons(tmp_path) -> None:
    """A household's protocol was once released with --person, and its total said what one person's row tells."""
    table = rows_of_persons().assign(
        home=lambda rows: rows["pid"] // 2, s=lambda rows: np.where(rows.home % 2, "a", "b")
    )
    joint = dc.Joint.from_table(table, secret="s", release="x", household="home", rows="one")
    protocol = dc.design(joint, dc.LIP(0.3)).protocol
    for asked in ({"person": "pid", "rows": "one"}, {"one_row_per_person": True}):
        with pytest.raises(ReleaseError, match="made to households"):
            protocol.sanitise(table, **asked)
    assert len(protocol.sanitise(table, household="home", rows="one")) == PERSONS / 2


def test_one_row_per_person_is_checked_where_the_column_is_known(tmp_path) -> None:
    table = rows_of_persons()
    protocol = dc.design(dc.Joint.from_table(table, secret="s", release="x", person="pid", rows="one"), dc.LIP(0.3))
    with pytest.raises(ReleaseError, match="400 of 400 persons have several rows"):
        protocol.protocol.sanitise(table, one_row_per_person=True)
    single = protocol.protocol.sanitise(table.drop_duplicates("pid"), one_row_per_person=True)
    assert "checked in the column pid" in single.attrs["discreet release"]["rows"]


@pytest.mark.parametrize("most", [2_000, 100_000, 10**9])
def test_a_small_file_cannot_state_rows_that_nobody_can_prove(folder, most: int) -> None:
    """800 bytes once kept the reader busy for a minute, and took 15 GB."""
    joint = dc.Joint.from_table(rows_of_persons(), secret="s", release="x")
    channel = dc.Channel(np.array([[0.52, 0.48], [0.48, 0.52]]), joint.letters, LETTERS)
    protocol = dc.Protocol.make(channel, joint, dc.LIP(1.0))
    stated = WhoseRows("person", "pid", Rule.independent, 400, 400 + most, most, 3.0)
    started = time.process_time()
    with pytest.raises(ProofError, match=r"too many|tell more together"):
        protocol.stating(replace(protocol.statement, rows=stated))
    assert time.process_time() - started < 20
    with pytest.raises(ParameterError, match="whose rows"):
        replace(stated, rows=most)


@pytest.mark.parametrize(
    ("rule", "units", "rows", "most", "epsilon"),
    [
        (Rule.one, 10, 31, 3, None),
        (Rule.single, 10, 11, 1, None),
        (Rule.single, 10, 9, 1, None),
        (Rule.tied, 10, 10, 2, None),
        (Rule.one, 10, 20, 3, 0.5),
        (Rule.single, 10, 10, 1, 0.5),
    ],
)
def test_rows_that_no_table_has(rule: Rule, units: int, rows: int, most: int, epsilon: float | None) -> None:
    with pytest.raises(ParameterError, match="whose rows"):
        WhoseRows("person", "pid", rule, units, rows, most, epsilon)


def test_rows_drawn_by_themselves_state_what_they_tell_together() -> None:
    joint = dc.Joint.from_table(rows_of_persons(), secret="s", release="x")
    channel = dc.Channel(np.array([[0.52, 0.48], [0.48, 0.52]]), joint.letters, LETTERS)
    protocol = dc.Protocol.make(channel, joint, dc.LIP(1.0))
    stated = WhoseRows("person", "pid", Rule.independent, 400, 800, 2)
    with pytest.raises(ProofError, match="no level for all of them together"):
        protocol.stating(replace(protocol.statement, rows=stated))
    assert protocol.stating(replace(protocol.statement, rows=replace(stated, epsilon=3.0))).statement.rows.epsilon == 3


def test_a_line_that_may_have_been_noise_is_one(tmp_path) -> None:
    """Half of a line: the draw that it was cannot be read, and a second one would cost as much again."""
    table, book = tmp_path / "t.csv", tmp_path / "t.csv.ledger"
    rows_of_persons()[["s", "x"]].to_csv(table, index=False)
    book.write_bytes(b'{"columns": ["s", "x"], "counts": [1, 2, 3')
    with pytest.raises(BudgetError, match="cannot be read"):
        dc.Joint.from_table(
            table, secret="s", release="x", private=dc.Noise(1.0), letters={"s": ["ill", "well"], "x": list(LETTERS)}
        )


def test_keyed_draws_in_strata_are_those_of_the_page(folder) -> None:
    """z counts the letters of all strata before; the page once said that it does not."""
    people = rows_of_persons().assign(pid=range(PERSONS * ROWS), g=["u", "v", "v"] * PERSONS)
    protocol = dc.design(dc.Joint.from_table(people, secret="s", release="x", given="g"), dc.LIP(0.1)).protocol
    keyed = keyed_draws(folder / "key", "pid", protocol.digest)
    assert keyed is not None
    page = (people["g"] == "v") * (len(LETTERS) + 1) + (people["x"] == "b")
    keyed.words(pa.array(people["pid"]), page.to_numpy().astype(np.uint64), first_row=1)
    protocol.sanitise(people, key=folder / "key", identity="pid", ledger=folder / "book")
    assert json.loads((folder / "book").read_text())["people"] == keyed.identity_digest


def xor_persons() -> pd.DataFrame:
    """Two rows each: the value of either tells nothing about the secret, both together are the secret."""
    rows = [
        (4 * n + 2 * a + b, "yes" if a ^ b else "no", v)
        for n, a, b in product(range(60), (0, 1), (0, 1))
        for v in (a, b)
    ]
    return pd.DataFrame(rows, columns=["pid", "s", "x"])


@pytest.mark.parametrize("other", ["another", None])
def test_one_odd_secret_lets_nobody_pass(folder, other) -> None:
    """One id with two secrets, one of them missing perhaps, and everybody's different values once shared draws."""
    protocol, keyed = dc.Protocol.load(folder / "p.json"), {"key": folder / "key", "identity": "pid"}
    rows = rows_of_persons()
    rows["s"] = [other if other is None else rows["s"].unique()[rows["s"].unique() != rows["s"][0]][0], *rows["s"][1:]]
    with pytest.raises(ReleaseError, match="different values"):
        protocol.sanitise(rows, **keyed, several_rows=True)
    assert any("different values" in one.what for one in protocol.check(rows, **keyed, several_rows=True).refusals)
    alike = rows.assign(x=rows.groupby("pid")["x"].transform("first"))
    told = protocol.sanitise(alike, **keyed, several_rows=True).attrs["discreet release"]["rows"]
    assert "their secrets differ" in told


def test_rows_that_hang_together_may_tell_everything_in_two_draws(tmp_path) -> None:
    """A row of each person released twice was once accounted as 0, without a word about what that supposes."""
    table, book = xor_persons(), tmp_path / "book"
    protocol = dc.design(
        dc.Joint.from_table(table, secret="s", release="x", person="pid", rows="one"), dc.LIP(0.5)
    ).protocol
    assert protocol.epsilon == 0
    protocol.sanitise(table, ledger=book)
    with pytest.raises(BudgetError, match="whatever the rows and values of one person"):
        protocol.sanitise(table, ledger=book)
    with pytest.raises(BudgetError, match="whatever the rows"):
        protocol.sanitise(table, ledger=book, repeat=True, budget=5.0)
    foretold = protocol.check(table, ledger=book, repeat=True).account
    assert foretold is not None
    assert foretold.condition.endswith("without that, no bound")
    with pytest.warns(UserWarning, match="the second and third if a person's rows are independent"):
        told = protocol.sanitise(table, ledger=book, repeat=True).attrs["discreet release"]
    assert told["total_epsilon"] == 0
    assert told["condition"] == foretold.condition


def test_a_belt_bounds_rows_whatever_they_have_to_do_with_each_other(tmp_path) -> None:
    table, book = xor_persons(), tmp_path / "book"
    joint = dc.Joint.from_table(table, secret="s", release="x", person="pid", rows="one")
    protocol = dc.design(joint, dc.LIP(0.5) & dc.OrdinaryLDP(2)).protocol
    protocol.sanitise(table, ledger=book, budget=4.0)
    told = protocol.sanitise(table, ledger=book).attrs["discreet release"]
    assert told["condition"].endswith("without that, 4")
    with pytest.raises(BudgetError, match="declared budget"):
        protocol.sanitise(table, ledger=book)


def strata_persons() -> tuple[pd.DataFrame, dict[str, np.ndarray]]:
    """Two rows of each person, independent given the secret, in strata that have different shares of it."""
    cells = {"a": np.array([[8, 4], [6, 6]]), "b": np.array([[2, 4], [24, 24]])}  # [stratum, x]
    rows, number = [], 0
    for s, counts in cells.items():
        every = [(k, x) for k, x in np.ndindex(2, 2) for _ in range(counts[k, x])]
        for first in every[:]:
            for second in every:
                rows += [(number, s, "AB"[k], "pq"[x]) for k, x in (first, second)]
                number += 1
    return pd.DataFrame(rows, columns=["pid", "s", "k", "x"]), cells


@pytest.mark.parametrize(
    "notion", [dc.LIP(0.4), dc.LDP(0.5), dc.PML(0.4), dc.Shift(0.1), dc.ALIP(0.3, 0.5), dc.Funnel(0.02)]
)
def test_two_rows_of_one_person_may_be_of_two_strata(notion) -> None:
    """The account once took the largest of the strata: 0.916 where the truth was 1.22."""
    table, cells = strata_persons()
    joint = dc.Joint.from_table(table, secret="s", release="x", given=["k"], person="pid", rows="one")
    protocol = dc.design(joint, notion).protocol
    strata = list(protocol.strata.values())
    matrices = [one.channel.matrix for one in strata]
    laws = {s: counts / counts.sum() for s, counts in cells.items()}  # P(k, x | s)
    people = np.array([counts.sum() ** 2 for counts in cells.values()], float)
    true = 0.0
    for k, m in product(range(2), repeat=2):
        likelihoods = np.array(
            [
                np.kron(matrices[k] @ laws[s][k], matrices[m] @ laws[s][m]) / (laws[s][k].sum() * laws[s][m].sum())
                for s in "ab"
            ]
        ).T
        prior = people * [laws[s][k].sum() * laws[s][m].sum() for s in "ab"]
        seen = dc.Joint(np.diag(prior / prior.sum()))
        true = max(true, notion.level(dc.Channel(likelihoods), seen).epsilon)
    assert true > protocol.epsilon
    assert total_epsilon(protocol, 2, one_of=2) >= true


@pytest.mark.parametrize("notion", [dc.Funnel(0.05, ceiling=dc.LIP(0.6)), dc.LDP(0.8) & dc.LIP(0.6)])
def test_all_rows_of_a_person_are_not_promised_what_one_row_is(notion) -> None:
    """The ceiling of an average was once promised for all rows together: 1.8 times, where they tell 7.8 times."""
    joint = dc.Joint.from_table(rows_of_persons(), secret="s", release="x", person="pid", rows="independent")
    said = guarantee(dc.design(joint, notion).protocol)
    together, _, alone = said.partition(" A row by itself: ")
    assert "all released rows (up to 3) of a person" in together
    assert "1.823" not in together
    assert "1.823" in alone
