from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sys

import numpy as np
import pytest
from report_cases import CURVES, EVIL, Outline, make

import discreet as dc
from discreet.channel import Channel
from discreet.joint import Joint
from discreet.notions import LDP, LIP, SRLIP, OrdinaryLDP
from discreet.notions.notion import Notion
from discreet.notions.rldp import RLDP
from discreet.protocol import Protocol
from discreet.report import page
from discreet.study import Study
from discreet.wording import caveats, guarantee


@pytest.fixture(scope="module")
def written() -> str:
    return page(Study(make(LIP(1.0)), curves=CURVES))


def test_the_page_stands_alone(written: str) -> None:
    met = Outline(written).met
    assert {"script", "link", "iframe", "img", "object"}.isdisjoint(tag for tag, _ in met)
    assert re.findall(r"(?:https?:)?//[^\s\"'<]+", written) == []
    assert "url(" not in written
    assert "@import" not in written


def policy_faults(content: str) -> list[str]:
    """What the policy in the head of a page lacks, or the page has against it."""
    outline = Outline(content)
    tags = [tag for tag, _ in outline.met]
    given = [
        found for tag, found in outline.met if tag == "meta" and found.get("http-equiv") == "Content-Security-Policy"
    ]
    if len(given) != 1:
        return ["no policy"]
    rules = dict(rule.strip().split(" ", 1) for rule in str(given[0]["content"]).split(";"))
    digest = base64.b64encode(hashlib.sha256(outline.styles.encode()).digest()).decode()
    faults = []
    if rules != {
        "default-src": "'none'",
        "style-src": f"'sha256-{digest}'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }:
        faults.append("the rules")
    if tags.count("style") != 1 or tags.index("style") < outline.met.index(("meta", given[0])):
        faults.append("the style sheet")
    if any(name == "style" or name.startswith("on") for _, attributes in outline.met for name in attributes):
        faults.append("an attribute")
    return faults


def test_the_policy_allows_one_style_sheet_and_nothing_else(written: str) -> None:
    assert policy_faults(written) == []
    assert policy_faults(written.replace("<style>", "<style> ")) == ["the rules"]
    assert policy_faults(written.replace("style-src", "style-src 'unsafe-inline'")) == ["the rules"]
    assert policy_faults(written.replace("<p>", '<p style="color: red">')) == ["an attribute"]
    assert policy_faults(written.replace("Content-Security-Policy", "Refresh")) == ["no policy"]


def test_labels_from_data_are_text(written: str) -> None:
    assert EVIL not in written
    assert "<script" not in written
    assert "&lt;script&gt;" in written
    assert "{{ 7 * 7 }}" in written
    assert r"\x07\u202e" in written
    assert "\x07" not in written
    assert "\u202e" not in written


def test_a_screen_reader_finds_its_way(written: str) -> None:
    met = Outline(written).met
    assert ("html", {"lang": "en"}) in met
    headings = [tag for tag, _ in met if re.fullmatch(r"h\d", tag)]
    assert headings == ["h1"] + ["h2"] * 6
    pictures = [attributes for tag, attributes in met if tag == "svg" and "class" in attributes]
    assert all(picture.get("aria-hidden") or len(picture.get("aria-label") or "") > 20
               for picture in pictures if picture["class"] != "stretched")  # fmt: skip
    captions = sum(tag in ("caption", "figcaption") for tag, _ in met)
    assert sum(tag == "table" for tag, _ in met) == 4
    assert captions == 5
    assert all("scope" in attributes for tag, attributes in met if tag == "th")
    assert any(tag == "meta" and attributes.get("charset") for tag, attributes in met)


def test_it_says_that_the_protocol_file_shows_the_counts(written: str) -> None:
    assert "The protocol file contains the exact table of counts of illness and income, 6 cells" in written
    from_public = make(LIP(1.0)).with_source("public")
    assert not any("counts" in caveat for caveat in caveats(from_public))


def test_the_numbers_are_the_protocols(written: str) -> None:
    protocol = make(LIP(1.0))
    assert f"{protocol.utility / protocol.joint.entropy:.1%}" in written
    assert protocol.digest in written
    assert guarantee(protocol).split("finds")[0].strip() in written


def test_the_largest_belief_is_bayes(written: str) -> None:
    protocol = make(LIP(1.0))
    together = protocol.joint.table @ protocol.matrix.T
    most = (together / together.sum(axis=0)).max(axis=1)
    for value in most:
        assert f"{value:.2%}" in written


def test_bits(written: str) -> None:
    assert "nats" in written
    assert "bits" in page(Study(make(LIP(1.0)), curves=CURVES), bits=True)


NOTIONS: list[tuple[Notion, str]] = [
    (LIP(1.0), "population"),
    (LDP(1.0), "odds between any two values of illness"),
    (SRLIP(1.0), "even knows some of the original income"),
    (OrdinaryLDP(3.0), "original values"),
]


@pytest.mark.parametrize(("notion", "words"), NOTIONS)
def test_every_notion_has_words_and_a_page(notion: Notion, words: str) -> None:
    protocol = make(notion)
    assert words in guarantee(protocol)
    content = page(Study(protocol))
    assert words in content
    assert Outline(content).styles


def test_robust_words() -> None:
    protocol = make(RLDP(2.0), include_secret=True)
    assert "exact confidence limits" in guarantee(protocol)
    Outline(page(Study(protocol, curves=CURVES)))


def test_caveats_say_where_the_distribution_came_from() -> None:
    assert any("learnt from the table" in caveat for caveat in caveats(make(LIP(1.0))))


def test_many_letters_stay_readable() -> None:
    rng = np.random.default_rng(0)
    joint = Joint.from_counts(rng.integers(1, 9, (3, 90)))
    matrix = rng.dirichlet(np.ones(80), 90).T
    content = page(Study(Protocol.make(Channel(matrix, joint.letters), joint, LIP(5.0)), curves=CURVES))
    Outline(content)
    assert "rarer outputs" in content
    assert "rarer original values" in content


def test_the_page_shows_the_parts_that_the_study_has(written: str) -> None:
    joint = Joint.from_counts([[50, 30, 20], [20, 30, 50]])
    bare = Study.begin(joint, LIP(0.4))
    parts = {"other epsilon": "for other choices of epsilon", "analysts": "What analysts will get",
             "form": "reads the secret as well"}  # fmt: skip
    plain = page(bare)
    assert all(words not in plain for words in parts.values())
    assert "has more than" in plain
    assert "has more than" not in written
    grown = page(bare.compared().with_forecasts(2000))
    assert all(words in grown for words in parts.values())
    assert "2,000 released records" in grown


def test_templates_are_read_when_a_page_is_made() -> None:
    code = "import sys, discreet.report, discreet.cli; sys.exit('jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_costs_are_told() -> None:
    from discreet.study import Costly

    protocol = make(dc.RLDP(2.0), include_secret=True)
    assert "(12.0%)" in page(Study(protocol, costs=(Costly("yes", 0.12),)))
