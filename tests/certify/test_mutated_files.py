"""Mutated protocol files: refused, or still true. The full ten thousand run with `benchmarks/certify.py files`."""

from resource import RUSAGE_SELF, getrusage

import fraction_reference as reference
import numpy as np
from file_mutations import mutated, originals

from discreet.channel import Channel
from discreet.exceptions import ProtocolError
from discreet.notions.rldp import RLDP
from discreet.protocol.file import decode, encode
from discreet.uncertainty import ChiSquare, Everything, Exactly, Renyi

FILES = 4000


def is_true(protocol):
    """Whether the stated level holds, by the second implementation, or for a ball by the oracle of `uncertainty`."""
    notion, name = protocol.notion, type(protocol.notion).__name__
    if isinstance(notion, RLDP) and isinstance(notion.uncertainty, ChiSquare | Renyi):
        level = notion.level(Channel(protocol.matrix, protocol.inputs), protocol.joint)
        return level.epsilon <= protocol.epsilon * (1 + 1e-9) + 1e-12
    if isinstance(notion, RLDP):
        name = {Everything: "Everything", Exactly: "Exactly"}[type(notion.uncertainty)]
    return not reference.violates(name, protocol.weights, protocol.bits, protocol.joint, protocol.epsilon)


def judged(rng, files):
    """'refused' or 'accepted'; anything but a ProtocolError, and anything accepted that is not true, fails."""
    try:
        protocol = decode(mutated(rng, files[int(rng.integers(len(files)))]))
    except ProtocolError:
        return "refused"
    assert is_true(protocol)
    return "accepted"


def test_no_mutated_file_is_accepted_whose_level_is_not_what_it_states():
    rng = np.random.default_rng(0)
    files = originals(rng)
    assert all(encode(decode(data)) == data for data in files[1::2])
    assert all(decode(data).version == 1 for data in files[::2])
    before = getrusage(RUSAGE_SELF).ru_maxrss
    outcomes = [judged(rng, files) for _ in range(FILES)]
    kilobytes = getrusage(RUSAGE_SELF).ru_maxrss - before
    assert outcomes.count("accepted") > 0.02 * FILES
    assert outcomes.count("refused") > 0.5 * FILES
    assert kilobytes < 64 * 1024


def test_without_the_proof_forgeries_would_be_accepted(monkeypatch):
    """The planted fault: a loader that trusts the stated level lets false files through, and the judge sees it."""
    from discreet.certify.proof import Proof
    from discreet.protocol import protocol as module

    rng = np.random.default_rng(1)
    files = originals(rng, 6)
    monkeypatch.setattr(
        module, "prove", lambda weights, bits, joint, notion, epsilon=None: Proof(notion, epsilon or notion.epsilon)
    )
    false = 0
    for _ in range(150):
        try:
            false += not is_true(decode(mutated(rng, files[int(rng.integers(len(files)))])))
        except ProtocolError:
            continue
    assert false > 0
