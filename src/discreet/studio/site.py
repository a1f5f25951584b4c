"""The pages and what they can ask for: addresses, and who answers them.

/                       begin, or the project that the command named
/projects               where were you?
/p/NAME/STEP            table, secret, group, promise, check, release
/p/NAME/change, undo, redo, stop, again, draw, copy, reach        what a page changes, as JSON
/p/NAME/news            how the work goes
/p/NAME/files/FILE      what was written, to be taken away
/tables, /demo          a table given in the browser; the example
"""

from __future__ import annotations

import json
import shutil
from contextlib import ExitStack, suppress
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.exceptions import HTTPException
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from discreet.exceptions import DiscreetError, ParameterError, TableError
from discreet.files.atomic_file import unpublished
from discreet.studio import check_page, figures, group_page, promise_page, release_page, secret_page, table_page
from discreet.studio.choices import Choices
from discreet.studio.desk import Desk
from discreet.studio.frame import STEPS, framed, project_rows
from discreet.studio.jobs import Jobs
from discreet.studio.project import STATE, OtherTab, Project, Shelf
from discreet.studio.scripts import save_study

PAGES: Final = {
    "table": table_page.facts,
    "secret": secret_page.facts,
    "group": group_page.facts,
    "promise": promise_page.facts,
    "check": check_page.facts,
    "release": release_page.facts,
}
STATIC: Final = {
    "studio.css": "text/css",
    "studio.js": "text/javascript",
    "steps.js": "text/javascript",
    "mark.svg": "image/svg+xml",
}
PRIVATE: Final = 0o600
"""The mode of a raw table that was given in the browser."""
SUFFIXES: Final = (".csv", ".parquet", ".arrow", ".feather", ".tsv", ".txt")
SHOWN: Final = ("factor", "kept_percent", "share_percent", "raised_percent", "thousands", "counted", "listed", "times")


