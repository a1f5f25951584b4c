"""The gate in front of every page: who may ask, and what the answer may do.

The studio listens on this machine only, and a browser is a crowd: any page open in it can send requests here. So

    host     is the one that was printed: a name that somebody let point to 127.0.0.1 is refused (DNS rebinding)
    cookie   a session begins with the address that was printed, whose token works once
    origin   what changes something comes from a page of this server, as the browser says in Origin and Sec-Fetch-Site
    body     is as long as it may be, counted while it is read
    answer   may load from here and nowhere else, may not be framed, is not stored, and never shows a traceback

A cookie does not know ports: another server of this machine that a person visits could read it. It is a program of the
same machine then, which could read the project folder as well.
"""

from __future__ import annotations

import hmac
import re
import secrets
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qs, quote

from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS: Final = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
LARGEST_CHANGE: Final = 1 << 20
"""Bytes of a decision: a name for each of a few thousand values."""
LONGEST_LENGTH: Final = 12
"""Digits in which a page says how long its body is."""
LARGEST_TABLE: Final = 512 << 20
"""Bytes of a table given in the browser; a larger one is named on the command line and read where it lies."""
UPLOAD: Final = re.compile(r"^/tables$")


class TooLarge(Exception):
    """A body longer than it may be."""


@dataclass
class Keys:
    """The token of the next address, which works once, and the secret of the cookie."""

    port: int
    announce: Callable[[str], None] = lambda address: None
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    @property
    def cookie(self) -> str:
        return f"discreet-studio-{self.port}"

    @property
    def hosts(self) -> tuple[str, ...]:
        return f"127.0.0.1:{self.port}", f"localhost:{self.port}"

    def spend(self, token: str) -> bool:
        """Whether this is the token; it is another one afterwards, which is announced."""
        if not hmac.compare_digest(token.encode(), self.token.encode()):
            return False
        self.token = secrets.token_urlsafe(32)
        self.announce(self.address)
        return True


@dataclass
class Gate:
    """The application behind the gate."""

    app: ASGIApp
    keys: Keys
    landing: Callable[[], str] = lambda: "/"
    """The page that a session begins with: one step, not a chain of them."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        refused = self._refusal(scope, headers)
        if refused is not None:
            await refused(scope, receive, _with_headers(send))
            return
        await self._answered(scope, _counted(receive, _allowed(scope), headers), _with_headers(send))

    async def _answered(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except TooLarge:
            if not begun:
                most = _allowed(scope) >> 20
                await _page(413, "Too large", f"More than {most} MB.", "Name the table: discreet studio table.csv")(
                    scope, receive, send
                )
        except Exception as error:
            print(f"an error inside discreet ({type(error).__name__}) at {_place(error)}", file=sys.stderr, flush=True)
            if not begun:
                told = f"({type(error).__name__}, {_place(error)})"
                await _page(500, "An error inside discreet", told, "The project is as saved.")(scope, receive, send)

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> Response | None:
        if headers.get("host", "") not in self.keys.hosts:
            return _page(400, "Another address", "This server answers to the address it printed.", "Use that one.")
        if not _own(headers, f"http://{headers['host']}", scope["method"]):
            return _page(403, "From another page", "Another page asked for this.", "Open the studio itself.")
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        known = _cookies(headers).get(self.keys.cookie, "")
        if hmac.compare_digest(known.encode(), self.keys.session.encode()):
            return RedirectResponse(_here(scope), 303) if given and scope["method"] == "GET" else None
        if given and scope["method"] == "GET" and self.keys.spend(given):
            answer = RedirectResponse(self.landing(), 303)
            answer.set_cookie(self.keys.cookie, self.keys.session, httponly=True, samesite="strict", path="/")
            return answer
        why = "This address was used already." if given else "The address has no token."
        return _page(403, "No entry", why, "Use the newest address in the terminal where the studio was started.")


def _here(scope: Scope) -> str:
    """The same page without its token. A path that begins with two slashes, of either kind, would be another site."""
    return quote("/" + scope["path"].lstrip("/\\"))


def _own(headers: dict[str, str], origin: str, method: str) -> bool:
    site = headers.get("sec-fetch-site", "same-origin" if method != "GET" else "none")
    if method in ("GET", "HEAD"):
        return site in ("same-origin", "none")
    return method == "POST" and site == "same-origin" and headers.get("origin") == origin


def _allowed(scope: Scope) -> int:
    return LARGEST_TABLE if UPLOAD.match(scope["path"]) else LARGEST_CHANGE


def _counted(receive: Receive, most: int, headers: dict[str, str]) -> Receive:
    """The body, which ends in an error once it is longer than it may be; one that says so is not read at all."""
    met = 0

    async def counted() -> Message:
        nonlocal met
        stated = headers.get("content-length", "0")
        if not (stated.isascii() and stated.isdigit()) or len(stated) > LONGEST_LENGTH or int(stated) > most:
            raise TooLarge
        message = await receive()
        met += len(message.get("body", b""))
        if met > most:
            raise TooLarge
        return message

    return counted


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {name.lower() for name, _ in message["headers"]}
            more = [(n.encode(), v.encode()) for n, v in HEADERS.items() if n.encode() not in own]
            message = {**message, "headers": [*message["headers"], *more]}
        await send(message)

    return sent


def _cookies(headers: dict[str, str]) -> dict[str, str]:
    pairs = (part.partition("=") for part in headers.get("cookie", "").split(";"))
    return {name.strip(): value.strip() for name, _, value in pairs}


def _page(code: int, title: str, why: str, remedy: str) -> Response:
    """Words of ours only: nothing that was asked for is repeated."""
    head = f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{title} · discreet studio</title>"
    return HTMLResponse(f"{head}</head><body><main><h1>{title}</h1><p>{why} {remedy}</p></main></body></html>", code)


def _place(error: BaseException) -> str:
    trace: Any = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    name = "" if trace is None else str(trace.tb_frame.f_globals.get("__name__"))
    return name and f"{name.rpartition('/')[2]}:{trace.tb_lineno}"  # of a template it is the path of its file
