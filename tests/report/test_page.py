from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from discreet.alphabet import Attribute
from discreet.channel import Channel
from discreet.joint import Joint
from discreet.notions import LDP, LIP, SRLIP, OrdinaryLDP
from discreet.notions.level import Notion
from discreet.notions.rldp import RLDP
from discreet.protocol import Protocol
from discreet.report import page
from discreet.report.annex import formulae
from discreet.report.curve import OPTIMUM, Curves, Point, trade_off
from discreet.report.markup import shortened, table
from discreet.report.words import BITS, NATS, caveats, guarantee

EVIL = "<script>alert('x')</script>&\""
CURVES: Curves = {
    OPTIMUM: [Point(0.5, 0.1, 0.2), Point(1.0, 0.3, 0.4), Point(2.0, 0.6, 0.6)],
    "other": [Point(1.0, 0.2, 9)],
}


def make(notion: Notion, names: tuple[str, ...] = ("low", "middle", EVIL), **options: bool) -> Protocol:
    counts = np.array([[50, 30, 20], [20, 30, 50]])
    joint = Joint.from_counts(counts, [Attribute("illness", ("yes", EVIL))], [Attribute("income", names)], **options)
    size = len(joint.letters)
    return Protocol.make(
        Channel(0.2 * np.eye(size) + 0.8 / size, joint.letters, tuple(f"{EVIL}{i}" for i in range(size))), joint, notion
    )


@pytest.fixture(scope="module")
def shown() -> str:
    return page(make(LIP(1.0)), curves=CURVES)


class Outline(HTMLParser):
    """Checks nesting, and collects what a reader meets."""

    VOID = ("meta", "br")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.met: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.met.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def outline(content: str) -> Outline:
    parser = Outline()
    parser.feed(content)
    assert parser.open == []
    return parser


def test_the_page_stands_alone(shown: str) -> None:
    met = outline(shown).met
    assert {"script", "link", "iframe", "img", "object"}.isdisjoint(tag for tag, _ in met)
    addresses = re.findall(r"(?:https?:)?//[^\s\"'<]+", shown)
    assert set(addresses) <= {"http://www.w3.org/2000/svg"}
    assert "url(" not in shown
    assert "@import" not in shown


def test_labels_from_data_are_text(shown: str) -> None:
    assert EVIL not in shown
    assert "&lt;script&gt;" in shown


def test_a_screen_reader_finds_its_way(shown: str) -> None:
    met = outline(shown).met
    assert ("html", {"lang": "en"}) in met
    headings = [tag for tag, _ in met if re.fullmatch(r"h\d", tag)]
    assert headings == ["h1"] + ["h2"] * 6
    pictures = [attributes for tag, attributes in met if tag == "svg"]
    assert len(pictures) == 3
    assert all(picture["role"] == "img" and len(picture["aria-label"] or "") > 20 for picture in pictures)
    assert sum(tag == "caption" for tag, _ in met) == sum(tag == "table" for tag, _ in met) == 3
    assert all("scope" in attributes for tag, attributes in met if tag == "th")
    assert any(tag == "meta" and attributes.get("charset") for tag, attributes in met)


def test_it_says_that_the_protocol_file_shows_the_counts(shown: str) -> None:
    assert "The protocol file contains the exact table of counts of illness and income, 6 cells" in shown
    from_public = replace(make(LIP(1.0)), source="public")
    assert not any("counts" in caveat for caveat in caveats(from_public))


def test_it_prints_on_a4(shown: str) -> None:
    assert "size: A4" in shown
    assert "@media print" in shown


def test_the_numbers_are_the_protocols(shown: str) -> None:
    protocol = make(LIP(1.0))
    assert f"{protocol.utility / protocol.joint.entropy:.1%}" in shown
    assert protocol.digest in shown
    assert guarantee(protocol).split("finds")[0].strip() in shown


def test_the_largest_belief_is_bayes() -> None:
    protocol = make(LIP(1.0))
    together = protocol.joint.table @ protocol.matrix.T
    most = (together / together.sum(axis=0)).max(axis=1)
    content = page(protocol, curves=CURVES)
    for value in most:
        assert f"{value:.2%}" in content


def test_bits(shown: str) -> None:
    assert "nats" in shown
    assert "bits" in page(make(LIP(1.0)), curves=CURVES, bits=True)
    assert NATS(1.0) == "1.0000 nats"
    assert BITS(np.log(2)) == "1.0000 bits"


NOTIONS: list[tuple[Notion, str]] = [
    (LIP(1.0), "population"),
    (LDP(1.0), "odds between any two values of illness"),
    (SRLIP(1.0), "even knows some of the original income"),
    (OrdinaryLDP(3.0), "original values"),
]


@pytest.mark.parametrize(("notion", "words"), NOTIONS)
def test_every_notion_has_words_and_a_formula(notion: Notion, words: str) -> None:
    assert words in guarantee(make(notion))
    for _, formula in formulae(notion):
        root = ET.fromstring(formula)
        for fraction in root.iter("mfrac"):
            assert len(fraction) == 2
        for element in root.iter():
            if element.tag in ("msub", "msup", "munder"):
                assert len(element) == 2


def test_robust_words() -> None:
    protocol = make(RLDP(2.0), include_secret=True)
    assert "95% confidence set" in guarantee(protocol)
    outline(page(protocol, curves=CURVES))


def test_caveats_say_where_the_distribution_came_from() -> None:
    assert any("learnt from the table" in caveat for caveat in caveats(make(LIP(1.0))))


def test_many_letters_stay_readable() -> None:
    rng = np.random.default_rng(0)
    joint = Joint.from_counts(rng.integers(1, 9, (3, 90)))
    matrix = rng.dirichlet(np.ones(80), 90).T
    content = page(Protocol.make(Channel(matrix, joint.letters), joint, LIP(5.0)), curves=CURVES)
    outline(content)
    assert "rarer outputs" in content
    assert "rarer original values" in content


def test_the_trade_off_grows_and_holds_the_chosen_point() -> None:
    protocol = make(LIP(0.2))
    steps = []
    curves = trade_off(protocol, multiples=(0.5, 1.0, 2.0), step=lambda: steps.append(1))
    values = [point.value for point in curves[OPTIMUM]]
    assert len(steps) == 3
    assert curves[OPTIMUM][1] == Point(0.2, protocol.utility, protocol.utility)
    assert values[0] <= values[2]
    assert "randomised response" in curves
    assert all(
        point.value <= best.bound + 1e-9
        for point, best in zip(curves["randomised response"][::2], curves[OPTIMUM][::2], strict=True)
    )


def test_small_parts() -> None:
    assert shortened("abcdef", 4) == "abc…"
    assert "&lt;b&gt;" in table("c", ["h"], [["<b>"]])
