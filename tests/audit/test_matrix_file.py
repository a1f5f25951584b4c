"""Transition matrices from CSV files."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet.audit import audit, read_matrix
from discreet.exceptions import ChannelError, TableError
from discreet.joint import Joint

Q = np.array([[0.7, 0.2, 0.1], [0.3, 0.8, 0.9]])


def written(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "q.csv"
    path.write_text(text, encoding=encoding)
    return path


def lines(rows, separator=","):
    return "\n".join(separator.join(str(cell) for cell in row) for row in rows) + "\n"


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_bare_numbers(tmp_path, separator):
    channel = read_matrix(written(tmp_path, lines(Q, separator)))
    assert channel.matrix == pytest.approx(Q)
    assert (channel.inputs, channel.outputs) == ((0, 1, 2), (0, 1))


def test_decimal_commas(tmp_path):
    text = lines([[str(cell).replace(".", ",") for cell in row] for row in Q], ";")
    assert read_matrix(written(tmp_path, text)).matrix == pytest.approx(Q)


def test_names_of_inputs_and_outputs(tmp_path):
    text = lines([["", "low", "mid", "high"], ["A", *Q[0]], ["B", *Q[1]]])
    channel = read_matrix(written(tmp_path, text, "utf-8-sig"))
    assert (channel.inputs, channel.outputs) == (("low", "mid", "high"), ("A", "B"))
    assert channel.matrix == pytest.approx(Q)


def test_a_header_without_a_corner_as_r_writes_it(tmp_path):
    channel = read_matrix(written(tmp_path, lines([["low", "mid", "high"], ["A", *Q[0]], ["B", *Q[1]]])))
    assert (channel.inputs, channel.outputs) == (("low", "mid", "high"), ("A", "B"))


def test_numbers_as_names(tmp_path):
    channel = read_matrix(written(tmp_path, lines([["", "x", "y"], [1, 0.5, 0.25], [2, 0.5, 0.75]])))
    assert (channel.inputs, channel.outputs) == (("x", "y"), ("1", "2"))


NUMBERED = [["0", "1"], ["0.0", "1.0"], ["1", "0"], ["0", "1", "2"], ["1", "2", "3"], ["-1", "0", "1"], ["17", "4"]]


@pytest.mark.parametrize("names", NUMBERED, ids=str)
@pytest.mark.parametrize("corner", [[""], ["letter"], []], ids=["empty", "text", "none"])
def test_letters_that_are_numbers(tmp_path, names, corner):
    """Once 0, 1 in the first row was read as the probabilities of an input without a name."""
    size = len(names)
    matrix = np.full((size, size), 0.1 / (size - 1)) + np.eye(size) * (0.9 - 0.1 / (size - 1))
    rows = [[*corner, *names], *([name, *row] for name, row in zip(names, matrix, strict=True))]
    channel = read_matrix(written(tmp_path, lines(rows)))
    assert (channel.inputs, channel.outputs) == (tuple(names), tuple(names))
    assert channel.matrix == pytest.approx(matrix)


def test_pandas_writes_letters_that_are_numbers(tmp_path):
    frame = pd.DataFrame([[0.9, 0.1], [0.2, 0.8]], index=[0, 1], columns=[0, 1])
    frame.to_csv(tmp_path / "m.csv")
    assert read_matrix(tmp_path / "m.csv").matrix.tolist() == [[0.9, 0.2], [0.1, 0.8]]
    frame.columns = [3, 4]
    frame.to_csv(tmp_path / "m.csv", index=False)
    assert read_matrix(tmp_path / "m.csv").outputs == ("3", "4")


@pytest.mark.parametrize(
    "text", ["0,1\n0.9,0.1\n0.1,0.9\n", "letter,0,1\na,0.9,0.1\nb,0.1,0.9\n", ",0.9,0.1\nb,0.2,0.8\n"]
)
def test_a_first_row_that_may_be_names_or_probabilities_is_refused(tmp_path, text):
    with pytest.raises(ChannelError, match=r"names or probabilities.*a first row of names that are no numbers"):
        read_matrix(written(tmp_path, text))
    width = len(text.splitlines()[1].split(",")) - text.splitlines()[1][0].isalpha()
    header = ",".join(["p", "q", "r"][:width])
    outputs = read_matrix(written(tmp_path, f"{header}\n{text}")).outputs
    assert outputs == tuple(header.split(","))


@pytest.mark.parametrize("text", ["0,1\n1,0\n", "a,1,0\nb,0,1\n", "1,0,0\n0,1,0\n0,0,1\n"])
def test_a_permutation_without_names_is_a_matrix(tmp_path, text):
    channel = read_matrix(written(tmp_path, text))
    assert channel.matrix.shape == (len(text.splitlines()),) * 2
    assert set(channel.matrix.ravel().tolist()) == {0.0, 1.0}


def test_a_pram_matrix_has_its_inputs_in_rows(tmp_path):
    rows = [["", "A", "B"], *([name, *column] for name, column in zip(["low", "mid", "high"], Q.T, strict=True))]
    channel = read_matrix(written(tmp_path, lines(rows)))
    assert channel.matrix == pytest.approx(Q)
    assert (channel.inputs, channel.outputs) == (("low", "mid", "high"), ("A", "B"))


def test_both_ways_must_be_told_apart(tmp_path):
    double = np.array([[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.3, 0.2, 0.5]])
    path = written(tmp_path, lines(double))
    with pytest.raises(ChannelError, match="both add up to one"):
        read_matrix(path)
    assert read_matrix(path, inputs="columns").matrix == pytest.approx(double)
    assert read_matrix(path, inputs="rows").matrix == pytest.approx(double.T)
    with pytest.raises(ChannelError, match="rows do not add up"):
        read_matrix(written(tmp_path, lines(Q)), inputs="rows")


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (lines(Q * 0.99), ChannelError, "add up to one"),
        (lines([["a", "b"], [0.5, 0.5], [1, "x"]]), TableError, "not a number"),
        ("0.5,0.5\n0.5\n", TableError, "different lengths"),
        ("a,b\n", TableError, "no numbers"),
        (lines([[1.5, 0.5], [-0.5, 0.5]]), ChannelError, "not a probability"),
        (lines([["nan", 0.5], [0.5, 0.5]]), ChannelError, "not a probability"),
        ("", TableError, "no numbers"),
    ],
)
def test_what_is_not_a_matrix_is_refused(tmp_path, text, error, message):
    with pytest.raises(error, match=message):
        read_matrix(written(tmp_path, text))


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(TableError, match="cannot be read"):
        read_matrix(tmp_path / "none.csv")


def test_a_csv_can_be_audited(tmp_path):
    joint = Joint.from_counts([[9, 1, 2], [1, 5, 5]], releases=["low", "mid", "high"])
    rows = [["", "high", "low", "mid"], ["A", *Q[0, [2, 0, 1]]], ["B", *Q[1, [2, 0, 1]]]]
    assert audit(written(tmp_path, lines(rows)), joint).ldp == pytest.approx(audit(Q, joint).ldp)


def test_a_pram_matrix_that_adds_up_both_ways_is_read_as_it_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """sdcMicro: R[i, j] = P(released j | original i). Here rows and columns add up to one, and differ."""
    from discreet.cli.app import run

    pram = np.array([[0.7, 0.2, 0.1], [0.1, 0.7, 0.2], [0.2, 0.1, 0.7]])
    path, table = tmp_path / "pram.csv", tmp_path / "t.csv"
    names = ["a", "b", "c"]
    path.write_text(
        "\n".join([",".join(["", *names]), *(f"{n},{','.join(map(str, r))}" for n, r in zip(names, pram, strict=True))])
    )
    rng = np.random.default_rng(0)
    rows = [f"{'s' if rng.random() < 0.2 + 0.3 * i else 't'},{names[i]}" for i in rng.integers(0, 3, 500)]
    table.write_text("\n".join(["secret,x", *rows]) + "\n")
    command = ["audit", str(path), "--data", str(table), "--secret", "secret", "--release", "x", "--json"]
    assert run(command) == 3
    assert "--inputs rows" in capsys.readouterr().out
    levels = {}
    for inputs, channel in {
        "rows": dc.Channel(pram.T, names, names),
        "columns": dc.Channel(pram, names, names),
    }.items():
        assert run([*command, "--inputs", inputs]) == 0
        levels[inputs] = json.loads(capsys.readouterr().out)["levels"]["LIP"]
        joint = dc.Joint.from_table(str(table), secret="secret", release="x")
        assert levels[inputs] == pytest.approx(dc.audit(channel, joint).levels["LIP"].epsilon)
    assert levels["rows"] != pytest.approx(levels["columns"])  # the control: orientation matters
