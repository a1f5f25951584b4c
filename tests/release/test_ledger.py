from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from discreet.channel import Channel
from discreet.exceptions import BudgetError, ReleaseError
from discreet.joint import Joint
from discreet.notions import LDP, LIP
from discreet.protocol import Protocol
from discreet.release.draws_together import repeated, total_epsilon
from discreet.release.keyed_draws import KeyedDraw
from discreet.release.ledger import Ledger

LARGE = 1_000.0


@pytest.fixture
def ledger(protocol: Protocol, protocol_path: Path) -> Ledger:
    return Ledger.beside(protocol_path, protocol)


def test_releases_with_fresh_randomness_count_one_each(ledger: Ledger, protocol: Protocol) -> None:
    totals = []
    for draws in (1, 2, 3):
        account = ledger.account(budget=LARGE)
        assert account.draws == draws
        totals.append(account.epsilon)
        ledger.enter(budget=LARGE)
    assert totals[0] == protocol.epsilon
    assert totals == sorted(totals)
    assert totals[2] > totals[0]


def test_releases_with_one_key_count_once(ledger: Ledger, protocol: Protocol) -> None:
    draw = KeyedDraw("key a", "ssn", "people 1")
    for _ in range(3):
        assert ledger.account(KeyedDraw("key a", "ssn")).epsilon == protocol.epsilon
        assert ledger.enter(draw).draws == 1
    assert ledger.account(KeyedDraw("key b", "ssn"), LARGE).draws == 2
    assert ledger.account(None, LARGE).draws == 2


@pytest.mark.parametrize("change", [{"key": "key b"}, {"identity": "email"}, {"people": "people 2"}])
def test_another_key_column_or_set_of_people_is_another_draw(ledger: Ledger, change: dict[str, str]) -> None:
    draw = KeyedDraw("key a", "ssn", "people 1")
    ledger.enter(draw)
    assert replace(ledger, repeat=True).enter(replace(draw, **change)).draws == 2


def test_what_changed_under_one_key_is_held_by_no_budget(ledger: Ledger) -> None:
    """Cells that differ show that a value changed, and nothing bounds what that tells."""
    draw = KeyedDraw("key a", "ssn", "people 1")
    ledger.enter(draw, LARGE)
    with pytest.raises(BudgetError, match="inf, more than the declared budget"):
        ledger.enter(replace(draw, people="people 2"), LARGE)


def test_a_keyed_entry_that_does_not_name_its_people_is_a_draw_of_its_own(ledger: Ledger, protocol: Protocol) -> None:
    event = {"event": "release", "data": ledger.data, "key": "key a", "protocol": protocol.digest}
    ledger.path.write_text(json.dumps(event) + "\n")
    assert replace(ledger, repeat=True).enter(KeyedDraw("key a", "ssn", "people 1")).draws == 2


def test_more_than_the_sum_needs_a_declared_budget(ledger: Ledger, protocol: Protocol) -> None:
    ledger.enter()
    assert total_epsilon(protocol, 2) > 2 * protocol.epsilon
    with pytest.raises(BudgetError, match="add up to"):
        ledger.account()
    assert ledger.account(budget=LARGE).epsilon == total_epsilon(protocol, 2, one_of=2) >= total_epsilon(protocol, 2)


def test_a_declared_budget_is_kept_and_can_only_be_lowered(ledger: Ledger, protocol: Protocol) -> None:
    ledger.enter(budget=protocol.epsilon * 1.01)
    with pytest.raises(BudgetError, match="declared budget"):
        ledger.account()
    with pytest.raises(BudgetError, match="declared budget"):
        ledger.enter()
    with pytest.raises(BudgetError, match="declared before"):
        ledger.enter(budget=100.0)
    assert ledger.draws() == 1
    with pytest.raises(BudgetError):
        Ledger(ledger.path, protocol, "other people").enter(budget=protocol.epsilon / 2)
    with pytest.raises(BudgetError, match="positive"):
        ledger.account(budget=-1.0)


def test_other_people_have_an_account_of_their_own(ledger: Ledger, protocol: Protocol) -> None:
    ledger.enter()
    assert Ledger(ledger.path, protocol, "the second wave").account().draws == 1
    assert ledger.account(budget=LARGE).draws == 2


@pytest.mark.parametrize("damage", [b'{"event": "rel', b"\xff\xfe\x00", b"[]", b'{"event": "budget"}', b"{}", b"7"])
def test_a_damaged_line_counts_as_a_release(ledger: Ledger, damage: bytes) -> None:
    ledger.enter()
    with ledger.path.open("ab") as file:
        file.write(damage)
    assert ledger.draws() == 2
    ledger.enter(budget=LARGE)
    assert ledger.draws() == 3


def test_another_protocol_on_the_same_records_is_refused(ledger: Ledger, protocol: Protocol) -> None:
    ledger.enter()
    uniform = np.full((2, len(protocol.inputs)), 0.5)
    other = Protocol.make(Channel(uniform, protocol.inputs), protocol.joint, LIP(1.0))
    with pytest.raises(BudgetError, match="another protocol"):
        Ledger(ledger.path, other).account()
    assert Ledger(ledger.path, other, "other people").account().draws == 1


