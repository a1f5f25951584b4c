"""A study in one file: what is protected, what is released, how, and where everything goes.

    table = "people.csv"             # the table, beside this file or with its whole path
    secret = ["health"]
    release = ["colour"]
    keep = ["region"]                # public columns that are published as they are
    notion = "lip"
    epsilon = 0.5                    # or: accuracy = 0.02, the widest 95 % interval that is wanted

    [targets]
    protocol = "protocol.json"
    released = "released.csv"

`discreet study run` follows it: design, check, sanitise, publish, report. Values of the secret that have few records
are the policy's business. `columns` and `records` say which table the study was made for; a study of another table is
refused.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final, cast

from discreet.exceptions import AlphabetError, ParameterError, TableError
from discreet.files.atomic_file import PIPE
from discreet.files.toml_file import LARGEST_WHOLE, read_toml
from discreet.notions import Notion
from discreet.notions.average import OnAverage
from discreet.notions.by_name import DEFAULT_EPSILON, has_number, kinds, notion_of
from discreet.policy import VARIABLE, nearest
from discreet.records.source import SUFFIXES, Format
from discreet.release import Job, RowsAsked

DEFAULT_CONFIDENCE: Final = 0.95  # of exact limits for a set of distributions, as everywhere in statistics
PURPOSES: Final = ("values", "statistics", "information")
DEFAULT_PURPOSE: Final = "values"
"""What most people who receive a table do: they open it, read it, count it. See docs/purposes.md."""
LONGEST_NAME, LONGEST_PATH = 255, 4095
"""Bytes of a name, and signs of a whole path, that no file system of today exceeds."""
TARGETS: Final = {
    "protocol": "protocol.json",
    "released": "released.csv",
    "report": "report.html",
    "board": "board.html",
}


@dataclass(frozen=True)
class StudyFile:
    """What a study.toml says; None and empty where it says nothing. Paths are as in the file, seen from `folder`."""

    table: str
    secret: tuple[str, ...]
    release: tuple[str, ...]
    given: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    person: str | None = None
    household: str | None = None
    rows: str | None = None
    one_row_per_person: bool = False
    bins: tuple[str, ...] = ()
    merge: tuple[str, ...] = ()
    weight: str | None = None
    public: str | None = None
    private: float | None = None
    letters: str | None = None
    same_noise: bool = False
    notion: str = "lip"
    epsilon: float | None = None
    confidence: float | None = None
    belt: float | None = None
    purpose: str = DEFAULT_PURPOSE
    need: float | None = None
    ceiling: str | None = None
    task: str | None = None
    accuracy: float | None = None
    plan: int | None = None
    about: str = ""
    sees_secret: bool = False
    include_secret: bool = False
    fewer_outputs: bool = False
    method: str | None = None
    gap: float | None = None
    time_limit: float | None = None
    keep_anyway: bool = False
    keep_order: bool = False
    to: str | None = None
    key: str | None = None
    id: str | None = None
    several_rows: bool = False
    encoding: str | None = None
    people: str | None = None
    data: str | None = None
    budget: float | None = None
    repeat: bool = False
    unknown_anyway: bool = False
    law_anyway: bool = False
    policy: str | None = None
    columns: tuple[str, ...] = ()
    records: int | None = None
    targets: Mapping[str, str] = field(default_factory=dict)
    folder: Path = field(default=Path(), compare=False)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> StudyFile:
        stated, _ = read_toml(path, "study", "Begin one with discreet study init.")
        return cls.of(stated, Path(path).parent)

    @classmethod
    def of(cls, stated: Mapping[str, Any], folder: Path = Path()) -> StudyFile:
        for key in stated:
            if key not in CHECKS:
                raise ParameterError(
                    "a key that no study has", where=key, remedy=nearest(key, set(CHECKS)) or "See the documentation."
                )
        for key in ("table", "secret", "release"):
            if key not in stated:
                raise ParameterError("a study needs this key", where=key, remedy=f"Write {key} = … into the file.")
        found = cls(**{key: CHECKS[key](value, key) for key, value in stated.items()}, folder=folder)
        levels = {"a notion with its number": has_number(found.notion), "an epsilon": found.epsilon is not None}
        levels |= {"an accuracy": found.accuracy is not None, "a need": found.need is not None}
        if len(given := [what for what, is_given in levels.items() if is_given]) > 1:
            raise ParameterError(
                f"{given[0]}, and {given[1]}",
                where=given[1].split()[-1],
                remedy="Give one; the other is found from it.",
            )
        if found.accuracy is not None and found.plan is None and found.records is None:
            raise ParameterError("an accuracy needs a number of records", where="accuracy", remedy="Add plan (--plan).")
        if found.plan == 0:
            raise ParameterError("not a number of records", where="plan", remedy="Give a whole number from 1.")
        found._check_used()
        return found

    def _check_used(self) -> None:
        """ParameterError for what would be asked for in vain, while something else is done."""
        notion = self.asked_notion
        sets = [getattr(one, "uncertainty", None) for one in notion.promises]
        if self.confidence is not None and not any(hasattr(one, "confidence") for one in sets):
            raise ParameterError(
                "a confidence, and no promise over a set of distributions",
                where="confidence",
                remedy="Leave it out, or promise rldp or rlip.",
            )
        if self.same_noise and self.private is None:
            raise ParameterError(
                "the same noise, and no noise", where="same_noise", remedy="Give private and letters too (--private)."
            )
        if self.purpose == "statistics" and (self.task or isinstance(notion, OnAverage)):
            raise ParameterError(
                f"{'a task' if self.task else 'an average'} is designed for information alone",
                where="purpose",
                remedy="Say information (--for information).",
            )

    @property
    def asked_notion(self) -> Notion:
        """What is to be promised; where a need or an accuracy is wanted, at a level that is still to be found."""
        confidence = DEFAULT_CONFIDENCE if self.confidence is None else self.confidence
        found = self.need is not None or self.accuracy is not None
        epsilon = DEFAULT_EPSILON if found else self.epsilon
        return notion_of(self.notion, epsilon, confidence, self.belt, self.ceiling)

    @classmethod
    def stated(cls, **keys: Any) -> StudyFile:
        """From options of a command: what is None or empty was not said."""
        return cls.of({key: value for key, value in keys.items() if value is not None and value != []})

    def text(self) -> str:
        """The file, with everything that is not as it would be by itself."""
        lines = []
        for entry in fields(self):
            value = getattr(self, entry.name)
            if entry.name in ("folder", "targets") or (value in (None, "", (), False)):
                continue
            lines.append(f"{entry.name} = {_written(value)}")
        lines += ["", "[targets]", *(f"{name} = {_written(path)}" for name, path in sorted(self.where().items()))]
        return "\n".join(lines) + "\n"

    def where(self) -> dict[str, str]:
        """Where everything goes; the released file also says its format."""
        return {**TARGETS, **self.targets}

    def path(self, name: str) -> Path:
        """Of a target, seen from where the command runs."""
        return self.folder / self.where()[name]

    @property
    def source(self) -> str:
        return self.table if self.table == PIPE else str(self.folder / self.table)

    @property
    def sample(self) -> str:
        """What the distribution is learnt from: the table itself, or a public sample."""
        return self.source if self.public is None else str(self.folder / self.public)

    def inputs(self) -> list[Path]:
        """Every file that the study, or the environment, names to be read."""
        named = [self.folder / one for one in (self.public, self.letters, self.key, self.policy) if one]
        return [Path(self.source), *named, *map(Path, filter(None, [os.environ.get(VARIABLE)]))]

    def job(self) -> Job:
        """The release of the study."""
        return Job(
            protocol=self.path("protocol"),
            source=self.source,
            target=str(self.path("released")),
            keep=self.keep,
            keep_anyway=self.keep_anyway,
            keep_order=self.keep_order,
            format=cast("Format | None", self.to),
            key=None if self.key is None else self.folder / self.key,
            identity=self.id,
            several_rows=self.several_rows,
            encoding=self.encoding,
            data=self.people or self.data,
            budget=self.budget,
            repeat=self.repeat,
            unknown_anyway=self.unknown_anyway,
            law_anyway=self.law_anyway,
            policy=None if self.policy is None else self.folder / self.policy,
            rows=RowsAsked(self.person, self.household, self.rows, self.one_row_per_person),
        )

    def check_table(self, columns: tuple[str, ...], records: int) -> None:
        """TableError where the study was made for another table."""
        if self.columns and columns != self.columns:
            raise TableError(
                "a study of a table with other columns", where=self.table, remedy="Begin one with discreet study init."
            )
        if self.records is not None and records != self.records:
            raise TableError(
                f"a study of a table with {self.records:,} records, not {records:,}",
                where=self.table,
                remedy="Change `records` if the table has grown and the study is still meant.",
            )


def commented(table: str, columns: tuple[str, ...], records: int) -> str:
    """A study to be filled in: every key, with what it means."""
    if not columns:
        raise AlphabetError("a table without columns", where=table, remedy="Give a table with a header.")
    return f"""\
