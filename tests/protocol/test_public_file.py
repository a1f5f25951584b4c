"""The public file as bytes: its hash, what a reader refuses, and that nothing else than it says is in it."""

import hashlib
import json
import time

import numpy as np
import pytest
from public_cases import FORMS, protocol_of, stratified, twins

import discreet as dc
from discreet.protocol.file import ESCAPED, canonical
from discreet.protocol.public import PublicProtocol, StratifiedPublic
from discreet.protocol.public_file import decode_public, is_public, load_either, load_public
from discreet.protocol.strata import load_protocol


def sealed(content):
    data = canonical(content)
    for sign, escape in ESCAPED.items():
        data = data.replace(sign, escape)
    return data + b"\n"


def altered(change, form="funnel"):
    content = json.loads(FORMS[form](twins()[0]).public().encode())
    change(content)
    return sealed(content)


@pytest.mark.parametrize("form", FORMS)
def test_there_and_back(form, tmp_path):
    public = FORMS[form](twins()[0]).public()
    public.save(tmp_path / "public.json")
    data = (tmp_path / "public.json").read_bytes()
    assert hashlib.sha256(data).hexdigest() == public.digest
    assert data.isascii()
    assert data == sealed(json.loads(data))
    again = load_public(tmp_path / "public.json")
    assert type(again) is type(public) is (StratifiedPublic if "strata" in form else PublicProtocol)
    assert again.encode() == data
    assert is_public(data)
    assert type(load_either(tmp_path / "public.json")) is type(public)
    assert type(public).load(tmp_path / "public.json").digest == public.digest


@pytest.mark.parametrize("form", FORMS)
def test_whole_numbers_and_text_only(form):
    def kinds(value):
        if isinstance(value, dict):
            return {str} | set().union(*map(kinds, value.values()))
        return set().union(*map(kinds, value)) if isinstance(value, list) else {type(value)}

    assert kinds(json.loads(FORMS[form](twins()[0]).public().encode())) <= {int, str}


def test_the_other_kind_is_refused_with_the_name_of_the_right_one(tmp_path):
    protocol_of(twins()[0]).public().save(tmp_path / "plain.json")
    stratified(twins()[0]).public().save(tmp_path / "strata.json")
    protocol_of(twins()[0]).save(tmp_path / "protocol.json")
    with pytest.raises(dc.ProtocolError, match="StratifiedPublic"):
        PublicProtocol.load(tmp_path / "strata.json")
    with pytest.raises(dc.ProtocolError, match="PublicProtocol"):
        StratifiedPublic.load(tmp_path / "plain.json")
    with pytest.raises(dc.ProtocolError, match="not a public file"):
        load_public(tmp_path / "protocol.json")
    with pytest.raises(dc.ProtocolError, match="full protocol file"):
        load_protocol(tmp_path / "plain.json")
    assert isinstance(load_either(tmp_path / "protocol.json"), dc.Protocol)


def move_a_unit(content):
    values = content["weights"]["values"][0]
    values[0], values[1] = values[0] + 1, values[1]


def law(content, part, change):
    content["law"][part] = change(content["law"][part])


