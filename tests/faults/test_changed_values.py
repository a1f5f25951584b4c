"""Values that change between releases: what several draws tell then was once stated as if nothing had changed."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet.exceptions import BudgetError
from discreet.release.draws_together import one_key_law, total_epsilon, unassumed_total


def keyed_law(matrix, given, draws: int):
    """P(y_1 … y_k | s) by listing every function that a key may give somebody."""
    outputs, letters = matrix.shape
    law = np.zeros((*[outputs] * draws, len(given)))
    for chosen in product(range(outputs), repeat=letters):
        shown = np.zeros((outputs, len(given)))
        for letter, output in enumerate(chosen):
            shown[output] += given[:, letter]
        chance = np.prod(matrix[list(chosen), range(letters)])
        for cells in product(range(outputs), repeat=draws):
            law[cells] += chance * np.prod(shown[list(cells)], axis=0)
    return law.reshape(-1, len(given))


def random_protocol(rng):
    joint = dc.Joint.from_counts(rng.integers(1, 40, (int(rng.integers(2, 4)), 3)))
    channel = dc.Channel(rng.dirichlet(np.ones(3), 3).T, joint.letters)
    return dc.Protocol.make(channel, joint, dc.LDP(dc.LDP(1.0).level(channel, joint).epsilon + 1e-6))


@pytest.mark.parametrize("draws", [1, 2, 3, 4])
def test_the_law_of_draws_under_one_key_is_that_of_every_function_a_key_may_give(draws: int) -> None:
    rng = np.random.default_rng(draws)
    for _ in range(3):
        protocol = random_protocol(rng)
        law = one_key_law(protocol.channel, protocol.joint, draws)
        expected = keyed_law(protocol.channel.matrix, protocol.joint.letter_given_secret, draws)
        np.testing.assert_allclose(law, expected, atol=1e-14)


def test_totals_under_one_key_are_never_below_what_changed_values_tell() -> None:
    rng = np.random.default_rng(3)
    above = 0
    for _ in range(20):
        protocol = random_protocol(rng)
        for draws in (2, 3):
            law = keyed_law(protocol.channel.matrix, protocol.joint.letter_given_secret, draws)
            true = float(np.log(law.max(axis=1) / law.min(axis=1)).max())
            stated = total_epsilon(protocol, draws, one_of=draws, tables=draws)
            assert stated >= true - 1e-12
            above += true > total_epsilon(protocol, draws, one_of=draws)
    assert above, "what was stated before was too little"


WAVE = pd.DataFrame({"id": range(2000), "s": ["A", "B"] * 1000, "x": ["u", "u", "v", "w", "u", "v", "w", "w"] * 250})


@pytest.fixture
def key(tmp_path):
    path = tmp_path / "key"
    path.write_bytes(bytes(range(32)))
    path.chmod(0o600)
    return path


def changed(table):
    """Whoever has the secret A keeps its value."""
    moved = table["s"] == "B"
    return table.assign(x=table["x"].where(~moved, table["x"].map({"u": "v", "v": "w", "w": "u"})))


def test_a_value_that_changed_under_one_key_is_held_by_no_belt_budget_or_policy(tmp_path, key) -> None:
    """Cells that differ said who had changed; a belt of 0.5 for each draw was stated as the bound."""
    joint = dc.Joint.from_table(WAVE, secret="s", release="x")
    protocol = dc.design(joint, dc.LDP(0.4) & dc.OrdinaryLDP(1.5)).protocol
    rules = tmp_path / "policy.toml"
    rules.write_text("[epsilon]\nLDP = 9.0\n")
    keyed = {"key": key, "identity": "id", "ledger": tmp_path / "book", "law_anyway": True}
    protocol.sanitise(WAVE, **keyed)
    for held in ({}, {"budget": 9.0}, {"policy": rules}, {"repeat": True}):
        with pytest.raises(BudgetError, match=r"inf|9 is all"):
            protocol.sanitise(changed(WAVE), **keyed, **held)
    assert "inf" in str(protocol.check(changed(WAVE), **keyed, repeat=True).refusals)


def test_it_is_drawn_on_purpose_only_and_says_what_that_supposes(tmp_path, key) -> None:
    protocol = dc.design(dc.Joint.from_table(WAVE, secret="s", release="x"), dc.LDP(0.4)).protocol
    keyed = {"key": key, "identity": "id", "ledger": tmp_path / "book", "law_anyway": True}
    protocol.sanitise(WAVE, **keyed)
    with pytest.raises(BudgetError, match="2 independent releases"):
        protocol.sanitise(changed(WAVE), **keyed)
    said = protocol.sanitise(changed(WAVE), **keyed, repeat=True).attrs["discreet release"]
    assert said["total_epsilon"] == total_epsilon(protocol, 2, one_of=2, tables=2) > 2 * protocol.epsilon
    assert said["condition"].endswith("without that, no bound")
    again = protocol.sanitise(WAVE, **keyed).attrs["discreet release"]
    assert again["independent_draws"] == 2, "what the key repeats is no draw"


def test_a_column_by_another_name_is_the_same_key(tmp_path, key) -> None:
    """Draws depend on the id, not on what its column is called: the same ids in another column shared their draws."""
    protocol = dc.design(dc.Joint.from_table(WAVE, secret="s", release="x"), dc.LDP(0.4)).protocol
    keyed = {"key": key, "ledger": tmp_path / "book", "law_anyway": True}
    protocol.sanitise(WAVE, **keyed, identity="id")
    renamed = changed(WAVE).rename(columns={"id": "number"})
    with pytest.raises(BudgetError, match="2 independent releases"):
        protocol.sanitise(renamed, **keyed, identity="number")
    said = protocol.sanitise(renamed, **keyed, identity="number", repeat=True).attrs["discreet release"]
    assert said["total_epsilon"] == total_epsilon(protocol, 2, one_of=2, tables=2)


def test_draws_without_a_key_may_be_of_values_that_changed(tmp_path) -> None:
    """Two waves that are independent given the secret tell 2ε together, the same record drawn twice less."""
    joint = dc.Joint.from_counts([[500, 500], [400, 600]], secrets=["A", "B"], releases=["v", "w"])
    protocol = dc.design(joint, dc.LDP(0.1)).protocol
    assert total_epsilon(protocol, 2) < 2 * protocol.epsilon - 1e-3
    table = pd.DataFrame({"s": ["A"] * 1000 + ["B"] * 1000, "x": ["v", "w"] * 500 + ["v"] * 400 + ["w"] * 600})
    table = table.rename(columns={"s": joint.secrets[0].name, "x": joint.releases[0].name})
    stated = [
        protocol.sanitise(table, ledger=tmp_path / "book", budget=9.0).attrs["discreet release"]["total_epsilon"]
        for _ in range(2)
    ]
    assert stated == pytest.approx([protocol.epsilon, 2 * protocol.epsilon], abs=1e-8)


def test_rows_that_are_drawn_by_themselves_may_all_change(tmp_path) -> None:
    """Three rows of a person, drawn in two years: six rows, once counted as three rows drawn twice."""
    protocol = random_protocol(np.random.default_rng(8))
    assert total_epsilon(protocol, 2, 3, one_of=2) >= total_epsilon(protocol, 1, 6) > total_epsilon(protocol, 1, 3)
    assert total_epsilon(protocol, 2, 3, tables=2) == np.inf
    assert unassumed_total(protocol, 2, 3) == pytest.approx(3 * unassumed_total(protocol, 2), abs=1e-8)
