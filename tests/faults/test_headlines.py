"""What is said in large letters about a promise is true for that promise: once every public page told e^ε, whatever was
promised, and shifts and averages beside given columns were said to be about the whole population."""

import html
import re

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.notions.notion import Notion
from discreet.report import public_page
from discreet.report.page import page
from discreet.study.study import Study

COUNTS = [[60, 25, 10, 5], [5, 20, 30, 5], [1, 2, 7, 30]]
JOINT = dc.Joint.from_counts(COUNTS)
FACTOR = re.compile(r"is the most any belief about the secret can change\s*×\s*(\S+)")
NOTIONS = [
    dc.LIP(0.3), dc.LDP(0.3), dc.PML(0.3), dc.ALIP(1.0, 0.2), dc.ALIP(0.2, 1.0), dc.Shift(0.1), dc.Perfect(),
    dc.Funnel(0.05), dc.MaximalLeakage(0.1), dc.Guess(0.65), dc.LIP(0.5) & dc.OrdinaryLDP(2),
    dc.Funnel(0.05, ceiling=dc.LIP(1)),
]  # fmt: skip


def seen(text: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", " ", re.sub(r"<style.*?</style>", "", text, flags=re.S)))


def largest_change(protocol: dc.Protocol) -> float:
    joint = np.array(COUNTS) @ protocol.channel.matrix.T
    posterior, prior = joint / joint.sum(axis=0), joint.sum(axis=1, keepdims=True) / joint.sum()
    with np.errstate(divide="ignore"):
        return float(np.exp(np.abs(np.log(posterior / prior)).max()))


@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_no_page_tells_a_smaller_change_of_belief_than_there_is(notion: Notion) -> None:
    protocol = dc.design(JOINT, notion, time_limit=5).protocol
    for text in (public_page(protocol.public()), page(Study(protocol))):
        told = [float(number) for number in FACTOR.findall(seen(text))]
        assert all(number >= largest_change(protocol) for number in told)
        assert bool(told) == (notion in NOTIONS[:2] or notion == NOTIONS[10])


@pytest.mark.parametrize(
    "notion", [dc.LIP(0.5), dc.Shift(0.1), dc.Perfect(), dc.Funnel(0.02, ceiling=dc.LIP(0.5))], ids=str
)
def test_beside_given_columns_every_promise_is_about_people_who_agree_in_them(notion: Notion) -> None:
    counts = {"k": [[700, 100], [40, 160]], "m": [[40, 60], [500, 400]]}
    rows = [
        (s, x, k)
        for k, each in counts.items()
        for s, row in zip("ab", each, strict=True)
        for x, n in zip("xy", row, strict=True)
        for _ in range(n)
    ]
    table = pa.table(dict(zip(("s", "x", "k"), map(list, zip(*rows, strict=True)), strict=True)))
    protocol = dc.design(dc.Joint.from_table(table, secret="s", release="x", given="k"), notion, time_limit=5).protocol
    for text in (protocol.public().first.promise, seen(public_page(protocol.public()))):
        assert "whole population" not in text
    for part in protocol.public().first.promise.split(" And: "):
        assert "of that k" in part or "Among people of equal k" in part or "Whoever knows k" in part
