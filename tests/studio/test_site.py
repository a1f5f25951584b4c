"""Pages over HTTP: hostile letters on every page, paths that lead nowhere, a kill and a return, a second draw."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from discreet.protocol.strata import load_protocol
from discreet.release.ledger import Ledger
from discreet.studio.project import Project

STEPS = ("table", "secret", "group", "promise", "check", "release")
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "bell\x07",
    "{{7*7}}",
    "rtl\u202egpj",
    "</script>",
)


@pytest.fixture(scope="module")
def hostile_table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hostile letters as the names of columns and as values with more than fifty rows each."""
    path = tmp_path_factory.mktemp("hostile") / "t.csv"
    names = ["<b onclick=x>secret</b>", "</script><script>alert(2)</script>", "size'\""]
    lines = [",".join('"' + name.replace('"', '""') + '"' for name in names)]
    for number in range(1200):
        value = HOSTILE[number % len(HOSTILE)].replace('"', '""')
        lines.append(f'"{"yes<i>" if (number * 7) % 5 < 2 else "no&amp;"}","{value}",{number % 23}')
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def project(studio: Any, hostile_table: Path) -> Project:
    """At its last step."""
    names = hostile_table.read_text().splitlines()[0]
    secret, release, size = (name.replace('""', '"') for name in re.findall(r'"((?:[^"]|"")*)"', names))
    roles = {secret: "secret", release: "release", size: "release"}
    begun = studio.project(
        hostile_table, name="hostile", roles=roles, bins={size: ["7", "15"]}, reached=6, people="<u>x</u>"
    )
    begun.change(1, lambda now: now.changed("name", "<h1>mine\x08</h1>"))
    return begun


def test_hostile_letters_are_text_on_every_page(studio: Any, project: Project) -> None:
    for path in ("/projects", *(f"/p/{project.slug}/{step}" for step in STEPS)):
        page = studio.get(path) if path.endswith("promise") else studio.settled(path)
        shown = re.sub(r'<script type="application/json" id="data">.*?</script>', "", page, flags=re.DOTALL)
        for tag in ("<script>alert", "<img src=x", "<b onclick", "<h1>mine", "<u>x", "yes<i>"):
            assert tag not in shown, (path, tag)
        assert not re.search(r"[\x00-\x08\x0b-\x1f\u202a-\u202e]", page), path
        assert "49" not in re.findall(r"\{\{7\*7\}\}|>49<", page), path
        inside = re.findall(r'id="data">(.*?)</script>', page, flags=re.DOTALL)
        assert all(json.loads(one) is not None for one in inside)
        assert len(re.findall(r"<script", shown)) <= 2


def test_what_is_shown_can_be_copied(studio: Any, project: Project, tmp_path: Path) -> None:
    """The Python of the page of groups, with every hostile letter in it, runs as it stands."""
    page = studio.settled(f"/p/{project.slug}/group")
    code = html.unescape(re.findall(r'data-pane="py" hidden>(.*?)</pre>', page, flags=re.DOTALL)[0])
    ran = subprocess.run([sys.executable, "-c", code + "\nprint(joint.n)"], capture_output=True, text=True)
    assert ran.stdout.strip() == "1200", ran.stderr[-800:]


@pytest.mark.parametrize(
    "path",
    [
        "/p/../../etc/passwd",
        "/p/..%2f..%2fetc/table",
        "/p/%2e%2e/table",
        "/p/hostile/files/..%2f..%2fstudio.json",
        "/p/hostile/files/studio.json",
        "/p/hostile/files/%2fetc%2fpasswd",
        "/static/..%2fsite.py",
        "/static/site.py",
        "/p/hostile/nosuchstep",
        "/p/nosuchproject/table",
        "/p/hostile/table/more",
    ],
)
def test_paths_lead_nowhere(studio: Any, project: Project, path: str) -> None:
    status, headers, content = studio.request("GET", path)
    assert status == 404
    assert b"no such page" in content
    assert "content-security-policy" in headers
    assert b"root:" not in content


