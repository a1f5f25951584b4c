"""Protocols and their files: the same protocol is the same bytes, and a file proves what it states or is refused."""

import hashlib
import json
import math
import subprocess
import sys
from importlib.resources import files

import jsonschema
import numpy as np
import pytest

import discreet
from discreet.alphabet import Attribute
from discreet.channel import Channel
from discreet.exceptions import AlphabetError, DistributionError, ParameterError, ProofError, ProtocolError
from discreet.joint import Joint
from discreet.notions import LDP, LIP, SRLIP, OrdinaryLDP
from discreet.notions.rldp import RLDP
from discreet.protocol import Protocol
from discreet.protocol.file import DEEPEST, LARGEST_FILE, canonical, decode, encode
from discreet.uncertainty import ChiSquare, Everything, Exactly, Renyi

SCHEMA = json.loads(files("discreet.protocol").joinpath("schema.json").read_text())
LETTERS = [["plain", "ünïcode \ud800", 7, None], [True, (2.5, ("nested", -1))]]


def joint_of(form="funnel", **kwargs):
    counts = np.array([[[9, 1], [2, 2], [0, 3], [5, 5]], [[1, 4], [4, 4], [2, 6], [7, 1]]])
    joint = Joint.from_counts(counts, ["yes", "no"], LETTERS, include_secret=form == "include_secret", **kwargs)
    return joint.curator() if form == "sees_secret" else joint


def protocol_of(form="funnel", notion=None, **kwargs):
    joint = joint_of(form)
    rng = np.random.default_rng(0)
    matrix = 0.3 * rng.dirichlet(np.ones(3), size=len(joint.letters)).T + 0.7 / 3
    channel = Channel(matrix / matrix.sum(axis=0), joint.letters, ("a", ("b", 1), 2**70))
    return Protocol.make(channel, joint, notion or LIP(2.0), **kwargs)


NOTIONS = [LDP(3.0), LIP(2.0), SRLIP(3.0), OrdinaryLDP(3.0), *(
    RLDP(3.0, uncertainty) for uncertainty in (ChiSquare(0.9), Renyi(1.5, 0.1), Renyi(1, 0.1), Everything(), Exactly())
)]  # fmt: skip


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


@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_the_file_follows_the_published_schema(notion):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(json.loads(encode(protocol_of("sees_secret", notion, bits=60))), SCHEMA)


def test_the_stated_level_is_the_channels_own_rounded_up():
    protocol = protocol_of(notion=LIP(2.0))
    level = LIP(1.0).level(protocol.channel, protocol.joint).epsilon
    assert level <= protocol.epsilon <= level + 2e-9
    assert protocol.notion == LIP(2.0)


def test_the_same_content_in_another_layout_is_the_same_protocol():
    protocol = protocol_of()
    pretty = json.dumps(json.loads(encode(protocol)), indent=2).encode()
    assert decode(pretty).digest == protocol.digest


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


def test_posteriors_follow_bayes():
    protocol = protocol_of("sees_secret")
    together = protocol.matrix[0] * protocol.joint.prior
    wanted = np.array([together[protocol.joint.target_of == t].sum() for t in range(8)]) / together.sum()
    assert protocol.posterior("a") == pytest.approx(wanted)
    assert protocol.secret_posterior("a") == pytest.approx(together.reshape(2, 8).sum(axis=1) / together.sum())
    with pytest.raises(AlphabetError, match="not an output"):
        protocol.posterior("z")


# ---- what cannot be made ------------------------------------------------------------------------------------------


def test_a_protocol_cannot_be_made_without_its_proof():
    joint = joint_of()
    weights = np.zeros((8, 8), dtype=np.int64)
    np.fill_diagonal(weights, 1 << 52)
    with pytest.raises(ProofError, match="LDP is not proven"):
        Protocol(weights, 52, joint, LDP(1.0))
    good = protocol_of(notion=LDP(2.0))
    with pytest.raises(ProofError, match="LDP is not proven"):
        Protocol(good.weights, 52, joint, LDP(2.0), epsilon=good.epsilon - 3e-9)
    with pytest.raises(ProofError, match="above the notion"):
        Protocol(good.weights, 52, joint, LDP(2.0), epsilon=2.5)


