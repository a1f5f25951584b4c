"""A robust promise also holds for people whose value nobody in the counted table had (theory 5.1)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.certify.interval_proof import IntervalProver
from discreet.uncertainty.confidence import beforehand

SECRETS, RECORDS = ("A", "B"), 3000


def sample(rng: np.random.Generator, codes: int) -> pa.Table:
    """A has Z or one of very many codes, B has W1 or W2: four equally likely cases."""
    secret, first = np.where(rng.random(RECORDS) < 0.5, *SECRETS), rng.random(RECORDS) < 0.5
    code = np.char.add("c", rng.integers(0, codes, RECORDS).astype(str))
    return pa.table(
        {"s": secret, "x": np.where(secret == "A", np.where(first, "Z", code), np.where(first, "W1", "W2"))}
    )


def proven(joint: dc.Joint, letters: dict[str, float]) -> dc.Protocol:
    """Z and W1 lead to one output more often than codes and W2; the smallest level that can be proven."""
    row = np.array([letters.get(str(letter), letters["code"]) for letter in joint.letters])
    return dc.Protocol.make(dc.Channel(np.array([row, 1 - row]), joint.letters, ("p", "q")), joint, dc.RLDP(20.0))


def true_level(protocol: dc.Protocol, codes: int) -> float:
    """By listing the people: known codes by their column, all others by the law of the outputs."""
    columns = dict(zip(protocol.joint.letters, protocol.matrix.T, strict=True))
    met = [letter for letter in columns if str(letter).startswith("c")]
    unknown = protocol.marginal / 2.0**protocol.bits
    code = sum(columns[letter] for letter in met) / codes + (1 - len(met) / codes) * unknown
    a, b = (columns["Z"] + code) / 2, (columns["W1"] + columns["W2"]) / 2
    return float(np.abs(np.log(a / b)).max())


LETTERS = {"Z": 0.99, "W1": 0.99, "W2": 0.01, "code": 0.01}


@pytest.mark.parametrize("codes", [10, 10**7])
def test_the_level_holds_for_people_whose_letter_was_never_met(codes: int) -> None:
    over, before = 0, 0
    for seed in range(6):
        joint = dc.Joint.from_table(sample(np.random.default_rng(seed), codes), secret="s", release="x", force=True)
        protocol = proven(joint, LETTERS)
        over += true_level(protocol, codes) > protocol.epsilon
        before += true_level(protocol, codes) > proven(beforehand(joint), LETTERS).epsilon
    assert over == 0
    assert before == (6 if codes > 10 else 0)  # the control: as if the letters had been declared


def test_files_say_whose_letters_were_met_and_prove_the_same_again(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    table = pa.table({name: rng.choice(list("abc"), 3000) for name in ("s", "k", "x")})
    for given in ([], ["k"]):
        joint = dc.Joint.from_table(table, secret="s", release="x", given=given)
        for notion, says in (
            (dc.RLDP(1.0), ["x"]),
            (dc.RLIP(1.0), ["x"]),
            (dc.LIP(1.0), None),
            (dc.RLDP(1.0, dc.ChiSquare()), None),
        ):
            made = dc.design(joint, notion, time_limit=5).protocol
            made.save(tmp_path / "p.json")
            stated = json.loads((tmp_path / "p.json").read_text())
            assert stated.get("joint", stated).get("met") == says or stated["version"] == 1
            again = dc.load_protocol(tmp_path / "p.json")
            assert (again.epsilon, again.digest) == (made.epsilon, made.digest)


@pytest.mark.parametrize("met", [[], ["y"], ["x", "x"], "x", [5], True], ids=str)
def test_odd_statements_about_letters_are_refused(met: object, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    table = pa.table({name: rng.choice(list("abc"), 3000) for name in ("s", "x")})
    joint = dc.Joint.from_table(table, secret="s", release="x")
    dc.design(joint, dc.RLDP(1.0), time_limit=5).protocol.save(tmp_path / "p.json")
    content = json.loads((tmp_path / "p.json").read_text())
    content["joint"]["met"] = met
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    (tmp_path / "q.json").write_text(text)
    with pytest.raises(dc.ProtocolError):
        dc.load_protocol(tmp_path / "q.json")


def test_a_proof_without_the_law_of_the_outputs_is_refused() -> None:
    rng = np.random.default_rng(3)
    joint = dc.Joint.from_table(
        pa.table({name: rng.choice(list("abc"), 900) for name in ("s", "x")}), secret="s", release="x"
    )
    protocol = dc.design(joint, dc.RLDP(1.0), time_limit=5).protocol
    declared = replace(joint, releases=tuple(one.beforehand for one in joint.releases))
    levels = [IntervalProver().level(protocol.weights, protocol.bits, one, dc.RLDP(1.0)) for one in (joint, declared)]
    assert levels[0] > levels[1]
