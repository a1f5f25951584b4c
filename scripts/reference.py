"""Writes docs/commands.md, docs/methods.md and docs/api.md from the code itself; a test holds them to it.

python scripts/reference.py
"""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Iterator
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import numpy as np
import typer
from command_examples import EXAMPLES, block, differ, printed, shown

import discreet as dc
from discreet.cli.app import COMMANDS, application
from discreet.solvers.methods import LADDER, METHODS, Method
from discreet.solvers.problem import Problem
from discreet.utilities.utility import MutualInformation

DOCS = Path(__file__).parents[1] / "docs"
MADE = "Made by `python scripts/reference.py` from the code; a test fails when it is not current."

# ---- commands -------------------------------------------------------------------------------------------------------


def commands_page(outputs: dict[str, str] | None = None) -> str:
    """With these outputs of the examples; those that the page has already, if none are given."""
    outputs = shown((DOCS / "commands.md").read_text()) if outputs is None else outputs
    parts = [
        f"# Every command\n\n{MADE} Below each command is what it prints: they are run one after the other on "
        "the first 3,000 records of the Adult data, in `people.csv`. Left out (…): seconds, memory, digests and "
        "addresses. More examples, with reasons, are in the [tutorials](tutorials/index.md).\n",
        "| exit code | meaning |\n|---|---|",
        *(f"| {code} | {says} |" for code, says in _exit_codes()),
        "",
    ]
    for name in COMMANDS:
        command = typer.main.get_command(application(name)).commands[name]  # type: ignore[attr-defined]
        inner = getattr(command, "commands", None)
        if inner is None:
            parts += _command(f"discreet {name}", command, outputs)
        else:
            parts += [f"## discreet {name}\n", f"{command.help}\n"]
            for word, one in inner.items():
                parts += _command(f"discreet {name} {word}", one, outputs, "###")
    return "\n".join(parts)


def _exit_codes() -> Iterator[tuple[str, str]]:
    import discreet.cli.app as app

    for line in inspect.getdoc(app).splitlines():  # type: ignore[union-attr]
        if found := re.match(r"\s+(\d[\d, ]*?)\s{2,}(.+)", line):
            yield found.group(1).strip(), found.group(2)


def outputs_now() -> dict[str, str]:
    """What the examples print today; where that differs by nothing but chance, what the page has stays."""
    before = shown((DOCS / "commands.md").read_text())
    with TemporaryDirectory() as folder:
        now = printed(Path(folder))
    same = [one.typed for one in EXAMPLES if one.typed in before and not differ(one, before[one.typed], now[one.typed])]
    return {typed: before[typed] if typed in same else output for typed, output in now.items()}


def _command(title: str, command: Any, outputs: dict[str, str], mark: str = "##") -> list[str]:
    arguments = [one for one in command.params if not one.opts[0].startswith("-")]
    options = [one for one in command.params if one.opts[0].startswith("-") and not one.hidden]
    names = [one.metavar or one.name.upper() for one in arguments]
    line = " ".join([title, *(name if a.required else f"[{name}]" for name, a in zip(names, arguments, strict=True))])
    needed = " ".join(f"{one.opts[0]} …" for one in options if one.required)
    text = inspect.cleandoc(command.help or "").replace("\b\n", "")
    parts = [f"{mark} {title}\n", f"{text}\n", f"    {' '.join(filter(None, (line, needed, '[OPTIONS]')))}\n"]
    if command.params:
        parts += ["| | if not given | |", "|---|---|---|"]
        parts += [f"| {_written(one)} | {_default(one)} | {_cell(one.help or '')} |" for one in (*arguments, *options)]
    examples = [block(one, outputs.get(one.typed, "")) for one in EXAMPLES if one.command == title]
    return [*parts, "", *examples]


def _written(option: Any) -> str:
    names = [*option.opts, *option.secondary_opts]
    names = names if names[0].startswith("-") else [option.metavar or option.name.upper()]
    return ", ".join(f"`{name}`" for name in names) + (" (repeat)" if option.multiple else "")


def _default(option: Any) -> str:
    if option.required:
        return "needed"
    value = option.default
    if value is None or value is False or value in ((), [], ""):
        return ""
    return "yes" if value is True else f"`{getattr(value, 'value', value)}`"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


# ---- methods --------------------------------------------------------------------------------------------------------


