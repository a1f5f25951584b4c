"""A channel meets a joint whose letters or columns are in another order: levels were stated for the wrong letters."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import discreet as dc
from discreet.audit import audit_channel, realised_level
from discreet.cli.app import run

COUNTS = np.array([[60, 25, 15], [30, 30, 40]])
MATRIX = np.array([[0.8, 0.3, 0.1], [0.2, 0.7, 0.9]])
TURNED = [2, 0, 1]


def joint_of(letters, order=(0, 1, 2), secrets=("ill", "well")):
    named = [dc.Attribute("x", tuple(letters[i] for i in order))]
    return dc.Joint.from_counts(COUNTS[:, list(order)], [dc.Attribute("s", secrets)], named)


@pytest.mark.parametrize("letters", [(0, 1, 2), (10, 20, 30), ("a", "b", "c"), (None, "b", "c"), (True, False, None)])
def test_numbers_are_names_like_any_other(letters):
    joint, turned = joint_of(letters), joint_of(letters, TURNED)
    protocol = dc.Protocol.make(dc.Channel(MATRIX, joint.letters), joint, dc.LDP(2.0))
    level = dc.audit(protocol).ldp
    assert dc.audit(protocol, turned).ldp == pytest.approx(level)
    assert dc.audit(protocol.channel, turned).ldp == pytest.approx(level)
    assert dc.audit(protocol.public(), turned).ldp == pytest.approx(level)
    assert realised_level(protocol.channel, joint, turned).epsilon == pytest.approx(level)
    unlike = dc.audit(MATRIX, turned).ldp
    assert abs(unlike - level) > 0.01, "without names, by place: another level"


def test_a_notion_is_not_measured_on_letters_in_another_order():
    joint, turned = joint_of("abc"), joint_of("abc", TURNED)
    channel = dc.Channel(MATRIX, joint.letters)
    for measured in (lambda: dc.LDP(1.0).level(channel, turned), lambda: dc.Protocol.make(channel, turned, dc.LIP(2))):
        with pytest.raises(dc.ChannelError, match="another order"):
            measured()
    level = dc.LDP(1.0).level(channel, joint)
    assert dc.LDP(1.0).level(channel.restricted(turned.letters), turned).epsilon == pytest.approx(level.epsilon)
    assert dc.LDP(1.0).level(dc.Channel(MATRIX), joint) == level, "without names, by place"
    assert dc.LDP(1.0).level(dc.Channel(MATRIX).merged(), joint).epsilon == pytest.approx(level.epsilon)


def test_numbered_letters_are_not_those_of_another_joint():
    numbered = dc.Joint.from_counts(COUNTS)
    protocol = dc.Protocol.make(dc.Channel(MATRIX), numbered, dc.LDP(2.0))
    for other in (joint_of("abc"), joint_of((5, 6, 7))):
        for audited in (lambda at: dc.audit(protocol, at), lambda at: realised_level(protocol.channel, numbered, at)):
            with pytest.raises(dc.AlphabetError, match="names differ"):
                audited(other)


def columns(*named, turned=False):
    counts = np.array([[[40, 10], [30, 20]], [[10, 10], [10, 70]]])
    attributes = [dc.Attribute(name, ("no", "yes")) for name in named]
    if turned:
        counts = counts.transpose(0, 2, 1)
    return dc.Joint.from_counts(counts, ("ill", "well"), attributes)


def test_columns_are_matched_by_name():
    joint, swapped = columns("smokes", "drinks"), columns("drinks", "smokes", turned=True)
    matrix = np.array([[0.9, 0.8, 0.3, 0.2], [0.1, 0.2, 0.7, 0.8]])
    protocol = dc.Protocol.make(dc.Channel(matrix, joint.letters), joint, dc.LDP(3.0))
    level = dc.audit(protocol).ldp
    assert dc.audit(protocol, swapped).ldp == pytest.approx(level)
    assert dc.audit(protocol.public(), swapped).ldp == pytest.approx(level)
    assert realised_level(protocol.channel, joint, swapped).epsilon == pytest.approx(level)
    assert abs(audit_channel(protocol.channel, swapped).ldp - level) > 0.01, "a channel has no columns"
    for other in (columns("smokes", "sleeps"), columns("smokes", "smoked")):
        with pytest.raises(dc.AlphabetError, match="other columns"):
            dc.audit(protocol, other)
    assert dc.audit(protocol, columns("release1", "release2")).ldp == pytest.approx(level), "nobody named them"


def test_an_array_of_another_shape_is_no_distribution_of_this_joint():
    joint = joint_of("abc")
    with pytest.raises(dc.DistributionError, match="shape"):
        realised_level(dc.Channel(MATRIX, joint.letters), joint, joint.probabilities.T)


def test_missing_is_not_the_text_of_that_name():
    joint = joint_of((None, "b", "c"))
    with pytest.raises(dc.AlphabetError, match="names differ"):
        dc.audit(dc.Channel(MATRIX, ("None", "b", "c")), joint)


def test_the_command_matches_numbers_by_name(tmp_path, capsys):
    """Categories keep their order in a table, and numbers among them are names."""
    import json

    import pandas as pd

    joint = joint_of((0, 1, 2))
    protocol = dc.Protocol.make(dc.Channel(MATRIX, joint.letters), joint, dc.LDP(2.0))
    protocol.save(tmp_path / "p.json")
    rows = [(s, x) for s, line in zip(("ill", "well"), COUNTS, strict=True) for x in range(3) for _ in range(line[x])]
    frame = pd.DataFrame(rows, columns=["s", "x"])
    frame["x"] = pd.Categorical(frame["x"].astype(str), ["2", "0", "1"])
    frame.to_parquet(tmp_path / "t.parquet")
    asked = ["audit", str(tmp_path / "p.json"), "--data", str(tmp_path / "t.parquet"), "--secret", "s", "--json"]
    assert run([*asked, "--release", "x"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["levels"]["LDP"] == pytest.approx(dc.audit(protocol).ldp)


# ---- matrices with names of their own -------------------------------------------------------------------------------

NAMED = dc.Joint.from_counts([[30, 10, 5], [5, 20, 40]], secrets=["flu", "cold"], releases=["low", "mid", "high"])
COLUMNS = {"high": [0.6, 0.4], "low": [0.2, 0.8], "mid": [0.9, 0.1]}


@pytest.mark.parametrize("made", [pd.DataFrame, pl.DataFrame, pa.table])
def test_the_columns_of_a_frame_are_letters_by_name(made):
    """Once by place: 0.297 where 0.573 is true."""
    by_hand = dc.audit(np.array([COLUMNS[name] for name in ("low", "mid", "high")]).T, NAMED)
    found = dc.audit(made(COLUMNS), NAMED)
    assert (found.ldp, found.lip, found.mutual_information) == (by_hand.ldp, by_hand.lip, by_hand.mutual_information)
    with pytest.raises(dc.AlphabetError, match="names differ"):
        dc.audit(made({"middle" if name == "mid" else name: column for name, column in COLUMNS.items()}), NAMED)


@pytest.mark.parametrize("made", [pd.DataFrame, lambda rows: pl.DataFrame(rows, orient="row")])
def test_numbered_columns_are_letters_by_place(made):
    rows = [[0.6, 0.2, 0.9], [0.4, 0.8, 0.1]]
    assert dc.audit(made(rows), NAMED).lip == dc.audit(rows, NAMED).lip
    assert dc.Channel(made(rows)).unnamed
    assert dc.Channel(pd.DataFrame(rows, index=["A", "B"])).outputs == ("A", "B")


def test_a_letter_that_people_have_has_a_column():
    """A sparse matrix may leave out letters that nobody has; once also others, and levels were of another mechanism."""
    rows = sparse.csr_array([[0, 0.3, 0.2], [0, 0.7, 0.8]])
    with pytest.raises(dc.ChannelError, match="empty column"):
        dc.audit(rows, NAMED)
    nobody = dc.Joint.from_counts([[0, 10, 5], [0, 20, 40]])
    assert dc.audit(rows, nobody).ldp == dc.audit([[0.5, 0.3, 0.2], [0.5, 0.7, 0.8]], nobody).ldp
    for distribution in (NAMED, NAMED.probabilities):
        with pytest.raises(dc.ChannelError, match="empty column"):
            realised_level(dc.Channel(rows, NAMED.letters), NAMED, distribution)


def test_letters_that_nobody_had_are_audited_elsewhere_as_they_are_drawn():
    counts = np.array([[0, 100, 50], [0, 20, 400]])
    joint = dc.Joint.from_counts(counts, ["flu", "cold"], ["low", "mid", "high"])
    rows = sparse.csr_array([[0, 0.6, 0.4], [0, 0.4, 0.6]])
    protocol = dc.Protocol.make(dc.Channel(rows, joint.letters), joint, dc.LDP(1.0))
    assert len(protocol.silent) == 1
    assert dc.audit(protocol, NAMED).ldp == pytest.approx(dc.audit(protocol.matrix, NAMED).ldp, abs=1e-12)