def test_the_weights_cannot_be_changed_afterwards():
    protocol = protocol_of()
    with pytest.raises(ValueError, match="read-only"):
        protocol.weights[0, 0] = 0
    with pytest.raises(ValueError, match="read-only"):
        protocol.matrix[0, 0] = 0


def test_counts_that_contradict_the_probabilities_are_refused():
    joint = Joint(np.array([[0.25, 0.25], [0.25, 0.25]]), n=10, counts=np.array([[4, 1], [1, 4]]))
    with pytest.raises(DistributionError, match="differ"):
        Protocol.make(Channel(np.full((1, 2), 1.0)), joint, LDP(1.0))


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
    with pytest.raises(ParameterError, match="Hope has no place"):
        encode(Protocol(np.full((1, 8), 1 << 52), 52, joint_of(), Hope(1.0)))


# ---- what is not read ---------------------------------------------------------------------------------------------


def altered(change):
    content = json.loads(encode(protocol_of()))
    del content["sha256"]
    change(content)
    content["sha256"] = hashlib.sha256(canonical(content)).hexdigest()
    return json.dumps(content).encode()


def test_an_unchanged_content_is_read():
    assert decode(altered(lambda content: None)).digest == protocol_of().digest


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


def test_a_file_that_is_not_one_is_refused():
    good = encode(protocol_of())
    nested = b"[" * (DEEPEST + 1) + b"]" * (DEEPEST + 1)
    wrong = [b"", b"{}", b"null", b"[1]", b"\xff\xfe", good[:-20], nested, b"[" * 10**6, b'"' + b"[" * 50, b"1" * 10**5]
    wrong += [good.replace(b'"bits":52', b'"bits":52,"bits":52'), good.replace(b'"bits":52', b'"bits":NaN')]
    wrong += [good.replace(b'"bits":52', b'"bits":1e999'), good.replace(b"plain", b"plaid")]
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


def test_attributes_of_one_letter_do_not_make_a_proof_endless():
    joint = Joint.from_counts(np.array([[3, 1], [2, 5]]).reshape(2, 2, *(1,) * 20))
    protocol = Protocol.make(Channel(np.array([[0.6, 0.5], [0.4, 0.5]]), joint.letters), joint, SRLIP(1.0))
    assert decode(encode(protocol)).epsilon == Protocol.make(protocol.channel, joint, LIP(1.0)).epsilon


def test_messages_carry_no_weights_or_counts():
    def change(content):
        content["weights"][0][0], content["joint"]["counts"][0] = 123456789, 987654321

    with pytest.raises(ProtocolError) as caught:
        decode(altered(change))
    assert "123456789" not in str(caught.value)
    assert "987654321" not in str(caught.value)


def test_proofs_and_audits_work_without_any_solver():
    """With the package's own front door left out, which offers everything."""
    code = f"""
import sys, types
package = types.ModuleType("discreet")
package.__path__ = {list(discreet.__path__)!r}
sys.modules["discreet"] = package
sys.modules["discreet.solvers"] = None
import discreet.certify, discreet.audit, discreet.protocol
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    assert subprocess.run([sys.executable, "-c", code + "import discreet.solvers"], check=False).returncode != 0


def test_a_level_is_finite_or_refused():
    joint = Joint.from_counts([[1, 0], [0, 1]])
    with pytest.raises(ProofError):
        Protocol(np.array([[1 << 52, 0], [0, 1 << 52]]), 52, joint, LDP(1e300))
    assert math.isfinite(protocol_of(notion=LDP(1e300)).epsilon)
