"""A protocol of every form and notion, and its file with one field changed and the hash made right again."""

import hashlib
import json

import numpy as np

from discreet.channel import Channel
from discreet.joint import Joint
from discreet.notions import LDP, LIP, SRLIP, OrdinaryLDP
from discreet.notions.rldp import RLDP
from discreet.protocol import Protocol
from discreet.protocol.file import ESCAPED, canonical, encode, pieces_1
from discreet.uncertainty import ChiSquare, Everything, Exactly, Renyi

LETTERS = [["plain", "ünïcode \U0001f600", 7, None], [True, (2.5, ("nested", -1))]]


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


def first_version(protocol):
    """The protocol as version 1 of the file had it."""
    return _sealed(json.loads(b"".join(pieces_1(protocol))))


def altered(change):
    """A file of version 1."""
    content = json.loads(b"".join(pieces_1(protocol_of())))
    change(content)
    return _sealed(content)


def _sealed(content):
    return canonical({**content, "sha256": hashlib.sha256(canonical(content)).hexdigest()}) + b"\n"


def altered_2(change):
    """A file of version 2."""
    content = json.loads(encode(protocol_of()))
    change(content)
    data = canonical(content)
    for sign, escape in ESCAPED.items():
        data = data.replace(sign, escape)
    return data + b"\n"
