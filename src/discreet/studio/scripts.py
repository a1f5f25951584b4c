"""The same without the page: the command, the Python, and at the end a script that repeats the whole study.

Every text that comes from data is quoted for its language, control characters escaped, so that what is shown can be
copied and does what it says.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from discreet.studio.choices import Choices
from discreet.studio.project import PROTOCOL, STUDY, Project

CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u200b-\u200f\u202a-\u202e\u2066-\u2069]")
UTILITY: Final = {"values": ", utility=dc.Agreement()", "statistics": ", utility=dc.Accuracy()", "information": ""}
NOTION: Final = {"lip": "dc.LIP({0})", "ldp": "dc.LDP({0})", "srlip": "dc.SRLIP({0})", "rldp": "dc.RLDP({0})",
                 "rlip": "dc.RLIP({0}, dc.Confidence(0.95))"}  # fmt: skip
WIDTH: Final = 96


def quoted(text: str) -> str:
    """One word of a shell; control characters as bash and zsh write them."""
    if not CONTROL.search(text):
        return shlex.quote(text)
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return "$'" + CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", escaped) + "'"


def spelled(value: Any) -> str:
    """A value in Python, in plain characters and double quotes where that is possible."""
    if isinstance(value, str):
        written = repr(value)
        plain = '"' not in value and "\\" not in written
        return CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", f'"{value}"' if plain else written)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{spelled(key)}: {spelled(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(spelled(one) for one in value) + "]"
    return repr(value)


def near(path: str | Path) -> str:
    """A path as somebody in this folder would type it."""
    short = os.path.relpath(path)
    return short if len(short) < len(str(path)) and not short.startswith("../..") else str(path)


def wrapped(words: list[str]) -> str:
    """A command of several lines, with what continues it."""
    lines, line = [], words[0]
    for word in words[1:]:
        if len(line) + len(word) > WIDTH:
            lines.append(line + " \\")
            line = "    " + word
        else:
            line += " " + word
    return "\n".join([*lines, line])


def look_command(now: Choices) -> str:
    return wrapped(["discreet look", quoted(near(now.table)), *(f"--secret {quoted(name)}" for name in now.secret)])


def look_python(now: Choices) -> str:
    secret = f", secret={spelled(list(now.secret))}" if now.secret else ""
    return (
        f"import discreet as dc\n\nfound = dc.look({spelled(near(now.table))}{secret})\nfound.columns, found.findings"
    )


def group_texts(now: Choices) -> tuple[list[str], list[str]] | None:
    """Bins and merges in the words of a command line; None where a name or a value has signs that these words use."""
    group = now.grouping()
    named = [*group["bins"], *group["merge"], *group["rare"]]
    values = [one for made in group["merge"].values() for new, old in made.items() for one in (new, *old)]
    if any(set("=:,") & set(name) for name in named) or any(
        one != one.strip() or set(",>") & set(one) for one in values
    ):
        return None
    bins = [f"{name}={','.join(edges)}" for name, edges in group["bins"].items()]
    merges = [
        f"{name}: {', '.join(old)} -> {new}" for name, made in group["merge"].items() for new, old in made.items()
    ]
    return bins, merges + [f"{name}:rare:{few}" for name, few in group["rare"].items()]


def group_options(now: Choices) -> list[str]:
    texts = group_texts(now)
    if texts is None:
        return ["…  # these groups have signs that a command line cannot say: use the Python beside"]
    bins, merges = texts
    return [*(f"--bins {quoted(one)}" for one in bins), *(f"--merge {quoted(one)}" for one in merges)]


def design_words(now: Choices, protocol: str) -> list[str]:
    words = ["discreet design", quoted(near(now.table))]
    words += [f"--secret {quoted(name)}" for name in now.secret]
    words += [f"--release {quoted(name)}" for name in now.release]
    words += [f"--given {quoted(name)}" for name in now.given]
    words += [*group_options(now), f"--notion {now.notion}", f"--epsilon {now.epsilon:g}", f"--for {now.purpose}"]
    words += ["--sees-secret"] if now.sees_secret else []
    words += whose_options(now.whose())
    return [*words, f"--out {quoted(near(protocol))}"]


PRIVATE: Final = {"lip": "rlip", "srlip": "rlip", "rlip": "rlip", "ldp": "rldp", "rldp": "rldp"}
"""Counts with noise are uncertain, so the promise is the one for every distribution within limits."""


def private_command(now: Choices, protocol: str) -> str:
    """The same design from counts with noise, as far as it goes without given columns and rows of one person."""
    plain = replace(now, notion=PRIVATE[now.notion], roles={n: r for n, r in now.roles.items() if r != "given"},
                    row="person", person="", rare={})  # fmt: skip
    words = design_words(plain, protocol)
    return wrapped([*words[:-1], "--private 1 --letters letters.json", words[-1]])


def private_letters(now: Choices) -> str:
    """What letters.json looks like. Values come from a codebook: only names that the steward wrote are filled in."""
    written = {name: [*(new for new in now.merge.get(name, {}) if new), "…"] for name in (*now.secret, *now.release)}
    return json.dumps(written, ensure_ascii=False)


def private_obstacles(now: Choices) -> list[str]:
    """What was chosen that counts with noise do not have."""
    found = [f"{name} is given: leave it out, or release it" for name in now.given]
    several = "several rows of one person or household: the noise protects one row of each"
    found += [several] if now.row != "person" else []
    rare = [name for name, few in now.rare.items() if few and name in now.used]
    return found + [
        f"rare values of {name} as “other”: which ones are rare is read off the table; merge" for name in rare
    ]


def whose_options(whose: dict[str, Any]) -> list[str]:
    """Whose rows they are."""
    if "one_row_per_person" in whose:
        return ["--one-row-per-person"]
    return [f"--{key} {quoted(value)}" for key, value in whose.items()]


def joint_python(now: Choices) -> str:
    """From the table to the joint, grouped."""
    group = now.grouping()
    parts = [f"    {key}={spelled(group[key])}," for key in ("bins", "merge", "rare") if group[key]]
    lines = ["groups = dc.Grouping(", *parts, ")"] if parts else []
    columns = [f"    secret={spelled(list(now.secret))},", f"    release={spelled(list(now.release))},"]
    columns += [f"    given={spelled(list(now.given))},"] if now.given else []
    columns += ["    group=groups,"] if parts else []
    columns += [f"    {key}={spelled(value)}," for key, value in now.whose().items()]
    return "\n".join([*lines, f"joint = dc.Joint.from_table(\n    {spelled(near(now.table))},", *columns, ")"])


def design_python(now: Choices, protocol: str, seconds: float) -> str:
    sees = ", sees_secret=True" if now.sees_secret else ""
    force = ", force=True" if now.given else ""
    promise = NOTION[now.notion].format(f"{now.epsilon:g}")
    call = f"found = dc.design(joint, {promise}{UTILITY[now.purpose]}{sees}{force}, time_limit={seconds:g})"
    judged = "found.utility, found.upper_bound  # found, and what nobody can exceed"
    return f"{call}\n{judged}\nfound.protocol.save({spelled(near(protocol))})"


def draw_words(now: Choices, protocol: str, target: str) -> list[str]:
    words = ["discreet sanitise", quoted(near(protocol)), quoted(near(now.table)), quoted(near(target))]
    words += [*whose_options(now.stated()), *(["--several-rows"] if now.several_rows else [])]
    words += [*(["--repeat"] if now.repeat else [])]
    return [*words, *([f"--people {quoted(now.people)}"] if now.people else [])]


def job_python(now: Choices, protocol: str, target: str) -> str:
    people = f", data={spelled(now.people)}" if now.people else ""
    rows = ", ".join(f"{key}={spelled(value)}" for key, value in now.stated().items())
    people += f", rows=RowsAsked({rows})" if rows else ""
    people += ", several_rows=True" if now.several_rows else ""
    people += ", repeat=True" if now.repeat else ""
    return (
        f"job = Job(protocol=Path({spelled(near(protocol))}), source={spelled(near(now.table))}, "
        f"target={spelled(near(target))}{people})"
    )


def whole_study(now: Choices, protocol: str, target: str, seconds: float, finished: bool = True) -> str:
    """A script from the table to the release. Rules whose search ended on the clock are not searched for again: another
    run would find others, as good, and the release was drawn with these."""
    design = design_python(now, protocol, seconds)
    if not finished:
        why = f"# The search ended before it was proven best. The rules that it found are in {near(protocol)!r};"
        design = "\n".join(
            [why, "# to search again, which may find other ones:", *(f"# {one}" for one in design.split("\n"))]
        )
    return "\n".join(
        [
            '"""The whole study, as it was made in the studio. Running it draws: a second time it is refused."""',
            "",
            "from pathlib import Path",
            "",
            "import discreet as dc",
            "from discreet.release import Job, RowsAsked, rehearse_file, sanitise_file",
            "",
            joint_python(now),
            design,
            "",
            job_python(now, protocol, target),
            "check = rehearse_file(job)  # reads everything, draws nothing",
            "assert not check.refusals, check.refusals",
            "sanitise_file(job)  # the one line that draws",
            "",
        ]
    )


# The study file of a project: what `discreet study run` would follow to do the same.


def save_study(project: Project, now: Choices) -> None:
    """Written once there is something to hide and something to tell; no file where a study file cannot say it, or
    would be too long to be read."""
    from discreet.files.toml_file import LARGEST_FILE

    text = _study_text(project, now)
    if len(text.encode()) > LARGEST_FILE or not text:
        (project.folder / STUDY).unlink(missing_ok=True)
    else:
        project.write(STUDY, text)


def _study_text(project: Project, now: Choices) -> str:
    grouped = group_texts(now)
    if not now.complete or grouped is None:
        return ""
    from discreet.study_file import StudyFile

    study = StudyFile(
        table=now.table,
        secret=now.secret,
        release=now.release,
        given=now.given,
        bins=tuple(grouped[0]),
        merge=tuple(grouped[1]),
        **now.stated(),
        several_rows=now.several_rows,
        notion=now.notion,
        epsilon=now.epsilon,
        purpose=now.purpose,
        sees_secret=now.sees_secret,
        data=now.people or None,
        targets={
            "protocol": PROTOCOL,
            "released": f"release/{project.released_file.name}",
            "report": "report.html",
        },
    )
    return study.text()
