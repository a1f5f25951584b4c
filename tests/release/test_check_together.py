"""The rehearsal where features meet: given columns, robust sets, curators, groupings, keys, persons and weights.

Every design below is released with every mess. What a release is refused for, its check foretold in the same words; a
refused run leaves every ledger as it was; what a check lets pass is released.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet.exceptions import DiscreetError
from discreet.protocol.strata import load_protocol
from discreet.randomness import fresh_key
from discreet.records.grouping import Grouping
from discreet.release import Job, RowsAsked, rehearse_file, sanitise_file
from discreet.study_file import StudyFile

SIZE = 1500


def people(seed: int = 0) -> pd.DataFrame:
    """Persons with one to three rows: `s` is the secret, `x` and `age` may be released, `k` is given, `w` weighs."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(1, 4, SIZE)
    s, k = rng.integers(0, 2, SIZE), rng.integers(0, 2, SIZE)
    x = (s + (rng.random(SIZE) < 0.4)) % 3
    age = 20 + 10 * s + rng.integers(0, 40, SIZE)
    persons = pd.DataFrame({"pid": np.arange(SIZE), "s": s, "k": k, "x": x, "age": age, "w": rng.integers(1, 4, SIZE)})
    persons = persons.assign(**{name: persons[name].map(lambda v: f"v{v}") for name in ("s", "k", "x")})
    return persons.loc[np.repeat(np.arange(SIZE), rows)].reset_index(drop=True)