# A study: what is protected, what is released, how. Run it with: discreet study run study.toml
table = {_written(table)}
columns = {_written(columns)}  # the study is for this table: another header is refused
records = {records}  # and another number of records too

secret = []                # columns to protect, together: ["health"]
release = []               # columns to release, sanitised: ["colour"]
# keep = ["region"]        # public columns that are published as they are, outside the promise
# given = ["sex"]          # columns within whose values the promise must hold
# person = "id"            # the column that says whose rows these are; household = "…" for those of households
# private = 1.0            # noise for the counts: the table itself is then private at this level; needs letters
# letters = "letters.json" # the letters of every column, from a codebook
# key = "steward.key"      # a secret key file: the same person gets the same cell again, by the column of id = "…"
# rows = "one"             # several rows of one person: one of them at random, one draw for all (tied), or independent
notion = "lip"             # what is promised: {", ".join(kind.words.command for kind in kinds())}
epsilon = 1.0              # how much may be learnt; smaller hides more
purpose = "values"         # what the release is for: values, statistics or information
# need = 0.9               # instead of epsilon: values unchanged, records' worth or information kept, as a share
# accuracy = 0.02          # instead of epsilon: the widest 95 % interval that is wanted
# confidence = 0.95        # for robust notions: how sure the promise is about the distribution
# belt = 8.0               # ordinary LDP at this level as well
# ceiling = "lip:1"        # beside an average, as notion = "funnel:0.02": what every single output keeps
# task = "income"          # be useful for this column, which is not released, instead of for everything
# bins = ["age=0,18,65"]   # numbers by bins, or "wage=quantiles:6"
# merge = ["rare:50"]      # values as one, or "column: A, B -> C"
# weight = "w"             # survey weights: records count by this column
# public = "sample.csv"    # learn the distribution from this public sample instead
# plan = 10000             # tell what analysts will get from so many released records
# about = ""               # what the release is for, and for whom: it stands on the board's page
# sees_secret = true       # the mechanism reads the secret too, for an owner of the data
# include_secret = true    # the secret is released together with the rest, sanitised
# time_limit = 60          # seconds for the search
# policy = "policy.toml"   # rules that may refuse the release
# budget = 1.0             # refuse when all releases together exceed this epsilon

