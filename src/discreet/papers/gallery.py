"""A page with every plot and its comparison, made from what `discreet papers run all` wrote."""

from __future__ import annotations

import shutil
from pathlib import Path

from discreet.exceptions import TableError
from discreet.papers.experiment import Item

INTRODUCTION = """# Every figure, table and example of the papers

Made by `discreet papers run all --out results` and `discreet papers gallery results docs`. One item alone:
`discreet papers run funnel-2/figure-5`. Thick lines and bold names are what the papers did not have.
Numbers that do not come out as printed are on the [errata page](errata.md).
"""


def gallery(items: tuple[Item, ...], titles: dict[str, str], results: Path, docs: Path) -> Path:
    """Write docs/gallery.md and copy the plots to docs/gallery/."""
    parts = [INTRODUCTION]
    for paper, title in titles.items():
        parts.append(f"## {paper}: {title}\n")
        for item in items:
            if item.paper == paper:
                parts.append(_entry(item, results / paper / item.part, docs / "gallery"))
    page = docs / "gallery.md"
    page.write_text("\n".join(parts), encoding="utf-8")
    return page


def _entry(item: Item, stem: Path, images: Path) -> str:
    plot, words = stem.with_suffix(".svg"), stem.with_suffix(".md")
    if not (plot.exists() and words.exists()):
        raise TableError("no results for an item", where=item.name, remedy="Run `discreet papers run all` first.")
    images.mkdir(parents=True, exist_ok=True)
    target = images / f"{item.paper}-{item.part}.svg"
    shutil.copyfile(plot, target)
    text = words.read_text(encoding="utf-8").split("\n\n")[0]
    return f"### {item.paper} {item.part}\n\n![{item.title}](gallery/{target.name})\n\n{text}\n"
