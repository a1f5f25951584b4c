"""A project: a folder with every decision, saved after each of them, and the way back.

    studio.json         decisions now, before and after (`steps_back`), the revision, results that still hold
    study.toml          the same study for `discreet study run`, once a secret and a release are named
    protocol.json       the rules, proven; its ledger beside it
    release/            what may be published, after the one draw

The file is the truth: it is read for every request and replaced whole, under a lock, so that several tabs, and several
servers, cannot disturb each other. A change says which revision it was made from; one made from an older page is
refused, and the page asks to be loaded again. Whether there was a draw is read from the release itself, never from
`studio.json`: after a kill nothing is half released. While a draw is under way neither decisions nor rules change: it
holds a lock of its own, which ends with its process, and changes are made under the same lock, shared.
"""

from __future__ import annotations

import fcntl
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from discreet.exceptions import ParameterError
from discreet.files.atomic_file import unpublished
from discreet.studio import steps_back
from discreet.studio.choices import LARGEST_NUMBER, Choices
from discreet.studio.seals import is_sealed, seal

STATE, STUDY, PROTOCOL, RELEASE = "studio.json", "study.toml", "protocol.json", "release"
VERSION: Final = 1
STATE_LOCK, DRAW_LOCK = ".studio.lock", ".draw.lock"
SLUG: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
LONGEST_SLUG: Final = 100
LARGEST_STATE: Final = 64 << 20
TOO_MUCH: Final = "This was not saved. Merge fewer values by name: rare ones by their number of records."
NUMBERS: Final = ("records", "total_epsilon", "independent_draws")
"""Of a manifest, as pages show them."""
HALF: Final = re.compile(r"\\u[dD][89a-fA-F]")


class OtherTab(ParameterError):
    """The project was changed from another page meanwhile."""


class AlreadyReleased(ParameterError):
    """A released project does not change any more."""


class DrawUnderWay(ParameterError):
    """What a draw depends on does not change until it is over."""


@dataclass(frozen=True)
class Saved:
    """What the file says. `results` are by name, each with the question it answers and a seal."""

    now: Choices
    past: tuple[dict[str, Any], ...] = ()
    future: tuple[dict[str, Any], ...] = ()
    revision: int = 1
    when: str = ""
    results: dict[str, Any] = field(default_factory=dict)

    def answer(self, name: str, question: Any) -> Any:
        """A result, if it answers this question and was computed here; None where it must be computed (again)."""
        found = self.results.get(name)
        asked = isinstance(found, dict) and found.get("question") == _plain(question)
        return found["answer"] if found and asked and is_sealed(name, found) else None


