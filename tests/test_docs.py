"""Every block of `python` in the documentation runs, and its assertions hold; `py` marks a sketch."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINKED = [*PAGES, *sorted((ROOT / "docs" / "tutorials").glob("*.md")), *sorted(ROOT.glob("C*.md"))]
"""Blocks of tutorials are executed when the site is built (`make docs`), not twice."""
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


def _blocks() -> list[tuple[str, str]]:
    return [
        (f"{page.name}, block {number}", code)
        for page in PAGES
        for number, code in enumerate(BLOCK.findall(page.read_text()), start=1)
    ]


@pytest.mark.parametrize(("where", "code"), _blocks(), ids=[where for where, _ in _blocks()])
def test_a_block_of_code_runs(where: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(code, where, "exec"), {"__name__": where})


@pytest.mark.parametrize("page", LINKED, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text()
    made = set(re.findall(r'savefig\("([^"]+)"', text))  # pictures that the page itself draws
    missing = [target for target in LINK.findall(text) if target not in made and not (page.parent / target).exists()]
    assert missing == []
