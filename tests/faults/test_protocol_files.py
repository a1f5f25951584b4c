"""Protocol files that stop a reader, explode in its proof, or are not what their hash says."""

import json
import re
import time
import tracemalloc
from contextlib import suppress

import numpy as np
import pytest
from hostile_files import SHAPES, sealed, small

import discreet as dc
from discreet.certify import ball_proof, ratio_proofs, round_columns
from discreet.protocol import file
from discreet.protocol.file import decode, encode

MIB = 1 << 20
NOTICEABLE = 0.01
"""Seconds below which nothing is compared: the clock and other programs would decide."""
MORE = 16
"""How much larger the second file is. Work in proportion takes about 16 times as long, pairs of things 256 times."""


def seconds(shape, size):
    data = SHAPES[shape](size)
    started = time.process_time()
    with suppress(dc.ProtocolError):
        decode(data)
    return time.process_time() - started


@pytest.mark.parametrize("shape", SHAPES)
def test_nothing_is_compared_pair_by_pair_while_reading(shape):
    """The order of growth, which no busy neighbour decides; `benchmarks/hostile_files.py` measures the factor."""
    small = 4 * MIB // MORE
    seconds(shape, small)  # whatever is done once is done now
    tries = ((seconds(shape, small), seconds(shape, 4 * MIB)) for _ in range(3))
    assert any(later <= MORE**1.5 * max(first, NOTICEABLE) for first, later in tries)


