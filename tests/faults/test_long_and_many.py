"""Work in the square of what a file holds: pairs of its secrets, signs of one cell on a terminal."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import discreet as dc
from discreet.cli.app import run
from discreet.phrases import LONGEST_SHOWN, quoted, shown

MANY = 10_000
"""A gigabyte, if all pairs of so many are held as numbers once."""


def names_everywhere(size: int = MANY) -> dc.Protocol:
    joint = dc.Joint.from_counts(np.ones((size, 2), int), [f"s{i}" for i in range(size)], ["a", "b"])
    return dc.Protocol.make(dc.Channel([[0.5, 0.5], [0.5, 0.5]], joint.letters), joint, dc.LIP(0.3))


def test_an_audit_of_many_secrets_holds_no_pairs_of_them() -> None:
    protocol = names_everywhere()
    tracemalloc.start()
    found = dc.audit(protocol)
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.ldp == 0.0
    assert found.rldp is None
    assert held < 300 << 20


@pytest.mark.parametrize("notion", [dc.LDP(0.5), dc.RLDP(0.5), dc.RLDP(0.5, dc.ChiSquare())], ids=str)
def test_a_design_that_compares_too_many_pairs_is_refused_in_own_words(notion: dc.LDP | dc.RLDP) -> None:
    with pytest.raises(dc.ParameterError, match="too many to compare in pairs"):
        notion.cone(names_everywhere().joint)


def test_secrets_compared_one_by_one_give_the_worst_pair() -> None:
    """Against all pairs, written out, with zeros and ties."""
    rng = np.random.default_rng(3)
    for _ in range(50):
        size, letters = rng.integers(2, 6, 2)
        joint = dc.Joint.from_counts(rng.integers(1, 9, (size, letters))).curator()
        matrix = rng.integers(0, 3, (3, size * letters)) + np.array([[0], [0], [1]])
        channel = dc.Channel(matrix / matrix.sum(axis=0), joint.letters)
        notion, worst = dc.RLDP(1.0, dc.Confidence(0.9)), 1.0
        most, least = (part.value for part in notion.uncertainty.around(joint).ranges(joint.expand(channel.matrix)))
        for y, s, t in np.ndindex(3, size, size):
            if s != t and most[y, s] > 0:
                worst = max(worst, most[y, s] / least[y, t] if least[y, t] > 0 else np.inf)
        found = notion.level(channel, joint)
        assert found.epsilon == pytest.approx(np.log(worst))
        assert found.witness is None or found.witness.secret != found.witness.other


def test_a_long_cell_is_shown_by_its_beginning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Once whole, and wrapped: 22 seconds for four million signs."""
    long = "y" * 100_000
    (tmp_path / "t.csv").write_text(f"s,x\na,{long}\n" + "b,z\na,z\n" * 20 + f"b,{long}\n" * 3)
    design = ["design", str(tmp_path / "t.csv"), "--secret", "s", "--release", "x", "--no-curve", "--time-limit", "5"]
    assert run([*design, "--out", str(tmp_path / "p.json")]) == 0
    assert run(["sanitise", str(tmp_path / "p.json"), str(tmp_path / "t.csv"), str(tmp_path / "o.csv")]) == 0
    for command in (["estimate", "p.json", "o.csv"], ["audit", "p.json"], ["check", "p.json", "t.csv"]):
        run([command[0], *(str(tmp_path / name) for name in command[1:])])
    printed = "".join(capsys.readouterr())
    assert "(100,000 characters)" in printed
    assert len(printed) < 50_000
    for said in (shown, quoted):
        assert len(said(long)) < LONGEST_SHOWN + 40
        assert long[:LONGEST_SHOWN] in said(long)
