"""What every output means: a table beside a release whose outputs are not values, made from the public file alone."""

from __future__ import annotations

import csv
import io
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import discreet as dc
from discreet.release import Job, sanitise_file
from discreet.release.companions import DECODING, beside
from discreet.release.decoding import decoding

LONG = ("a rather long name of the first kind", "another long name, of the second kind", "the third")


def joint(include_secret: bool = False) -> dc.Joint:
    counts = np.random.default_rng(1).integers(5, 90, (3, 3, 2, 2))
    columns = (dc.Attribute("kind", LONG), dc.Attribute("size", ("=1+1", "2")), dc.Attribute("sex", ("f", "m")))
    return dc.Joint.from_counts(counts, ("a", "b", "c"), columns, include_secret=include_secret)


@pytest.fixture(scope="module")
def informative() -> dc.Protocol:
    return dc.design(joint(), dc.LIP(0.3), time_limit=5).protocol


def test_every_output_has_the_law_of_every_column(informative: dc.Protocol) -> None:
    content = decoding(informative.public())
    assert content is not None
    header, *rows = list(csv.reader(io.StringIO(content.decode())))
    assert header[0] == "kind×size×sex"
    assert header[1:] == [*(f"kind = {one}" for one in LONG), "size = =1+1", "size = 2", "sex = f", "sex = m"]
    masses = informative.matrix * informative.joint.prior
    posterior = (masses / masses.sum(axis=1, keepdims=True)).reshape(-1, 3, 2, 2)
    for row, law in zip(rows, posterior, strict=True):
        found = np.array([float(cell) for cell in row[1:]])
        assert found[:3] == pytest.approx(law.sum(axis=(1, 2)), abs=1e-6)
        assert found[3:5] == pytest.approx(law.sum(axis=(0, 2)), abs=1e-6)
        assert found[5:] == pytest.approx(law.sum(axis=(0, 1)), abs=1e-6)


def test_names_of_several_columns_can_be_read(informative: dc.Protocol) -> None:
    names = [str(output) for output in informative.outputs]
    assert len(set(names)) == len(names)
    assert any("kind: " in name for name in names)
    assert not any(name.count(" / ") > 4 for name in names)


def test_values_and_secrets_have_no_decoding() -> None:
    values = dc.design(joint(), dc.LIP(0.3), utility=dc.Agreement()).protocol
    assert decoding(values.public()) is None
    assert decoding(dc.design(joint(True), dc.LDP(0.5), method="grr").protocol.public()) is None


def test_it_lies_beside_the_release_and_goes_with_it(informative: dc.Protocol, tmp_path: Path) -> None:
    table, target = tmp_path / "t.csv", tmp_path / "r.csv"
    table.write_text("secret,kind,size,sex\n" + f'a,"{LONG[0]}",2,f\nb,"{LONG[1]}",2,m\n' * 20)
    for name, protocol in (
        ("first", informative),
        ("second", dc.design(joint(), dc.LIP(0.3), method="keep-or-draw").protocol),
    ):
        path = tmp_path / f"{name}.json"
        path.write_bytes(protocol.encode())
        sanitise_file(Job(path, str(table), str(target), data=name, testing=True))
        if name == "first":
            assert beside(target, DECODING).read_bytes() == decoding(informative.public())
    assert not beside(target, DECODING).exists()
    assert target.read_text().splitlines()[0] == '"kind","size","sex"'


def test_of_many_only_what_is_possible_is_listed(informative: dc.Protocol, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same law as in the wide table, likeliest first, without what is impossible."""
    wide = decoding(informative.public())
    monkeypatch.setattr("discreet.release.decoding.MOST_CELLS", 0)
    listed = decoding(informative.public())
    assert wide is not None
    assert listed is not None
    header, *rows = list(csv.reader(io.StringIO(wide.decode())))
    heads, *lines = list(csv.reader(io.StringIO(listed.decode())))
    assert heads == [header[0], "column", "value", "probability"]
    expected = {(row[0], head): float(cell) for row in rows for head, cell in zip(header[1:], row[1:], strict=True)}
    found = {(output, f"{column} = {value.removeprefix(chr(39))}"): float(p) for output, column, value, p in lines}
    assert found == pytest.approx({place: share for place, share in expected.items() if place in found}, abs=2e-6)
    assert all(share == 0 for place, share in expected.items() if place not in found)
    for before, after in pairwise(lines):
        assert before[:2] != after[:2] or float(before[3]) >= float(after[3])
