"""`discreet studio`: a server on 127.0.0.1 for one person, with an address that works once."""

from __future__ import annotations

import signal
import socket
import sys
import threading
import webbrowser
from pathlib import Path
from typing import Final

import uvicorn

from discreet.exceptions import ParameterError, TableError
from discreet.files.atomic_file import unpublished
from discreet.studio.choices import Choices
from discreet.studio.gate import Gate, Keys
from discreet.studio.jobs import Jobs
from discreet.studio.project import Project, Shelf, is_plain, plain_name
from discreet.studio.site import Site

HOST: Final = "127.0.0.1"
SHELF: Final = "discreet-projects"
DEMO: Final = {
    "name": "Census extract, marital status",
    "by_need": True,
    "roles": {"marital-status": "secret", "age": "release", "education": "release"},
    "bins": {"age": ["25", "35", "45", "55", "65"]},
    "merge": {
        "education": {
            "No diploma": ["Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th"],
            "Associate": ["Assoc-voc", "Assoc-acdm"],
            "Doctorate": ["Prof-school", "Doctorate"],
        },
        "marital-status": {"Married": ["Married-civ-spouse", "Married-AF-spouse"]},
    },
}


def serve(
    table: str | None = None,
    *,
    project: Path | None = None,
    port: int = 0,
    browser: bool = True,
    demo: bool = False,
) -> None:
    """Serve until ctrl-C. The address is a line of standard output."""
    project = project.resolve() if project else None
    shelf = Shelf(project.parent if project else Path.cwd() / SHELF)
    first = first_project(shelf, table, project, demo)
    bound = bind(port)
    keys = Keys(bound.getsockname()[1], lambda address: print(f"Another browser: {address}", flush=True))
    jobs = Jobs()
    site = Site(shelf, jobs, first.slug if first else None)
    site.prepare()
    print("The studio, for this browser only; ctrl-C stops it, nothing is lost:")
    print(keys.address, flush=True)
    jobs.warm()
    server = uvicorn.Server(settings(site, keys))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that workers are ended then as well
    if browser:
        threading.Timer(0.2, webbrowser.open, [keys.address]).start()
    try:
        server.run(sockets=[bound])
    finally:
        jobs.close()


def settings(site: Site, keys: Keys) -> uvicorn.Config:
    """No log of addresses: they carry the token."""
    return uvicorn.Config(
        Gate(site.app(), keys, site.landing), log_level="critical", access_log=False, server_header=False,
        date_header=False, timeout_graceful_shutdown=2, lifespan="off", ws="none",
    )  # fmt: skip


def bind(port: int) -> socket.socket:
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # named: else answers wait 40 ms
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((HOST, port))
    except OSError as error:
        bound.close()
        raise ParameterError(
            f"a port that cannot be used ({type(error).__name__})",
            where="--port",
            remedy="Leave it out, or try another.",
        ) from None
    bound.listen(128)  # whoever reads the address may follow it at once
    return bound


def first_project(shelf: Shelf, table: str | None, folder: Path | None, demo: bool) -> Project | None:
    """The project that the command names; a new one for a table."""
    if folder is not None:
        _check_plain(folder)
    if demo:
        return demo_project(shelf, folder)
    if folder is not None and (folder / "studio.json").is_file():
        return Project(folder)
    if table is None:
        if folder is not None:
            raise ParameterError("no project there", where=str(folder), remedy="Name a table to begin one.")
        return None
    path = Path(table).resolve()
    for one in (path, *([folder] if folder else [])):
        _check_text(one)
    if not path.is_file():
        raise TableError("no such file", where=table, remedy="Give a CSV, Parquet or Arrow file.")
    where = folder.resolve() if folder is not None else shelf.new(path.stem)
    return Project.begin(where, Choices(table=str(path), name=path.stem, by_need=True))


def _check_plain(folder: Path) -> None:
    """The name of a project is part of the addresses of its pages."""
    if not is_plain(folder.resolve().name):
        plain = plain_name(folder.name)
        raise ParameterError(
            "a project whose name is not small letters, digits and single hyphens",
            where="--project",
            remedy=f"Name it {plain}; if it is there already, rename its folder to {plain} first.",
        )


def _check_text(path: Path) -> None:
    """Pages and project files hold text: a name of other bytes could not be written there."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise TableError("a name that is not text", where="the table or the project", remedy="Rename it.") from None


def demo_project(shelf: Shelf, folder: Path | None = None) -> Project:
    """The census extract inside the package, with decisions to look at."""
    import discreet.datasets

    where = folder.resolve() if folder is not None else shelf.new("census-extract")
    where.mkdir(parents=True, exist_ok=True)
    copy = where / "adult.parquet"
    if not copy.exists():
        with unpublished(copy) as file:
            file.write(Path(discreet.datasets.__file__).with_name("adult.parquet").read_bytes())
            file.publish()
    return Project.begin(where, Choices.of({"table": str(copy.resolve()), **DEMO}))
