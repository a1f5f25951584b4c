"""Whose results they are: a seal over question and answer, by a key that this user has on this machine.

What a page shows was computed by a worker of this user, or it is computed again: `studio.json` is a file that somebody
else may have written, and a number in it is nothing but a number. The key lies in the user's data folder.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from discreet.files.ledger_book import data_folder

KEY_FILE: Final = "studio.key"
KEY_BYTES: Final = 32


@cache
def _key() -> bytes:
    """Made at the first use; where nothing can be kept, one for as long as this process lives."""
    made = secrets.token_bytes(KEY_BYTES)
    with suppress(OSError, RuntimeError):
        path = data_folder() / KEY_FILE
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write_once(path, made)
        found = path.read_bytes()
        return found if len(found) == KEY_BYTES else made
    return made


def _write_once(path: Path, content: bytes) -> None:
    """Whole, by whoever comes first."""
    own = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    with os.fdopen(os.open(own, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
    try:
        with suppress(FileExistsError):
            os.link(own, path)
    finally:
        own.unlink()


def seal(name: str, question: Any, answer: Any) -> str:
    said = json.dumps([name, question, answer], sort_keys=True).encode()
    return hmac.new(_key(), said, sha256).hexdigest()


def is_sealed(name: str, found: Any) -> bool:
    """Whether this user's studio put the answer there."""
    stated = found.get("seal") if isinstance(found, dict) else None
    if not isinstance(stated, str) or not {"question", "answer"} <= set(found):
        return False
    return hmac.compare_digest(stated.encode(), seal(name, found["question"], found["answer"]).encode())
