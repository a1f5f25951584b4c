"""The books a ledger is written in: lines that are only ever added, under a lock, on disk before anybody goes on.

A ledger has two of them. One lies beside the protocol, where its owner sees it. The other lies in the user's data
folder (`XDG_DATA_HOME`, or `~/.local/share`) under the digest of the protocol, so that a copy of the file, a hard link
or a second name for it starts no fresh account. Every event is entered in both, the common book first; a line counts as
often as the book has it that has it most often. Books are the same by device and inode, whatever they are called: two
names of one file are one book. What the books cannot know are releases by other users, on other machines, or after
somebody deleted both.
"""

from __future__ import annotations

import errno
import os
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
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


def data_folder() -> Path:
    """The user's data folder; RuntimeError where there is none."""
    given = os.environ.get("XDG_DATA_HOME", "")
    root = Path(given) if os.path.isabs(given) else Path.home() / ".local" / "share"
    return root / "discreet"


def common_book(digest: str) -> Path:
    """The book of all copies of a protocol that this user has."""
    try:
        return data_folder() / "ledgers" / f"{digest}{LEDGER}"
    except RuntimeError:
        raise ReleaseError("no folder for the common ledger", where="XDG_DATA_HOME", remedy=COMMON) from None


@dataclass(frozen=True)
class OpenBooks:
    """Locked books: `written` are the common one and the one beside the protocol, or one where both are the same file;
    the others are only read. A book that is read only need not be there."""

    written: tuple[Book, ...]
    read: tuple[Book, ...] = ()

    @property
    def name(self) -> str:
        """Of the book that its owner sees."""
        return self.written[-1].path.name

    def lines(self) -> list[bytes]:
        """Every line, in the order of the books, as often as the book has it that has it most often."""
        found: Counter[bytes] = Counter()
        for book in (*self.written, *self.read):
            found |= Counter(book.lines())
        return list(found.elements())

    def append(self, line: bytes) -> None:
        """On disk in the books that are written when this returns. What only one of them had, the common one gets."""
        common, *others = self.written
        missing: Counter[bytes] = Counter()
        for book in others:
            missing |= Counter(book.lines()) - Counter(common.lines())
        common.add([*missing.elements(), line])
        for book in others:
            book.add([line])


@dataclass(frozen=True)
class Book:
    """An open file; `path` is one of the names that lead to it."""

    path: Path
    file: int

    @property
    def place(self) -> tuple[int, int]:
        """What tells files apart, whatever names and links lead to them."""
        found = os.fstat(self.file)
        return found.st_dev, found.st_ino

    @property
    def is_there(self) -> bool:
        """Whether the name still leads to this file."""
        with suppress(OSError):
            return os.path.samestat(os.fstat(self.file), self.path.stat())
        return False

    def lines(self) -> list[bytes]:
        with _own_words(self.path, "read"):
            size = os.fstat(self.file).st_size
            if size > LARGEST_BOOK:
                raise ReleaseError("far larger than a ledger", where=str(self.path), remedy="Put it away.")
            content = b""
            while part := os.pread(self.file, size - len(content), len(content)):
                content += part
        return [line.strip() for line in content.split(b"\n") if line.strip()]

    def add(self, lines: Sequence[bytes]) -> None:
        with _own_words(self.path, "written"):
            size = os.fstat(self.file).st_size
            torn = size and os.pread(self.file, 1, size - 1) != b"\n"
            rest = memoryview((b"\n" if torn else b"") + b"".join(line + b"\n" for line in lines))
            while len(rest):
                rest = rest[os.write(self.file, rest) :]
            os.fsync(self.file)
            sync_folder(self.path.resolve().parent)


@contextmanager
def locked(common: Path, beside: Path, read: Sequence[Path] = ()) -> Iterator[OpenBooks]:
    """The books of one ledger, for nobody else until the end."""
    with _own_words(common, "opened", COMMON):
        common.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _held(common, beside, read, begun=True) as books:
        yield books


@contextmanager
def unchanged(common: Path, beside: Path, read: Sequence[Path] = ()) -> Iterator[OpenBooks]:
    """The books of one ledger, to be read only. One that is not there counts as empty, if it could be begun."""
    with _held(common, beside, read, begun=False) as books:
        yield books


@contextmanager
def _held(common: Path, beside: Path, read: Sequence[Path], *, begun: bool) -> Iterator[OpenBooks]:
    """Every file once, locked. Everybody locks in the order of the files, whatever their names: with two orders, two
    could wait for ever, and so could one who locks a file by two of its names."""
    import fcntl

    while True:
        with ExitStack() as stack:
            named = [
                _opened(path, stack, made=path.parent == common.parent, begun=begun) for path in (common, beside, *read)
            ]
            files: dict[tuple[int, int], Book] = {}
            for book in named:
                if book is not None:
                    files.setdefault(book.place, book)
            for place in sorted(files):
                with _own_words(files[place].path, "opened"):
                    fcntl.flock(files[place].file, fcntl.LOCK_EX if begun else fcntl.LOCK_SH)
            if not all(book.is_there for book in named if book is not None):
                continue
            written = tuple(dict.fromkeys(files[book.place] for book in named[:2] if book is not None))
            yield OpenBooks(written, tuple(book for book in files.values() if book not in written))
            return


def _opened(path: Path, stack: ExitStack, *, made: bool, begun: bool) -> Book | None:
    """The book that a name leads to, with `begun` also where there is none; refused alike in both cases. Where links
    lead is where it is begun; only the folder of the common books is `made`."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK | (os.O_CREAT if begun else 0)
    with _own_words(path, "opened", COMMON if made else BESIDE):
        try:
            file = os.open(path, flags, 0o600)
        except FileNotFoundError:
            if begun:
                raise
            made = made and not path.is_symlink()
            _check_folder(path if made else Path(os.path.realpath(path)), made=made)
            return None
        stack.callback(os.close, file)
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise ReleaseError("not an ordinary file", where=str(path), remedy="A ledger must remember.")
        return Book(path, file)


def _check_folder(path: Path, *, made: bool) -> None:
    """OSError where a book could not be begun: its folder takes no file, or is not there and is not `made` either."""
    folder = next(parent for parent in path.parents if os.path.lexists(parent))
    if folder != path.parent and not made:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


@contextmanager
def _own_words(path: Path, what: str, remedy: str = "Nothing was released.") -> Iterator[None]:
    try:
        yield
    except OSError as error:
        cause = error.strerror or type(error).__name__
        raise ReleaseError(f"the ledger cannot be {what} ({cause})", where=str(path), remedy=remedy) from None
