"""The example of a weakened relation: what is foretold is what a release shows, in every form of the rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest

import discreet as dc
from discreet.study.left_out import weakened_relation

ROWS = 40_000
GROUP = dc.Grouping(merge={"work": {"other": ["c", "d"]}})


@pytest.fixture(scope="module")
def people() -> pa.Table:
    draw = np.random.default_rng(5)
    ill, sex = draw.random(ROWS) < 0.4, draw.integers(0, 2, ROWS)
    work = np.array(["a", "b", "c", "d"])[np.clip(draw.poisson(0.6 + ill + 0.3 * sex), 0, 3)]
    region = np.where((work == "a") & (draw.random(ROWS) < 0.9), "north", "south")
    health = np.where(ill, "ill", "well")
    return pa.table({"health": health, "sex": np.array(["f", "m"])[sex], "work": work, "region": region})


@pytest.mark.parametrize("sees", [False, True])
@pytest.mark.parametrize("given", [(), ("sex",)])
def test_what_is_foretold_is_what_is_released(people: pa.Table, sees: bool, given: tuple[str, ...]) -> None:
    joint: Any = dc.Joint.from_table(
        people, secret=["health"], release=["work"], given=list(given) or None, group=GROUP
    )
    design = dc.design(joint, dc.LIP(0.2), utility=dc.Agreement(), sees_secret=sees, force=True)
    found = weakened_relation(design.protocol, people, ["region"], GROUP)
    assert found is not None
    assert found.column == "region"
    truth = np.array(people["region"].to_pylist())
    work = np.array(people["work"].to_pylist())
    work = np.where(np.isin(work, ["c", "d"]), "other", work)
    assert found.before == pytest.approx((truth[work == found.letter] == found.value).mean(), abs=1e-12)
    released = _released(design.protocol, people, work, given, sees)
    among = truth[released == found.letter] == found.value
    spread = 4 * np.sqrt(0.25 / len(among))
    assert abs(among.mean() - found.after) < spread
    assert abs(found.before - found.after) > 2 * spread  # the control: a release that changed nothing would fail


def _released(protocol: Any, people: pa.Table, work: Any, given: tuple[str, ...], sees: bool) -> Any:
    """Drawn here, from Q alone, in the order of the table."""
    draw, out = np.random.default_rng(9), np.empty(len(work), object)
    health, sex = (np.array(people[name].to_pylist()) for name in ("health", "sex"))
    strata = [(sex == key[0], one) for key, one in protocol.strata.items()] if given else [(sex != "", protocol)]
    for rows, one in strata:
        for z, letter in enumerate(one.joint.letters):
            s, x = letter if sees else (None, letter)
            mine = rows & (work == x) & ((health == s) if sees else True)
            law = one.matrix[:, z] / one.matrix[:, z].sum()
            out[mine] = draw.choice(np.array(one.outputs, object), mine.sum(), p=law)
    return out


def test_there_is_none_where_outputs_are_codes_or_letters_are_others(people: pa.Table, tmp_path: Path) -> None:
    joint = dc.Joint.from_table(people, secret=["health"], release=["work"], group=GROUP)
    codes = dc.design(joint, dc.LIP(0.2)).protocol
    assert weakened_relation(codes, people, ["region"], GROUP) is None
    values = dc.design(joint, dc.LIP(0.2), utility=dc.Agreement()).protocol
    assert weakened_relation(values, people, [], GROUP) is None
    assert weakened_relation(values, people, ["region"], dc.Grouping()) is None
    path = tmp_path / "few.csv"
    pacsv.write_csv(people.slice(0, 60), path)
    assert weakened_relation(values, str(path), ["region"], GROUP) is None  # too few people to show
