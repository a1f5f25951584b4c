"""A protocol to release with: a secret, two released columns, and a channel with every kind of weight."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from discreet.attribute import Attribute
from discreet.channel import Channel
from discreet.joint import Joint
from discreet.notions import LIP
from discreet.protocol import Protocol

sys.path.insert(0, str(Path(__file__).parents[1] / "protocol"))  # public_cases

sys.path.insert(0, str(Path(__file__).parent))
SECRETS = ("ill", "well")
COLOURS = ("red", "green", "blue")
SIZES = (1, 2)


def make_joint() -> Joint:
    counts = np.array([[[9, 4], [3, 7], [2, 5]], [[4, 6], [8, 3], [6, 7]]])
    return Joint.from_counts(
        counts, [Attribute("health", SECRETS)], [Attribute("colour", COLOURS), Attribute("size", SIZES)]
    )


def make_protocol() -> Protocol:
    joint = make_joint()
    size = len(joint.letters)
    matrix = 0.4 * np.eye(size) + 0.6 / size
    outputs = tuple(f"{colour} {number}" for colour in COLOURS for number in SIZES)
    return Protocol.make(Channel(matrix, joint.letters, outputs), joint, LIP(2.0))


@pytest.fixture(scope="session")
def protocol() -> Protocol:
    return make_protocol()


@pytest.fixture
def protocol_path(protocol: Protocol, tmp_path: Path) -> Path:
    path = tmp_path / "protocol.json"
    protocol.save(path)
    return path


@pytest.fixture(scope="session")
def people() -> pa.Table:
    """5,000 records; `region` is public, `health` is the secret, `note` is nobody's business."""
    rng = np.random.default_rng(1)
    n = 5_000
    return pa.table(
        {
            "id": pa.array([f"person {i}" for i in range(n)]),
            "health": pa.array(rng.choice(SECRETS, n).tolist()),
            "colour": pa.array(rng.choice(COLOURS, n).tolist()),
            "size": pa.array(rng.choice(SIZES, n)),
            "region": pa.array([f"region {i % 7}" for i in range(n)]),
            "note": pa.array([f"CANARY-{i}" for i in range(n)]),
        }
    )
