"""A small table and its protocol, made once through the command line itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from discreet.cli.app import run

CANARY = "CANARYx88b2"


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with people.csv and protocol.json."""
    folder = tmp_path_factory.mktemp("made")
    rng = np.random.default_rng(0)
    lines = ["name,health,colour,region"]
    for i in range(400):
        ill = rng.random() < 0.4
        colour = rng.choice(["red", "green", "blue"], p=[0.6, 0.3, 0.1] if ill else [0.2, 0.3, 0.5])
        lines.append(f"{CANARY}-{i},{'ill' if ill else 'well'},{colour},region {i % 5}")
    (folder / "people.csv").write_text("\n".join(lines) + "\n")
    table, out = str(folder / "people.csv"), str(folder / "protocol.json")
    arguments = ["design", table, "--secret", "health", "--release", "colour", "--epsilon", "0.5", "--no-curve"]
    assert run([*arguments, "--out", out]) == 0
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """A copy of it to work in."""
    for name in ("people.csv", "protocol.json"):
        (tmp_path / name).write_bytes((made / name).read_bytes())
    return tmp_path