class Site:
    """All pages over one shelf of projects."""

    def __init__(self, shelf: Shelf, jobs: Jobs, first: str | None = None, *, testing: bool = False) -> None:
        self.shelf, self.jobs, self.first, self.testing = shelf, jobs, first, testing
        self._templates = Environment(
            loader=PackageLoader("discreet.studio"), autoescape=True, undefined=StrictUndefined,
            trim_blocks=True, lstrip_blocks=True, auto_reload=False,
        )  # fmt: skip
        self._templates.filters |= {name: getattr(figures, name) for name in SHOWN}
        self._templates.filters |= {"shown": figures.name_shown, "data": as_data, "key": json.dumps}
        self._templates.globals["at"] = figures.at

    def app(self) -> ASGIApp:
        post = ["POST"]
        pages = Router(
            routes=[
                Route("/", self.start),
                Route("/projects", self.projects),
                Route("/tables", self.receive, methods=post),
                Route("/demo", self.demo, methods=post),
                Route("/static/{name}", self.static),
                Route("/p/{slug}", self.resume),
                Route("/p/{slug}/news", self.news),
                Route("/p/{slug}/files/{name}", self.file),
                Route("/p/{slug}/{act:str}", self.act, methods=post),
                Route("/p/{slug}/{step:str}", self.page),
            ],
            default=_nowhere,
        )
        return ExceptionMiddleware(pages, {404: self.nowhere, DiscreetError: self.refused})

    def prepare(self) -> None:
        """Read every template before somebody waits for the first page."""
        for name in self._templates.list_templates():
            self._templates.get_template(name)

    # ---- pages ----------------------------------------------------------------------------------------------

    def landing(self) -> str:
        """Where a session begins: at the step that the project of the command has reached."""
        project = self.shelf.get(self.first) if self.first is not None else None
        with suppress(DiscreetError):
            return "/" if project is None else _step(project)
        return "/projects"  # where it is said of a project that cannot be read

    def start(self, request: Request) -> Response:
        if self.first is not None and "new" not in request.query_params:
            return RedirectResponse(self.landing(), 303)
        return self._render("start.html", steps=STEPS, any_project=bool(self.shelf.projects()))

    def projects(self, request: Request) -> Response:
        rows = project_rows(self.shelf, self.jobs)
        return self._render("projects.html", rows=rows, folder=str(self.shelf.folder))

    def resume(self, request: Request) -> Response:
        return RedirectResponse(_step(self._project(request)), 303)

    def page(self, request: Request) -> Response:
        project, step = self._project(request), request.path_params["step"]
        if step not in PAGES:
            raise HTTPException(404)
        desk = Desk.of(project, self.jobs, self.testing)
        number = list(PAGES).index(step) + 1
        if number > desk.now.reached and not project.drawn:
            return RedirectResponse(f"/p/{project.slug}", 303)
        said = PAGES[step](desk)
        return self._render(said.get("template", f"{step}.html"), **framed(desk, number), **said)

    def _render(self, name: str, **facts: Any) -> Response:
        return HTMLResponse(self._templates.get_template(name).render(**facts))

    def nowhere(self, request: Request, error: Exception) -> Response:
        return HTMLResponse(self._templates.get_template("nowhere.html").render(), 404)

    def refused(self, request: Request, error: Exception) -> Response:
        """What discreet says, as it says it on the command line."""
        assert isinstance(error, DiscreetError)
        told = {"what": error.what, "where": error.where, "remedy": error.remedy}
        code = 409 if isinstance(error, OtherTab) else 400
        if request.method == "POST":
            return JSONResponse({"error": told}, code)
        return HTMLResponse(self._templates.get_template("failed.html").render(error=told), code)

    # ---- what pages ask for ---------------------------------------------------------------------------------

    async def act(self, request: Request) -> Response:
        from starlette.concurrency import run_in_threadpool

        try:
            stated = json.loads(await request.body() or b"{}")
            json.dumps(stated, ensure_ascii=False).encode()  # half a surrogate is no character: no page could show it
        except (ValueError, RecursionError):
            raise ParameterError("not JSON", where="change", remedy="Reload the page.") from None
        if not isinstance(stated, dict) or request.headers.get("content-type") != "application/json":
            raise ParameterError("not a change", where="change", remedy="Reload the page.")
        project, act = self._project(request), request.path_params["act"]
        if act not in ACTS:
            raise HTTPException(404)
        return JSONResponse(await run_in_threadpool(ACTS[act], self, project, stated))

    def change(self, project: Project, stated: dict[str, Any]) -> dict[str, Any]:
        key, value = str(stated.get("key", "")), stated.get("value")
        desk = Desk.of(project, self.jobs, self.testing)
        known = desk.look().result
        if key == "missing":
            value = table_page.marked(value, known)

        def step(now: Choices) -> Choices:
            if known and key == "person":  # which columns there are is known before step 2 asks for their roles
                now = replace(now, roles={one["name"]: now.roles.get(one["name"], "out") for one in known["columns"]})
            changed = now.changed(key, value)
            return secret_page.with_proposals(changed, now, known) if key == "role" else changed

        saved = project.change(_revision(stated), step)
        if key == "epsilon":
            self.jobs.stop("need", project.slug)
        if saved.now.by_need and key in ("need", "purpose"):
            Desk.of(project, self.jobs, self.testing).needed()
        return self._saved(project, saved)

    def undo(self, project: Project, stated: dict[str, Any]) -> dict[str, Any]:
        return self._saved(project, project.undo(_revision(stated)))

    def redo(self, project: Project, stated: dict[str, Any]) -> dict[str, Any]:
        return self._saved(project, project.redo(_revision(stated)))

    def reach(self, project: Project, stated: dict[str, Any]) -> dict[str, Any]:
        """Go on to a step; what must be decided before is decided."""
        step = stated.get("step")
        if type(step) is not int or not 1 <= step <= len(PAGES):
            raise ParameterError("no such step", where="step", remedy="Reload the page.")
        if step > 2 and not project.saved().now.complete:
            raise ParameterError(
                "a secret and a column to release are needed first", where="step 2", remedy="Give each a column."
            )
        project.reach(step)
        return {"go": f"/p/{project.slug}/{list(PAGES)[step - 1]}"}

    def stop(self, project: Project, stated: dict[str, Any]) -> dict[str, Any]:
        return {"stopped": self.jobs.stop(str(stated.get("task", "")), project.slug)}

    def again(self, project: Project, stated: dict[str, Any]) -> dict[str, Any]:
        Desk.of(project, self.jobs).again(str(stated.get("task", "")))
        return {}

    def draw(self, project: Project, stated: dict[str, Any]) -> dict[str, Any]:
        """The one draw: asked for twice, from the page as it is."""
        desk = Desk.of(project, self.jobs, self.testing)
        if stated.get("sure") is not True or _revision(stated) != desk.saved.revision:
            raise OtherTab("the draw was not confirmed on the page as it is", where="draw", remedy="Reload the page.")
        return release_page.draw(desk)

    def copy(self, project: Project, stated: dict[str, Any]) -> dict[str, Any]:
        """The choices of a project for other records, or for the same ones before a draw."""
        now = project.saved().now
        folder = self.shelf.new(project.slug)
        begun = Project.begin(folder, replace(now, name=f"{now.name}, again", read=(), reached=min(now.reached, 4)))
        return {"go": f"/p/{begun.slug}"}

    def further(self, project: Project, stated: dict[str, Any]) -> dict[str, Any]:
        """Forget rules whose search was stopped, so that they are searched for again."""
        project.forget_rules()
        self.jobs.forget("rules", project.slug)
        return {"go": f"/p/{project.slug}/check"}

    def _saved(self, project: Project, saved: Any) -> dict[str, Any]:
        save_study(project, saved.now)
        back = {"undo": bool(saved.past), "redo": bool(saved.future)}
        return {"revision": saved.revision, "when": saved.when[11:16], **back}

    def news(self, request: Request) -> Response:
        project, name = self._project(request), request.query_params.get("task", "")
        task = self.jobs.latest(name, project.slug)
        if task is None:
            return JSONResponse({"state": "none"})
        start = _place(request.query_params.get("from", "0"))
        answer = {"answer": task.result} if name == "need" else {}
        return JSONResponse({**task.facts(), **answer, "new": task.parts[start:]})

    # ---- tables in, files out -------------------------------------------------------------------------------

    async def receive(self, request: Request) -> Response:
        """A table from the browser, for its owner alone, into a folder of its own; half of one leaves nothing behind,
        whatever ends it: the file has no name before it is whole and a project lists it."""
        name = Path(request.query_params.get("name", "table.csv").replace("\\", "/")).name
        if not name.lower().endswith(SUFFIXES):
            raise TableError("not a kind of table", where="the file", remedy="Give CSV, Parquet or Arrow.")
        folder = self.shelf.new(Path(name).stem)
        folder.mkdir(parents=True)
        target = folder / f"table{Path(name).suffix.lower()}"
        shown = figures.name_shown(Path(name).stem)
        with ExitStack() as unfinished:
            unfinished.callback(shutil.rmtree, folder)
            with unpublished(target, PRIVATE) as file:
                with file.sink as sink:
                    async for chunk in request.stream():
                        sink.write(chunk)
                begun = Project.begin(folder, Choices(table=str(target.resolve()), name=shown, by_need=True))
                file.publish()
            unfinished.pop_all()
        return JSONResponse({"go": f"/p/{begun.slug}"})

    def demo(self, request: Request) -> Response:
        from discreet.studio.server import demo_project

        return JSONResponse({"go": f"/p/{demo_project(self.shelf).slug}"})

    def file(self, request: Request) -> Response:
        project, name = self._project(request), request.path_params["name"]
        known = {path.name: path for path, *_ in release_page.written(project)}
        if name not in known or not known[name].is_file():
            raise HTTPException(404)
        return FileResponse(
            known[name], filename=name, media_type="application/octet-stream", content_disposition_type="attachment"
        )

    def static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in STATIC:
            raise HTTPException(404)
        content = files("discreet.studio").joinpath(f"static/{name}").read_bytes()
        return Response(content, media_type=STATIC[name], headers={"cache-control": "no-cache"})

    def _project(self, request: Request) -> Project:
        found = self.shelf.get(request.path_params["slug"])
        if found is None:
            raise HTTPException(404)
        return found