def methods_page() -> str:
    problems = list(_problems())
    parts = [
        f"# Every method\n\n{MADE} A method is chosen by `design(…, method=…)` or `--method`; `auto` climbs the ladder "
        "below.\n",
        "*Proves*: its upper bound holds for every permitted mechanism. Otherwise the level is proven all the same, "
        "and nothing is said about other mechanisms.\n*For* is the size it is made for; what is larger ends "
        "with the best found, or is refused.\n*Refuses* lists what it answered to problems, "
        f"{len(problems)} small ones: two secrets or three, every kind of notion, what is read, and three purposes.\n",
        "| name | what it is | for | proves | suits | refuses |\n|---|---|---|---|---|---|",
    ]
    for method in METHODS.values():
        answers = [_refusal(method, problem) for problem in problems]
        reasons = sorted({answer for answer in answers if answer is not None})
        suits = sum(answer is None for answer in answers)
        parts.append(
            f"| `{method.name}` | {_cell(method.title)} | {_cell(method.size)} | {'yes' if method.proves else 'no'} "
            f"| {suits} of {len(problems)} | {_cell('; '.join(reasons)) or 'nothing'} |"
        )
    parts += ["\n## The ladder\n", "The first line that applies; `discreet.plan(joint, notion)` says which and why.\n"]
    parts += ["| when | method |\n|---|---|", *(f"| {_cell(rung.when)} | `{rung.method}` |" for rung in LADDER)]
    return "\n".join(parts) + "\n"


def _problems() -> Iterator[Problem]:
    three = np.array([[30, 10, 5, 7], [5, 20, 40, 9], [8, 8, 20, 30]])
    notions = [
        dc.LIP(0.5), dc.LDP(0.5), dc.SRLIP(0.5), dc.OrdinaryLDP(0.5), dc.PML(0.5), dc.ALIP(0.3, 0.7), dc.Shift(0.1),
        dc.RLDP(0.5), dc.RLDP(0.5, dc.ChiSquare(0.95)), dc.RLIP(0.5), dc.Funnel(0.05),
    ]  # fmt: skip
    for counts in (three[:2], three):
        joint = dc.Joint.from_counts(counts)
        for asked in (joint, joint.curator(), dc.Joint.from_counts(counts, include_secret=True)):
            for notion in notions:
                for utility in (MutualInformation, dc.Accuracy(), dc.Agreement()):
                    yield Problem.of(asked, notion, utility)


def _refusal(method: Method, problem: Problem) -> str | None:
    try:
        return method.refuses(problem)
    except dc.DiscreetError as error:
        return error.what


# ---- names ----------------------------------------------------------------------------------------------------------


ROOMS = ("release", "estimate", "audit", "protocol", "datasets", "spark")
"""Rooms whose names are public as well, beside those of `discreet` itself."""


def api_page() -> str:
    """Names of `discreet`, and those that a room exports beside them, each once."""
    parts = [
        f"# Every public name\n\n{MADE} `dc` is `discreet`. Every name has its arguments (or attributes), what it "
        "returns and raises, and an example; a test walks the names, says what is missing and runs the examples.\n"
    ]
    kinds = {"Functions": [], "Classes": [], "Purposes": [], "Errors": []}  # type: dict[str, list[str]]
    for name in dc.__all__:
        value = getattr(dc, name)
        error = inspect.isclass(value) and issubclass(value, Exception)
        plain = "Classes" if inspect.isclass(value) else "Purposes"
        kinds["Errors" if error else "Functions" if inspect.isfunction(value) else plain].append(name)
    for title, names in kinds.items():
        parts.append(f"## {title}\n")
        for name in names:
            parts += _name("dc", name, getattr(dc, name), brief=title == "Errors")
    for room in ROOMS:
        module = import_module(f"discreet.{room}")
        shown = {name for name in dc.__all__ if getattr(dc, name) is getattr(module, name, None)}
        parts.append(f"## discreet.{room}\n\n{(inspect.getdoc(module) or '').splitlines()[0]}\n")
        if shown:
            parts.append(f"Also here: {', '.join(f'`{name}`' for name in sorted(shown))}.\n")
        for name in module.__all__:
            if name not in shown:
                parts += _name(room, name, getattr(module, name), brief=False, home=module)
    return "\n".join(parts)


