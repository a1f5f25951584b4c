"""Random joints and channels near the edge of their notion, as a design would leave them."""

from dataclasses import dataclass

import numpy as np

from discreet.channel import Channel
from discreet.joint import Joint
from discreet.notions import LDP, LIP, SRLIP, OrdinaryLDP
from discreet.notions.rldp import RLDP
from discreet.uncertainty import Everything, Exactly

NAMES = ("LDP", "LIP", "SRLIP", "OrdinaryLDP", "Everything", "Exactly")
MARGINS = (-1e-9, -1e-12, -1e-15, 0.0, 1e-14, 1e-9, 0.01)


@dataclass(frozen=True)
class Case:
    name: str
    joint: Joint
    channel: Channel
    notion: object


def notion(name, epsilon):
    plain = {"LDP": LDP, "LIP": LIP, "SRLIP": SRLIP, "OrdinaryLDP": OrdinaryLDP}
    if name in plain:
        return plain[name](epsilon)
    return RLDP(epsilon, {"Everything": Everything, "Exactly": Exactly}[name]())


def random_joint(rng, *, most_secrets=3, most_letters=4):
    """Small counts with empty cells, or floats; every form; one or two attributes; now and then an unseen secret."""
    c, shape = int(rng.integers(2, most_secrets + 1)), (int(rng.integers(2, most_letters + 1)),)
    if rng.random() < 0.4:
        shape = (*shape, 2)
    counts = rng.integers(0, 30, (c, *shape)) * (rng.random((c, *shape)) < 0.8)
    if rng.random() < 0.9:
        counts[(slice(None), *(0,) * len(shape))] += 1
    counts[(0,) * (len(shape) + 1)] += 1
    counts[(1,) + (0,) * len(shape)] += 1
    form = int(rng.integers(3))
    joint = Joint.from_counts(counts, include_secret=form == 1)
    if rng.random() < 0.3:
        cells = counts * rng.random(counts.shape)
        cells[:2].reshape(2, -1)[:, 0] += 0.1
        joint = Joint(cells / cells.sum(), include_secret=form == 1)
    return joint.curator() if form == 2 else joint


def random_case(rng):
    """A channel whose level is finite, with a notion at that level give or take a margin."""
    while True:
        joint, name = random_joint(rng), NAMES[int(rng.integers(len(NAMES)))]
        outputs = int(rng.integers(2, 5))
        matrix = rng.dirichlet(np.full(outputs, 0.7), size=len(joint.letters)).T
        spread = 10.0 ** rng.uniform(-4, 0)
        matrix = spread * matrix + (1 - spread) * rng.dirichlet(np.full(outputs, 0.3))[:, None]
        channel = Channel(matrix / matrix.sum(axis=0), joint.letters)
        level = notion(name, 1.0).level(channel, joint).epsilon
        epsilon = level * (1 + MARGINS[int(rng.integers(len(MARGINS)))])
        if np.isfinite(level) and 1e-9 < epsilon < 50:
            return Case(name, joint, channel, notion(name, epsilon))
