"""What no page of the studio sends: refused in words, never an error inside."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from discreet.exceptions import ParameterError, TableError
from discreet.studio.choices import Choices
from discreet.studio.gate import Gate, Keys
from discreet.studio.jobs import BackgroundJob, Jobs
from discreet.studio.project import STATE, Project, Shelf
from discreet.studio.server import first_project
from discreet.studio.site import Site


@pytest.fixture
def site(tmp_path: Path) -> Site:
    Project.begin(tmp_path / "study", Choices(table="t.csv", name="study", roles={"a": "secret", "b": "release"}))
    jobs = Jobs()
    jobs._tasks.append(BackgroundJob("look", "study", {}, {}, lambda result: None))
    return Site(Shelf(tmp_path), jobs)


def asked(site: Site, path: str, query: str = "", headers: dict[str, str] | None = None) -> tuple[int, str]:
    """Status and body of a request, through the gate."""
    told = answered(site, path, query, headers)
    return told[0]["status"], b"".join(one.get("body", b"") for one in told[1:]).decode()


def answered(site: Site, path: str, query: str, headers: dict[str, str] | None = None) -> list[dict[str, Any]]:
    keys, told = Keys(1234), list[dict[str, Any]]()
    sent = {"host": keys.hosts[0], "cookie": f"{keys.cookie}={keys.session}", **(headers or {})}

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        told.append(message)

    scope = {"type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "root_path": "",
             "scheme": "http", "query_string": query.encode(), "server": ("127.0.0.1", 1234),
             "headers": [(name.encode(), value.encode("latin-1")) for name, value in sent.items()]}  # fmt: skip
    asyncio.run(Gate(site.app(), keys)(scope, receive, send))
    return told


@pytest.mark.parametrize(
    "path",
    ["//evil.example/", "///evil.example/", "/\\evil.example/", "\\\\evil.example", "//evil.example/..", "/\t/e"],
)
def test_a_token_on_a_path_of_another_site_leads_to_no_other_site(site: Site, path: str) -> None:
    """A browser takes two slashes, of either kind, for the name of a server, and leaves tabs out."""
    told = answered(site, path, "token=x")
    location = dict(told[0]["headers"])[b"location"].decode()
    assert told[0]["status"] == 303
    assert location[0] == "/"
    assert location[1] not in "/\\\t"


def test_a_token_that_is_not_needed_leads_to_the_same_page(site: Site) -> None:
    for path in ("/p/study/table", "/", "/p/a%3Fb"):
        told = answered(site, path, "token=x")
        assert dict(told[0]["headers"])[b"location"].decode() == path.replace("%", "%25")


@pytest.mark.parametrize("name", ["Studie", "st_x", "my project", "a.b", "prüfung", "-a", "a--b", "x" * 101])
def test_a_project_whose_pages_would_have_no_address(tmp_path: Path, name: str) -> None:
    """Refused before its folder is begun; the name that is proposed works."""
    table = tmp_path / "t.csv"
    table.write_text("a,b\n1,x\n2,y\n")
    for demo in (False, True):
        with pytest.raises(ParameterError, match="small letters") as refused:
            first_project(Shelf(tmp_path), str(table), tmp_path / name, demo=demo)
        assert not (tmp_path / name).exists()
    proposed = refused.value.remedy.split()[2].rstrip(";")
    begun = first_project(Shelf(tmp_path), str(table), tmp_path / proposed, demo=False)
    assert Shelf(tmp_path).get(proposed) == begun


@pytest.mark.parametrize("start", ["%C2%B2", "%D9%A3", "-1", "1.5", "9" * 400, "x", "%00"])
def test_a_place_that_is_no_number(site: Site, start: str) -> None:
    status, content = asked(site, "/p/study/news", f"task=look&from={start}")
    assert (status, "not a place in the news" in content) == (400, True)
    assert asked(site, "/p/study/news", "task=look&from=1")[0] == 200


@pytest.mark.parametrize("value", [10**400, -(10**400), float("inf"), float("nan"), True, "1"], ids="ABCDEF")
@pytest.mark.parametrize("key", ["epsilon", "need"])
def test_a_level_that_is_no_number(key: str, value: Any) -> None:
    with pytest.raises(ParameterError, match="not a number"):
        Choices(table="t.csv", name="n").changed(key, value)


def test_half_a_surrogate_in_a_project_file_is_damage(site: Site, tmp_path: Path) -> None:
    path = tmp_path / "study" / STATE
    stated = json.loads(path.read_text())
    stated["now"] |= {"people": "half \ud83d of one"}
    path.write_text(json.dumps(stated))
    for step in ("table", "secret"):
        status, content = asked(site, f"/p/study/{step}")
        assert (status, "cannot be read" in content) == (400, True)
    stated["now"] |= {"people": "a whole \U0001f642"}
    path.write_text(json.dumps(stated))
    assert Project(path.parent).saved().now.people == "a whole \U0001f642"


def test_a_table_whose_name_is_not_text(tmp_path: Path) -> None:
    table = os.fsdecode(os.fsencode(tmp_path) + b"/t\xff.csv")
    Path(table).write_text("a,b\n1,2\n")
    with pytest.raises(TableError, match="not text"):
        first_project(Shelf(tmp_path), table, None, demo=False)
