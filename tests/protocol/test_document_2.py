"""Version 2 of the file: identified by its bytes, whole numbers and text, and what was written as version 1."""

import json
import subprocess
from importlib.resources import files

import jsonschema
import numpy as np
import pytest
from protocol_cases import NOTIONS, altered_2, first_version, protocol_of

from discreet.attribute import Attribute
from discreet.channel import Channel
from discreet.exceptions import ProtocolError
from discreet.joint import Joint
from discreet.notions import LDP
from discreet.protocol import Protocol
from discreet.protocol.file import canonical, decode, encode
from discreet.protocol.statement import Statement
from discreet.records.grouping import Bins, ColumnGrouping, Merged, Rest

SCHEMA = json.loads(files("discreet.protocol").joinpath("schema.json").read_text())


def test_the_digest_is_what_sha256sum_prints(tmp_path):
    protocol = protocol_of()
    protocol.save(tmp_path / "p.json")
    printed = subprocess.run(["sha256sum", tmp_path / "p.json"], check=True, capture_output=True, text=True).stdout
    assert printed.split()[0] == protocol.digest == Protocol.load(tmp_path / "p.json").digest


def test_the_file_holds_whole_numbers_and_text_only():
    joint = Joint(np.array([[0.1, 0.2], [0.3, 0.4]]), releases=["<a> & b", 0.5])
    data = encode(Protocol.make(Channel(np.array([[0.6, 0.5], [0.4, 0.5]]), joint.letters), joint, LDP(1.0)))
    assert decode(data).joint.letters == ("<a> & b", 0.5)
    assert not set(b"<>&") & set(data)
    json.loads(data, parse_float=lambda text: pytest.fail(f"a float: {text}"))


@pytest.mark.parametrize("form", ["funnel", "include_secret", "sees_secret"])
@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_a_protocol_of_version_1_keeps_its_digest_in_version_2(form, notion, tmp_path):
    data = first_version(protocol_of(form, notion))
    stated = json.loads(data)["sha256"]
    first = decode(data)
    assert (first.digest, first.version) == (stated, 1)
    first.save(tmp_path / "p.json")
    second = json.loads((tmp_path / "p.json").read_bytes())
    assert (second["version"], second["sha256_1"]) == (2, stated)
    again = Protocol.load(tmp_path / "p.json")
    assert (again.digest, again.version) == (stated, 1)
    assert protocol_of(form, notion).digest != stated


def test_a_digest_of_version_1_that_is_not_its_own_is_refused():
    content = json.loads(encode(decode(first_version(protocol_of()))))
    content["sha256_1"] = "0" * 64
    with pytest.raises(ProtocolError, match="had as version 1"):
        decode(canonical(content) + b"\n")


def test_what_version_1_cannot_hold_is_not_kept_under_its_digest():
    content = json.loads(encode(decode(first_version(protocol_of()))))
    content["statement"] = {"purpose": "a study"}
    with pytest.raises(ProtocolError, match="cannot hold"):
        decode(canonical(content) + b"\n")


def test_few_counts_are_written_as_cells():
    counts = np.zeros((2, 50), dtype=int)
    counts[:, 7], counts[1, 30] = 5, 2**40
    joint = Joint.from_counts(counts)
    protocol = Protocol.make(Channel(np.full((1, 50), 1.0)), joint, LDP(1.0))
    content = json.loads(encode(protocol))
    assert content["joint"]["counts"] == {"cells": [7, 57, 80], "values": [5, 5, 2**40]}
    assert (decode(encode(protocol)).joint.counts == counts).all()


def test_statements_labels_codes_and_groupings_are_kept():
    steps = (Bins(("0", "18.5")), Merged(("a", "b"), "ab"), Rest(("ab",), "other"))
    column = Attribute("age", ("x", "y"), labels=("an x", "a y"), missing=("-9", "n/a"), grouping=ColumnGrouping(steps))
    joint = Joint.from_counts([[5, 3], [2, 7]], releases=(column,))
    statement = Statement(
        rows="one row per household", people=17, purpose="<test>", origin="census", forecast={"se": "0.1"}
    )
    weights = np.full((2, 2), 1 << 51)
    protocol = Protocol(weights, 52, joint, LDP(1.0), statement=statement)
    data = encode(protocol)
    again = decode(data)
    assert again.joint.releases == (column,)
    assert again.statement == statement
    assert encode(again) == data
    jsonschema.validate(json.loads(data), SCHEMA)
    assert len({protocol.digest, Protocol(weights, 52, joint, LDP(1.0)).digest}) == 2


def test_an_unchanged_content_is_read():
    assert decode(altered_2(lambda content: None)).digest == protocol_of().digest


def test_the_same_content_in_another_layout_is_read_in_version_1_only():
    content = json.loads(first_version(protocol_of()))
    assert decode(json.dumps(content, indent=2).encode()).digest == content["sha256"]
    data = encode(protocol_of())
    for other in (json.dumps(json.loads(data), indent=2).encode(), data[:-1], data + b"\n", data.replace(b",", b", ")):
        with pytest.raises(ProtocolError, match="canonical form"):
            decode(other)


