"""Hypothesis profiles: the same examples on every run, unless HYPOTHESIS_PROFILE=explore asks for new ones.

Ctrl-C reaches the tests even where they were started in the background, which ignores it.
The ledger of all copies of a protocol lies in the user's data folder; every test has one of its own.
"""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("repeatable", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


def pytest_configure(config: pytest.Config) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    folder = tempfile.TemporaryDirectory(prefix="discreet-tests-")  # for fixtures that live longer than one test
    config.add_cleanup(folder.cleanup)
    os.environ["XDG_DATA_HOME"] = folder.name


@pytest.fixture(autouse=True)
def own_data_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("data")
    monkeypatch.setenv("XDG_DATA_HOME", str(folder))
    return folder
