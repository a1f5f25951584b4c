"""Small studies, policies, ledgers and matrices that once stopped their reader, or filled the memory."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pyarrow as pa
import pytest

import discreet as dc
from discreet.audit import matrix_file, read_matrix
from discreet.exceptions import ParameterError, TableError
from discreet.files.toml_file import DEEPEST, read_toml
from discreet.policy import Policy
from discreet.study_file import StudyFile

MANY = hex(16**400)
STATED = {"table": "t.csv", "secret": ["s"], "release": ["x"]}
DOTTED = {
    "plain": ".".join(["a"] * 20_000),
    "quoted": ".".join(['"a"'] * 20_000),
    "quotes inside": ".".join([r'"\""'] * 20_000),
    "other quotes": ".".join(["'a'"] * 20_000),
    "after a text": 'b = """a\n"b" """" # "\n' + ".".join(["a"] * 20_000),
    "a header": "[" + ".".join(["a"] * 20_000) + "]\nb",
    "spaces": " . ".join(["a"] * 20_000),
}


@pytest.mark.parametrize("name", DOTTED)
def test_keys_of_many_parts_are_not_parsed(name: str, tmp_path: Path) -> None:
    """Of 40 KB the parser made 1.8 GB."""
    path = tmp_path / "study.toml"
    path.write_text(f"{DOTTED[name]} = 1\n")
    tracemalloc.start()
    for reader in (StudyFile.read, Policy.read):
        with pytest.raises(ParameterError, match="dotted keys deeper"):
            reader(path)
    assert tracemalloc.get_traced_memory()[1] < 1 << 23
    tracemalloc.stop()


def test_dots_in_texts_and_comments_are_no_keys(tmp_path: Path) -> None:
    path, dots = tmp_path / "study.toml", "a. " * 2 * DEEPEST
    texts = [f'"{dots} \\" {dots}"', f"'{dots}'", f'"""{dots}\n" {dots} ""{dots}"""', f"'''{dots}\n'{dots}'''"]
    path.write_text("".join(f"k{i} = {text} # {dots}\n" for i, text in enumerate(texts)) + "a.b.c = 1.5")
    stated, _ = read_toml(path, "study", "")
    assert [stated[f"k{i}"].count(".") / DEEPEST for i in range(4)] == [4, 2, 6, 4]


@pytest.mark.parametrize(
    "text", ["x = " + "[" * 3000 + "]" * 3000, "x = " + "{a=" * 3000 + "1" + "}" * 3000, '"' * 1000]
)
def test_nested_without_end(text: str, tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(text)
    for reader in (StudyFile.read, Policy.read):
        with pytest.raises(ParameterError, match="cannot be read"):
            reader(tmp_path / "p.toml")


@pytest.mark.parametrize(
    "key", ["epsilon", "confidence", "need", "accuracy", "time_limit", "budget", "plan", "records"]
)
def test_numbers_that_no_float_holds(key: str) -> None:
    with pytest.raises(ParameterError, match="not a"):
        StudyFile.of({**STATED, key: int(MANY, 16)})


def test_such_numbers_in_a_policy(tmp_path: Path) -> None:
    for line in (f"k = {MANY}", f"records_per_secret = {MANY}", f"[epsilon]\nLIP = {MANY}"):
        (tmp_path / "policy.toml").write_text(line)
        with pytest.raises(ParameterError, match="a number beyond 64 bits"):
            Policy.read(tmp_path / "policy.toml")


@pytest.mark.parametrize("rows", [10**300, 10**400], ids=["float", "none"])
@pytest.mark.parametrize("name", ["rows", "one_of"])
def test_a_ledger_of_more_rows_than_any_table_has(rows: int, name: str, tmp_path: Path) -> None:
    joint = dc.Joint.from_counts([[30, 10], [10, 30]], secrets=["a", "b"], releases=[dc.Attribute("x", ("u", "v"))])
    protocol = dc.Protocol.make(dc.Channel([[0.6, 0.4], [0.4, 0.6]], joint.letters), joint, dc.LDP(1.0))
    line = {"event": "release", "data": "the data", "key": None, "protocol": None, name: rows}
    (tmp_path / "book.ledger").write_text(json.dumps(line) + "\n")
    table = pa.table({"x": ["u", "v"] * 50})
    found = protocol.check(table, ledger=tmp_path / "book.ledger", one_row_per_person=True)
    assert found.account.draws == 2 if found.account else "--repeat" in found.refusals[0].remedy


def test_a_matrix_without_end_is_not_read_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A device has no size: what is read is counted."""
    monkeypatch.setattr(matrix_file, "LARGEST_FILE", 1 << 16)
    with pytest.raises(TableError, match="256 MiB"):
        read_matrix(Path("/dev/zero"))


NINES = "9" * 5000


def grouped(merges: list[str], bins: list[str]) -> None:
    table = pa.table({"s": [0, 1] * 50, "x": list(range(100))})
    dc.Joint.from_table(table, secret="s", release="x", group=dc.Grouping.parse(bins, merges))


@pytest.mark.parametrize(
    ("merges", "bins"), [([f"rare:{NINES}"], []), ([f"x: rare: {NINES}"], []), ([], [f"x=quantiles:{NINES}"])]
)
def test_groupings_with_a_number_of_thousands_of_digits(merges: list[str], bins: list[str]) -> None:
    with pytest.raises(ParameterError, match="cannot be read") as caught:
        grouped(merges, bins)
    assert "99999" not in str(caught.value)
