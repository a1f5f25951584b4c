"""Compiled code: one decorator, one cache that never serves stale machine code, and compiling before clocks start.

Hot loops are compiled by numba when they are first called, and kept on disk. numba renews what it kept when the file of
a function changes, but not when a function that it calls changes in another file; a caller would go on running the old
one. Here the stamp of every kernel is one hash over all files that hold kernels, so an edit of one renews them all.

The cache lives in the user's cache folder (`XDG_CACHE_HOME` or `~/.cache`), not beside the installed files, one folder
for each stamp: two versions of the package do not disturb each other. Deleting it costs seconds, nothing else.

What a search runs is compiled by an `example` before its clock starts: no time limit pays for it, `seconds()` says how
long it took, and whoever waits is told once. `discreet warm-up` runs all examples ahead.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import shutil
import time
from collections.abc import Callable, Iterator
from functools import cache, wraps
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import _CacheLocator

LOG = logging.getLogger("discreet")

PACKAGE = Path(__file__).parent
STAMP_CHARACTERS = 16  # 64 bits of SHA-256: two versions of one package do not meet by chance
KEPT_DAYS = 30  # folders of other stamps are deleted when nobody used them for so long

EXAMPLES: dict[str, Callable[[], None]] = {}
"""What compiles the kernels of a room, by name."""

_spent = 0.0


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """`numba.njit` with the cache of this package: division as in NumPy, other options as numba knows them."""

    def decorate(function: Callable[..., Any]) -> Any:
        with _own_cache() as kept:
            return numba.njit(cache=kept, error_model="numpy", **options)(function)

    return decorate


def compiled_callback(function: Callable[[float], float]) -> Any:
    """A function of one number as `numba.cfunc`, whose address compiled code can call; kept where that is possible."""
    ours = Path(function.__code__.co_filename).is_relative_to(PACKAGE)
    try:
        with _own_cache() if ours else contextlib.nullcontext(True) as kept:
            return numba.cfunc("float64(float64)", cache=kept)(function)
    except RuntimeError:  # defined where numba cannot keep a compiled copy, on a command line for example
        return numba.cfunc("float64(float64)")(function)


def example(name: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Makes of a small problem what compiles a room's kernels: it runs once in a process, before a clock starts."""

    def decorate(run: Callable[[], None]) -> Callable[[], None]:
        @wraps(run)
        def once() -> None:
            global _spent
            if name in _DONE:
                return
            started = time.perf_counter()
            marker = _folder() / f"{name.replace(' ', '-')}.ready"
            if not marker.exists():
                LOG.warning("compiling %s, once: about ten seconds", name)
            _DONE.add(name)  # before it runs: it may call what asks for it
            try:
                with _whole():
                    run()
            except BaseException:
                _DONE.discard(name)
                raise
            with contextlib.suppress(OSError):
                marker.touch()
            _spent += time.perf_counter() - started

        EXAMPLES[name] = once
        return once

    return decorate


_DONE: set[str] = set()
_under_way = _stop_after = False


def stop() -> None:
    """Raise KeyboardInterrupt, or once what is being compiled is whole: of half of it nothing is kept, and whoever is
    stopped often would compile the same code again and again."""
    global _stop_after
    if not _under_way:
        raise KeyboardInterrupt
    _stop_after = True


@contextlib.contextmanager
def _whole() -> Iterator[None]:
    global _under_way, _stop_after
    outer, _under_way = _under_way, True
    try:
        yield
    finally:
        _under_way = outer
        if _stop_after and not outer:
            _stop_after = False
            raise KeyboardInterrupt


def seconds() -> float:
    """How long this process has run examples, compiling included. Not part of anybody's search."""
    return _spent


def warm_up() -> list[str]:
    """Run every example of the rooms that are imported; their names."""
    for run in EXAMPLES.values():
        run()
    return list(EXAMPLES)


# ---- the cache ------------------------------------------------------------------------------------------------------


class KernelCache(_CacheLocator):
    """Where numba keeps the machine code of this package, and the stamp that says for which source it was made."""

    def __init__(self, function: Any) -> None:
        self._line = function.__code__.co_firstlineno

    def get_cache_path(self) -> str:
        return str(_folder())

    def get_source_stamp(self) -> str:
        return stamp()

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, function: Any, path: str) -> KernelCache | None:
        locator = cls(function)
        with contextlib.suppress(OSError):
            locator.ensure_cache_path()  # type: ignore[no-untyped-call]
            return locator
        return None


@cache
def stamp() -> str:
    """One hash over numba's version and all files of the package that hold kernels, by content."""
    found = hashlib.sha256(numba.__version__.encode())
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_bytes()
        if b"discreet.compiling import" in source or path == Path(__file__):
            found.update(str(path.relative_to(PACKAGE)).encode() + b"\0" + source + b"\0")
    return found.hexdigest()[:STAMP_CHARACTERS]


@cache
def _folder() -> Path:
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "discreet" / "kernels"
    folder = root / stamp()
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        for other in root.iterdir():
            if time.time() - other.stat().st_mtime > KEPT_DAYS * 86_400:
                shutil.rmtree(other, ignore_errors=True)
    return folder


@contextlib.contextmanager
def _own_cache() -> Iterator[bool]:
    """numba's own option for cache locators set while a function is decorated; whether anything can be kept."""
    options: Any = numba.config
    before = options.CACHE_LOCATOR_CLASSES
    options.CACHE_LOCATOR_CLASSES = f"{__name__}.{KernelCache.__name__}"
    try:
        yield os.access(_folder(), os.W_OK)
    finally:
        options.CACHE_LOCATOR_CLASSES = before
