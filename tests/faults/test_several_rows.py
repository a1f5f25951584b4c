"""What a person with several rows is told to have released: rows chosen anew, rows under one id, books that forget."""

import json
from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import discreet as dc
from discreet.exceptions import BudgetError
from discreet.release import Job, rehearse_file, sanitise_file
from discreet.release.keyed_draws import keyed_draws
from discreet.release.ledger import total_epsilon
from discreet.release.whose_rows import RowsAsked

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


def test_rows_of_one_id_are_said_to_be_one_persons(folder) -> None:
    """Keyed draws of rows that differ: the manifest once said "one row per person" and the level of one."""
    keyed = {"key": folder / "key", "identity": "pid", "several_rows": True}
    sanitise_file(job(folder, "1.csv", **keyed))
    protocol, told = dc.Protocol.load(folder / "p.json"), said(folder, "1.csv")
    assert "one row per person" not in told["rows"]
    assert "up to 2 values of a person" in told["rows"]
    assert told["total_epsilon"] == pytest.approx(protocol.rows_level(2))
    assert told["total_epsilon"] > 1.3 * protocol.epsilon
    frame = protocol.sanitise(rows_of_persons(), **keyed)
    assert frame.attrs["discreet release"]["rows"] == told["rows"]
    found = rehearse_file(job(folder, "2.csv", **keyed))
    assert found.promise["rows"] == told["rows"]
    assert found.account is not None
    assert (found.account.draws, found.account.epsilon) == (1, told["total_epsilon"])


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
