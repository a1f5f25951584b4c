"""`discreet studio`: the whole way from a table to a release in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def studio(
    table: Annotated[
        str | None, typer.Argument(help="A CSV, Parquet or Arrow file; without one, choose in the page.")
    ] = None,
    project: Annotated[Path | None, typer.Option(help="The folder of the project, new or there already.")] = None,
    port: Annotated[
        int, typer.Option(help="Where to listen on 127.0.0.1; any free port if not given.", min=0, max=65535)
    ] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address only.")] = False,
    demo: Annotated[bool, typer.Option("--demo", help="On the Adult census data inside the package.")] = False,
) -> None:
    """Take a table to a release in the browser, with a picture at every decision."""
    from discreet.exceptions import ParameterError

    try:
        from discreet.studio.server import serve
    except ModuleNotFoundError as error:
        if error.name not in ("starlette", "uvicorn"):
            raise
        raise ParameterError(
            "the studio is not installed", where="discreet[studio]", remedy="pip install 'discreet[studio]'"
        ) from None
    serve(table, project=project, port=port, browser=not no_browser, demo=demo)
