"""Together: given columns, groups, robust promises, whoever reads the secret, whose rows. Every choice of the studio
gives the rules that its script gives, or is refused with what to do."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.exceptions import DiscreetError
from discreet.protocol.strata import load_protocol
from discreet.studio import scripts, searches
from discreet.studio.choices import NOTIONS, Choices
from discreet.studio.project import PROTOCOL, Project
from discreet.studio.tasks import rehearsal

WHOSE = {"person": "", "visit": "who", "household": "house"}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two rows of each of 600 people, two people in a house; houses share the secret."""
    draw, path = np.random.default_rng(1), tmp_path_factory.mktemp("together") / "t.csv"
    lines = ["who,house,health,age,colour,sex"]
    for house in range(300):
        ill = int(draw.integers(3))
        for row in range(4):
            colour = ill if draw.random() < 0.5 else int(draw.integers(3))
            age = int(draw.normal(40 + 5 * ill, 12))
            lines.append(f"p{house}-{row // 2},h{house},ill{ill},{age},colour{colour},{'fm'[row // 2]}")
    path.write_text("\n".join(lines) + "\n")
    return path


def choices(table: Path, given: bool, row: str, **more: Any) -> Choices:
    roles = {"who": "out", "house": "out", "health": "secret", "age": "release", "colour": "release"}
    roles["sex"] = "given" if given else "out"
    return Choices(
        table=str(table), name="n", roles=roles, bins={"age": ["40"]},
        merge={"colour": {"warm": ["colour0", "colour1"]}}, epsilon=0.8, row=row, person=WHOSE[row], **more,
    )  # fmt: skip


@pytest.mark.parametrize(("notion", "sees"), list(product(NOTIONS, (False, True))))
def test_the_studio_finds_what_its_script_finds(table: Path, tmp_path: Path, notion: str, sees: bool) -> None:
    for given, row in product((False, True), WHOSE):
        now = choices(table, given, row, notion=notion, sees_secret=sees)
        project = Project.begin(tmp_path / f"{given}-{row}", now)
        here, there = project.folder / PROTOCOL, tmp_path / "there.json"
        code = scripts.joint_python(now) + "\n" + scripts.design_python(now, str(there), 10.0)
        found = searches.find_rules(now.asked(), lambda kind, told: None, str(here), 10.0)
        exec("import discreet as dc\n" + code, {})
        again = load_protocol(there)
        assert again.epsilon <= 0.8 + 1e-9
        if found["status"] in ("optimal", "closed form"):  # else the clock decides, and the script uses what was found
            assert again.digest == found["digest"], (given, row)
        job = {"protocol": str(here), "source": str(table), "target": str(tmp_path / "r.csv"), "data": None,
               "rows": now.stated(), "repeat": False}  # fmt: skip
        checked = rehearsal({}, lambda kind, told: None, job, [], {})
        assert all(one["remedy"] for one in checked["check"]["refusals"])
        assert checked["preview"]["guess_release"] <= 1


def test_whose_rows_must_share_the_secret_of_a_household(table: Path) -> None:
    """Refused with what to do, where the studio is told of households that do not share it."""
    now = choices(table, False, "household")
    swapped = {**now.roles, "health": "out", "sex": "secret"}
    asked = Choices.of({**now.plain(), "roles": swapped}).question()
    with pytest.raises(DiscreetError, match="different values of the secret") as refused:
        searches.joint_for(asked)
    assert "choose a secret" in refused.value.remedy