ACTS: Final = {
    "change": Site.change,
    "undo": Site.undo,
    "redo": Site.redo,
    "reach": Site.reach,
    "stop": Site.stop,
    "again": Site.again,
    "draw": Site.draw,
    "copy": Site.copy,
    "further": Site.further,
}


async def _nowhere(scope: Scope, receive: Receive, send: Send) -> None:
    raise HTTPException(404)


def _step(project: Project) -> str:
    step = "release" if project.drawn else list(PAGES)[project.saved().now.reached - 1]
    return f"/p/{project.slug}/{step}"


def _place(stated: str) -> int:
    """From which part on a page wants to be told."""
    if not (stated.isascii() and stated.isdigit() and len(stated) < 9):
        raise ParameterError("not a place in the news", where="from", remedy="Reload the page.")
    return int(stated)


def _revision(stated: dict[str, Any]) -> int:
    revision = stated.get("revision")
    return revision if type(revision) is int else -1


class Safe(str):
    """Text that is markup already, in the way that templates ask for it."""

    def __html__(self) -> str:
        return str(self)


def as_data(value: Any) -> Any:
    """JSON inside a page: nothing in it can end the element that it is in."""
    text = json.dumps(value, ensure_ascii=True).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return Safe(text)


__all__ = ["STATE", "Site", "as_data"]
