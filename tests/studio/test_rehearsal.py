"""Step 5 is `discreet check`: the same figures, the same warnings, the same policy."""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROLES = {"health": "secret", "work": "release", "score": "release", "region": "out"}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    drawn = random.Random(3)
    path, rows = tmp_path_factory.mktemp("table") / "people.csv", ["health,work,score,region"]
    for _ in range(2500):
        ill = drawn.random() < 0.3
        work = drawn.choices(["none", "part", "full", "?"], [1 + 2 * ill, 2, 5, 0.5])[0]
        rows.append(f"{'ill' if ill else 'well'},{work},{drawn.randint(1, 4)},{'north' if work == 'none' else 'south'}")
    path.write_text("\n".join(rows) + "\n")
    return path


def checked(command: str, **environment: str) -> dict[str, Any]:
    """What the command of the page says, with --json."""
    words = shlex.split(command.replace("\\\n", " "))
    assert words[:2] == ["discreet", "check"]
    line = [sys.executable, "-c", "from discreet.cli import main; main()", *words[1:], "--json"]
    ran = subprocess.run(line, capture_output=True, text=True, env={**os.environ, **environment})
    return dict(json.loads(ran.stdout))


def flat(text: str) -> str:
    return " ".join(text.split())


def test_the_page_has_the_figures_of_the_command(studio: Any, page: Any, table: Path) -> None:
    project = studio.project(table, name="figures", roles=ROLES, reached=5)
    page.goto(f"{studio.origin}/p/{project.slug}/check")
    page.wait_for_selector("main:not(:has([data-reload]))")
    told = checked(page.locator("[data-pane=cmd]").text_content())
    page.click("text=The figures of the rehearsal")
    rows = dict(
        re.split(r"\t", line) for line in page.locator("details:has-text('rehearsal') table").inner_text().splitlines()
    )
    expected = {"rows": f"{told['records']:,}"}
    expected |= {f"unknown in {one['name']}": f"{one['unknown']:,}" for one in told["columns"]}
    expected["level at the table’s own proportions"] = f"{told['law']['level']:.4g}"
    expected["draws with this one"] = f"{told['account']['draws']}, ε {told['account']['epsilon']:.4g} together"
    expected["expected size"] = f"{told['size'] / 1e6:.1f} MB"
    assert rows == expected
    assert told["records"] == 2500
    words = flat(page.inner_text("main"))
    for one in told["warnings"]:
        assert flat(one["what"])[1:] in words
    assert told["refusals"] == []
    assert page.locator("[role=alert]").count() == 0


def test_a_relation_with_a_column_left_out_is_measured(studio: Any, page: Any, table: Path) -> None:
    """In the table nobody without work lives in the south; among the released some do, as the rules say."""
    project = studio.project(table, name="left out", roles=ROLES, epsilon=0.3, reached=5)
    page.goto(f"{studio.origin}/p/{project.slug}/check")
    page.wait_for_selector("main:not(:has([data-reload]))")
    words = flat(page.locator(".callout:has-text('left out')").inner_text())
    found = re.search(r"released with work “none”, (\d+) % have region “north”; in the table it is (\d+) %", words)
    assert found, words
    assert int(found[2]) == 100
    assert int(found[1]) < 95


def test_a_policy_refuses_and_is_quoted(
    studio: Any, page: Any, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, another_studio: Any
) -> None:
    """A worker that starts under the policy says what the command says, in the words of its file."""
    policy = tmp_path / "policy.toml"
    policy.write_text('notions = ["RLDP"]\n\n[epsilon]\nRLDP = 0.5\n')
    project = studio.project(table, name="policy", roles=ROLES, reached=6)
    studio.settled(f"/p/{project.slug}/check")
    page.goto(f"{studio.origin}/p/{project.slug}/check")
    command = page.locator("[data-pane=cmd]").text_content()
    assert checked(command)["refusals"] == []
    monkeypatch.setenv("DISCREET_POLICY", str(policy))
    said = checked(command)["refusals"]
    assert len(said) == 1
    with another_studio() as other:
        under = other.project(table, name="policy", roles=ROLES, reached=6)
        other.settled(f"/p/{under.slug}/check")
        page.context.add_cookies([{"name": other.keys.cookie, "value": other.keys.session, "url": other.origin}])
        for step in ("check", "release"):
            page.goto(f"{other.origin}/p/{under.slug}/{step}")
            page.wait_for_selector("main:not(:has([data-reload]))")
            words = flat(page.locator("[role=alert]").inner_text())
            assert flat(said[0]["what"]) in words
            assert "the policy says notions = ['RLDP']" in words
        assert other.post(f"/p/{under.slug}/draw", revision=under.saved().revision, sure=True)["status"] == 400
        assert not under.drawn