@pytest.mark.parametrize("name", ["../../x.csv", "x.exe", "", "a/b.csv", "..\\..\\evil.csv", "%00.csv"])
def test_an_upload_stays_in_a_folder_of_its_own(studio: Any, name: str) -> None:
    from urllib.parse import quote

    before = set(studio.folder.parent.rglob("*"))
    status, _, content = studio.request("POST", f"/tables?name={quote(name)}", b"a,b\n1,2\n")
    new = {path for path in set(studio.folder.parent.rglob("*")) - before if path.is_file()}
    assert all(path.is_relative_to(studio.folder) for path in new)
    assert {path.name for path in new} <= {"table.csv", "studio.json", ".studio.lock"}
    assert status in (200, 400), content


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b"null", b'{"key": "table", "value": "/etc/passwd"}', b'{"revision": "1"}', b"\xff"]
)
def test_what_is_no_change_is_refused(studio: Any, project: Project, body: bytes) -> None:
    before = (project.folder / "studio.json").read_bytes()
    headers = {"content-type": "application/json"}
    status, _, content = studio.request("POST", f"/p/{project.slug}/change", body, headers)
    assert status in (400, 409)
    assert "error" in json.loads(content)
    assert (project.folder / "studio.json").read_bytes() == before


def test_half_a_surrogate_is_no_name(studio: Any, project: Project) -> None:
    revision = project.saved().revision
    told = studio.change(project, "name", "half \ud83d of one")
    assert told["status"] == 400
    assert project.saved().revision == revision


def test_a_form_of_another_page_is_no_change(studio: Any, project: Project) -> None:
    """A plain form cannot send JSON by its type; even one of our own origin is refused."""
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        status, _, _ = studio.request("POST", f"/p/{project.slug}/undo", b'{"revision": 1}', {"content-type": kind})
        assert status == 400


def test_steps_not_reached_yet_lead_back(studio: Any, hostile_table: Path) -> None:
    begun = studio.project(hostile_table, name="new")
    status, headers, _ = studio.request("GET", f"/p/{begun.slug}/release")
    assert (status, headers["location"]) == (303, f"/p/{begun.slug}")
    studio.settled(f"/p/{begun.slug}/table")
    assert studio.post(f"/p/{begun.slug}/reach", step=3)["error"]["where"] == "step 2"
    assert studio.post(f"/p/{begun.slug}/draw", revision=1, sure=True)["status"] == 400
    assert not begun.drawn


def test_a_second_draw_is_refused_as_on_the_command_line(studio: Any, adult_csv: Path) -> None:
    """What the ledger has against these people stands on the page, nothing is written, and the draw does not begin."""
    roles = {"occupation": "secret", "education": "release"}
    project = studio.project(adult_csv, name="twice", roles=roles, epsilon=0.5, reached=6, people="the first wave")
    assert "Ready to publish" in studio.settled(f"/p/{project.slug}/release")
    path = project.folder / "protocol.json"
    Ledger.beside(path, load_protocol(path), "the first wave").enter()
    page = html.unescape(studio.settled(f"/p/{project.slug}/release"))
    assert "A second draw is refused" in page
    assert "2 independent releases of the same records" in page
    assert studio.post(f"/p/{project.slug}/draw", revision=1, sure=True)["status"] == 400
    line = [sys.executable, "-c", "from discreet.cli import main; main()", "sanitise", str(path), str(adult_csv)]
    words = [str(project.folder / "again.csv"), "--people", "the first wave", "--one-row-per-person"]
    ran = subprocess.run([*line, *words], capture_output=True, text=True)
    assert ran.returncode == 6
    assert "2 independent releases of the same records" in " ".join(ran.stderr.split())
    assert not project.drawn
    assert list((project.folder / "release").iterdir()) == []
    studio.change(project, "people", "the second wave")  # other people: nothing adds up
    assert "Ready to publish" in studio.settled(f"/p/{project.slug}/release")
