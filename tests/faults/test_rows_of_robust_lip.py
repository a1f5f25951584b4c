"""All rows of a person under RLIP: their level is taken over the set that is promised."""

from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import log, prod

import pytest

import discreet as dc
from discreet.exceptions import ProofError
from discreet.protocol.statement import Statement
from discreet.records.persons import Rule, WhoseRows
from discreet.release.draws_together import _apart
from discreet.uncertainty.tails import ONE

ROWS = 2


@pytest.fixture(scope="module")
def protocol():
    joint = dc.Joint.from_counts([[1500, 1500], [3, 3]])
    return dc.Protocol.make(dc.Channel([[0.55, 0.45], [0.45, 0.55]], joint.letters, ("y", "z")), joint, dc.RLIP(1.0))


def chances(low, high):
    """The ends of what the first of two letters, or secrets, can have."""
    return (Fraction(at, ONE) for at in (max(low[0], ONE - high[1]), min(high[0], ONE - low[1])))


def told(protocol, rows: int) -> float:
    """The level of so many rows over F by listing its corners."""
    known, weights, worst = protocol.notion.known(protocol.joint).limits, protocol.weights, 0.0
    low, high = (part.tolist() for part in (known.lower, known.upper))
    masses = known.mass_lower.tolist(), known.mass_upper.tolist()
    for one, two, mass in product(chances(low[0], high[0]), chances(low[1], high[1]), chances(*masses)):
        law = [[at * int(w[0]) + (1 - at) * int(w[1]) for w in weights] for at in (one, two)]
        for outputs in combinations_with_replacement(range(len(weights)), rows):
            first, second = (prod(chance[y] for y in outputs) for chance in law)
            whole = mass * first + (1 - mass) * second
            worst = max(worst, abs(log(first / whole)), abs(log(second / whole)))
    return worst


def test_rows_of_a_person_are_judged_over_the_set_that_is_promised(protocol) -> None:
    """The limits of RLDP, which has none for masses, were taken: two rows were stated below what the set allows."""
    assert protocol.epsilon == pytest.approx(told(protocol, 1), abs=2e-9), "one row was always judged over F"
    narrower = ROWS * dc.RLDP(1.0).level(protocol.channel, protocol.joint).epsilon
    assert narrower < told(protocol, ROWS) <= protocol.rows_level(ROWS)
    assert protocol.rows_level(ROWS) == pytest.approx(ROWS * protocol.notion.apart(protocol.channel, protocol.joint))
    assert _apart(protocol, 1, 0) * ROWS >= told(protocol, ROWS)


def test_a_file_that_states_less_is_not_read(protocol, tmp_path) -> None:
    def stated(epsilon: float) -> Statement:
        return Statement(rows=WhoseRows("person", "id", Rule.independent, 3006, 6012, ROWS, epsilon))

    level, path = protocol.rows_level(ROWS), tmp_path / "p.json"
    protocol.stating(stated(level)).save(path)
    assert dc.Protocol.load(path).statement.rows.epsilon == level
    narrower = ROWS * dc.RLDP(1.0).level(protocol.channel, protocol.joint).epsilon
    with pytest.raises(ProofError, match="more together than is stated"):
        protocol.stating(stated((narrower + told(protocol, ROWS)) / 2))
