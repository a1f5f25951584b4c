"""The small joints, channels and tables that the goldens are made of; all of them written down here or in Adult."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any

import numpy as np
import pyarrow as pa

import discreet as dc
from discreet.datasets import adult

COUNTS: dict[str, Any] = {
    "2×2": [[7, 10], [26, 57]],
    "2×3": [[31, 12, 5], [8, 22, 17]],
    "3×4 with gaps": [[20, 5, 0, 9], [3, 14, 11, 2], [0, 6, 25, 8]],
    "2×(2×3)": [[[12, 7, 3], [5, 9, 14]], [[4, 11, 6], [13, 2, 10]]],
}
ADULT = {"Adult sex race": ("sex", "race"), "Adult marital-status sex": ("marital-status", "sex")}
FORMS = ("funnel", "include_secret", "sees_secret")
NOTIONS: dict[str, Callable[[float], Any]] = {
    "LDP": dc.LDP,
    "LIP": dc.LIP,
    "SRLIP": dc.SRLIP,
    "OrdinaryLDP": dc.OrdinaryLDP,
    "RLDP Exactly": lambda epsilon: dc.RLDP(epsilon, dc.Exactly()),
    "RLDP Everything": lambda epsilon: dc.RLDP(epsilon, dc.Everything()),
    "RLDP Renyi 0.5": lambda epsilon: dc.RLDP(epsilon, dc.Renyi(0.5, 0.03)),
    "RLDP Renyi 2": lambda epsilon: dc.RLDP(epsilon, dc.Renyi(2.0, 0.02)),
    "RLDP ChiSquare": lambda epsilon: dc.RLDP(epsilon, dc.ChiSquare(0.9)),
}
RECORDS = 3_000


def joint_of(name: str, form: str = "funnel") -> dc.Joint:
    """A joint by name, in one of the three forms."""
    included = form == "include_secret"
    if name in ADULT:
        secret, release = ADULT[name]
        joint = dc.Joint.from_table(adult(), secret=secret, release=release, include_secret=included)
    elif name == "2×(2×3)":
        releases = [dc.Attribute("colour", ("red", "blue")), dc.Attribute("size", (1, 2, 3))]
        secrets = [dc.Attribute("health", ("ill", "well"))]
        joint = dc.Joint.from_counts(COUNTS[name], secrets, releases, include_secret=included)
    else:
        joint = dc.Joint.from_counts(COUNTS[name], include_secret=included)
    return joint.curator() if form == "sees_secret" else joint


def mixed(joint: dc.Joint, share: float) -> dc.Channel:
    """The truth with this probability, otherwise a letter at random: weights that no search and no power decides."""
    size = len(joint.letters)
    outputs = tuple(f"output {i}" for i in range(size))
    return dc.Channel(share * np.eye(size) + (1 - share) / size, joint.letters, outputs)


def staircase(joint: dc.Joint) -> dc.Channel:
    """Three outputs with odds 1 : 2 : 3, turned round from letter to letter."""
    columns = [np.roll([1.0, 2.0, 3.0], z) / 6 for z in range(len(joint.letters))]
    return dc.Channel(np.array(columns).T, joint.letters, ("a", "b", "c"))


def combinations() -> Iterator[tuple[str, str, str]]:
    """Every form of every small joint with every notion."""
    yield from itertools.product((*COUNTS, *ADULT), FORMS, NOTIONS)


def released_protocol(form: str = "funnel", notion: Any = None) -> dc.Protocol:
    """The protocol of the releases: colour × size, with a secret that is not read."""
    joint = joint_of("2×(2×3)", form)
    return dc.Protocol.make(mixed(joint, 0.5), joint, notion or dc.LIP(4.0))


def people() -> pa.Table:
    """Records for it, some with values that are unknown or missing; the columns are written with arithmetic alone."""
    rows = range(RECORDS)
    colours, sizes = ("red", "blue", "blue", "mauve", "red", "blue", "red"), (1, 2, 3, 3, 2, 1, None, 2, 3, 3, 9)
    return pa.table(
        {
            "id": pa.array([f"person {i}" for i in rows]),
            "health": pa.array(["ill" if i * i % 5 < 2 else "well" for i in rows]),
            "colour": pa.array([colours[i * 3 % 7] for i in rows]),
            "size": pa.array([sizes[i * 5 % 11] for i in rows]),
            "region": pa.array([f"region {i % 7}" for i in rows]),
        }
    )


def sha(content: bytes | str | Any) -> str:
    """A hash of bytes, of text, or of anything that JSON can write."""
    if not isinstance(content, bytes | str):
        content = json.dumps(content, sort_keys=True, default=str)
    return sha256(content.encode() if isinstance(content, str) else content).hexdigest()


def attempt(work: Callable[[], Any]) -> Any:
    """What comes of it; an error of discreet's own is a result too."""
    try:
        return work()
    except dc.DiscreetError as error:
        return {"error": type(error).__name__, "what": error.what}
