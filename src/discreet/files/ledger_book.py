"""The books a ledger is written in: lines that are only ever added, under a lock, on disk before anybody goes on.

A ledger has two of them. One lies beside the protocol, where its owner sees it. The other lies in the user's data
folder (`XDG_DATA_HOME`, or `~/.local/share`) under the digest of the protocol, so that a copy of the file, a hard link
or a second name for it starts no fresh account. Every event is entered in both, the common book first; a line counts as
often as the book has it that has it most often. What the books cannot know are releases by other users, on other
machines, or after somebody deleted both.
"""

from __future__ import annotations

import errno
import os
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from discreet.exceptions import ReleaseError
from discreet.files.atomic_file import sync_folder

LARGEST_BOOK = 1 << 26
"""A quarter of a million releases; a larger file is something else, or was made to fill the memory."""

LEDGER = ".ledger"
"""What the name of every book ends in."""
COMMON = "Set XDG_DATA_HOME to a folder that lasts: the ledger of all copies of a protocol is kept there."
BESIDE = "A release needs a ledger beside its protocol; copy the protocol to a folder of your own."


def common_book(digest: str) -> Path:
    """The book of all copies of a protocol that this user has."""
    given = os.environ.get("XDG_DATA_HOME", "")
    try:
        root = Path(given) if os.path.isabs(given) else Path.home() / ".local" / "share"
    except RuntimeError:
        raise ReleaseError("no folder for the common ledger", where="XDG_DATA_HOME", remedy=COMMON) from None
    return root / "discreet" / "ledgers" / f"{digest}{LEDGER}"


@dataclass(frozen=True)
class OpenBooks:
    """Locked books: the common one first, then the one beside the protocol, then those that are only read."""

    paths: tuple[Path, ...]
    files: tuple[int, ...]

    def lines(self) -> list[bytes]:
        """Every line, in the order of the books, as often as the book has it that has it most often."""
        found: Counter[bytes] = Counter()
        for lines in map(self._lines, range(len(self.files))):
            found |= Counter(lines)
        return list(found.elements())

    def append(self, line: bytes) -> None:
        """On disk in the books that are written when this returns. What only one of them had, the common one gets."""
        missing = Counter(self._lines(1)) - Counter(self._lines(0))
        self._add(0, [*missing.elements(), line])
        self._add(1, [line])

    def _lines(self, i: int) -> list[bytes]:
        with _own_words(self.paths[i], "read"):
            size = os.fstat(self.files[i]).st_size
            if size > LARGEST_BOOK:
                raise ReleaseError("far larger than a ledger", where=str(self.paths[i]), remedy="Put it away.")
            content = b""
            while part := os.pread(self.files[i], size - len(content), len(content)):
                content += part
        return [line.strip() for line in content.split(b"\n") if line.strip()]

    def _add(self, i: int, lines: Sequence[bytes]) -> None:
        file, path = self.files[i], self.paths[i]
        with _own_words(path, "written"):
            size = os.fstat(file).st_size
            torn = size and os.pread(file, 1, size - 1) != b"\n"
            rest = memoryview((b"\n" if torn else b"") + b"".join(line + b"\n" for line in lines))
            while len(rest):
                rest = rest[os.write(file, rest) :]
            os.fsync(file)
            sync_folder(path.parent)


@contextmanager
def locked(common: Path, beside: Path, read: Sequence[Path] = ()) -> Iterator[OpenBooks]:
    """The books of one ledger, for nobody else until the end."""
    with ExitStack() as stack:
        with _own_words(common, "opened", COMMON):
            common.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        paths = _books(common, beside, read)
        files = {path: _opened(path, paths[path], stack) for path in _in_order(paths, common)}
        yield OpenBooks(tuple(paths), tuple(files[path] for path in paths))


@contextmanager
def unchanged(common: Path, beside: Path, read: Sequence[Path] = ()) -> Iterator[OpenBooks]:
    """The books of one ledger, to be read only. One that is not there counts as empty, if it could be begun."""
    import fcntl

    with ExitStack() as stack:
        paths, files = _books(common, beside, read), {}
        for path in _in_order(paths, common):
            with _own_words(path, "opened", paths[path]):
                if not path.exists():
                    _check_folder(path, made=path == common)
                    continue
                if not os.access(path, os.R_OK | os.W_OK):
                    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
                file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
                stack.callback(os.close, file)
                if not stat.S_ISREG(os.fstat(file).st_mode):
                    raise ReleaseError("not an ordinary file", where=str(path), remedy="A ledger must remember.")
                fcntl.flock(file, fcntl.LOCK_SH)
            files[path] = file
        there = [path for path in paths if path in files]
        yield OpenBooks(tuple(there), tuple(files[path] for path in there))


def _books(common: Path, beside: Path, read: Sequence[Path]) -> dict[Path, str]:
    """All books of a ledger, the common one first, with what to do if one cannot be opened."""
    return {common: COMMON, beside: BESIDE, **dict.fromkeys(read, BESIDE)}


def _in_order(paths: dict[Path, str], common: Path) -> list[Path]:
    """The order in which everybody locks: by name, the common book last. With two orders, two could wait for ever."""
    return [*sorted(path for path in paths if path != common), common]


def _check_folder(path: Path, *, made: bool) -> None:
    """OSError where a book could not be begun: its folder takes no file, or is not there and is not `made` either."""
    folder = next(parent for parent in path.parents if parent.exists())
    if folder != path.parent and not made:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _opened(path: Path, remedy: str, stack: ExitStack) -> int:
    import fcntl

    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
    while True:
        with _own_words(path, "opened", remedy):
            file = os.open(path, flags, 0o600)
            stack.callback(os.close, file)
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise ReleaseError("not an ordinary file", where=str(path), remedy="A ledger must remember.")
            fcntl.flock(file, fcntl.LOCK_EX)
            if path.exists() and os.path.samestat(os.fstat(file), path.stat()):
                return file


@contextmanager
def _own_words(path: Path, what: str, remedy: str = "Nothing was released.") -> Iterator[None]:
    try:
        yield
    except OSError as error:
        cause = error.strerror or type(error).__name__
        raise ReleaseError(f"the ledger cannot be {what} ({cause})", where=str(path), remedy=remedy) from None
