"""One more draw on purpose: said in words before it is made, counted, and never above a declared budget."""

import json
import math
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet.channel import Channel
from discreet.cli.app import run
from discreet.release.draws_together import draws_told, total_epsilon
from discreet.release.ledger import Ledger
from discreet.release.sanitise import DrawnAgain

COUNTS = {"a": (40, 5, 5, 2), "b": (3, 10, 20, 30), "c": (8, 25, 9, 4)}
TABLE = pd.DataFrame(
    [(s, x) for s, row in COUNTS.items() for x, n in enumerate(row) for _ in range(n)], columns=["s", "x"]
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    TABLE.to_csv(tmp_path / "t.csv", index=False)
    design = dc.design(dc.Joint.from_table(TABLE, secret="s", release="x"), dc.LIP(0.3))
    design.protocol.save(tmp_path / "p.json")
    return tmp_path


def ledger_bytes(folder: Path) -> bytes:
    return (folder / "p.json.ledger").read_bytes() if (folder / "p.json.ledger").exists() else b""


def test_a_second_draw_is_made_only_where_it_is_meant(folder, capsys) -> None:
    protocol = dc.Protocol.load(folder / "p.json")
    p, t, out = (str(folder / name) for name in ("p.json", "t.csv", "out.csv"))
    assert run(["sanitise", p, t, out, "--repeat"]) != 0, "nothing to repeat yet"
    assert ledger_bytes(folder) == b""
    assert "Leave out --repeat" in capsys.readouterr().err
    assert run(["sanitise", p, t, out]) == 0
    once = ledger_bytes(folder)
    again = str(folder / "again.csv")
    assert run(["sanitise", p, t, again]) != 0
    assert "--repeat" in capsys.readouterr().err
    assert run(["check", p, t, again]) == 4
    assert run(["check", p, t, again, "--repeat"]) == 3
    assert "One, two and three independent draws" in " ".join(capsys.readouterr().out.split())
    assert ledger_bytes(folder) == once, "nothing refused or rehearsed was entered"
    assert not (folder / "again.csv").exists()
    assert run(["sanitise", p, t, again, "--repeat"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert said.index("One, two and three independent draws") < said.index("Released"), "before it is drawn"
    manifest = json.loads((folder / "again.csv.manifest.json").read_text())
    assert manifest["independent_draws"] == 2
    assert manifest["total_epsilon"] == total_epsilon(protocol, 2) > 2 * protocol.epsilon
    assert "on purpose" in manifest["repeat"]
    events = [json.loads(line) for line in ledger_bytes(folder).splitlines()]
    assert [event.get("repeat") for event in events] == [None, True]


def test_a_declared_budget_is_not_lifted(folder) -> None:
    protocol = dc.Protocol.load(folder / "p.json")
    book = folder / "book"
    protocol.sanitise(TABLE, ledger=book, budget=1.01 * protocol.epsilon)
    before = book.read_bytes()
    with pytest.raises(dc.BudgetError, match="declared budget"):
        protocol.sanitise(TABLE, ledger=book, repeat=True)
    assert book.read_bytes() == before


def test_frames_are_told_before_they_are_drawn(folder) -> None:
    protocol = dc.Protocol.load(folder / "p.json")
    with pytest.raises(dc.ParameterError, match="without a ledger"):
        protocol.sanitise(TABLE, repeat=True)
    protocol.sanitise(TABLE, ledger=folder / "book")
    with pytest.raises(dc.BudgetError, match="repeat=True"):
        protocol.sanitise(TABLE, ledger=folder / "book")
    assert [one.what for one in protocol.check(TABLE, ledger=folder / "book").refusals]
    assert not protocol.check(TABLE, ledger=folder / "book", repeat=True).refusals
    with pytest.warns(DrawnAgain, match="One, two and three") as told:
        found = protocol.sanitise(TABLE, ledger=folder / "book", repeat=True)
    assert str(told[0].message) == draws_told(protocol)
    assert found.attrs["discreet release"]["independent_draws"] == 2


def test_a_draw_without_any_bound_is_refused_on_purpose_too(tmp_path) -> None:
    """S = A xor B and a draw shows one of the two: one draw says nothing, two may say everything."""
    table = np.zeros((2, 2, 2))
    for a, b in product(range(2), repeat=2):
        table[a ^ b, a, b] = 0.25
    joint = dc.Joint(table)
    letters = np.array(list(product(range(2), repeat=2)))
    rows = [(letters[:, i] == value) / 2 for i in range(2) for value in range(2)]
    protocol = dc.Protocol.make(Channel(np.array(rows, float), joint.letters), joint, dc.LDP(1.0))
    ledger = Ledger(tmp_path / "book", protocol)
    ledger.enter()
    with pytest.raises(dc.BudgetError, match="inf"):
        Ledger(tmp_path / "book", protocol, repeat=True).enter()
    assert ledger.draws() == 1
    assert "no bound" in draws_told(protocol)


def test_rows_that_are_drawn_by_themselves_are_in_every_draw(tmp_path) -> None:
    persons = pd.concat([TABLE.assign(pid=np.arange(len(TABLE)))] * 2, ignore_index=True)
    joint = dc.Joint.from_table(persons, secret="s", release="x", person="pid", rows="independent")
    protocol = dc.design(joint, dc.LIP(0.3)).protocol
    assert total_epsilon(protocol, 1, 2) == pytest.approx(0.3, abs=2e-3), "the person's level"
    assert protocol.epsilon < 0.2 < total_epsilon(protocol, 2) < total_epsilon(protocol, 2, 2) < math.inf
    assert "somebody with 2 rows" in draws_told(protocol)
    found = protocol.sanitise(persons, ledger=tmp_path / "book").attrs["discreet release"]
    assert found["total_epsilon"] == total_epsilon(protocol, 1, 2)
    with pytest.warns(DrawnAgain, match="2 rows"):
        found = protocol.sanitise(persons, ledger=tmp_path / "book", repeat=True).attrs["discreet release"]
    assert found["total_epsilon"] == total_epsilon(protocol, 2, 2, one_of=2) > total_epsilon(protocol, 2, 2)
    single = Ledger(tmp_path / "book", protocol, repeat=True).account()
    assert single.rows == 2, "what was drawn before counts, whatever the next table has"
