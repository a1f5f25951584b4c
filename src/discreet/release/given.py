"""Options of a release as Python hands them over: what is no path and no list of columns is refused by its name."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from discreet.exceptions import ParameterError


def named_path(given: Any, option: str) -> Path:
    """ParameterError where it is no text that a file can be called by."""
    path = os.fspath(given) if isinstance(given, str | os.PathLike) else None
    if not (isinstance(path, str) and path and "\0" not in path):
        raise ParameterError("no path of a file", where=option, remedy=f'Give it as text: {option}="…", or as a Path.')
    return Path(path)


def kept_names(keep: Any) -> tuple[str, ...]:
    """ParameterError where the public columns are no list of names."""
    names = None if isinstance(keep, str | bytes) or not isinstance(keep, Iterable) else tuple(keep)
    if names is None or not all(isinstance(name, str) for name in names):
        raise ParameterError(
            "no list of columns by name", where="keep", remedy='Write keep=["…", "…"], or leave it out.'
        )
    return names
