"""Everybody can use it: axe-core finds nothing on any page, narrow and wide, light and dark; the keyboard reaches all.

axe-core (MPL 2.0) is no part of the package: it is taken from `node_modules`, from DISCREET_AXE, or fetched with npm.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import tarfile
from itertools import pairwise
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
AXE = "axe-core@4.14.0"
STEPS = ("table", "secret", "group", "promise", "check", "release")
ROLES = {"marital-status": "secret", "education": "release", "age": "release", "sex": "given"}
RUN = "async () => (await axe.run()).violations.map(v => [v.id, v.help, v.nodes.slice(0, 3).map(n => n.html)])"


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    for path in (os.environ.get("DISCREET_AXE", ""), ROOT / "node_modules/axe-core/axe.min.js"):
        if path and Path(path).is_file():
            return str(path)
    npm, folder = shutil.which("npm"), tmp_path_factory.mktemp("axe")
    if npm is None:
        pytest.skip("axe-core is not installed, and there is no npm to fetch it")
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run([npm, "pack", AXE], cwd=folder, capture_output=True, timeout=60)
    packed = list(folder.glob("*.tgz"))
    if not packed:
        pytest.skip("axe-core cannot be fetched with npm")
    with tarfile.open(packed[0]) as archive:
        archive.extract("package/axe.min.js", folder, filter="data")
    return str(folder / "package/axe.min.js")


@pytest.fixture(scope="module")
def project(studio: Any, adult_csv: Path) -> Any:
    """At its last step, with everything computed."""
    begun = studio.project(adult_csv, name="accessible", roles=ROLES, bins={"age": ["30", "45"]}, reached=6)
    for step in STEPS:
        if step != "promise":
            studio.settled(f"/p/{begun.slug}/{step}")
    return begun


@pytest.fixture(scope="module")
def ended(studio: Any, adult_csv: Path) -> list[str]:
    """The pages after a draw and after a refused one."""
    roles = {"occupation": "secret", "education": "release"}
    people = token_hex(8)  # a ledger outlives a test: these people were never released before
    drawn, again = (
        studio.project(adult_csv, name=name, roles=roles, epsilon=0.5, reached=6, people=people)
        for name in ("drawn", "again")
    )
    page = studio.settled(f"/p/{drawn.slug}/check")
    for warning in re.findall(r'data-read="([0-9a-f]+)"', page):
        studio.change(drawn, "read", {"warning": warning, "read": True})
    told = studio.post(f"/p/{drawn.slug}/draw", revision=drawn.saved().revision, sure=True)
    assert told["status"] == 200, told
    assert "Drawn once" in studio.settled(f"/p/{drawn.slug}/release")
    assert "A second draw is refused" in studio.settled(f"/p/{again.slug}/release")
    return [f"/p/{one.slug}/release" for one in (drawn, again)]


def context_of(studio: Any, browser: Any, width: int, scheme: str) -> Any:
    """Its policy is left out: axe-core is a script that no page loads by itself."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
    context.set_default_timeout(300_000)
    context.add_cookies([{"name": studio.keys.cookie, "value": studio.keys.session, "url": studio.origin}])
    return context


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1280, "dark")])
def test_axe_finds_nothing(
    studio: Any, browser: Any, axe: str, project: Any, ended: list[str], width: int, scheme: str
) -> None:
    context = context_of(studio, browser, width, scheme)
    tab, found = context.new_page(), {}
    for path in ("/projects", "/?new=1", "/nowhere", *(f"/p/{project.slug}/{step}" for step in STEPS), *ended):
        tab.goto(studio.origin + path)
        tab.wait_for_selector("main:not(:has([data-reload]))")
        tab.add_script_tag(path=axe)
        found[path] = tab.evaluate(RUN)
    context.close()
    assert {path: what for path, what in found.items() if what} == {}


def test_axe_finds_what_is_planted(studio: Any, browser: Any, axe: str) -> None:
    context = context_of(studio, browser, 1280, "light")
    tab = context.new_page()
    tab.goto(f"{studio.origin}/projects")
    tab.evaluate("() => { document.querySelector('main').append(document.createElement('input')); }")
    tab.add_script_tag(path=axe)
    assert "label" in [one[0] for one in tab.evaluate(RUN)]
    context.close()


def test_the_keyboard_reaches_every_control(studio: Any, browser: Any, project: Any) -> None:
    """Tab goes once around the page of groups and meets its borders, its boxes, the way and the decision."""
    context = context_of(studio, browser, 1280, "light")
    tab = context.new_page()
    tab.goto(f"{studio.origin}/p/{project.slug}/group")
    tab.wait_for_selector(".handle")
    met = set()
    for _ in range(120):
        tab.keyboard.press("Tab")
        met.add(tab.evaluate("document.activeElement.getAttribute('role') || document.activeElement.className"))
        if tab.evaluate("document.activeElement.dataset.go") == "4":
            break
    assert "slider" in met
    assert "skip" in met
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/promise")
    context.close()


def test_print_shows_every_table_and_no_control(studio: Any, browser: Any, project: Any) -> None:
    context = context_of(studio, browser, 1280, "light")
    tab = context.new_page()
    tab.goto(f"{studio.origin}/p/{project.slug}/check")
    tab.emulate_media(media="print")
    assert not tab.locator(".decision").is_visible()
    assert not tab.locator("nav.way").is_visible()
    assert tab.locator("#as-chance table").is_visible()
    context.close()


def test_ticks_of_the_trade_off_do_not_touch(studio: Any, browser: Any, project: Any) -> None:
    context = context_of(studio, browser, 390, "light")
    tab = context.new_page()
    tab.goto(f"{studio.origin}/p/{project.slug}/promise")
    for height in ("320", "337"):
        boxes = [one.bounding_box() for one in tab.locator(f"#trade > text[y='{height}']").all() if one.is_visible()]
        ends = sorted((box["x"], box["x"] + box["width"]) for box in boxes)
        assert len(ends) == 4
        assert all(before[1] + 8 <= after[0] for before, after in pairwise(ends)), ends
    context.close()
