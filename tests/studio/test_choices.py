"""What a browser may change, and what it may not."""

from __future__ import annotations

from typing import Any

import pytest

from discreet.exceptions import ParameterError
from discreet.studio.choices import CHECKS, Choices

START = Choices(table="t.csv", name="n", roles={"a": "secret", "b": "release", "c": "given", "d": "out"})


def test_roles_and_what_follows_from_them() -> None:
    assert (START.secret, START.release, START.given, START.used) == (("a",), ("b",), ("c",), ("a", "b", "c"))
    assert START.complete
    assert not START.changed("role", {"column": "b", "role": "out"}).complete


def test_groups_of_columns_out_of_use_are_kept_and_not_used() -> None:
    grouped = START.changed("bins", {"column": "d", "edges": ["1"]}).changed("bins", {"column": "b", "edges": ["2"]})
    assert grouped.grouping()["bins"] == {"b": ["2"]}
    assert grouped.changed("role", {"column": "d", "role": "release"}).grouping()["bins"] == {"b": ["2"], "d": ["1"]}


def test_the_question_changes_with_what_a_curve_depends_on() -> None:
    for key, value in (
        ("notion", "ldp"),
        ("sees_secret", True),
        ("merge", {"column": "b", "groups": {"x": ["1", "2"]}}),
    ):
        assert START.changed(key, value).question() != START.question()
    for key, value in (("epsilon", 1.0), ("purpose", "statistics"), ("people", "x"), ("name", "y")):
        assert START.changed(key, value).question() == START.question()
    assert START.changed("epsilon", 1.0).asked() != START.asked()


def test_everything_comes_back_from_plain_data() -> None:
    changed = START.changed("read", {"warning": "w", "read": True}).changed("epsilon", 1.234567)
    assert changed.epsilon == 1.2346
    assert Choices.of({**changed.plain(), "unknown": 1}) == changed
    assert changed.changed("read", {"warning": "w", "read": False}).read == ()


def test_a_promise_follows_its_need_until_it_is_moved_by_hand() -> None:
    following = START.changed("need", 0.9)
    assert (following.by_need, following.need, following.epsilon) == (True, 0.9, START.epsilon)
    assert following.wanted() != START.wanted()
    assert not following.changed("epsilon", 1.0).by_need


def test_numbers_stay_on_their_sliders() -> None:
    assert START.changed("epsilon", 99).epsilon == 2.0
    assert START.changed("epsilon", -1).epsilon == 0.05


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("table", "/etc/passwd"),
        ("reached", 6),
        ("roles", {}),
        ("role", {"column": "zzz", "role": "secret"}),
        ("role", {"column": "a", "role": "admin"}),
        ("role", "a"),
        ("bins", {"column": "b", "edges": ["2", "1"]}),
        ("bins", {"column": "b", "edges": ["nan"]}),
        ("bins", {"column": "b", "edges": ["1e999"]}),
        ("bins", {"column": "b", "edges": [1]}),
        ("bins", {"column": "b", "edges": ["1"] * 300}),
        ("merge", {"column": "b", "groups": {"": ["1"]}}),
        ("merge", {"column": "b", "groups": {"x": ["1"], "y": ["1"]}}),
        ("merge", {"column": "b", "groups": {"x": []}}),
        ("merge", {"column": "b", "groups": [["x", "y"]]}),
        ("rare", {"column": "b", "records": -1}),
        ("rare", {"column": "b", "records": True}),
        ("purpose", "fun"),
        ("notion", ["lip"]),
        ("row", "robot"),
        ("person", "zzz"),
        ("epsilon", float("nan")),
        ("epsilon", True),
        ("epsilon", "1"),
        ("name", "x" * 101),
        ("people", None),
        ("read", {"warning": 5, "read": True}),
    ],
)
def test_what_cannot_be_is_refused(key: str, value: Any) -> None:
    with pytest.raises(ParameterError):
        START.changed(key, value)


def test_every_change_has_a_check() -> None:
    assert set(CHECKS) & {"table", "reached", "roles"} == set()
