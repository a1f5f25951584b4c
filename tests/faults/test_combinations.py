"""Where two features meet: averages and files, ceilings and second draws, noise and estimates, ids and ties."""

import json
import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.exceptions import BudgetError
from discreet.protocol.public_file import load_either
from discreet.records.persons import Rule
from discreet.release import Job, sanitise_file
from discreet.release.draws_together import draws_told, total_epsilon
from discreet.release.ledger import Ledger
from discreet.release.whose_rows import RowsAsked
from discreet.study.comparisons import trade_off

AVERAGES = (dc.Funnel(0.02, ceiling=dc.LIP(1.0)), dc.Guess(0.6), dc.MaximalLeakage(0.3))
COUNTS = [[40, 30, 20, 10], [10, 20, 30, 40]]
TWO_BITS = dc.Joint.from_counts([[1, 0, 0, 1], [0, 1, 1, 0]])
SHOWS = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]]) / 2
LETTERS = {"s": ["a", "b"], "x": ["p", "q", "r"]}


def table(n: int = 600, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    s = rng.integers(0, 2, n)
    x = np.array([rng.choice(3, p=[[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]][one]) for one in s])
    return pd.DataFrame(
        {"s": np.array(["a", "b"])[s], "x": np.array(["p", "q", "r"])[x], "w": np.where(x == 2, 3.0, 1.0)}
    )


def truth(of: pd.DataFrame) -> np.ndarray:
    return of.x.value_counts(normalize=True).reindex(LETTERS["x"]).to_numpy()


@pytest.mark.parametrize("notion", AVERAGES)
def test_the_public_file_of_an_average_is_read_like_any_other(notion, tmp_path) -> None:
    protocol = dc.design(dc.Joint.from_counts(COUNTS), notion, time_limit=2).protocol
    protocol.public().save(tmp_path / "public.json")
    assert isinstance(load_either(tmp_path / "public.json"), dc.PublicProtocol)


def test_a_probability_is_compared_with_no_larger_one_than_one() -> None:
    protocol = dc.design(dc.Joint.from_counts(COUNTS), dc.Guess(0.6), time_limit=2).protocol
    assert max(point.epsilon for point in trade_off(protocol, multiples=(1.0, 2.0))["best found"]) == 1.0


@pytest.mark.parametrize(("repeat", "budget"), [(False, None), (False, 0.9), (True, None)])
def test_a_ceiling_is_in_the_account_of_a_second_draw(repeat, budget, tmp_path) -> None:
    """Two bits, the secret whether they differ, a draw shows one of them: the average of two draws is finite, and half
    of the people are known for certain."""
    protocol = dc.Protocol.make(dc.Channel(SHOWS), TWO_BITS, dc.Funnel(0.4, ceiling=dc.LIP(1.0)))
    assert total_epsilon(protocol, 2) == pytest.approx(math.log(2) / 2, abs=1e-8)
    assert math.isinf(total_epsilon(protocol, 2, place=1))
    Ledger(tmp_path / "book", protocol).enter()
    with pytest.raises(BudgetError) as refused:
        Ledger(tmp_path / "book", protocol, repeat=repeat).enter(budget=budget)
    assert "repeat=True" not in str(refused.value)  # it would be refused too


def test_the_manifest_says_what_becomes_of_a_ceiling_and_of_a_belt(tmp_path) -> None:
    joint = dc.Joint.from_counts(COUNTS, ["a", "b"], [dc.Attribute("x", ("p", "q", "r", "t"))])
    protocol = dc.design(joint, dc.LIP(0.4) & dc.OrdinaryLDP(3)).protocol
    people = pa.table({"x": ["p", "q", "r", "t"] * 50})
    for _ in range(2):
        released = protocol.sanitise(people, ledger=tmp_path / "book", budget=5.0)
    said = json.loads(released.schema.metadata[b"discreet release"])
    assert said["also"] == [{"notion": "OrdinaryLDP", "total_epsilon": 6.0}]
    assert said["protocol"]["notion"] == "LIP"
    assert said["protocol"]["also"] == [{"notion": "OrdinaryLDP", "epsilon": 3.0}]


def test_right_guesses_add_up_from_those_without_a_release(tmp_path) -> None:
    """Twice 0.6 is more than a probability, so nothing would ever be refused."""
    some = np.vstack([0.8 * SHOWS, [[0.2, 0, 0, 0.2], [0, 0.2, 0.2, 0]]])
    protocol = dc.Protocol.make(dc.Channel(some), TWO_BITS, dc.Guess(0.61))
    assert total_epsilon(protocol, 1) == pytest.approx(0.6, abs=1e-8)
    assert total_epsilon(protocol, 2) == pytest.approx(0.84, abs=1e-8)
    Ledger(tmp_path / "book", protocol).enter()
    with pytest.raises(BudgetError, match=r"more than the 0\.7 "):
        Ledger(tmp_path / "book", protocol).enter()


@pytest.mark.parametrize("notion", [dc.Perfect(), dc.PML(0.5), dc.Shift(0.2)])
def test_what_several_draws_of_several_rows_tell_has_a_bound(notion) -> None:
    """Rows of a person tell no more about the secret than the secret itself."""
    protocol = dc.design(dc.Joint.from_counts(COUNTS), notion, sees_secret=True, time_limit=2).protocol
    most = {dc.PML: math.log(2), dc.Shift: 0.5}.get(type(notion), math.inf)
    assert protocol.epsilon < total_epsilon(protocol, 3, rows=40) <= most + 1e-9
    assert "One, two and three" in draws_told(protocol)


def test_weighted_records_are_not_counted_as_they_are(tmp_path) -> None:
    """The weighted law is kept, and the table has another one: 10 % coverage before."""
    people = table()
    joint = dc.Joint.from_table(people, secret="s", release="x", weight="w")
    protocol = dc.design(joint, dc.LIP(0.5), utility=dc.Agreement()).protocol
    protocol.public().save(tmp_path / "public.json")
    public = dc.PublicProtocol.load(tmp_path / "public.json")
    assert public.prior == "weighted"
    assert not any("law: the shares" in one for one in public.reveals)
    inside = sum(
        ((found[:, 0] <= truth(people)) & (truth(people) <= found[:, 1])).all()
        for found in (dc.estimate(protocol.sanitise(people), public).interval(0.99) for _ in range(12))
    )
    assert inside >= 10


@pytest.mark.parametrize("given", [(), "k"])
def test_records_are_not_counted_by_the_law_of_noisy_counts(given, tmp_path) -> None:
    people = table(300).assign(k=["N", "S"] * 150)
    names = {**LETTERS, **({"k": ["N", "S"]} if given else {})}
    noise = dc.Noise(0.1, ledger=tmp_path / "noise")
    joint = dc.Joint.from_table(people, secret="s", release="x", given=given, letters=names, private=noise)
    protocol = dc.design(joint, dc.RLDP(1.0), utility=dc.Agreement()).protocol
    for one in (protocol, protocol.public()):
        notes = dc.estimate(protocol.sanitise(people), one).notes
        assert not any(note.startswith(("Assumed: these", "Assumed: values that")) for note in notes)
    public = json.loads(protocol.public().encode())
    assert public["prior"] == "noisy"
    assert "counts with noise" in " ".join(public["reveals"])
    assert not any("exact to the last digit" in one for one in public["reveals"])


def test_a_public_file_states_what_a_person_was_promised() -> None:
    """The level of a row that holds all rows of a person at 1 is a statistic of all counts."""
    rng, row_levels, public = np.random.default_rng(3), set(), set()
    for _ in range(2):
        people = table(200, int(rng.integers(99)))
        twice = pd.concat([people.assign(pid=range(200))] * 2)
        joint = dc.Joint.from_table(twice, secret="s", release="x", person="pid", rows="independent")
        protocol = dc.design(joint, dc.LIP(1.0)).protocol
        row_levels.add(protocol.notion.epsilon)
        public.add((protocol.public().notion, protocol.public().promise))
        assert protocol.notion.epsilon < 0.9
    assert len(row_levels) == 2
    assert [notion for notion, _ in public] == [dc.LIP(1.0)]


@pytest.fixture
def folder(tmp_path):
    people = table(200)
    pd.concat([people.assign(pid=range(200), row=0), people.assign(pid=range(200), row=1)]).to_csv(
        tmp_path / "people.csv", index=False
    )
    key = tmp_path / "key"
    key.write_bytes(bytes(range(32)))
    key.chmod(0o600)
    joint = dc.Joint.from_table(people.assign(pid=range(200)), secret="s", release="x", person="pid")
    dc.design(joint, dc.LIP(0.5)).protocol.save(tmp_path / "p.json")
    return tmp_path


def released(folder, name: str, **options) -> dict:
    whole = {"key": folder / "key", "identity": "pid", **options}
    sanitise_file(Job(folder / "p.json", str(folder / "people.csv"), str(folder / name), **whole))
    return json.loads((folder / f"{name}.manifest.json").read_text())


def test_rows_that_an_id_ties_are_not_said_to_be_one_row_each(folder) -> None:
    said = released(folder, "r.csv", rows=RowsAsked(person="pid", rows=str(Rule.tied)))
    assert said["records"] == 400
    assert "one row per id" not in said["identity"]["rows"]


def test_one_row_of_each_person_is_drawn_again_if_that_is_meant(folder) -> None:
    """Another row of most persons is chosen: a second draw, which was refused with `repeat` and without."""
    people = pd.read_csv(folder / "people.csv")
    people.assign(x=np.random.default_rng(5).permutation(people.x)).to_csv(folder / "people.csv", index=False)
    once = RowsAsked(person="pid", rows=str(Rule.one))
    released(folder, "1.csv", rows=once)
    assert released(folder, "2.csv", rows=once, repeat=True)["independent_draws"] == 2


def test_a_draw_that_its_key_repeats_is_no_further_draw(folder) -> None:
    tied = RowsAsked(person="pid", rows=str(Rule.tied))
    released(folder, "1.csv", rows=tied)
    with pytest.raises(BudgetError, match="nothing would be drawn again"):
        released(folder, "2.csv", rows=tied, repeat=True)
    assert not (folder / "2.csv").exists()


def test_strata_of_a_parquet_file_are_read_like_those_of_a_table(tmp_path) -> None:
    people = table().assign(k=["N", "S"] * 300)
    whole = pa.Table.from_pandas(people, preserve_index=False)
    pq.write_table(whole, tmp_path / "people.parquet")
    joint = dc.Joint.from_table(whole, secret="s", release="x", given="k")
    protocol = dc.design(joint, dc.LIP(0.5)).protocol
    assert protocol.sanitise(tmp_path / "people.parquet").num_rows == 600
    assert protocol.check(tmp_path / "people.parquet").records == 600
    pq.write_table(whole.set_column(3, "k", pa.array(["N", "S", "other"] * 200)), tmp_path / "other.parquet")
    with pytest.raises(dc.AlphabetError, match="200 records of a stratum"):
        protocol.sanitise(tmp_path / "other.parquet")


def test_a_missing_value_is_a_letter_that_others_are_compared_with() -> None:
    joint = dc.Joint.from_counts([[3, 1, 1], [2, 1, 4]], ["a", None], [dc.Attribute("x", ("p", "q", None))])
    matrix = [[0.5, 0.4, 0.3], [0.5, 0.6, 0.7]]
    found = dc.audit(dc.Protocol.make(dc.Channel(matrix, joint.letters), joint, dc.LDP(1.0)))
    assert "times as likely as" in found.witnesses["OrdinaryLDP"]
    assert "before" not in found.witnesses["LDP"]
    assert "before" in found.witnesses["LIP"]
