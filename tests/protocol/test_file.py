"""The same protocol is the same bytes, and bytes that are not a protocol are refused."""

import pytest
from protocol_cases import NOTIONS, protocol_of

from discreet.exceptions import ProtocolError
from discreet.protocol import Protocol
from discreet.protocol.file import DEEPEST, LARGEST_FILE, decode, encode


@pytest.mark.parametrize("form", ["funnel", "include_secret", "sees_secret"])
@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_a_file_brings_back_the_same_protocol_as_the_same_bytes(form, notion, tmp_path):
    protocol = protocol_of(form, notion)
    protocol.save(tmp_path / "p.json")
    again = Protocol.load(tmp_path / "p.json")
    assert (again.weights == protocol.weights).all()
    assert again.digest == protocol.digest
    assert again.epsilon == protocol.epsilon <= notion.epsilon
    assert (again.outputs, again.inputs, again.notion) == (protocol.outputs, protocol.inputs, notion)
    assert (again.joint.counts == protocol.joint.counts).all()
    again.save(tmp_path / "q.json")
    assert (tmp_path / "p.json").read_bytes() == (tmp_path / "q.json").read_bytes()
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["p.json", "q.json"]


def test_a_file_that_is_not_one_is_refused():
    good = encode(protocol_of())
    nested = b"[" * (DEEPEST + 1) + b"]" * (DEEPEST + 1)
    wrong = [b"", b"{}", b"null", b"[1]", b"\xff\xfe", good[:-20], nested, b"[" * 10**6, b'"' + b"[" * 50, b"1" * 10**5]
    wrong += [good.replace(b'"bits":52', b'"bits":52,"bits":52'), good.replace(b'"bits":52', b'"bits":NaN')]
    wrong += [good.replace(b'"bits":52', b'"bits":1e999'), good.replace(b"plain", b"p\\u006cain")]
    for data in wrong:
        with pytest.raises(ProtocolError):
            decode(data)


def test_a_file_that_is_too_large_or_missing_is_refused(tmp_path):
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(LARGEST_FILE + 1)
    with pytest.raises(ProtocolError, match="MiB"):
        Protocol.load(path)
    with pytest.raises(ProtocolError, match="cannot be read"):
        Protocol.load(tmp_path / "none.json")
    with pytest.raises(ProtocolError, match="cannot be read"):
        Protocol.load(tmp_path)
