"""The whole way in a real Chromium: pictures that move, numbers that follow, one draw, and what the script repeats.

Screens are compared by what they say and contain, not by pixels.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.csv as pacsv
import pytest

from discreet.audit import audit
from discreet.protocol import Protocol

MERGE = {
    "education": {
        "No diploma": ["Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th"],
        "Associate": ["Assoc-voc", "Assoc-acdm"],
        "Doctorate": ["Prof-school", "Doctorate"],
    },
    "marital-status": {"Married": ["Married-civ-spouse", "Married-AF-spouse"]},
}


STICKS_OUT = """() => [...document.querySelectorAll('.halves .card')].filter(card => {
    const edge = card.getBoundingClientRect().right - parseFloat(getComputedStyle(card).paddingRight) + 1;
    return [...card.querySelectorAll('*')].some(one => one.getBoundingClientRect().right > edge);
}).map(card => card.textContent.trim().slice(0, 40))"""
"""Cards whose content is wider than they are."""


def go(page: Any, step: str) -> None:
    page.click("button.primary:has-text('Continue')")
    page.wait_for_url(f"**/{step}")
    settled(page)


def settled(page: Any) -> None:
    """Once no work stands between the page and what it shows, and its script has run."""
    page.wait_for_selector("main:not(:has([data-reload]))")
    page.wait_for_load_state("load")


def until(true: Callable[[], bool], seconds: float = 300) -> bool:
    """Whether it comes true: the browser draws a dragged border with its next picture, not at once."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def points(page: Any, least: int) -> None:
    """Wait for so many points of the curve of values. The page's policy forbids what playwright would wait with."""
    line = page.locator("#line-values")
    assert until(lambda: (line.get_attribute("d") or "").count("L") >= least)


def stopped_at(page: Any, least: int) -> None:
    points(page, least)
    with page.expect_response("**/stop"):
        page.click("text=Stop and keep the points there are")


def told(page: Any, name: str) -> str:
    return str(page.locator(f"[data-show='{name}']").first.inner_text())


def role(page: Any, column: str, value: str) -> None:
    group = page.get_by_role("radiogroup", name=f"Role of {column}", exact=True)
    with page.expect_navigation():
        group.locator(f"[value={value}]").click(force=True)  # not `check`: the page may be gone when it looks
    settled(page)


def read_everything(page: Any) -> None:
    while page.locator("[data-read]:not(:checked)").count():
        with page.expect_navigation():
            page.locator("[data-read]:not(:checked)").first.click()


def drawn(page: Any) -> None:
    page.click("text=Draw and write…")
    assert page.locator("[data-draw]").is_disabled()  # the draw asks twice
    page.check("#answer")
    page.click("[data-draw]")
    page.wait_for_selector("h1:has-text('Drawn once')")