TABLE = people()
SINGLE = TABLE.drop_duplicates("pid")
AGES = Grouping(bins={"age": [35, 50]})
DESIGNS = {
    "plain": (SINGLE, {"release": "x", "person": "pid"}, dc.LIP(0.5), False),
    "given": (SINGLE, {"release": "x", "given": ["k"], "person": "pid"}, dc.LIP(0.5), False),
    "given, robust": (SINGLE, {"release": "x", "given": ["k"], "person": "pid"}, dc.RLDP(1.0), False),
    "robust, curator": (SINGLE, {"release": "x", "person": "pid"}, dc.RLDP(1.0), True),
    "grouped, curator": (SINGLE, {"release": "age", "group": AGES, "person": "pid"}, dc.LDP(0.7), True),
    "given, grouped": (
        SINGLE, {"release": "age", "given": ["k"], "group": AGES, "person": "pid"}, dc.LIP(0.5), False,
    ),
    "weighted, given": (SINGLE, {"release": "x", "given": ["k"], "weight": "w"}, dc.LIP(0.5), False),
    "persons, one": (TABLE, {"release": "x", "person": "pid", "rows": "one"}, dc.LIP(0.5), False),
    "persons, tied, given": (
        TABLE, {"release": "x", "person": "pid", "rows": "tied", "given": ["k"]}, dc.LIP(0.5), False,
    ),
    "persons, independent": (TABLE, {"release": "x", "person": "pid", "rows": "independent"}, dc.LIP(0.5), False),
    "robust, persons, grouped": (
        TABLE, {"release": "age", "person": "pid", "rows": "one", "group": AGES}, dc.RLDP(1.0), False,
    ),
    "belt, persons, curator": (
        TABLE, {"release": "x", "person": "pid", "rows": "one"}, dc.LIP(0.5) & dc.OrdinaryLDP(4.0), True,
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("together")
    for number, (table, options, notion, sees_secret) in enumerate(DESIGNS.values()):
        joint = dc.Joint.from_table(table, secret="s", **options)
        limit = {"time_limit": 20.0} if isinstance(notion, dc.RLDP) else {}
        dc.design(joint, notion, sees_secret=sees_secret, **limit).protocol.save(place / f"{number}.json")
    (place / "key").write_bytes(fresh_key())
    (place / "key").chmod(0o600)
    (place / "policy.toml").write_text("k = 3\n")
    return place


def odd(frame: pd.DataFrame, column: str, value: object, share: float) -> pd.DataFrame:
    chosen = np.random.default_rng(1).random(len(frame)) < share
    return frame.assign(**{column: frame[column].astype(object).where(~chosen, value)})


MESSES = {
    "fine": lambda f, j: (f, j),
    "one row each": lambda f, j: (f.drop_duplicates("pid"), j),
    "one row stated": lambda f, j: (f.drop(columns="pid"), replace(j, rows=RowsAsked(one_row_per_person=True))),
    "unknown values": lambda f, j: (odd(odd(f, "x", "strange", 0.2), "age", "old", 0.2), j),
    "an unknown stratum": lambda f, j: (odd(f, "k", "v9", 0.1), j),
    "missing ids": lambda f, j: (odd(f, "pid", None, 0.1), replace(j, rows=RowsAsked(person="pid", rows="one"))),
    "secrets that differ": lambda f, j: (odd(f, "s", "v1", 0.5), replace(j, rows=RowsAsked("pid", None, "one"))),
    "tied": lambda f, j: (f, replace(j, rows=RowsAsked("pid", None, "tied"))),
    "a person undecided": lambda f, j: (f, replace(j, rows=RowsAsked("pid"))),
    "independent": lambda f, j: (f, replace(j, rows=RowsAsked("pid", None, "independent"))),
    "a rule alone": lambda f, j: (f, replace(j, rows=RowsAsked(rows="one"))),
    "one stated, one asked": lambda f, j: (f, replace(j, rows=RowsAsked("pid", None, None, True))),
    "keyed": lambda f, j: (f, replace(j, key=j.protocol.parent / "key", identity="pid")),
    "keyed, several": lambda f, j: (
        f, replace(j, key=j.protocol.parent / "key", identity="pid", several_rows=True),
    ),
    "keyed, one row each": lambda f, j: (
        f.drop_duplicates("pid"), replace(j, key=j.protocol.parent / "key", identity="pid"),
    ),
    "a wrong column": lambda f, j: (f.rename(columns={"x": "y", "age": "old"}), j),
    "a wrong suffix": lambda f, j: (f, replace(j, target=j.target.replace(".csv", ".sav"))),
    "kept ages": lambda f, j: (f, replace(j, keep=("age",) if "age" in f else ())),
    "a policy": lambda f, j: (f, replace(j, keep=("w",), policy=j.protocol.parent / "policy.toml", keep_anyway=True)),
    "a budget": lambda f, j: (f, replace(j, budget=0.001)),
    "a repeat of nothing": lambda f, j: (f, replace(j, repeat=True, rows=RowsAsked(one_row_per_person=True))),
}  # fmt: skip


def ledgers(folder: Path) -> dict[str, bytes]:
    """Every ledger there is: those beside protocols, and the common ones."""
    import os

    common = Path(os.environ.get("XDG_DATA_HOME", str(Path.home() / ".local" / "share"))) / "discreet" / "ledgers"
    return {str(path): path.read_bytes() for place in (folder, common) for path in place.glob("*.ledger")}


def plain(words: str) -> str:
    """Without the numbers: which row of a person is released is drawn, so counts may differ by a few."""
    return re.sub(r"[0-9][0-9,.]*", "#", words)


def refusal(job: Job) -> str | None:
    """What the release is refused for; None where it is made."""
    try:
        sanitise_file(job)
    except DiscreetError as error:
        return error.what
    return None


@pytest.mark.parametrize("design", DESIGNS)
def test_every_refusal_is_foretold_and_changes_nothing(folder: Path, design: str, tmp_path: Path) -> None:
    number, table = list(DESIGNS).index(design), TABLE
    released = refused = 0
    for place, (mess, made) in enumerate(MESSES.items()):
        job = Job(folder / f"{number}.json", str(tmp_path / "t.csv"), str(tmp_path / f"out{place}.csv"))
        frame, job = made(table, replace(job, data=f"{mess} {design}"))
        frame.to_csv(job.source, index=False)
        before = ledgers(folder)
        found = rehearse_file(job)
        assert ledgers(folder) == before, "a check enters nothing"
        assert not Path(job.target).exists()
        if (reason := refusal(job)) is not None:
            refused += 1
            assert ledgers(folder) == before, (mess, "a refused run changed a ledger")
            assert not Path(job.target).exists()
            assert plain(reason) in [plain(one.what) for one in found.refusals], (mess, reason, found.refusals)
        else:
            released += 1
            assert not found.refusals, (mess, found.refusals)
            assert ledgers(folder) != before
    assert released >= 3, "something passes"
    assert refused >= 7, "and something does not"


@pytest.mark.parametrize(
    ("design", "least"),
    [("persons, independent", 0.5), ("persons, tied, given", 0.5), ("belt, persons, curator", 0.5)],
)
def test_a_policy_judges_what_is_promised_to_a_person(folder: Path, design: str, least: float, tmp_path: Path) -> None:
    """Not the level of one of their rows, nor the name of two promises joined."""
    path = folder / f"{list(DESIGNS).index(design)}.json"
    TABLE.to_csv(tmp_path / "t.csv", index=False)
    for level, refused in ((least, False), (least - 0.01, True)):
        (tmp_path / "policy.toml").write_text(f'notions = ["LIP"]\n[epsilon]\nLIP = {level}\n')
        target = str(tmp_path / f"{level}.csv")
        job = Job(path, str(tmp_path / "t.csv"), target, policy=tmp_path / "policy.toml", data=f"{design} {level}")
        assert [f"epsilon.LIP = {level:g}" in one.what for one in rehearse_file(job).refusals] == [True] * refused
        reason = refusal(job)
        assert (f"epsilon.LIP = {level:g}" in reason) if reason else not refused


def test_the_study_of_a_release_is_the_study_of_its_design(folder: Path, tmp_path: Path) -> None:
    """Its table counted, it promises the same, whatever features meet."""
    from discreet.study.release_study import study_of

    def study(design: str) -> StudyFile:
        path, table = folder / f"{list(DESIGNS).index(design)}.json", tmp_path / "t.csv"
        DESIGNS[design][0].to_csv(table, index=False)
        return study_of(load_protocol(path), Job(path, str(table), str(tmp_path / "out.csv")))

    found = {design: study(design) for design in DESIGNS}
    assert (found["given, robust"].given, found["given, robust"].confidence) == (("k",), 0.95)
    assert found["belt, persons, curator"].belt == 4.0
    assert found["belt, persons, curator"].sees_secret
    assert (found["persons, independent"].epsilon, found["persons, independent"].rows) == (0.5, "independent")
    assert found["given, grouped"].bins == ("age=35,50",)
    assert found["weighted, given"].weight == "w"
