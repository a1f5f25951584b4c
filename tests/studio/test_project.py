"""Nothing is lost: every decision is saved, taken back and done again; other tabs are told; a draw ends it."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from discreet.exceptions import ParameterError
from discreet.studio.choices import Choices
from discreet.studio.project import STATE, AlreadyReleased, OtherTab, Project, Shelf

ROLES = {"a": "secret", "b": "release", "c": "out"}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.begin(tmp_path / "study", Choices(table="t.csv", name="study", roles=ROLES))


def test_a_decision_is_saved_and_taken_back_whole(project: Project) -> None:
    project.change(1, lambda now: now.changed("epsilon", 1.0))
    project.change(2, lambda now: now.changed("bins", {"column": "b", "edges": ["1", "2.5"]}))
    again = Project(project.folder).saved()  # as after a restart
    assert (again.now.epsilon, again.now.bins, again.revision) == (1.0, {"b": ["1", "2.5"]}, 3)
    assert project.undo(3).now.bins == {}
    assert project.undo(4).now == Choices(table="t.csv", name="study", roles=ROLES)
    assert project.undo(5).revision == 5  # nothing before
    assert project.redo(5).now.epsilon == 1.0
    assert project.redo(6).now.bins == {"b": ["1", "2.5"]}
    assert project.saved().future == ()


def test_a_new_decision_ends_what_could_be_done_again(project: Project) -> None:
    project.change(1, lambda now: now.changed("epsilon", 1.0))
    project.undo(2)
    project.change(3, lambda now: now.changed("epsilon", 1.5))
    assert project.redo(4).now.epsilon == 1.5


def test_an_older_tab_is_told_and_changes_nothing(project: Project) -> None:
    project.change(1, lambda now: now.changed("epsilon", 1.0))
    with pytest.raises(OtherTab, match="another tab"):
        project.change(1, lambda now: now.changed("epsilon", 0.1))
    assert project.saved().now.epsilon == 1.0


def test_many_tabs_at_once_lose_nothing(project: Project) -> None:
    """Every change that was taken is a step that can be taken back; exactly those."""
    taken: list[int] = []

    def tab(number: int) -> None:
        for _ in range(10):
            try:
                project.change(
                    project.saved().revision, lambda now: now.changed("name", f"tab {number} {now.name}"[:90])
                )
                taken.append(number)
            except OtherTab:
                pass

    threads = [threading.Thread(target=tab, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    saved = project.saved()
    assert saved.revision == 1 + len(taken)
    assert len(saved.past) == len(taken)


def test_a_refused_change_leaves_the_file_as_it_was(project: Project) -> None:
    before = (project.folder / STATE).read_bytes()
    with pytest.raises(ParameterError):
        project.change(1, lambda now: now.changed("role", {"column": "zzz", "role": "secret"}))
    assert (project.folder / STATE).read_bytes() == before


def test_after_a_draw_nothing_changes(project: Project) -> None:
    project.released_file.write_text("b\n1\n")
    assert not project.drawn  # a file without its manifest is no release
    project.manifest_file.write_text("{}")
    assert project.drawn
    for step in (project.undo, project.redo, lambda revision: project.change(revision, lambda now: now)):
        with pytest.raises(AlreadyReleased):
            step(1)


def test_results_hold_for_their_question_only(project: Project) -> None:
    project.keep("curve", {"secret": ("a",)}, {"points": [1]})
    assert project.saved().answer("curve", {"secret": ["a"]}) == {"points": [1]}
    assert project.saved().answer("curve", {"secret": ["b"]}) is None
    assert project.saved().revision == 1  # other tabs stay valid


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"now": 1}', "\x00", '{"now": {}, "past": [], "future": []}'])
def test_a_damaged_file_is_named_and_kept(project: Project, content: str) -> None:
    (project.folder / STATE).write_text(content)
    with pytest.raises(ParameterError, match="cannot be read"):
        project.saved()
    assert (project.folder / STATE).read_text() == content


def test_the_shelf_gives_projects_only(tmp_path: Path, project: Project) -> None:
    shelf = Shelf(project.folder.parent)
    (tmp_path / "link").symlink_to(project.folder)
    (tmp_path / "other").mkdir()
    assert [one.slug for one in shelf.projects()] == ["study"]
    for name in ("..", "../study", "study/", "link", "other", "Study", "", ".", "study\0", "a" * 5000):
        assert shelf.get(name) is None, name
    assert shelf.new("../../etc/passwd <b>").name == "etc-passwd-b"
    assert shelf.new("study").name == "study-2"
    assert shelf.new("🙂").name == "study-2"
    assert json.loads((project.folder / STATE).read_text())["revision"] == 1
