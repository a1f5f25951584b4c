"""Two outputs that would be read as one are refused before anything is drawn: nobody could estimate from them."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.estimate import estimate_by
from discreet.records.letters import released_columns
from discreet.records.writer import write_records

WIDE = "\N{FULLWIDTH EQUALS SIGN}"


def made(letters: list[Any], **options: Any) -> dc.Protocol:
    size = len(letters)
    counts = np.arange(1, 2 * size + 1).reshape(2, size) % 5 + 3
    joint = dc.Joint.from_counts(counts, ["f", "m"], [dc.Attribute("x", tuple(letters))])
    matrix = 0.4 * np.eye(size) + 0.6 / size
    return dc.Protocol.make(dc.Channel(matrix, joint.letters, tuple(letters)), joint, dc.LDP(3.0))


@pytest.mark.parametrize(
    "letters",
    [["a", "missing", None], ["=a", "'=a", "b"], [f"{WIDE}a", f"'{WIDE}a"], [1, "1", "b"], [True, "True"]],
)
def test_outputs_that_are_written_alike_are_refused(letters: list[Any]) -> None:
    with pytest.raises(dc.AlphabetError, match=r"written alike|written as CSV shows another"):
        made(letters)


@pytest.mark.parametrize("letters", [["a", "(missing)", None], ["=a", "''=a", "b"], [1, 2, None], ["a", "A"]])
def test_outputs_that_are_not_are_released_and_estimated(letters: list[Any], tmp_path: Path) -> None:
    protocol = made(letters)
    released = protocol.sanitise(pa.table({"x": pa.array(letters * 100)}), one_row_per_person=True)
    assert dc.estimate(released, protocol).n == 100 * len(letters)
    with pa.OSFile(str(tmp_path / "o.csv"), "wb") as sink:
        write_records(sink, released.to_batches(), released.schema, "csv")
    assert dc.estimate(tmp_path / "o.csv", protocol).n == 100 * len(letters)


def test_columns_whose_values_hold_the_mark_between_them() -> None:
    columns = [dc.Attribute("x", ("a / b", "a")), dc.Attribute("y", ("c", "b / c"))]
    joint = dc.Joint.from_counts(np.arange(8).reshape(2, 2, 2) + 1, ["f", "m"], columns)
    assert [name for name, _ in released_columns(joint, joint.letters)] == ["x", "y"]
    with pytest.raises(dc.AlphabetError, match="written alike"):
        released_columns(joint, [("a / b", "c"), "a / b / c"])


def test_a_table_with_missing_cells_and_that_word_is_refused_at_the_design(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.choice(["a", "b", "missing", ""], 2000, p=[0.3, 0.3, 0.2, 0.2])
    lines = [f"{'fm'[int(rng.random() < (0.3 if v == 'a' else 0.6))]},{v}\n" for v in x]
    (tmp_path / "t.csv").write_text("s,x\n" + "".join(lines))
    joint = dc.Joint.from_table(tmp_path / "t.csv", secret="s", release="x")
    with pytest.raises(dc.AlphabetError, match="written alike"):
        dc.design(joint, dc.LIP(1.0), utility=dc.Agreement())
    named = dc.design(joint, dc.LIP(1.0)).protocol.outputs
    assert len(set(named)) == len(named)


def test_groups_of_a_protocol_that_has_them_already_are_refused() -> None:
    """Once an AttributeError."""
    rows = [("f", "a", "k"), ("m", "b", "k"), ("f", "b", "m"), ("m", "a", "m"), ("f", "b", "k"), ("m", "b", "m")]
    table = pa.table(dict(zip("sxg", map(list, zip(*rows * 300, strict=True)), strict=True)))
    protocol = dc.design(dc.Joint.from_table(table, secret="s", release="x", given="g"), dc.LIP(0.5)).protocol
    released = pa.table({"release": ["0", "1"], "g": ["k", "m"]})
    for one in (protocol, protocol.public()):
        with pytest.raises(dc.ParameterError, match="estimate_strata"):
            estimate_by(released, one, "g")