[targets]
{chr(10).join(f"{name} = {_written(path)}" for name, path in TARGETS.items())}
"""


def _written(value: Any) -> str:
    """TOML's strings, arrays of them, numbers and truth values are written as those of JSON, but for one sign that TOML
    does not have."""
    text = json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False).replace("\x7f", "\\u007f")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ParameterError("a name that is not text", where="the study", remedy="Rename the file.") from None
    return text


# ---- what may stand behind a key ------------------------------------------------------------------------------------


def _text(value: Any, key: str) -> str:
    if not isinstance(value, str):
        raise ParameterError("not a text", where=key, remedy=f'Write {key} = "…".')
    return value


def _path(value: Any, key: str) -> str:
    """Where no file can be, every system call would say so in words of its own."""
    path = _text(value, key)
    longest = max(len(part.encode("utf-8", "surrogatepass")) for part in path.split(os.sep))
    if "\0" in path or longest > LONGEST_NAME or len(path) > LONGEST_PATH:
        raise ParameterError("a name that no file can have", where=key, remedy="Give a shorter one, without NUL.")
    return path


def _names(value: Any, key: str) -> tuple[str, ...]:
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
        raise ParameterError("not a list of columns", where=key, remedy=f'Write {key} = ["…"].')
    if key in ("secret", "release") and not listed:
        raise ParameterError("no column named yet", where=key, remedy=f'Write {key} = ["…"].')
    return tuple(listed)


def _switch(value: Any, key: str) -> bool:
    if not isinstance(value, bool):
        raise ParameterError("neither true nor false", where=key, remedy=f"Write {key} = true.")
    return value


def _positive(value: Any, key: str) -> float:
    if type(value) not in (int, float) or not 0 < value <= sys.float_info.max:
        raise ParameterError("not a positive number", where=key, remedy=f"Write {key} = 1.0.")
    return float(value)


def _whole(value: Any, key: str) -> int:
    if type(value) is not int or not 0 <= value <= LARGEST_WHOLE:
        raise ParameterError("not a number of records", where=key, remedy=f"Write {key} = 1000.")
    return value


def _notion(value: Any, key: str) -> str:
    commands = {kind.words.command for kind in kinds()}
    name = _text(value, key).lower()
    if name.partition(":")[0] not in commands:
        raise ParameterError(
            "a notion nobody knows", where=key, remedy=nearest(name, commands) or f"One of {sorted(commands)}."
        )
    return name


def _purpose(value: Any, key: str) -> str:
    name = _text(value, key).lower()
    if name not in PURPOSES:
        raise ParameterError(
            "a purpose nobody knows", where=key, remedy=nearest(name, set(PURPOSES)) or f"One of {', '.join(PURPOSES)}."
        )
    return name


def _format(value: Any, key: str) -> str:
    formats = set(SUFFIXES.values())
    if _text(value, key) not in formats:
        raise ParameterError("a format that is not written", where=key, remedy=f"One of {', '.join(sorted(formats))}.")
    return str(value)


def _targets(value: Any, key: str) -> dict[str, str]:
    if not isinstance(value, dict):
        raise ParameterError("not a table of targets", where=key, remedy="Write [targets] and below it released = …")
    for name in value:
        if name not in TARGETS:
            raise ParameterError(
                "a target that no study has", where=name, remedy=nearest(name, set(TARGETS)) or "See the documentation."
            )
    return {name: _path(path, name) for name, path in value.items()}


CHECKS: Final[dict[str, Callable[[Any, str], Any]]] = {
    **dict.fromkeys(("table", "public", "letters", "policy", "key"), _path),
    **dict.fromkeys(("person", "household", "rows", "weight", "about", "method", "encoding", "people"), _text),
    **dict.fromkeys(("data", "ceiling", "task", "id"), _text),
    **dict.fromkeys(("secret", "release", "given", "keep", "columns", "bins", "merge"), _names),
    **dict.fromkeys(("sees_secret", "include_secret", "keep_order", "fewer_outputs", "unknown_anyway"), _switch),
    **dict.fromkeys(("one_row_per_person", "same_noise", "repeat", "several_rows"), _switch),
    **dict.fromkeys(("keep_anyway", "law_anyway"), _switch),
    **dict.fromkeys(("epsilon", "private", "confidence", "belt", "accuracy", "need"), _positive),
    **dict.fromkeys(("gap", "time_limit", "budget"), _positive),
    **dict.fromkeys(("records", "plan"), _whole),
    "notion": _notion,
    "purpose": _purpose,
    "to": _format,
    "targets": _targets,
}
