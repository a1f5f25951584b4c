"""`make docs`: the site, from the Markdown in docs/, every tutorial executed on the way.

A tutorial is a page of docs/tutorials. Its blocks of `python` share one namespace, its blocks of `console` are run line
by line after the `$`, all in one empty folder per tutorial; what they print is put below them, and pictures that they
save are where the page shows them. An error ends the build. This is a hundred lines where a notebook engine would bring
sixty packages, and the published file stays plain Markdown that anybody can read and run.

    python scripts/build_docs.py [--only tutorials] [TARGET]
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DOCS, TUTORIALS = ROOT / "docs", ROOT / "docs" / "tutorials"
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
PROGRESS = re.compile(r"^[A-Z][^.\n]*, (\d+ min )?\d+ s(, best so far.*)?\n", re.MULTILINE)
"""What a slow machine prints every ten seconds."""
MOST_LINES = 60
"""Of what a block prints; the rest is left out with a word."""


def executed(page: Path, folder: Path) -> str:
    """The page with what its blocks print below them; raises what a block raises."""
    names: dict[str, Any] = {"__name__": page.stem}

    def run(match: re.Match[str]) -> str:
        kind, code = match.groups()
        told = python(code, names, f"{page.name}") if kind == "python" else console(code, folder)
        return match.group(0) + (f"\n```text\n{told}\n```\n" if told else "")

    before, ledgers = Path.cwd(), os.environ.get("XDG_DATA_HOME")
    os.environ["XDG_DATA_HOME"] = str(folder / ".ledgers")  # no tutorial meets the draws of another
    os.chdir(folder)
    try:
        return BLOCK.sub(run, page.read_text())
    finally:
        os.chdir(before)
        os.environ.pop("XDG_DATA_HOME")
        os.environ.update({} if ledgers is None else {"XDG_DATA_HOME": ledgers})


def python(code: str, names: dict[str, Any], where: str) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, where, "exec"), names)
    return shortened(printed.getvalue())


def console(code: str, folder: Path) -> str:
    """What the commands print on both streams; a command that is to be refused ends with `# refused`."""
    told = []
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "86",  # what a page shows without scrolling
    }
    for line in (line[2:] for line in code.replace("\\\n", " ").splitlines() if line.startswith("$ ")):
        command, _, remark = line.partition("  # ")
        ended = subprocess.run(
            command, shell=True, cwd=folder, env=environment, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False,
        )  # fmt: skip
        if (ended.returncode != 0) != remark.startswith("refused"):
            raise SystemExit(f"{command}\nended with {ended.returncode}:\n{ended.stdout}")
        told.append(PROGRESS.sub("", ended.stdout).rstrip())
    return shortened("\n".join(one for one in told if one))


def shortened(text: str) -> str:
    lines = text.rstrip().splitlines()
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], f"… {len(lines) - MOST_LINES} more lines"]
    return "\n".join(line.rstrip() for line in lines)


def moved(text: str) -> str:
    """Links as they are in the repository, for the site, where README and its neighbours lie beside the pages."""
    text = text.replace("](docs/", "](").replace("README.md)", "readme.md)")
    return re.sub(r"\]\((?:\.\./)?\.\./(?=(readme|CONTRIBUTING|CHANGELOG|SECURITY)\.md|examples/)", _up, text)


def _up(match: re.Match[str]) -> str:
    return "](../" if "../../" in match.group(0) else "]("


def build(target: Path, *, only_tutorials: bool = False) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        source = Path(temporary) / "docs"
        shutil.copytree(DOCS, source)
        shutil.copy(ROOT / "README.md", source / "readme.md")
        for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"):
            shutil.copy(ROOT / name, source / name)
        for page in sorted(TUTORIALS.glob("*.md")):
            if page.stem == "index":
                continue
            folder = Path(temporary) / page.stem
            folder.mkdir()
            (source / "tutorials" / page.name).write_text(executed(page, folder))
            for picture in (*folder.glob("*.svg"), *folder.glob("*.png")):
                shutil.copy(picture, source / "tutorials" / picture.name)
            print(f"executed {page.name}", flush=True)
        if only_tutorials:
            return
        shutil.copytree(ROOT / "examples", source / "examples")
        for page in source.rglob("*.md"):
            page.write_text(moved(page.read_text()))
        command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", str(source), str(target)]
        subprocess.run(command, check=True)
    outside = [
        page.name
        for page in target.rglob("*.html")
        if re.search(r'(src|href)="https?://[^"]*\.(js|css|woff)', page.read_text())
    ]
    if outside:
        raise SystemExit(f"pages that load something from elsewhere: {', '.join(outside)}")


if __name__ == "__main__":
    given = [one for one in sys.argv[1:] if not one.startswith("--")]
    build(Path(given[0]) if given else ROOT / "build" / "site", only_tutorials="--only" in " ".join(sys.argv[1:]))