def test_adult_from_the_table_to_the_release(studio: Any, page: Any, adult_csv: Path, tmp_path: Path) -> None:
    project = studio.project(adult_csv, merge=MERGE)
    page.goto(f"{studio.origin}/p/{project.slug}")
    settled(page)
    assert "32,561" in page.inner_text(".tiles")
    assert page.locator("td.shape rect").count() > 40
    go(page, "secret")
    assert page.locator("button.primary").is_disabled()  # nothing is secret, nothing released
    role(page, "marital-status", "secret")
    assert "relationship tells 57" in page.inner_text("h2")
    role(page, "age", "release")
    role(page, "education", "release")
    page.wait_for_selector("text=If nothing were done")
    go(page, "group")

    before = told(page, "tells"), page.locator(".band").nth(1).get_attribute("x")
    handle = page.locator(".handle").first
    page.wait_for_load_state("networkidle")  # what comes later may move the picture
    handle.locator("circle").hover()  # once it stands still and nothing lies over it
    page.mouse.down()
    box = handle.locator("circle").bounding_box()
    page.mouse.move(box["x"] + 70, box["y"], steps=5)
    assert until(lambda: told(page, "tells") != before[0])  # while it is dragged
    assert until(lambda: page.locator(".band").nth(1).get_attribute("x") != before[1])
    page.mouse.up()
    page.wait_for_selector(".toast:has-text('Border moved to')")
    edges = project.saved().now.bins["age"]
    assert float(edges[0]) == float(handle.get_attribute("aria-valuenow"))
    handle.focus()
    page.keyboard.press("ArrowLeft")
    assert float(handle.get_attribute("aria-valuenow")) == float(edges[0]) - 1
    page.wait_for_selector(f".toast:has-text('moved to {float(edges[0]) - 1:g}')")
    with page.expect_navigation():
        page.keyboard.press("Control+z")
    settled(page)
    assert page.locator(".handle").first.get_attribute("aria-valuenow") == edges[0]
    assert told(page, "kept") == "—"
    with studio.held("curve", 14):
        go(page, "promise")
        stopped_at(page, 13)
    page.wait_for_selector("main:not(:has([data-curve]))")  # in place: nothing jumps
    assert page.locator("[data-points] tbody tr").count() >= 13
    low = told(page, "value")
    page.locator("#eps").fill("1.4")
    assert int(re.findall(r"\d+", told(page, "value"))[0]) > int(re.findall(r"\d+", low)[0])
    assert told(page, "factor") == "× 4.06"
    assert "Read off the curve" in told(page, "preview") or told(page, "preview") == ""
    page.locator("#need").fill("70")
    page.wait_for_selector(".toast:has-text('70\u202f% needs')")  # found by halving, after the preview
    found = project.saved().now.epsilon
    assert 0.2 < found < 1.4  # the smallest promise that gives it
    assert told(page, "preview") == ""
    assert "smallest promise" in told(page, "need-words")
    assert int(re.findall(r"\d+", told(page, "value"))[0]) == 70
    assert float(page.locator("#eps").input_value()) == pytest.approx(found, abs=0.006)
    go(page, "check")

    assert page.locator("#as-chance tbody tr").count() == 6 + 1
    assert page.locator("rect.m-none.l-chosen").count() >= 6  # the frame of the promise
    wide = told(page, "pm0")
    page.locator("#rows").fill("0")
    assert told(page, "pm0") != wide
    page.click("text=As change")
    assert page.locator("#as-change").is_visible()
    go(page, "release")
    assert page.locator("text=The draw waits").is_visible()
    assert page.locator("[data-open]").is_disabled()
    page.click("a:has-text('Read them')")
    read_everything(page)
    go(page, "release")
    script = page.locator("[data-pane=all]").text_content()
    drawn(page)

    released = project.released_file
    manifest = json.loads(project.manifest_file.read_text())
    assert manifest["file"]["sha256"] == hashlib.sha256(released.read_bytes()).hexdigest()
    protocol = Protocol.load(project.folder / "protocol.json")
    assert manifest["protocol"]["sha256"] == protocol.digest
    assert audit(protocol).levels["LIP"].epsilon <= found + 1e-9
    assert sum(1 for _ in released.open()) == 32562
    _repeated(script, project, tmp_path)
    page.goto(f"{studio.origin}/p/{project.slug}/promise")
    assert page.locator("[data-undo]").count() == 0
    assert studio.post(f"/p/{project.slug}/draw", revision=project.saved().revision, sure=True)["status"] == 400


def _repeated(script: str, project: Any, tmp_path: Path) -> None:
    """The script that was shown, from the testing source, into another folder: the same rules and the same rows."""
    folder = os.path.relpath(project.folder)
    folder = folder if folder in script else str(project.folder)
    assert folder in script
    there = script.replace(folder, str(tmp_path)).replace("target=", "testing=True, target=")
    (tmp_path / "release").mkdir()
    (tmp_path / "again.py").write_text(there)
    home = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path), "HOME": str(tmp_path)}
    ran = subprocess.run([sys.executable, str(tmp_path / "again.py")], env=home, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-2000:]
    again = tmp_path / "release" / project.released_file.name
    assert (tmp_path / "protocol.json").read_bytes() == (project.folder / "protocol.json").read_bytes()
    assert again.read_bytes() == project.released_file.read_bytes()