@dataclass(frozen=True)
class Project:
    """One folder."""

    folder: Path

    @property
    def slug(self) -> str:
        return self.folder.name

    @property
    def released_file(self) -> Path:
        table = Path(self.saved().now.table)
        suffix = table.suffix.lower() if table.suffix.lower() in (".parquet", ".arrow", ".feather") else ".csv"
        return self.folder / RELEASE / f"released{suffix}"

    @property
    def manifest_file(self) -> Path:
        return self.released_file.with_name(f"{self.released_file.name}.manifest.json")

    def manifest(self) -> dict[str, Any] | None:
        """Of the draw, if there was one: file and manifest are published together, the file last."""
        if not (self.manifest_file.is_file() and self.released_file.is_file()):
            return None
        with _readable(self.manifest_file.name):
            found = dict(json.loads(self.manifest_file.read_text(encoding="utf-8")))
            parts = {name: dict(found.get(name, {})) for name in ("protocol", "file")}
            numbers = {name: min(max(0, found[name]), LARGEST_NUMBER) for name in NUMBERS if name in found}
            return {**found, **parts, **numbers}

    @property
    def drawn(self) -> bool:
        return self.manifest() is not None

    # ---- reading and writing --------------------------------------------------------------------------------

    def saved(self) -> Saved:
        path = self.folder / STATE
        if path.stat().st_size > LARGEST_STATE:
            raise ParameterError("a project file that is too large", where=STATE, remedy="Begin a new project.")
        with _readable(STATE):
            text = path.read_text(encoding="utf-8")
            stated = json.loads(text)
            if HALF.search(text):
                json.dumps(stated, ensure_ascii=False).encode()  # half a surrogate is no character: no page shows it
            now, when = stated["now"], str(stated["when"])
            datetime.fromisoformat(when)
            return Saved(
                Choices.of(now), steps_back.read(now, stated["past"]), steps_back.read(now, stated["future"]),
                int(stated["revision"]), when, dict(stated["results"]),
            )  # fmt: skip

    @classmethod
    def begin(cls, folder: Path, choices: Choices) -> Project:
        """A new folder, or the project that is there already."""
        folder.mkdir(parents=True, exist_ok=True)
        project = cls(folder)
        if not (folder / STATE).exists():
            (folder / RELEASE).mkdir(exist_ok=True)
            project._write(Saved(choices))
        return project

    def _write(self, saved: Saved) -> Saved:
        """What could not be read again is not written: rather without the way back, and else not at all."""
        saved, now = replace(saved, when=datetime.now().isoformat(timespec="seconds")), saved.now.plain()
        ways = [steps_back.kept(now, states) for states in (saved.past, saved.future)]
        for past, future in (ways, ([], [])):
            content = {
                "version": VERSION,
                "revision": saved.revision,
                "when": saved.when,
                "now": now,
                "past": past,
                "future": future,
                "results": saved.results,
            }
            written = json.dumps(content, ensure_ascii=False, indent=1).encode()
            if len(written) <= LARGEST_STATE:
                _whole(self.folder / STATE, written)
                return replace(saved, past=_last(len(past), saved.past), future=_last(len(future), saved.future))
        raise ParameterError("more than a project can hold", where=STATE, remedy=TOO_MUCH)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with _holding(self.folder / STATE_LOCK, fcntl.LOCK_EX):
            yield

    @contextmanager
    def _undrawn(self) -> Iterator[None]:
        """Nothing is drawn from here to the end, and nothing was drawn before."""
        try:
            held = _holding(self.folder / DRAW_LOCK, fcntl.LOCK_SH | fcntl.LOCK_NB)
            with held, self._locked():
                if self.drawn:
                    raise AlreadyReleased(
                        "this project was released; its choices are fixed", where=self.slug, remedy="Copy it to go on."
                    )
                yield
        except BlockingIOError:
            raise DrawUnderWay(
                "this project is being drawn; its choices are fixed",
                where=self.slug,
                remedy="Wait until the draw is over; or copy the project to go on.",
            ) from None

    @contextmanager
    def drawing(self, now: Choices) -> Iterator[None]:
        """The time of a draw by these choices, which are still those of the project, and stay so."""
        with _holding(self.folder / DRAW_LOCK, fcntl.LOCK_EX):
            if replace(self.saved().now, reached=now.reached) != now:
                raise OtherTab(
                    "the choices were changed before the draw began; nothing was drawn",
                    where=self.slug,
                    remedy="Look at the check again.",
                )
            yield

    # ---- changing -------------------------------------------------------------------------------------------

    def change(self, revision: int, step: Callable[[Choices], Choices]) -> Saved:
        """One decision, saved; a step back leads here again."""
        with self._undrawn():
            saved = self._current(revision)
            now = step(saved.now)
            if now == saved.now:
                return saved
            past = (*saved.past, saved.now.plain())
            return self._write(replace(saved, now=now, past=past, future=(), revision=saved.revision + 1))

    def undo(self, revision: int) -> Saved:
        with self._undrawn():
            saved = self._current(revision)
            if not saved.past:
                return saved
            now, future = _step(saved.past), (*saved.future, saved.now.plain())
            return self._moved(saved, now, saved.past[:-1], future)

    def redo(self, revision: int) -> Saved:
        with self._undrawn():
            saved = self._current(revision)
            if not saved.future:
                return saved
            return self._moved(saved, _step(saved.future), (*saved.past, saved.now.plain()), saved.future[:-1])

    def _moved(self, saved: Saved, now: Choices, past: tuple[Any, ...], future: tuple[Any, ...]) -> Saved:
        """A step back undoes a decision, not how far the way is known."""
        now = replace(now, reached=max(now.reached, saved.now.reached))
        return self._write(replace(saved, now=now, past=past, future=future, revision=saved.revision + 1))

    def reach(self, step: int) -> Saved:
        """The way is open up to this step; no decision, so no step back."""
        with self._locked():
            saved = self.saved()
            if step <= saved.now.reached or self.drawn:
                return saved
            return self._write(replace(saved, now=replace(saved.now, reached=step)))

    def settle(self, follow: Callable[[Choices], Choices]) -> Saved:
        """What follows from the table or from a decision and is nobody's own: no step back leads before it."""
        try:
            with self._undrawn():
                saved = self.saved()
                now = follow(saved.now)
                return saved if now == saved.now else self._write(replace(saved, now=now))
        except (AlreadyReleased, DrawUnderWay):
            return self.saved()

    def keep(self, name: str, question: Any, answer: Any) -> Saved:
        """A result, with what it answers. It changes no decision, so pages in other tabs stay valid."""
        with self._locked():
            saved = self.saved()
            question, answer = _plain(question), _plain(answer)
            kept = {"question": question, "answer": answer, "seal": seal(name, question, answer)}
            results = {**saved.results, name: kept}
            return self._write(replace(saved, results=results))

    def put_rules(self, content: bytes) -> None:
        """The protocol, in the place of the one before; that of a draw stays."""
        with self._undrawn():
            _whole(self.folder / PROTOCOL, content)

    def forget_rules(self) -> None:
        """They are searched for again."""
        with self._undrawn():
            saved = self.saved()
            self._write(replace(saved, results={name: one for name, one in saved.results.items() if name != "rules"}))

    def _current(self, revision: int) -> Saved:
        saved = self.saved()
        if revision != saved.revision:
            raise OtherTab("this project was changed in another tab", where=self.slug, remedy="Reload the page.")
        return saved

    def write(self, name: str, content: str) -> None:
        """A file of the project, whole or not at all."""
        _whole(self.folder / name, content.encode())