def test_entries_say_what_and_when(ledger: Ledger, protocol: Protocol) -> None:
    ledger.enter()
    (line,) = ledger.path.read_text().splitlines()
    entry = json.loads(line)
    assert (entry["event"], entry["protocol"], entry["key"]) == ("release", protocol.digest, None)
    assert ledger.path.stat().st_mode & 0o777 == 0o600


def test_no_ledger_no_release(protocol: Protocol, tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="ledger cannot be opened"):
        Ledger(tmp_path / "missing" / "ledger", protocol).account()


# ---- what several draws tell together -----------------------------------------------------------------------------


def test_budgets_do_not_add_up_when_the_mechanism_reads_correlated_data() -> None:
    """S = A xor B: a draw that shows A or B says nothing about S, two draws can show it."""
    table = np.zeros((2, 2, 2))
    for a in range(2):
        for b in range(2):
            table[a ^ b, a, b] = 0.25
    joint = Joint(table)
    letters = np.array([[a, b] for a in range(2) for b in range(2)])
    rows = [(letters[:, i] == value) / 2 for i in range(2) for value in range(2)]
    channel = Channel(np.array(rows, float), joint.letters)
    assert LDP(1.0).level(channel, joint).epsilon == pytest.approx(0, abs=1e-12)
    assert math.isinf(LDP(1.0).level(repeated(channel, 2, 100), joint).epsilon)
    protocol = Protocol.make(channel, joint, LDP(1.0))
    assert total_epsilon(protocol, 1) <= 1e-9
    assert math.isinf(total_epsilon(protocol, 2))


def test_budgets_add_up_when_the_mechanism_reads_the_secret_alone() -> None:
    joint = Joint(np.diag([0.5, 0.5]))
    q = math.e / (1 + math.e)
    protocol = Protocol.make(Channel(np.array([[q, 1 - q], [1 - q, q]]), joint.letters), joint, LDP(1.0))
    for draws in (1, 2, 3, 5):
        assert total_epsilon(protocol, draws) == pytest.approx(draws, abs=1e-6)


def test_repeated_draws_are_a_channel_with_the_right_marginals(protocol: Protocol) -> None:
    matrix = protocol.matrix
    twice = repeated(protocol.channel, 2, 100).matrix
    assert len(twice) == len(matrix) * (len(matrix) + 1) // 2
    assert np.allclose(twice.sum(axis=0), 1)
    assert np.allclose(twice[0], matrix[0] ** 2)
    assert np.allclose(twice[1], 2 * matrix[0] * matrix[1])


def test_too_many_draws_are_bounded_by_telling_everything(protocol: Protocol) -> None:
    assert np.array_equal(repeated(protocol.channel, 1_000, 10**9).matrix, np.eye(len(protocol.inputs)))
    assert np.array_equal(repeated(protocol.channel, 2, 20).matrix, np.eye(len(protocol.inputs)))
    assert total_epsilon(protocol, 1_000) >= total_epsilon(protocol, 3)


def test_other_people_are_no_second_draw_and_the_manifest_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from discreet.cli.app import run

    table, saved = tmp_path / "people.csv", tmp_path / "p.json"
    table.write_text("health,colour\n" + "ill,red\nill,blue\nwell,blue\nwell,red\nwell,blue\n" * 40)
    columns = ["--secret", "health", "--release", "colour", "--out", str(saved), "--no-curve", "--epsilon", "0.2"]
    assert run(["design", str(table), *columns]) == 0
    out = [str(tmp_path / f"{name}.csv") for name in "abcd"]
    assert run(["sanitise", str(saved), str(table), out[0]]) == 0
    assert "first draw of these records" in capsys.readouterr().err
    refused = run(["sanitise", str(saved), str(table), out[1], "--budget", "0.2", "--json"])
    assert refused == 6
    told = capsys.readouterr()
    assert "--people" in told.out
    assert "first draw" not in told.err
    for name, option in ((out[2], "--people"), (out[3], "--data")):  # the old name works for one version
        assert run(["sanitise", str(saved), str(table), name, option, f"wave {option}"]) == 0
        said = json.loads(Path(f"{name}.manifest.json").read_text())
        assert said["independent_draws"] == 1
        assert said["people"] == f"wave {option}"
        assert "do not add up" in said["adding_up"]
        assert "do not add up" in " ".join(capsys.readouterr().err.split())
    assert "wave --people" in Path(f"{saved}.ledger").read_text()


def test_a_first_draw_is_not_announced_before_a_refusal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from discreet.cli.app import run

    table, saved = tmp_path / "people.csv", tmp_path / "p.json"
    table.write_text("health,colour\n" + "ill,red\nill,blue\nwell,blue\nwell,red\nwell,blue\n" * 40)
    columns = ["--secret", "health", "--release", "colour", "--out", str(saved), "--no-curve"]
    assert run(["design", str(table), *columns]) == 0
    other = tmp_path / "other.csv"
    other.write_text("health,colour\n" + "ill,1\nwell,2\n" * 40)
    capsys.readouterr()
    assert run(["sanitise", str(saved), str(other), str(tmp_path / "r.csv")]) == 3
    told = capsys.readouterr().err
    assert "does not know" in told
    assert "draw" not in told.replace("the draw is spent", "")