def _first_weight(content, change):
    values = content["weights"]["values"][0]
    values[0] = change(values[0])


@pytest.mark.parametrize(
    ("name", "change"),
    {
        "a lower level": lambda c: c.update(epsilon=repr(float(c["epsilon"]) - 3e-9)),
        "a level above the notion": lambda c: c.update(epsilon="2.5"),
        "a negative level": lambda c: c.update(epsilon="-1.0"),
        "a level as a number": lambda c: c.update(epsilon=float(c["epsilon"])),
        "a level in other digits": lambda c: c.update(epsilon=c["epsilon"] + "0"),
        "an infinite level": lambda c: c.update(epsilon="inf"),
        "another version": lambda c: c.update(version=3),
        "the first version": lambda c: c.update(version=1),
        "a version that is true": lambda c: c.update(version=True),
        "an extra field": lambda c: c.update(code="import os"),
        "a field of nothing": lambda c: c.update(statement={}),
        "an unknown statement": lambda c: c.update(statement={"motto": "be discreet"}),
        "a statement that is a number": lambda c: c.update(statement={"purpose": 1}),
        "people in words": lambda c: c.update(statement={"people": "two"}),
        "a forecast that is a number": lambda c: c.update(statement={"forecast": {"a": 1}}),
        "a digest of before that is a number": lambda c: c.update(sha256_1=1),
        "a missing field": lambda c: c.pop("policy"),
        "another policy": lambda c: c.update(policy={"missing": "keep", "unseen": "keep"}),
        "a weight moved": lambda c: _first_weight(c, lambda weight: weight + 1),
        "a weight as a float": lambda c: _first_weight(c, float),
        "a weight as text": lambda c: _first_weight(c, str),
        "a weight that is true": lambda c: _first_weight(c, lambda _: True),
        "a weight of zero": lambda c: _first_weight(c, lambda _: 0),
        "a negative weight": lambda c: _first_weight(c, lambda weight: -weight),
        "an output too few": lambda c: c["weights"]["outputs"][0].pop(),
        "a letter too few": lambda c: (c["weights"]["outputs"].pop(), c["weights"]["values"].pop()),
        "outputs in disorder": lambda c: (c["weights"]["outputs"][1].reverse(), c["weights"]["values"][1].reverse()),
        "an output of a letter twice": lambda c: c["weights"]["outputs"][0].__setitem__(0, 1),
        "an output nobody knows": lambda c: c["weights"]["outputs"][0].__setitem__(-1, 3),
        "an output as text": lambda c: c["weights"]["outputs"][0].__setitem__(0, "0"),
        "a name twice": lambda c: c["outputs"].__setitem__(0, c["outputs"][1]),
        "no outputs": lambda c: c.update(outputs=[]),
        "a negative count": lambda c: c["joint"]["counts"].__setitem__(0, -1),
        "counts as cells that are not few": lambda c: c["joint"].update(
            counts={"cells": [i for i, k in enumerate(c["joint"]["counts"]) if k],
                    "values": [k for k in c["joint"]["counts"] if k]}),
        "cells in disorder": lambda c: c["joint"].update(counts={"cells": [3, 1], "values": [30, 31]}, n=61),
        "another n": lambda c: c["joint"].update(n=c["joint"]["n"] + 1),
        "no n": lambda c: c["joint"].pop("n"),
        "no prior": lambda c: c["joint"].pop("counts"),
        "two priors": lambda c: c["joint"].update(probabilities=["0.0625"] * 16),
        "another form": lambda c: c["joint"].update(form="include_secret"),
        "an unknown source": lambda c: c["joint"].update(source="rumour"),
        "an unknown notion": lambda c: c["notions"][0].update(name="Trust"),
        "a notion that is text": lambda c: c.update(notions=["LDP"]),
        "two notions": lambda c: c["notions"].append(c["notions"][0]),
        "no notion": lambda c: c.update(notions=[]),
        "a parameter too many": lambda c: c["notions"][0].update(delta="1e-05"),
        "an epsilon of zero": lambda c: c["notions"][0].update(epsilon="0.0"),
        "thousands of attributes": lambda c: c["joint"].update(releases=c["joint"]["releases"] * 2000),
        "labels for some": lambda c: c["joint"]["releases"][0].update(labels=["one"]),
        "an unknown step": lambda c: c["joint"]["releases"][0].update(grouping=[{"code": "import os"}]),
        "bins that fall": lambda c: c["joint"]["releases"][0].update(grouping=[{"bins": ["2", "1"]}]),
        "bits beyond sixty": lambda c: c.update(bits=61),
        "a letter that is a mapping": lambda c: c["outputs"].__setitem__(0, {"a": 1}),
        "a letter that is a float": lambda c: c["outputs"].__setitem__(0, 0.5),
        "a small integer in disguise": lambda c: c["outputs"].__setitem__(0, {"integer": "5"}),
    }.items(),
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_an_altered_file_of_version_2_is_refused(name, change):
    with pytest.raises(ProtocolError):
        decode(altered_2(change))