WRONG = {
    "an unknown key": lambda c: c.update(counts=[1, 2]),
    "a missing key": lambda c: c.pop("promise"),
    "another version": lambda c: c.update(version=2),
    "version true": lambda c: c.update(version=True),
    "another format": lambda c: c.update(format="discreet protocol"),
    "weights that do not add up": move_a_unit,
    "a law that does not add up": lambda c: law(c, "inputs", lambda p: ["0.9", *p[1:]]),
    "a law as numbers": lambda c: law(c, "inputs", lambda p: [float(q) for q in p]),
    "a law of other letters": lambda c: law(c, "inputs", lambda p: p[:-1]),
    "a law of the outputs that does not follow": lambda c: law(c, "outputs", lambda w: w[::-1]),
    "a negative law": lambda c: law(c, "outputs", lambda w: [-1, *w[1:]]),
    "no law": lambda c: c.pop("law"),
    "half a law": lambda c: c["law"].pop("outputs"),
    "a digest that is none": lambda c: c.update(protocol="abc"),
    "an unknown form": lambda c: c.update(form="open"),
    "an unknown source": lambda c: c.update(source="hearsay"),
    "an unknown notion": lambda c: c.update(notions=[{"name": "TRUST"}]),
    "a number as epsilon": lambda c: c["notions"][0].update(epsilon=6.0),
    "a policy": lambda c: c.update(policy={"missing": "keep", "unseen": "keep"}),
    "an empty promise": lambda c: c.update(promise=""),
    "a promise that is no text": lambda c: c.update(promise=3),
    "no secrets": lambda c: c.update(secrets=[]),
    "a name twice": lambda c: c.update(outputs=["A"] * 3),
    "too many bits": lambda c: c.update(bits=61),
    "a letter too much": lambda c: c["inputs"][0]["letters"].append("more"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_not_as_it_should_be_is_refused(name):
    with pytest.raises(dc.ProtocolError):
        decode_public(altered(WRONG[name]))


def test_a_law_is_refused_where_the_letters_contain_the_secret():
    def with_law(content):
        content["law"] = {"inputs": ["0.125"] * 8, "outputs": [1 << 51, 1 << 50, 1 << 50]}

    with pytest.raises(dc.ProtocolError, match="law"):
        decode_public(altered(with_law, "include_secret"))


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c["strata"].append(c["strata"][0]),
        lambda c: c["strata"][0].update(share="0.9"),
        lambda c: c["strata"][0].update(given=["x"]),
        lambda c: c["strata"][0].update(counts=[1]),
        lambda c: c.pop("given"),
        lambda c: c["strata"].clear(),
    ],
)
def test_strata_that_are_none(change):
    with pytest.raises(dc.ProtocolError):
        decode_public(altered(change, "strata"))


def test_another_way_to_write_it_is_refused():
    data = protocol_of(twins()[0]).public().encode()
    for other in (data + b"\n", data.replace(b'"bits":52', b'"bits": 52'), json.dumps(json.loads(data)).encode()):
        with pytest.raises(dc.ProtocolError):
            decode_public(other)
    with pytest.raises(dc.ProtocolError):
        decode_public(data[:-1])


def test_every_flip_of_a_byte_is_refused_or_another_file():
    """Nothing in the file can change without its hash; most changes are refused."""
    data = protocol_of(twins()[0]).public().encode()
    refused = 0
    for place in np.random.default_rng(1).choice(len(data), size=150, replace=False):
        flipped = bytearray(data)
        flipped[place] ^= 1
        try:
            assert decode_public(bytes(flipped)).digest != hashlib.sha256(data).hexdigest()
        except dc.ProtocolError:
            refused += 1
    assert refused > 50


def test_reading_takes_time_in_proportion():
    """Twice the letters, at most about three times the processor time; a quadratic reader would take four."""

    def seconds(size):
        joint = dc.Joint.from_counts(np.full((2, size), 7))
        matrix = np.zeros((size, size))
        matrix[np.arange(size), np.arange(size)] = 1.0
        channel = dc.Channel(0.5 * matrix + 0.5 * np.roll(matrix, 1, axis=0), joint.letters)
        data = dc.Protocol.make(channel, joint, dc.LIP(9.0)).public().encode()
        best = np.inf
        for _ in range(3):
            begin = time.process_time()
            decode_public(data)
            best = min(best, time.process_time() - begin)
        return best

    assert seconds(2000) < 3 * seconds(1000) + 0.02


def test_a_file_beyond_the_limit_is_not_written(monkeypatch):
    monkeypatch.setattr("discreet.protocol.file.LARGEST_FILE", 1000)
    with pytest.raises(dc.ProtocolError, match="too large"):
        protocol_of(twins()[0]).public().encode()
