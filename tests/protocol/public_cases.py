"""Protocols of every form with equal public parts and different joint counts, for the public file's tests."""

import numpy as np
import pyarrow as pa

import discreet as dc
from discreet.protocol import Protocol

LETTERS = ("low", "mid", "high", "top")
CANARY = [1000003, 4700063, 2600017, 3100037, 5300023, 1900037, 6100001, 2300029]
"""Counts of seven digits: none of them stands in a file by accident."""


def twins():
    """Two joints with the law of X and the size in common, and joint counts that have nothing in common."""
    first = np.array([CANARY[:4], CANARY[4:]])
    moved = np.array([[700013, -450061, 190027, -440009], [-700013, 450061, -190027, 440009]])
    return [dc.Joint.from_counts(counts, ["ill", "well"], LETTERS) for counts in (first, first + moved)]


def scaled():
    """The first of the twins, and three times as many records of every kind."""
    first = twins()[0]
    return [first, dc.Joint.from_counts(3 * first.counts, ["ill", "well"], LETTERS)]


def channel_of(joint, outputs=("A", "B or C", "D")):
    matrix = np.random.default_rng(7).dirichlet(np.ones(len(outputs)), size=len(joint.letters)).T
    return dc.Channel(matrix, joint.letters, outputs)


def protocol_of(joint, notion=None, **options):
    return Protocol.make(channel_of(joint), joint, notion or dc.LIP(6.0), **options)


def blind_curator(joint):
    """A curator's mechanism that ignores the secret: its average is the same for all joints with one law of X."""
    matrix = np.tile(channel_of(joint).matrix, (1, len(joint.secret_letters)))
    curator = joint.curator()
    return Protocol.make(dc.Channel(matrix, curator.letters, ("A", "B or C", "D")), curator, dc.LIP(6.0))


def releasing(joint):
    """X = (S, U)."""
    whole = dc.Joint.from_counts(joint.counts, ["ill", "well"], LETTERS, include_secret=True)
    return protocol_of(whole, dc.LDP(9.0))


def stratified(joint):
    """Two strata of the same joint, by a column `sex`."""
    from discreet.protocol.strata import StratifiedProtocol

    given = (dc.Attribute("sex", ("f", "m")),)
    return StratifiedProtocol(given, {("f",): protocol_of(joint), ("m",): protocol_of(joint)})


def on_average(joint):
    """An average with a ceiling, which the file states before everything else."""
    return protocol_of(joint, dc.Funnel(1.0, ceiling=dc.LIP(6.0)))


def averages_in_strata(joint):
    from discreet.protocol.strata import StratifiedProtocol

    given = (dc.Attribute("sex", ("f", "m")),)
    return StratifiedProtocol(given, {("f",): on_average(joint), ("m",): on_average(joint)})


FORMS = {
    "funnel": protocol_of,
    "sees_secret": blind_curator,
    "include_secret": releasing,
    "strata": stratified,
    "average": on_average,
    "average, strata": averages_in_strata,
    "belt": lambda joint: protocol_of(joint, dc.LIP(6.0) & dc.OrdinaryLDP(9.0)),
}


def table_of(joint, size, seed=0):
    """Records drawn from a joint, as a table with the columns `secret` and `release`."""
    rng = np.random.default_rng(seed)
    cells = rng.choice(joint.table.size, size=size, p=joint.table.reshape(-1))
    s, x = np.unravel_index(cells, joint.table.shape)
    return pa.table(
        {
            "secret": [joint.secret_letters[i] for i in s],
            "release": [joint.release_letters[i] for i in x],
            "sex": rng.choice(["f", "m"], size=size),
        }
    )
