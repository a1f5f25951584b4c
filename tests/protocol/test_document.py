"""A protocol as plain data: everything comes back, and what is altered is refused field by field."""

import numpy as np
import pytest
from protocol_cases import altered, joint_of, protocol_of

from discreet.attribute import Attribute
from discreet.channel import Channel
from discreet.exceptions import AlphabetError, ParameterError, ProtocolError
from discreet.joint import Joint
from discreet.notions import LDP
from discreet.protocol import Protocol
from discreet.protocol.document import encode_notion
from discreet.protocol.file import decode, encode


def test_probabilities_and_their_source_are_kept():
    joint = Joint(np.array([[0.1, 0.2], [0.3, 0.4]]), n=50)
    protocol = Protocol.make(Channel(np.array([[0.6, 0.5], [0.4, 0.5]])), joint, LDP(1.0), source="public")
    again = decode(encode(protocol))
    assert (again.joint.probabilities == joint.probabilities).all()
    assert (again.joint.n, again.source, again.joint.counts) == (50, "public", None)
    assert protocol_of().source == "data"


@pytest.mark.parametrize("bits", [1, 20, 52, 53, 60])
def test_weights_beyond_json_numbers_survive(bits):
    joint = Joint.from_counts([[5, 3], [2, 7]])
    protocol = Protocol.make(Channel(np.full((2, 2), 0.5)), joint, LDP(1.0), bits=bits)
    assert (decode(encode(protocol)).weights == protocol.weights).all()
    assert protocol.weights.sum() == 2 << bits
    assert protocol.marginal.sum() == 1 << bits


def test_secrets_of_several_columns_keep_their_names():
    secrets = (Attribute("sex", ("f", "m")), Attribute("smokes", (True, False)))
    joint = Joint.from_counts(np.arange(1, 13).reshape(4, 3), secrets)
    protocol = Protocol.make(Channel(np.full((1, 3), 1.0)), joint, LDP(1.0))
    assert decode(encode(protocol)).joint.secrets == secrets


def test_a_letter_without_a_place_in_json_is_refused():
    joint = Joint.from_counts([[1, 2], [3, 4]], releases=[frozenset("a"), "b"])
    protocol = Protocol.make(Channel(np.full((1, 2), 1.0)), joint, LDP(1.0))
    with pytest.raises(AlphabetError, match="frozenset"):
        encode(protocol)


def test_a_notion_that_cannot_be_proven_is_refused():
    class Hope(LDP):
        pass

    class Wish:
        epsilon = 1.0

    with pytest.raises(ParameterError, match="no proof is known for Wish"):
        Protocol(np.full((1, 8), 1 << 52), 52, joint_of(), Wish())
    with pytest.raises(ParameterError, match="no proof is known for Hope"):
        Protocol(np.full((1, 8), 1 << 52), 52, joint_of(), Hope(1.0))
    with pytest.raises(ParameterError, match="Hope is not a notion"):
        encode_notion(Hope(1.0))


def test_an_unchanged_content_is_read():
    assert (decode(altered(lambda content: None)).weights == protocol_of().weights).all()


@pytest.mark.parametrize(
    ("name", "change"),
    {
        "a lower level": lambda c: c.update(epsilon=c["epsilon"] - 3e-9),
        "a level above the notion": lambda c: c.update(epsilon=2.5),
        "a negative level": lambda c: c.update(epsilon=-1.0),
        "a level in words": lambda c: c.update(epsilon="small"),
        "another version": lambda c: c.update(version=2),
        "a version that is true": lambda c: c.update(version=True),
        "another format": lambda c: c.update(format="pickle"),
        "an extra field": lambda c: c.update(code="import os"),
        "a missing field": lambda c: c.pop("policy"),
        "another policy": lambda c: c.update(policy={"missing": "keep", "unseen": "keep"}),
        "a weight moved": lambda c: c["weights"][0].__setitem__(0, c["weights"][0][0] + 1),
        "a weight as a float": lambda c: c["weights"][0].__setitem__(0, float(c["weights"][0][0])),
        "a row too few": lambda c: c["weights"].pop(),
        "an output twice": lambda c: c["outputs"].__setitem__(0, c["outputs"][1]),
        "no outputs": lambda c: c.update(outputs=[], weights=[]),
        "a negative count": lambda c: c["joint"]["counts"].__setitem__(0, -1),
        "another n": lambda c: c["joint"].update(n=c["joint"]["n"] + 1),
        "an infinite prior": lambda c: c["joint"].update(counts=None, probabilities=[1e308] * 16),
        "no prior": lambda c: c["joint"].update(counts=None),
        "another form": lambda c: c["joint"].update(form="include_secret"),
        "an unknown source": lambda c: c["joint"].update(source="rumour"),
        "an unknown notion": lambda c: c["notion"].update(name="Trust"),
        "a parameter too many": lambda c: c["notion"].update(delta=1e-5),
        "an epsilon of zero": lambda c: c["notion"].update(epsilon=0),
        "thousands of attributes": lambda c: c["joint"].update(releases=c["joint"]["releases"] * 2000),
        "bits beyond sixty": lambda c: c.update(bits=61),
        "a letter that is a mapping": lambda c: c["outputs"].__setitem__(0, {"a": 1}),
        "a small integer in disguise": lambda c: c["outputs"].__setitem__(0, {"integer": "5"}),
    }.items(),
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_altered_file_is_refused(name, change):
    with pytest.raises(ProtocolError):
        decode(altered(change))


def test_messages_carry_no_weights_or_counts():
    def change(content):
        content["weights"][0][0], content["joint"]["counts"][0] = 123456789, 987654321

    with pytest.raises(ProtocolError) as caught:
        decode(altered(change))
    assert "123456789" not in str(caught.value)
    assert "987654321" not in str(caught.value)
