"""A policy says no in its own words, and refuses everything when it cannot be read."""

from dataclasses import replace
from pathlib import Path

import pytest

from discreet.exceptions import ParameterError
from discreet.files.toml_file import LARGEST_FILE
from discreet.policy import VARIABLE, Circumstances, Policy

FILE = """
notions = ["LIP", "RLDP"]
records_per_secret = 30
k = 5
given = ["sex"]
robust = true

[epsilon]
LIP = 0.5
RLDP = 1.0
"""
FINE = Circumstances("RLDP", 1.0, True, ("sex", "income"), 30, 5)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "policy.toml").write_text(FILE)
    return tmp_path / "policy.toml"


def test_what_is_allowed_is_allowed(path: Path) -> None:
    assert Policy.read(path).breaches(FINE) == []
    assert Policy.of({}).breaches(Circumstances("LDP", 9.0, False, (), None, None)) == []


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"notion": "LDP"}, "notions"),
        ({"epsilon": 1.0000001}, "epsilon.RLDP"),
        ({"robust": False}, "robust"),
        ({"given": ("income",)}, "given"),
        ({"records_per_secret": 29}, "records_per_secret"),
        ({"records_per_secret": None}, "records_per_secret"),
        ({"k": 4}, "k"),
        ({"k": None}, "k"),
    ],
)
def test_each_rule_is_quoted(path: Path, change: dict[str, object], rule: str) -> None:
    (breach,) = Policy.read(path).breaches(replace(FINE, **change))
    assert breach.rule.startswith(rule)
    assert "the policy says" in str(breach)


def test_levels_alone_allow_no_other_notion() -> None:
    assert Policy.of({"epsilon": {"LIP": 1}}).breaches(FINE)


@pytest.mark.parametrize(
    "text",
    [
        *("notion = []", "k = -1", "k = true", "k = 2.5", "robust = 1", 'given = "sex"', "epsilon = 0.5"),
        *("[epsilon]\nLIP = -1", "[epsilon]\nLIP = inf", "k = ", "\xff"),
        *('notions = ["LPI"]', "[epsilon]\nLPI = 0.5", 'notions = ["LIP"]\n[epsilon]\nlip = 0.5'),
    ],
)
def test_what_cannot_be_read_refuses(tmp_path: Path, text: str) -> None:
    path = tmp_path / "policy.toml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ParameterError):
        Policy.read(path)


def test_a_rule_beyond_what_is_read_is_not_overlooked(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text("k = 5\n" + "#" * (LARGEST_FILE - len("k = 5\n")) + "\nrobust = true\n")
    with pytest.raises(ParameterError, match="cannot be read"):
        Policy.read(path)


def test_a_near_name_is_offered(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="Did you mean records_per_secret"):
        Policy.of({"records_per_secrets": 3})


def test_a_policy_that_is_cut_short_loses_no_rule(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text('notions = ["LIP"]\n#' + "." * LARGEST_FILE + "\nk = 5\n")
    with pytest.raises(ParameterError, match="above 1 MiB"):
        Policy.read(path)


def test_a_notion_nobody_knows_is_named(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="Did you mean RLDP"):
        Policy.of({"notions": ["LIP"], "epsilon": {"RLDPP": 1}})


def test_the_environment_names_one(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Policy.in_force() is None
    monkeypatch.setenv(VARIABLE, str(path))
    found = Policy.in_force()
    assert found is not None
    assert found.digest == Policy.read(path).digest
    monkeypatch.setenv(VARIABLE, str(path.parent / "nowhere"))
    with pytest.raises(ParameterError):
        Policy.in_force()