@pytest.mark.parametrize("shape", SHAPES)
def test_reading_takes_at_most_twenty_times_the_file(shape):
    seconds(shape, MIB // 16)
    data = SHAPES[shape](MIB // 2)
    tracemalloc.start()
    with suppress(dc.ProtocolError):
        decode(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak + len(data) <= 20 * len(data)


def test_a_search_that_starts_again_at_every_quote_is_noticed(monkeypatch):
    """The planted fault: a text that must be closed is looked for anew at every quote."""
    old = re.compile(rb'(?:"(?:[^"\\]|\\.)*"|[^"\[\]{}:])*?([\[\]{}:])', re.DOTALL)
    monkeypatch.setattr(file, "TO_NEXT_MARK", old)
    sizes = MIB >> 10, MIB >> 8
    times = [min(seconds("escaped quotes, far apart", size) for _ in range(2)) for size in sizes]
    assert times[1] > 6 * times[0]


def test_the_writer_refuses_what_the_reader_would(monkeypatch, tmp_path):
    joint = dc.Joint.from_counts([[1, 2], [3, 4]])
    protocol = dc.Protocol.make(dc.Channel(np.full((1, 2), 1.0)), joint, dc.LDP(1.0))
    monkeypatch.setattr(file, "LARGEST_FILE", len(encode(protocol)) - 1)
    with pytest.raises(dc.ProtocolError, match=r"too large to be read again.*Merge rare letters"):
        protocol.save(tmp_path / "p.json")
    assert not list(tmp_path.iterdir())
    monkeypatch.undo()
    monkeypatch.setattr(file, "FEW", 0)
    monkeypatch.setattr(file, "ROOM", {b"[": 10**6})
    with pytest.raises(dc.ProtocolError, match="too large to be read again"):
        encode(protocol)


def test_side_channels_are_counted_before_they_are_proven():
    """Sixteen binary attributes once took more than forty seconds, of a file of 385 KiB."""
    m = 16
    content = small() | {"notion": {"name": "SRLIP", "epsilon": 1.0}, "epsilon": 0.0, "bits": 1}
    content |= {"outputs": [0, 1], "weights": [[1] * 2**m] * 2}
    releases = [{"letters": [0, 1], "name": str(i)} for i in range(m)]
    content["joint"] |= {"releases": releases, "counts": [1] * 2 ** (m + 1), "n": 2 ** (m + 1)}
    data = sealed(content)
    started = time.process_time()
    with pytest.raises(dc.ProtocolError, match="65,536 side channels"):
        decode(data)
    assert time.process_time() - started < 5


def test_side_channels_that_can_be_proven_are(monkeypatch):
    joint = dc.Joint.from_counts(np.ones((2, *(2,) * 6), dtype=int))
    channel = dc.Channel(np.full((2, 64), 0.5), joint.letters)
    assert dc.Protocol.make(channel, joint, dc.SRLIP(1.0)).epsilon == 0
    monkeypatch.setattr(ratio_proofs, "MOST_SUMS", 64 * 128 * 2 - 1)
    with pytest.raises(dc.ProofError, match=r"side channels.*LIP"):
        dc.Protocol.make(channel, joint, dc.SRLIP(1.0))


@pytest.mark.parametrize("notion", [dc.LDP(1.0), dc.LIP(1.0), dc.RLDP(1.0, dc.Everything())], ids=str)
def test_secrets_times_outputs_are_counted_before_they_are_proven(notion):
    """Two lists in a small file, and a table of billions of exact numbers in the proof."""
    joint = dc.Joint.from_counts(np.ones((20_000, 1), dtype=int))
    weights = np.zeros((20_000, 1), dtype=np.int64)
    weights[0] = 1 << 52
    with pytest.raises(dc.ProofError, match="20,000 secrets and 20,000 outputs"):
        dc.Protocol(weights, 52, joint, notion)


@pytest.mark.parametrize("limit", ["MOST_CELLS", "MOST_POWERS", "MOST_ALONE", "MOST_IN_PIECES", "MOST_PAIRS"])
def test_robust_proofs_are_bounded_as_well(limit, monkeypatch):
    joint = dc.Joint.from_counts(np.arange(1, 13).reshape(3, 4), include_secret=True)
    weights = round_columns(np.random.default_rng(0).dirichlet([9.0] * 3, size=12).T)
    order = {"MOST_POWERS": 1.5, "MOST_IN_PIECES": 0.3}.get(limit, 2.0)
    notion = dc.RLDP(0.1, dc.Renyi(order, 0.1))
    with pytest.raises(dc.ProofError, match="not proven"):
        dc.Protocol(weights, 52, joint, notion, epsilon=0.1)
    monkeypatch.setattr(ball_proof, limit, 1)
    with pytest.raises(dc.ProofError, match="too many secrets"):
        dc.Protocol(weights, 52, joint, notion, epsilon=0.1)


# ---- a file is what its hash says -----------------------------------------------------------------------------------


def test_a_file_that_was_read_has_the_digest_that_it_states():
    content = small()
    assert decode(sealed(content)).digest == json.loads(sealed(content))["sha256"]


def test_a_hash_in_pieces_is_the_hash_of_the_whole(monkeypatch):
    content = small()
    for size in (1, 2, 3, 1000):
        monkeypatch.setattr(file, "AT_ONCE", size)
        assert b"".join(file.pieces(content)) == file.canonical(content)


@pytest.mark.parametrize(
    "changed",
    [
        lambda c: c.update(epsilon=0),
        lambda c: c["notion"].update(epsilon=1),
        lambda c: c["joint"].update(counts=None, probabilities=[1, 0, 0, 0], n=None, source="given"),
        lambda c: c["outputs"].__setitem__(0, "half \ud83d"),
        lambda c: c["joint"]["releases"][0].update(name="\udc00"),
        lambda c: c["joint"]["releases"][0]["letters"].__setitem__(0, ["a", ["\ud800"]]),
    ],
)
def test_what_is_not_in_canonical_form_is_refused_even_with_the_right_hash(changed):
    content = small()
    assert content["epsilon"] == 0.0
    changed(content)
    with pytest.raises(dc.ProtocolError):
        decode(sealed(content))


@pytest.mark.parametrize(
    ("found", "written"),
    [
        (b'"epsilon":1.0', b'"epsilon":1.00'),
        (b'"epsilon":1.0', b'"epsilon":10e-1'),
        (b'"epsilon":0.0', b'"epsilon":0e0'),
    ],
)
def test_a_number_in_other_digits_is_refused(found, written):
    data = sealed(small())
    assert found in data
    assert decode(data).epsilon == 0
    with pytest.raises(dc.ProtocolError, match="canonical"):
        decode(data.replace(found, written))


def test_half_a_character_is_not_written_either(tmp_path):
    joint = dc.Joint.from_counts([[1, 2], [3, 4]], releases=["a", "\ud83d"])
    protocol = dc.Protocol.make(dc.Channel(np.full((1, 2), 1.0), joint.letters), joint, dc.LDP(1.0))
    with pytest.raises(dc.AlphabetError, match="half a character"):
        protocol.save(tmp_path / "p.json")


def test_the_error_of_a_file_that_is_not_json_does_not_carry_the_file():
    with pytest.raises(dc.ProtocolError) as caught:
        decode(b'{"CANARY": }')
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
