"""A protocol whose names try to break out of the page, and a reader that checks what it meets."""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np

from discreet.attribute import Attribute
from discreet.channel import Channel
from discreet.joint import Joint
from discreet.notions.notion import Notion
from discreet.protocol import Protocol
from discreet.study import OPTIMUM, Curves, Point

EVIL = "<script>alert('x')</script>&\"{{ 7 * 7 }}\x07\u202e"
CURVES: Curves = {
    OPTIMUM: [Point(0.5, 0.1, 0.2), Point(1.0, 0.3, 0.4), Point(2.0, 0.6, 0.6)],
    "other": [Point(1.0, 0.2, 9)],
}


def make(notion: Notion, names: tuple[str, ...] = ("low", "middle", EVIL), **options: bool) -> Protocol:
    counts = np.array([[50, 30, 20], [20, 30, 50]])
    joint = Joint.from_counts(counts, [Attribute("illness", ("yes", EVIL))], [Attribute("income", names)], **options)
    size = len(joint.letters)
    outputs = tuple(f"{EVIL}{i}" for i in range(size))
    return Protocol.make(Channel(0.2 * np.eye(size) + 0.8 / size, joint.letters, outputs), joint, notion)


class Outline(HTMLParser):
    """Checks nesting, and collects what a reader meets; `styles` is the text of all style sheets."""

    VOID = ("meta", "br")

    def __init__(self, content: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.met: list[tuple[str, dict[str, str | None]]] = []
        self.styles = ""
        self.feed(content)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.met.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.met.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["style"]:
            self.styles += data
