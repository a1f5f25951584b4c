"""Studies and policies that keep a reader busy, or end it in another library's words."""

import time
import tomllib
from pathlib import Path

import pytest

import discreet as dc
from discreet.files.toml_file import DEEPEST, too_deep
from discreet.policy import Policy
from discreet.study_file import StudyFile

STUDY = 'table = "t.csv"\nsecret = ["s"]\nrelease = ["x"]\n'
HUGE = "9" * 400
READERS = {"study": StudyFile.read, "policy": Policy.read}


def refused(kind: str, path: Path, text: str) -> dc.ParameterError:
    path.write_text(text, newline="")
    with pytest.raises(dc.ParameterError) as error:
        READERS[kind](path)
    return error.value


DEEP = {
    "arrays": "epsilon = " + "[" * 5000 + "]" * 5000,
    "inline tables": "epsilon = " + "{a=" * 3000 + "1" + "}" * 3000,
    "after four quotes": 'about = """x"""" , ' + "[" * 5000,
    "a dotted key": "a" + ".a" * 200_000 + " = 1",
    "a dotted key with spaces": "a" + " . a" * 100_000 + " = 1",
    "a quoted dotted key": '"a"' + '."a"' * 100_000 + " = 1",
    "a dotted header": "[a" + ".a" * 200_000 + "]",
    "strings that never end": '"""\n' + '\\"""\n' * 100_000,
    "digits": "epsilon = " + "9" * 500_000,
}


@pytest.mark.parametrize("kind", READERS)
@pytest.mark.parametrize("name", DEEP)
def test_a_file_that_nests_without_end_is_refused_at_once(kind: str, name: str, tmp_path: Path) -> None:
    began = time.process_time()
    assert "cannot be read" in refused(kind, tmp_path / "f.toml", DEEP[name]).what
    assert time.process_time() - began < 5  # once a RecursionError, or minutes


@pytest.mark.parametrize(
    "text",
    [
        'about = "[[[[[[[[[[[[[[[[[[[[ a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r"  # ' + "[ . " * 20,
        "about = '''\n''[[[[[[[[[[[[[[[[[[[[[[[[''\n'''''",
        'about = """\n\\"[[[[[[[[[[[[[[[[[[[[[[[[""\n"""""',
        "bins = [" + '"a=0.5,1.5", ' * 1000 + "]",
        "columns = [\n" + '"a.b",  # one [\n' * 1000 + "]",
    ],
)  # fmt: skip
def test_brackets_and_dots_in_strings_and_comments_do_not_count(text: str, tmp_path: Path) -> None:
    assert not too_deep(text)
    assert tomllib.loads(text)
    (tmp_path / "study.toml").write_text(STUDY + text)
    StudyFile.read(tmp_path / "study.toml")


def test_the_limit_is_where_it_is_said_to_be() -> None:
    for open_, close in ("[]", "{}"):
        assert not too_deep("x = " + open_ * DEEPEST + close * DEEPEST)
        assert too_deep("x = " + open_ * (DEEPEST + 1) + close * (DEEPEST + 1))
    assert not too_deep("\n".join([".".join("a" * DEEPEST) + " = 1.5"] * 1000))
    assert too_deep(".".join("a" * (DEEPEST + 1)))


@pytest.mark.parametrize("key", ["epsilon", "budget", "plan", "records", "private", "time_limit"])
def test_huge_numbers_in_a_study_are_refused_by_name(key: str, tmp_path: Path) -> None:
    assert refused("study", tmp_path / "f.toml", f"{STUDY}{key} = {HUGE}").where == key
    with pytest.raises(dc.ParameterError):
        StudyFile.stated(table="t", secret=["s"], release=["x"], **{key: int(HUGE)})


@pytest.mark.parametrize("text", [f"k = {HUGE}", f"records_per_secret = {HUGE}", f"[epsilon]\nLIP = {HUGE}"])
def test_huge_numbers_in_a_policy_are_refused(text: str, tmp_path: Path) -> None:
    assert refused("policy", tmp_path / "f.toml", text).what == "a number beyond 64 bits"


@pytest.mark.parametrize("name", ["a\\u0000b", "a" * 5000, "ü" * 200, "a/" * 3000])
@pytest.mark.parametrize("key", ["table", "policy", "public", "letters", "key", "released", "protocol", "report"])
def test_names_that_no_file_can_have_are_refused(key: str, name: str, tmp_path: Path) -> None:
    table = "[targets]\n" if key in ("released", "protocol", "report") else ""
    text = STUDY.replace("t.csv", name) if key == "table" else f'{STUDY}{table}{key} = "{name}"'
    assert refused("study", tmp_path / "f.toml", text).where == key


def test_ordinary_studies_and_policies_are_read(tmp_path: Path) -> None:
    (tmp_path / "f.toml").write_text(f"{STUDY}epsilon = 1\nplan = 1000\ntargets.released = 'sub/r.csv'\n")
    found = StudyFile.read(tmp_path / "f.toml")
    assert (found.epsilon, found.plan, found.where()["released"]) == (1.0, 1000, "sub/r.csv")
    (tmp_path / "p.toml").write_text("k = 5\nepsilon.LIP = 0.5\n")
    assert Policy.read(tmp_path / "p.toml").epsilon == {"LIP": 0.5}