def messy(path: Path) -> Path:
    """Semicolons, hostile letters, gaps, a column of numbers with words in it, one of names, one of long texts."""
    drawn_ = random.Random(7)
    colours = ["red", "Red ", "<script>alert(1)</script>", "a;b", '"quoted"', "é\u202edesrever", "", "=1+1"]
    lines = ["id;health;col,our;<b>size</b>;note;empty"]
    for number in range(3000):
        ill = drawn_.random() < 0.4
        colour = drawn_.choices(colours, [9, 3, 4, 3, 3, 2, 2, 1 + 5 * ill])[0].replace('"', '""')
        size = drawn_.gauss(50 + 10 * ill, 12)
        told_size = "n/a" if drawn_.random() < 0.02 else f"{size:.1f}"
        health = "ill\x07" if ill else "well & fine"
        lines.append(f'P{number:05};{health};"{colour}";{told_size};{"long text " * 6}{number};')
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_messy_table_from_an_upload_to_the_release(studio: Any, page: Any, tmp_path: Path) -> None:
    page.goto(f"{studio.origin}/?new=1")
    with page.expect_navigation(url="**/table"):
        page.set_input_files("#file", messy(tmp_path / "me<s>sy.csv"))
    settled(page)
    assert "3,000" in page.inner_text(".tiles")
    assert "names people" in page.inner_text("main")
    go(page, "secret")
    for column, value in (("health", "secret"), ("col,our", "release"), ("<b>size</b>", "release")):
        role(page, column, value)
    go(page, "group")
    assert "\x07" not in page.content()
    assert told(page, "decided").startswith("<b>size</b> in 7; col,our in 8; ")  # rows without a value are a group
    assert page.locator("h2:has-text('<b>size</b> in 7 groups')").count() == 1
    assert page.locator("section:has(h2:has-text('col,our in 8 groups')) th:has-text('missing')").count() == 1
    page.locator("[data-equal]").first.click()
    page.wait_for_selector(".toast:has-text('Equal shares')")
    page.locator("[data-pick]").nth(0).check()
    page.locator("[data-pick]").nth(1).check()
    page.locator(".merge-name").first.fill("two <i>together</i>")
    with page.expect_navigation():
        page.locator("[data-merge]").first.click()
    settled(page)
    assert page.locator("th:has-text('two <i>together</i>')").count() == 1
    with studio.held("curve", 4):
        go(page, "promise")
        stopped_at(page, 3)
    page.wait_for_selector("main:not(:has([data-curve]))")
    assert "Stopped at" in told(page, "progress")
    points(page, 2)  # they are kept
    go(page, "check")
    labels_are_apart(page)
    read_everything(page)
    go(page, "release")
    drawn(page)
    project = next(one for one in studio.site.shelf.projects() if one.slug.startswith("me-s-sy"))
    released = pacsv.read_csv(project.released_file, parse_options=pacsv.ParseOptions(delimiter=","))
    assert released.num_rows == 3000
    assert "two <i>together</i>" in str(released.to_pylist())
    assert audit(Protocol.load(project.folder / "protocol.json")).levels["LIP"].epsilon <= 0.69 + 1e-9


def labels_are_apart(page: Any) -> None:
    """Under every picture of bars, also where names are long; text is not cut off by the picture's edge."""
    axes = [row.locator("text").all() for row in page.locator("table.rows tr[aria-hidden=true]:visible").all()]
    assert len(axes) >= 4
    for labels in axes:
        boxes = [label.bounding_box() for label in labels]
        ends = [(box["x"], box["x"] + box["width"]) for box in boxes]
        assert all(before[1] + 2 < after[0] for before, after in pairwise(ends)), ends


@pytest.fixture(scope="module")
def decided(studio: Any, adult_csv: Path) -> Any:
    """A project at its last step."""
    roles = {"marital-status": "secret", "education": "release", "age": "release"}
    return studio.project(adult_csv, name="decided", roles=roles, bins={"age": ["30", "45"]}, merge=MERGE, reached=6)


@pytest.mark.parametrize("width", [390, 1000, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_the_screen(studio: Any, page: Any, decided: Any, width: int, scheme: str) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    for step in ("table", "secret", "group", "promise", "check", "release"):
        page.goto(f"{studio.origin}/p/{decided.slug}/{step}")
        settled(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, step
        assert width < 1000 or page.evaluate(STICKS_OUT) == [], step
        assert page.locator("h1").count() == 1
        assert page.locator(".drawer [data-pane=cmd]").text_content().startswith("discreet ")
        assert page.locator(".drawer [data-pane=py]").text_content().strip()


def test_two_tabs_of_one_project_do_not_lose_a_change(studio: Any, page: Any, adult_csv: Path) -> None:
    project = studio.project(adult_csv, name="tabs")
    page.goto(f"{studio.origin}/p/{project.slug}/table")
    settled(page)
    other = page.context.new_page()
    other.goto(f"{studio.origin}/p/{project.slug}/table")
    settled(other)
    with page.expect_navigation():
        page.click("[name=row][value=visit]")
    with other.expect_navigation():  # told, and loaded again with the change of the first
        other.click("[name=row][value=household]", force=True)
    other.wait_for_selector(".toast:has-text('another tab')")
    assert project.saved().now.row == "visit"
    assert other.locator("[name=row][value=visit]").is_checked()
