"""What a policy's k may be where one of several rows of a person is chosen: a check says what may come out."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.policy import Policy
from discreet.release.chosen_cells import ChosenCells


def people(rare: int, others: str = "common") -> pa.Table:
    """So many of 400 people are in the rare ward in the first of their two rows, and in another one in the second."""
    g, rows = np.random.default_rng(0), []
    for i in range(400):
        for k in range(2):
            ward = "rare" if i < rare and (k == 0 or others == "rare") else "common"
            rows.append((f"P{i:05d}", ["no", "yes"][i % 2], "ab"[int(g.integers(0, 2))], ward))
    return pa.table(dict(zip(("person", "s", "x", "ward"), map(list, zip(*rows, strict=True)), strict=True)))


def told(table: pa.Table, k: int) -> Any:
    joint = dc.Joint.from_table(table, secret="s", release="x", person="person", rows="one")
    protocol = dc.design(joint, dc.LIP(0.5)).protocol
    asked = {"keep": ["ward"], "policy": Policy.of({"k": k}), "keep_anyway": True}
    refused = []
    for _ in range(12):
        try:
            protocol.sanitise(table, **asked)
        except dc.ReleaseError as error:
            refused.append(str(error))
    return protocol.check(table, **asked), refused


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_may_come_out_is_said() -> None:
    """The check foretold k of rows of its own choice and never refused; about every second release did."""
    check, refused = told(people(10), 5)
    assert not check.refusals
    assert any("k is between 1 and 390" in one.what or "between 1 and 400" in one.what for one in check.warnings)
    assert all("Nothing was released" in one for one in refused)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("k", [10, 11])
def test_what_is_certain_is_foretold(k: int) -> None:
    """Ten people are in the rare ward whichever row is chosen."""
    check, refused = told(people(10, "rare"), k)
    assert bool(check.refusals) == (k > 10)
    assert not any("is chosen then" in one.what for one in check.warnings)
    assert len(refused) == (12 if k > 10 else 0)


def test_bounds_hold_for_every_choice() -> None:
    g = np.random.default_rng(2)
    for _ in range(30):
        persons = np.sort(g.integers(0, 5, 9))
        persons = np.unique(persons, return_inverse=True)[1]
        cells = g.integers(0, 3, (2, 9))
        batch = pa.record_batch({"a": cells[0], "b": cells[1]})
        found = ChosenCells.of([batch.slice(0, 4), batch.slice(4)], ["a", "b"], persons)
        choices = product(*(np.flatnonzero(persons == one) for one in range(persons.max() + 1)))
        smallest = [np.unique(cells[:, list(one)], axis=1, return_counts=True)[1].min() for one in choices]
        assert found.least <= min(smallest) <= max(smallest) <= found.most
