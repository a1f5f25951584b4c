"""The release in pictures: every number again, from the matrix, in the plainest way."""

from __future__ import annotations

import math

import numpy as np
import pytest

import discreet as dc
from discreet.attribute import Attribute
from discreet.joint import Joint
from discreet.study.preview import preview

COUNTS = np.array([[[90, 40, 20], [30, 70, 50]], [[40, 60, 80], [80, 30, 10]]])


def joint() -> Joint:
    releases = [Attribute("size", ("s", "l")), Attribute("colour", ("red", "green", "blue"))]
    return Joint.from_counts(COUNTS, [Attribute("health", ("ill", "well"))], releases)


@pytest.mark.parametrize("notion", [dc.LIP(0.3), dc.LDP(0.3)])
@pytest.mark.parametrize("curator", [False, True])
def test_what_is_learnt_stays_in_its_frame(notion: dc.LIP | dc.LDP, curator: bool) -> None:
    protocol = dc.design(joint(), notion, utility=dc.Agreement(), sees_secret=curator).protocol
    found = preview(protocol)
    together = protocol.joint.matrix @ protocol.matrix.T
    for s, one in enumerate(found.learnt):
        after = together[s] / together.sum(axis=0)
        assert one.after == pytest.approx((after.min(), after.max()))
        assert one.allowed[0] - 1e-9 <= one.after[0] <= one.before <= one.after[1] <= one.allowed[1] + 1e-9
        assert one.factors == pytest.approx((after.min() / one.before, after.max() / one.before))
    assert found.guess_nothing <= found.guess_release + 1e-12 <= found.guess_truth + 2e-12 or curator
    assert found.guess_release == pytest.approx(together.max(axis=0).sum())


def test_values_that_stay_true_by_brute_force() -> None:
    protocol = dc.design(joint(), dc.LIP(0.3), utility=dc.Agreement()).protocol
    found = preview(protocol)
    letters, prior = protocol.joint.letters, protocol.joint.prior
    stays = dict.fromkeys(found.columns, 0.0)
    both = 0.0
    for y, output in enumerate(protocol.outputs):
        for z, letter in enumerate(letters):
            mass = protocol.matrix[y, z] * prior[z]
            both += mass * (output == letter)
            for place, name in enumerate(found.columns):
                stays[name] += mass * (output[place] == letter[place])  # type: ignore[index]
    assert found.unchanged == pytest.approx(both)
    for name, rows in found.columns.items():
        assert sum(one.true for one in rows) == pytest.approx(stays[name])
        assert sum(one.before for one in rows) == pytest.approx(1)
        assert [one.after for one in rows] == pytest.approx([one.before for one in rows])  # the law is kept
    place = {letter: z for z, letter in enumerate(letters)}
    output = protocol.outputs.index(("l", "green"))
    assert found.pair[1][1] == pytest.approx(protocol.matrix[output, place["l", "green"]])


def test_analysts_get_less_than_from_clean_rows() -> None:
    found = preview(dc.design(joint(), dc.LIP(0.3), utility=dc.Agreement()).protocol)
    for rows in found.analysts.values():
        for one in rows:
            assert one.clean == pytest.approx(one.share * (1 - one.share))
            assert one.clean - 1e-12 <= one.variance < 2 * one.clean + 1e-9  # theory 6.8


def test_codes_have_no_before_and_after() -> None:
    found = preview(dc.design(joint(), dc.LIP(0.3)).protocol)
    assert (found.columns, found.pair, found.unchanged) == ({}, (), None)


def test_strata_are_means_and_widest_ranges() -> None:
    """With size given: the promise holds in each group, and shares are those of the whole table."""
    rows = [
        {"health": s, "size": k, "colour": x}
        for i, s in enumerate(("ill", "well"))
        for j, k in enumerate(("s", "l"))
        for m, x in enumerate(("red", "green", "blue"))
        for _ in range(int(COUNTS[i, j, m]) * 3)
    ]
    import pyarrow as pa

    strata = dc.Joint.from_table(pa.Table.from_pylist(rows), secret="health", release="colour", given="size")
    protocol = dc.design(strata, dc.LIP(0.3), utility=dc.Agreement()).protocol
    found = preview(protocol)
    assert sum(one.before for one in found.learnt) == pytest.approx(1)
    assert all(
        1 / math.exp(0.3) - 1e-9 <= one.factors[0] <= one.factors[1] <= math.exp(0.3) + 1e-9 for one in found.learnt
    )
    colours = COUNTS.sum(axis=(0, 1)) / COUNTS.sum()
    shares = {one.letter: one.before for one in found.columns["colour"]}
    assert shares == pytest.approx(dict(zip(("red", "green", "blue"), colours, strict=True)))
