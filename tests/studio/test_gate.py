"""Who may ask: no token, wrong host, other pages, bodies without end, and what every answer says about itself."""

from __future__ import annotations

import contextlib
import socket
from typing import Any

import pytest

from discreet.studio import gate
from discreet.studio.gate import LARGEST_CHANGE, LARGEST_TABLE, Keys

ADDRESSES = ("/", "/projects", "/p/x/table", "/p/x/news", "/p/x/files/released.csv", "/static/studio.js")


@pytest.mark.parametrize("path", ADDRESSES)
def test_without_the_cookie_nothing_is_told(studio: Any, path: str) -> None:
    status, _, content = studio.request("GET", path, signed=False)
    assert status == 403
    assert b"token" in content
    assert studio.request("GET", path, headers={"cookie": f"{studio.keys.cookie}=guess"}, signed=False)[0] == 403


def test_the_token_works_once_and_is_then_another(studio: Any) -> None:
    token = studio.keys.token
    status, headers, _ = studio.request("GET", f"/?token={token}", signed=False)
    assert (status, headers["location"]) == (303, "/")
    cookie = headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert token not in cookie
    assert studio.request("GET", f"/?token={token}", signed=False)[0] == 403
    assert studio.keys.token != token
    assert studio.request("GET", "/?token=" + "%C3%A9" * 10, signed=False)[0] in (400, 403)


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:80", ""])
def test_another_host_is_refused_even_with_the_cookie(studio: Any, host: str) -> None:
    assert studio.request("GET", "/projects", headers={"host": host})[0] == 400


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_a_post_of_another_page_changes_nothing(studio: Any, headers: dict[str, str]) -> None:
    before = studio.site.shelf.projects()
    assert studio.request("POST", "/demo", {}, headers)[0] == 403
    assert studio.site.shelf.projects() == before
    assert studio.request("POST", "/demo", {}, {"host": f"localhost:{studio.keys.port}"})[0] == 403


def test_a_post_without_an_origin_is_refused(studio: Any) -> None:
    with socket.create_connection(("127.0.0.1", studio.keys.port)) as plain:
        head = f"POST /demo HTTP/1.1\r\nHost: 127.0.0.1:{studio.keys.port}\r\nContent-Length: 0\r\n"
        plain.sendall(f"{head}Cookie: {studio.keys.cookie}={studio.keys.session}\r\n\r\n".encode())
        assert b" 403 " in plain.recv(200)


def test_a_link_from_another_page_is_not_followed(studio: Any) -> None:
    assert studio.request("GET", "/projects", headers={"sec-fetch-site": "cross-site"})[0] == 403
    assert studio.request("GET", "/projects", headers={"sec-fetch-site": "none"})[0] == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
def test_other_methods_are_refused(studio: Any, method: str) -> None:
    assert studio.request(method, "/projects", headers={"origin": studio.origin})[0] in (403, 405)


@pytest.mark.parametrize("path", ["/projects", "/nowhere", "/static/studio.css"])
def test_every_answer_forbids_what_it_does_not_need(studio: Any, path: str) -> None:
    _, headers, content = studio.request("GET", path)
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "access-control-allow-origin" not in headers
    for outside in (b"http://", b"https://", b"//cdn", b" style=", b"onclick"):
        assert outside not in content.replace(b"http://www.w3.org/2000/svg", b"")


def test_a_gigabyte_is_refused_before_it_is_read(studio: Any) -> None:
    """The length that is stated is enough; nothing of it is sent."""
    before = list(studio.folder.iterdir())
    with socket.create_connection(("127.0.0.1", studio.keys.port)) as plain:
        plain.settimeout(300)
        lines = [
            "POST /tables?name=big.csv HTTP/1.1",
            f"Host: 127.0.0.1:{studio.keys.port}",
            f"Origin: {studio.origin}",
            f"Cookie: {studio.keys.cookie}={studio.keys.session}",
            f"Content-Length: {1 << 30}",
        ]
        plain.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        assert b" 413 " in plain.recv(300)
    assert list(studio.folder.iterdir()) == before


def test_a_body_that_lies_about_its_length_is_counted(studio: Any) -> None:
    """Chunks have no length to state; the change is cut off at the limit, and leaves nothing."""
    chunk = b"x" * (1 << 16)

    def endless() -> object:
        for _ in range(LARGEST_CHANGE // len(chunk) + 8):
            yield chunk

    before = list(studio.folder.iterdir())
    project = "/p/none/change"
    status, _, _ = studio.request("POST", project, endless(), {"content-type": "application/json"})
    assert status in (404, 413)
    assert list(studio.folder.iterdir()) == before


@pytest.mark.parametrize(("most", "answer"), [(1 << 16, 413), (1 << 20, 200)])
def test_a_table_is_refused_while_it_streams(
    studio: Any, monkeypatch: pytest.MonkeyPatch, most: int, answer: int
) -> None:
    """Chunks state no length: the table is cut off where it is too long, leaving no folder. A shorter one comes in."""
    monkeypatch.setattr(gate, "LARGEST_TABLE", most)
    before, rows, sent = set(studio.folder.iterdir()), b"a,b\n" * (1 << 12), 0
    with socket.create_connection(("127.0.0.1", studio.keys.port)) as plain:
        plain.settimeout(300)
        lines = [
            "POST /tables?name=stream.csv HTTP/1.1",
            f"Host: 127.0.0.1:{studio.keys.port}",
            f"Origin: {studio.origin}",
            f"Cookie: {studio.keys.cookie}={studio.keys.session}",
            "Transfer-Encoding: chunked",
        ]
        plain.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        for _ in range(8):  # 128 KB, and no end where that is too long: the answer does not wait for one
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it has answered and hung up
                plain.sendall(f"{len(rows):x}\r\n".encode() + rows + b"\r\n")
                sent += len(rows)
        if answer == 200:
            plain.sendall(b"0\r\n\r\n")
        assert sent > 1 << 16
        assert f" {answer} ".encode() in plain.recv(300)
    assert len(set(studio.folder.iterdir()) - before) == (answer == 200)


def test_limits_are_those_that_the_page_states() -> None:
    assert LARGEST_TABLE == 512 << 20
    assert Keys(80).address.startswith("http://127.0.0.1:80/?token=")
    assert len(Keys(80).token) >= 40
    assert Keys(80).token != Keys(80).token
