"""The desk of one project: what is decided, which results hold, and what has to be computed for the page asked for.

A result is asked for by the question it answers. If the project has it, the page shows it; otherwise a worker is asked,
the page shows its progress, and the result is kept in the project when it comes. A question that failed is not asked
again until somebody asks for it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from discreet.exceptions import ProtocolError, ReleaseError
from discreet.studio.choices import LARGEST, SMALLEST, Choices
from discreet.studio.jobs import BackgroundJob, Jobs
from discreet.studio.project import PROTOCOL, Project, Saved

OTHER_SECONDS: Final = 20.0
"""For a look at what other rules would keep."""
MOST_COMPARED: Final = 3
"""Columns left out in which an example of a weakened relation is looked for; each is one more reading of the table."""
SEARCH_SECONDS: Final = {"values": 60.0, "statistics": 20.0, "information": 30.0}
RELEASED: Final = "what was found before this release was computed elsewhere, or from another state of the table"
READ_REPORT: Final = "The report and the manifest of the release say what was drawn; copy the project to go on."
OTHER_RULES: Final = "Put back the file that was there, or take it away: then rules are searched for again."
FEW: Final = 50
"""Values of fewer people are counted, not shown."""


@dataclass(frozen=True)
class Answer:
    """A result, or the work on it."""

    result: Any = None
    task: BackgroundJob | None = None

    @property
    def under_way(self) -> bool:
        return self.task is not None and self.task.running

    @property
    def failed(self) -> dict[str, str]:
        return self.task.error if self.task is not None and self.task.state == "failed" else {}


@dataclass(frozen=True)
class Desk:
    project: Project
    saved: Saved
    jobs: Jobs
    testing: bool = False

    @classmethod
    def of(cls, project: Project, jobs: Jobs, testing: bool = False) -> Desk:
        """As the project is saved; a level that follows a need is the one that was found for it."""
        desk = cls(project, project.saved(), jobs, testing)
        found = desk.held("need", desk.now.wanted()) if desk.now.by_need else None
        if found is None or found["epsilon"] == desk.now.epsilon:
            return desk
        return replace(desk, saved=_follow(project, desk.now.wanted(), found))

    @property
    def now(self) -> Choices:
        return self.saved.now

    @property
    def protocol(self) -> Path:
        return self.project.folder / PROTOCOL

    def stamp(self) -> list[int]:
        """Which state of the table a result is about."""
        try:
            state = Path(self.now.table).stat()
        except OSError:
            return [0, 0]
        return [state.st_size, state.st_mtime_ns]

    def ask(self, name: str, question: dict[str, Any], options: dict[str, Any] | None = None) -> Answer:
        question = {**question, "stamp": self.stamp()}
        found = self.saved.answer(name, question)
        if found is not None:
            return Answer(found)
        latest = self.jobs.latest(name, self.project.slug)
        if latest is not None and latest.question == question:
            if latest.running or latest.state == "failed":
                return Answer(None, latest)
            return Answer(latest.result)
        project = self.project
        return Answer(
            None,
            self.jobs.ask(name, project.slug, question, options, lambda result: keep(project, name, question, result)),
        )

    def again(self, name: str) -> None:
        """Forget a failure, so that the page asks anew."""
        latest = self.jobs.latest(name, self.project.slug)
        if latest is not None and latest.state == "failed":
            latest.question = None

    def held(self, name: str, question: dict[str, Any]) -> Any:
        """A result if the project has it; nothing is asked."""
        return self.saved.answer(name, {**question, "stamp": self.stamp()})

    # ---- the questions of the pages -------------------------------------------------------------------------

    def look(self) -> Answer:
        return self.ask("look", {"table": self.now.table, "secret": []})

    def tells(self) -> Answer:
        return self.ask("tells", {"table": self.now.table, "secret": list(self.now.secret)})

    def guess(self) -> Answer:
        """Of the secret, from the columns that would be seen, grouped."""
        now = self.now
        seen = [*now.release, *now.given]
        stated = {"table": now.table, "secret": list(now.secret), "release": seen, "group": now.grouping()}
        return self.ask("guess", stated)

    def spread(self, numbers: list[str]) -> Answer:
        now = self.now
        columns = [*now.release, *now.given, *now.secret]
        group = now.grouping()
        of_secret = {key: {n: v for n, v in group[key].items() if n in now.secret} for key in group}
        stated = {"table": now.table, "secret": list(now.secret), "columns": columns, "group": of_secret}
        named = {
            n: sorted(one for old in made.values() for one in old) for n, made in now.merge.items() if n in columns
        }
        stated |= {"missing": marks} if (marks := {n: now.marks(n) for n in columns if now.marks(n)}) else {}
        return self.ask("spread", {**stated, "numbers": [n for n in numbers if n in columns], "k": FEW, "named": named})

    def curve(self) -> Answer:
        return self.ask("curve", self.now.question(), {"first": self.now.purpose})

    def needed(self) -> Answer | None:
        """The smallest level for the need, where the promise follows it."""
        if not self.now.by_need or self.project.drawn:
            return None
        curve = self.held("curve", self.now.question())
        known = [[p["epsilon"], p["value"]] for p in curve["points"].get(self.now.purpose, [])] if curve else []
        return self.ask("need", self.now.wanted(), {"known": known, "between": [SMALLEST, LARGEST]})

    def thin(self) -> Answer:
        """Combinations of few people, as they are grouped now; they depend on no promise."""
        asked = self.now.question()
        return self.ask("thin", {**{k: v for k, v in asked.items() if k != "notion"}, "sees_secret": False})

    def other(self) -> Answer | None:
        """What the same promise would keep if the rules read the secret as well, or no longer; after the curve."""
        needed = self.needed()
        settled = needed is None or (needed.result and needed.result["epsilon"] == self.now.epsilon)
        if self.project.drawn or not settled or self.held("curve", self.now.question()) is None:
            return None
        asked = {**self.now.asked(), "sees_secret": not self.now.sees_secret}
        return self.ask("other", asked, {"seconds": OTHER_SECONDS})

    def rules(self) -> Answer:
        self.jobs.stop("other", self.project.slug)  # nobody looks at it any more
        needed = self.needed()
        if needed is not None and needed.result is None:
            return needed
        if needed is not None and needed.result["epsilon"] != self.now.epsilon:
            return Answer(None, None)  # found a moment ago: the next look at the project has it
        seconds = SEARCH_SECONDS[self.now.purpose]
        if self.project.drawn and self.held("rules", self.now.asked()) is None:
            raise ReleaseError(RELEASED, where=self.project.slug, remedy=READ_REPORT)  # a search would replace the file
        found = self.ask("rules", self.now.asked(), {"path": str(self.protocol), "seconds": seconds})
        if found.result is not None and not self.protocol.is_file():
            self.project.keep("rules", {}, None)  # somebody took the file away: the rules are found again
            return Answer(None, None)
        if found.result is not None:
            self._check_file(found.result["digest"])
        return found

    def _check_file(self, digest: str) -> None:
        """What is shown is about the rules in the file; the digest of rules is that of the file's bytes."""
        if hashlib.sha256(self.protocol.read_bytes()).hexdigest() != digest:
            raise ProtocolError("the file has other rules than were found here", where=PROTOCOL, remedy=OTHER_RULES)

    def check(self, digest: str) -> Answer:
        question = self.check_question(digest)
        looked = self.look() if self.held("check", question) is None else Answer({"columns": []})
        if looked.result is None:
            return looked
        options = {"job": self.job(digest), "left_out": self._few_values(looked.result), "group": self.now.grouping()}
        return self.ask("check", question, options)

    def _few_values(self, look: dict[str, Any]) -> list[str]:
        """Columns left out with the fewest values: what somebody may join to the release."""
        out = self.now.columns("out")
        small = [one for one in look["columns"] if one["name"] in out and one["kind"] in ("category", "yes or no")]
        small.sort(key=lambda one: one["distinct"])
        return [one["name"] for one in small if one["distinct"] <= FEW][:MOST_COMPARED]

    def check_question(self, digest: str) -> dict[str, Any]:
        """What a check depends on: the rules, whose rows they are, and what the ledger says of them before a draw."""
        ledger = self.protocol.with_name(f"{self.protocol.name}.ledger")
        drawn = ledger.stat().st_size if ledger.is_file() and not self.project.drawn else 0
        return {
            "digest": digest,
            "people": self.now.people,
            "rows": self.now.stated(),
            "several_rows": self.now.several_rows,
            "ledger": drawn,
            "repeat": self.now.repeat,
        }

    def job(self, digest: str) -> dict[str, Any]:
        """The release: what `discreet sanitise` is told, and which rules were shown."""
        stated: dict[str, Any] = {
            "protocol": str(self.protocol),
            "source": self.now.table,
            "target": str(self.project.released_file),
            "data": self.now.people or None,
            "rows": self.now.stated(),
            "several_rows": self.now.several_rows,
            "repeat": self.now.repeat,
            "digest": digest,
        }
        return {**stated, "testing": True} if self.testing else stated


def keep(project: Project, name: str, question: dict[str, Any], result: Any) -> None:
    project.keep(name, question, result)
    if name == "need":
        _follow(project, {key: value for key, value in question.items() if key != "stamp"}, result)


def _follow(project: Project, wanted: dict[str, Any], found: dict[str, Any]) -> Saved:
    """The level that was found for a need, if it is still the one that is wanted."""

    def followed(now: Choices) -> Choices:
        return replace(now, epsilon=found["epsilon"]) if now.by_need and now.wanted() == wanted else now

    return project.settle(followed)