@contextmanager
def _readable(name: str) -> Iterator[None]:
    """ParameterError where a file of the project is not what was written: somebody else may have changed it."""
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        what = f"a project that cannot be read ({type(error).__name__})"
        raise ParameterError(what, where=name, remedy="Begin a new one.") from None


def _last(many: int, states: tuple[dict[str, Any], ...]) -> tuple[dict[str, Any], ...]:
    return states[len(states) - many :]


def _step(states: tuple[dict[str, Any], ...]) -> Choices:
    """The nearest of them."""
    with _readable(STATE):
        return Choices.of(states[-1])


@contextmanager
def _holding(path: Path, how: int) -> Iterator[None]:
    """A lock of the system, which ends with the process at the latest."""
    with path.open("a") as lock:
        fcntl.flock(lock, how)
        yield


def _whole(path: Path, content: bytes) -> None:
    with unpublished(path) as file:
        file.write(content)
        file.publish()


def _plain(value: Any) -> Any:
    """As it comes back from the file: tuples are lists there."""
    return json.loads(json.dumps(value))


@dataclass(frozen=True)
class Shelf:
    """The folder that projects are in."""

    folder: Path

    def projects(self) -> list[Project]:
        """Newest change first."""
        if not self.folder.is_dir():
            return []
        found = [Project(path) for path in self.folder.iterdir() if SLUG.fullmatch(path.name) and _is_project(path)]
        return sorted(found, key=lambda one: -(one.folder / STATE).stat().st_mtime)

    def get(self, slug: str) -> Project | None:
        path = self.folder / slug
        return Project(path) if is_plain(slug) and _is_project(path) else None

    def new(self, name: str) -> Path:
        """A folder of a plain name, that is not there yet."""
        plain, number = plain_name(name), 1
        slug = plain
        while (self.folder / slug).exists():
            number += 1
            slug = f"{plain}-{number}"
        return self.folder / slug


def is_plain(name: str) -> bool:
    """Whether a folder of this name has an address."""
    return len(name) <= LONGEST_SLUG and SLUG.fullmatch(name) is not None


def plain_name(name: str) -> str:
    """The like of it that has one."""
    return "-".join(re.findall(r"[a-z0-9]+", name.lower()))[:40].strip("-") or "study"


def _is_project(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink() and (path / STATE).is_file()
