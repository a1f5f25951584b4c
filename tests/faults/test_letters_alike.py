"""Letters that no reader tells apart were proven apart and drawn as one: the level at the real records was another."""

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.protocol.file import decode
from discreet.protocol.strata import StratifiedProtocol
from discreet.records.letters import LetterReader, letters_by_text

ALIKE = [
    (None, ""), (None, " "), ("", " "), ("\t", "\u00a0"), (None, "\u2003"), (1, "1"), (1, "1.0"), ("a", " a"),
    ("a", "a\u00a0"), (True, "true"), (2.5, "2.5"), (None, float("nan")),
]  # fmt: skip
APART = [
    (None, "a"), ("", "a"), (" ", "a"), (1, "01"), (True, "yes"), ("a", "A"), ("a", "a b"), (1, 2.5),
    (None, "missing"), (None, "None"), ("a", "a\u200b"),
]  # fmt: skip
COUNTS = np.array([[60, 40], [40, 60]])
WEIGHTS = np.array([[3, 1], [1, 3]])


def protocol_of(letters, form="funnel", **options):
    joint = dc.Joint.from_counts(COUNTS, [dc.Attribute("s", ("f", "m"))], [dc.Attribute("x", letters, **options)])
    return dc.Protocol(WEIGHTS, 2, joint, dc.LDP(2.0))


def ids(letters):
    return [ascii(pair) for pair in letters]


@pytest.mark.parametrize("letters", ALIKE, ids=ids(ALIKE))
def test_letters_that_are_read_as_one_are_no_protocol(letters):
    with pytest.raises(dc.AlphabetError, match=r"written alike|both an empty cell"):
        protocol_of(letters)
    joint = dc.Joint.from_counts(COUNTS, releases=[dc.Attribute("x", letters)])
    with pytest.raises(dc.AlphabetError, match=r"written alike|both an empty cell"):
        dc.design(joint, dc.LDP(1.0))


@pytest.mark.parametrize("letters", APART, ids=ids(APART))
def test_letters_that_are_not_are_each_drawn_from_their_own_column(letters):
    protocol = protocol_of(letters)
    assert decode(protocol.encode()).digest == protocol.digest
    column = pa.array([None if one is None else str(one) for one in letters], pa.large_string())
    assert LetterReader(protocol.joint.reads).codes([column]).tolist() == [0, 1]


def test_a_file_with_such_letters_is_refused():
    content = protocol_of((None, "gap")).encode()
    assert content.count(b'"gap"') == 1
    with pytest.raises(dc.ProtocolError):
        decode(content.replace(b'"gap"', b'" "'))


def test_a_blank_letter_of_any_writing_is_what_an_empty_cell_is():
    for blank in (None, "", " ", "\u00a0"):
        reader = LetterReader((dc.Attribute("x", ("a", blank)),))
        assert reader.codes([pa.array(["", None, "\t", "a", "b"])]).tolist() == [1, 1, 1, 0, 2]


def test_a_code_for_missing_is_an_empty_cell():
    with pytest.raises(dc.AlphabetError, match="both an empty cell"):
        protocol_of((None, "9"), missing=("9",))
    coded = dc.Attribute("x", ("a", "9"), missing=("9",))
    assert letters_by_text(coded) == ({"a": 0}, 1)
    assert LetterReader((coded,)).codes([pa.array(["9", None, "a", "b"])]).tolist() == [1, 1, 0, 2]


def test_secrets_that_are_read_and_given_columns_too():
    joint = dc.Joint.from_counts(COUNTS, [dc.Attribute("s", ("", None))], [dc.Attribute("x", ("a", "b"))])
    dc.Protocol(WEIGHTS, 2, joint, dc.LDP(2.0))  # nobody reads this secret
    with pytest.raises(dc.AlphabetError, match="both an empty cell"):
        dc.Protocol(np.hstack([WEIGHTS, WEIGHTS]), 2, joint.curator(), dc.LDP(2.0))
    one = protocol_of(("a", "b"))
    with pytest.raises(dc.AlphabetError, match="written alike"):
        StratifiedProtocol((dc.Attribute("k", ("n", "n ")),), {("n",): one, ("n ",): one})