def _name(prefix: str, name: str, value: Any, *, brief: bool, home: ModuleType = dc) -> list[str]:
    place = f"*{value.__module__}*\n" if str(getattr(value, "__module__", "")).startswith("discreet") else ""
    parts = [f"### {name if prefix == 'dc' else f'{prefix}.{name}'}\n"]
    if not brief:
        called = inspect.isclass(value) or inspect.isfunction(value)
        parts += ["```py", f"{prefix}.{name}{_signature(value) if called else _constant(value)}", "```", ""]
    parts += [laid_out(docstring_of(home, name)), "" if brief else place]
    if inspect.isclass(value) and not brief:
        for word, member in sorted(vars(value).items()):
            inner = member.__func__ if isinstance(member, classmethod | staticmethod) else member
            if word.startswith("_") or not inspect.isfunction(inner) or not inspect.getdoc(inner):
                continue
            parts += [f"#### {name}.{word}\n", "```py", f"{name}.{word}{_signature(inner)}", "```", ""]
            parts += [laid_out(inspect.getdoc(inner) or ""), ""]
    return parts


def _constant(value: Any) -> str:
    written = json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
    return f" = {written}" if isinstance(value, str | int) else ""


def docstring_of(home: ModuleType, name: str) -> str:
    """The docstring of a function or class; of any other name, the text below the line that it is given its value."""
    value = getattr(home, name)
    if inspect.isclass(value) or inspect.isfunction(value):
        text = inspect.getdoc(value) or ""
        return "" if text.startswith(f"{value.__name__}(") else text  # made by dataclass
    tree = ast.parse(inspect.getsource(_defining(home, name)))
    for line, below in pairwise(tree.body):
        targets = line.targets if isinstance(line, ast.Assign) else [getattr(line, "target", None)]
        if getattr(targets[0], "id", None) == name and isinstance(below, ast.Expr):
            return inspect.cleandoc(ast.literal_eval(below.value))
    return ""


def _defining(home: ModuleType, name: str) -> ModuleType:
    """The module that a name was imported from, read off the line that imports it."""
    for node in ast.walk(ast.parse(inspect.getsource(home))):
        if isinstance(node, ast.ImportFrom) and any((one.asname or one.name) == name for one in node.names):
            return import_module(str(node.module))
    return home


def _signature(value: Any) -> str:
    try:
        text = str(inspect.signature(value))
    except (TypeError, ValueError):
        return "(…)"
    text = re.sub(r"<(?:function|class|built-in)[^>]*>|<discreet[^>]* object at 0x[0-9a-f]+>", "…", text)
    text = re.sub(r"Separable\(name='mutual information'.*?scalar=…\)", "MutualInformation", text)
    text = re.sub(r" at 0x[0-9a-f]+", "", text).replace("'", "")
    text = re.sub(r"^\((self|cls)(, )?", "(", text)
    return text if len(text) < 100 else "(\n    " + ",\n    ".join(_split(text)) + ",\n)" + _returned(text)


def _split(text: str) -> list[str]:
    """The arguments of a signature, apart at the commas outside of brackets."""
    inner, depth, parts = text[1 : _end(text)], 0, [""]
    for sign in inner:
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts if part.strip()]


def _end(text: str) -> int:
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            return place
    return len(text)


def _returned(text: str) -> str:
    return text[_end(text) + 1 :]


SECTION = re.compile(r"^(Arguments|Attributes|Returns|Raises|Example):$", re.MULTILINE)


def laid_out(text: str) -> str:
    """A docstring for the page: sections become bold words, their indented lines a list, examples a block."""
    pieces = SECTION.split(text)
    parts = [_safe(pieces[0])]
    for title, body in zip(pieces[1::2], pieces[2::2], strict=True):
        body = inspect.cleandoc(body)
        if title == "Example":
            parts.append(f"**Example**\n\n```pycon\n{body}\n```")
        elif title == "Returns":
            parts.append(f"**Returns**\n\n{_safe(body)}")
        else:
            lines = _safe(re.sub(r"\n\s+", " ", body)).splitlines()
            parts.append(f"**{title}**\n\n" + "\n".join("- " + re.sub(r"^([\w*]+):", r"`\1`:", one) for one in lines))
    return "\n\n".join(part.strip() for part in parts if part.strip())


def _safe(text: str) -> str:
    return text.replace("$", "\\$").replace("<", "&lt;")


PAGES = {"commands.md": commands_page, "methods.md": methods_page, "api.md": api_page}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (DOCS / name).write_text(commands_page(outputs_now()) if page is commands_page else page())
        print(DOCS / name)
