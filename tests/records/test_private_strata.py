"""A private prior beside given columns: one noisy table for all strata, each with its own limits and mechanism."""

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from private_attacks import combined, corners

import discreet as dc
from discreet.given_columns import StratifiedJoint
from discreet.phrases import rounded_up
from discreet.protocol.strata import promise_of
from discreet.records.noise import StratumNoise, noisy_joint, noisy_size
from discreet.wording import caveats, guarantee, has_counts

LETTERS = {"k": ["m", "f", "nobody"], "s": ["a", "b"], "x": ["u", "v"]}
COLUMNS = {"secret": "s", "given": "k", "release": "x", "letters": LETTERS}
SECRETS, GIVEN, RELEASES = ((dc.Attribute(name, tuple(LETTERS[name])),) for name in ("s", "k", "x"))


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    k, s = rng.integers(0, 2, (2, 6000))
    x = (rng.random(6000) < 0.3 + 0.2 * s + 0.1 * k).astype(int)
    letters = {"k": ["m", "f"], "s": ["a", "b"], "x": ["u", "v"]}
    return pd.DataFrame({name: np.array(letters[name])[codes] for name, codes in (("k", k), ("s", s), ("x", x))})


def drawn_from(people, book, **options):
    return dc.Joint.from_table(people, **{**COLUMNS, "private": dc.Noise(1.0, ledger=book), **options})


def strata_of_tables(tables, epsilon=0.6, include_secret=False):
    noise = StratumNoise(epsilon)
    joints = [
        noisy_joint(one, noisy_size(one), SECRETS, RELEASES, noise, include_secret=include_secret) for one in tables
    ]
    given = (dc.Attribute("k", tuple(LETTERS["k"][: len(tables)])),)
    return StratifiedJoint(given, {(letter,): one for letter, one in zip(given[0].letters, joints, strict=True)})


def test_every_declared_stratum_is_there_with_a_noisy_size(people, tmp_path):
    joint = drawn_from(people, tmp_path / "book")
    assert list(joint.strata) == [("m",), ("f",), ("nobody",)]
    sizes = people["k"].value_counts()
    for (letter,), one in joint.strata.items():
        assert one.noise == StratumNoise(1.0)
        assert one.n == max(int(one.counts.sum()), 1)
        assert abs(one.n - sizes.get(letter, 0)) < 60
    assert len((tmp_path / "book").read_bytes().splitlines()) == 1, "one draw is charged for all strata"


def test_one_draw_serves_designs_with_and_without_given_columns(people, tmp_path):
    """k given or released is one and the same noisy table; any other draw is refused."""
    joint = drawn_from(people, tmp_path / "book")
    with pytest.raises(dc.BudgetError):
        drawn_from(people, tmp_path / "book")
    again = dc.Noise(1.0, ledger=tmp_path / "book", again=True)
    same = drawn_from(people, None, private=again)
    assert all(np.array_equal(same.strata[key].counts, one.counts) for key, one in joint.strata.items())
    whole = drawn_from(people, None, private=again, given=(), release=["k", "x"])
    assert np.array_equal(np.moveaxis(whole.counts, 1, 0), [one.counts for one in joint.strata.values()])
    with pytest.raises(dc.BudgetError):
        drawn_from(people, None, private=again, given=(), release=["x", "k"])


def test_too_many_strata_are_refused_before_anything_is_charged(people, tmp_path):
    with pytest.raises(dc.AlphabetError, match="300 strata"):
        drawn_from(people, tmp_path / "book", letters={**LETTERS, "k": [str(i) for i in range(300)]})
    assert not (tmp_path / "book").exists()


@pytest.mark.parametrize("notion", [dc.RLDP(1.0), dc.RLIP(1.0)])
def test_the_file_holds_noise_alone_and_is_proven_again(people, tmp_path, notion):
    protocol = dc.design(drawn_from(people, tmp_path / "book"), notion, time_limit=9).protocol
    protocol.save(tmp_path / "p.json")
    again = dc.load_protocol(tmp_path / "p.json")
    assert again.digest == protocol.digest
    assert again.joint.noise == StratumNoise(1.0)
    assert not has_counts(again)
    whole = promise_of(again)
    assert isinstance(whole, (dc.RLDP, dc.RLIP))
    assert isinstance(whole.uncertainty, dc.Confidence)
    assert whole.uncertainty.confidence == pytest.approx(0.95)
    said = guarantee(again)
    record, together = rounded_up(again.epsilon), rounded_up(1.0 + again.epsilon)
    assert f"knows all other records, k and sees all releases: table 1, record {record}, together {together}," in said
    assert "confidence 95% in all strata at once" in said
    assert any("may be published as it is" in one for one in caveats(again))
    content = json.loads((tmp_path / "p.json").read_text())
    first, *rest = content["strata"]
    faults = [
        [{**first, "n": first["n"] + 1}, *rest],
        [{**first, "noise": "0.5"}, *rest],
        [{key: value for key, value in first.items() if key != "noise"}, *rest],
        rest,
    ]
    for strata in faults:
        changed = json.dumps({**content, "strata": strata}, sort_keys=True, separators=(",", ":")) + "\n"
        (tmp_path / "q.json").write_text(changed)
        with pytest.raises(dc.ProtocolError):
            dc.load_protocol(tmp_path / "q.json")


def test_other_notions_are_refused(people, tmp_path):
    with pytest.raises(dc.ParameterError, match="exact confidence limits"):
        dc.design(drawn_from(people, tmp_path / "book"), dc.LIP(1.0))


def test_nothing_that_is_written_depends_on_the_raw_counts(people, tmp_path, monkeypatch):
    fixed = np.array([[[700, 655], [800, 640], [3, -2]], [[701, 640], [664, 900], [-1, 0]]])
    monkeypatch.setattr(dc.Noise, "added", lambda self, counts, words: fixed)
    files = []
    for number, table in enumerate((people, people.assign(k="m"), people.assign(x="u"))):
        protocol = dc.design(drawn_from(table, tmp_path / f"book{number}"), dc.RLDP(1.0), time_limit=30).protocol
        protocol.save(tmp_path / "p.json")
        protocol.public().save(tmp_path / "q.json")
        files.append([(tmp_path / name).read_bytes() for name in ("p.json", "q.json")])
    assert files[0] == files[1] == files[2]


def missed(noisy_tables, truth, confidence, noise, masses):
    """Whether the limits of some stratum leave out its true conditionals or masses."""
    for table, part in zip(noisy_tables, truth, strict=True):
        found = confidence.intervals(table, noise=noise, masses=masses)
        conditional = part / part.sum(axis=1, keepdims=True)
        if ((conditional < found.low - 1e-9) | (conditional > found.high + 1e-9)).any():
            return True
        if masses:
            low, high = found.masses
            share = part.sum(axis=1) / part.sum()
            if ((share < low - 1e-9) | (share > high + 1e-9)).any():
                return True
    return False


@pytest.mark.parametrize("masses", [False, True])
def test_all_strata_are_covered_at_once(masses):
    """200 tables of 150 records at ε0 = 0.5, each stratum's limits at β/3. Limits that ignore the noise miss often."""
    rng, noise, draws = np.random.default_rng(1), Fraction(1, 2), 200
    truth = rng.dirichlet(np.full(12, 0.6)).reshape(3, 2, 2)
    each = dc.Confidence(1 - 0.05 / 3)
    a = float(np.exp(-float(noise) / 2))
    wrong = naive = 0
    for _ in range(draws):
        counts = rng.multinomial(150, truth.ravel()).reshape(3, 2, 2)
        noisy = counts + rng.geometric(1 - a, (3, 2, 2)) - rng.geometric(1 - a, (3, 2, 2))
        try:
            wrong += missed(noisy, truth, each, noise, masses)
        except dc.InfeasibleError:
            wrong += 1
        naive += missed(np.maximum(noisy, 0), truth, each, None, masses)
    assert wrong / draws <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / draws)
    assert naive / draws > 0.1, "the check sees limits that are too narrow"


# ---- brute force ----------------------------------------------------------------------------------------------------

CASES, BATCH, CELLS = 10_000, 250, 8
"""Cells (k, s, x), two letters each: three records, of which one is unknown."""


def beside_given(rng, epsilon, tables):
    """ln of the largest Pr[m, k, y|k_i, s]/Pr[m, k, y|k_i, s'] over that of the record alone. The others have any joint
    law, and their k and y are seen; m and the mechanisms of both strata are anything."""
    a = np.exp(-epsilon / 2)
    law = rng.dirichlet(np.full(CELLS**2, 0.2), BATCH).reshape(BATCH, CELLS, CELLS)
    if rng.random() < 0.3:
        law = np.eye(CELLS**2)[rng.integers(CELLS**2, size=BATCH)].reshape(BATCH, CELLS, CELLS)
    law = law.reshape(BATCH, 2, 4, 2, 4)
    k1, k2 = rng.integers(0, 2, (2, BATCH))
    seen = law[np.arange(BATCH), k1, :, k2, :]
    possible = seen.sum(axis=(1, 2)) > 0
    seen = np.where(possible[:, None, None], seen, 1.0)
    conditional = rng.dirichlet(np.full(2, 0.5), (BATCH, 2))
    reported = rng.integers(-2, 5, (BATCH, tables, CELLS))
    q = rng.dirichlet(np.full(2, 0.7), (BATCH, 2, 4))
    mine = rng.integers(0, 2, BATCH)
    cell = np.eye(CELLS)
    zs = (4 * k[:, None] + np.arange(4) for k in (mine, k1, k2))
    one, first, second = (cell[z] for z in zs)
    counts = one[:, :, None, None] + first[:, None, :, None] + second[:, None, None, :]
    table = a ** np.abs(reported[:, :, None, None, None] - counts[:, None]).sum(axis=(1, -1))
    rows = np.arange(BATCH)
    whole = np.einsum("bzfg,bfg,bzy,bfv,bgw->bzyvw", table, seen, q[rows, mine], q[rows, k1], q[rows, k2])
    given = np.einsum("bsxyvw,bsx->bsyvw", whole.reshape(BATCH, 2, 2, 2, 2, 2), conditional)
    alone = np.einsum("bsxy,bsx->bsy", q[rows, mine].reshape(BATCH, 2, 2, 2), conditional)[..., None, None]
    excess = np.log(given) - np.log(given[:, ::-1]) - np.log(alone) + np.log(alone[:, ::-1])
    return excess.reshape(BATCH, -1).max(axis=1)


def test_table_and_record_add_up_beside_given_columns():
    rng, largest = np.random.default_rng(0), 0.0
    for _ in range(CASES // BATCH):
        excess = beside_given(rng, 0.8, tables=1)
        assert excess.max() <= 0.8 + 1e-10
        largest = max(largest, float(excess.max()))
    assert largest > 0.8 - 1e-6
    assert beside_given(rng, 0.8, tables=2).max() > 0.8 + 1e-3, "a table drawn twice is caught"


@pytest.mark.parametrize("form", ["include_secret", "funnel"])
def test_an_attack_on_the_finished_protocol(form):
    """Who knows everything but record i and its k: at every corner of that stratum's F at most ε0 + ε, and close."""
    rng, epsilon, noise, reached = np.random.default_rng(5), 0.8, 0.6, 0.0
    a = Fraction(float(np.exp(-noise / 2)))
    tables = rng.integers(60, 300, (2, 2, 2))
    joint = strata_of_tables(tables, noise, form == "include_secret")
    protocol = dc.design(joint, dc.RLDP(epsilon), time_limit=9).protocol
    for m, one in zip(tables, protocol.strata.values(), strict=True):
        limits = one.notion.uncertainty.intervals(m, noise=Fraction("0.6"))
        each = [corners(low, high) for low, high in zip(limits.low, limits.high, strict=True)]
        for first in each[0]:
            for second in each[1]:
                for _ in range(12):
                    others = [m.ravel() + rng.integers(-2, 3, 4) for _ in range(2)]
                    law = np.array([first, second], dtype=object)
                    found = combined(one, m.ravel(), others, [Fraction(1), Fraction(1, 3)], a, law)
                    reached = max(reached, float(found))
    assert np.exp(epsilon + 0.9 * noise) < reached <= np.exp(epsilon + noise) * (1 + 1e-9)


def test_the_command(people, tmp_path, monkeypatch):
    from discreet.cli.app import run

    monkeypatch.chdir(tmp_path)
    people.to_csv("t.csv", index=False)
    (tmp_path / "letters.json").write_text(json.dumps(LETTERS))
    design = ["design", "t.csv", "--secret", "s", "--release", "x", "--given", "k", "--notion", "rldp", "--no-curve"]
    private = [*design, "--private", "1.0", "--letters", "letters.json", "--time-limit", "9"]
    assert run(private) == 0
    assert dc.load_protocol("protocol.json").joint.noise == StratumNoise(1.0)
    assert run([*private, "--force"]) != 0, "a second draw"
    assert run([*private, "--force", "--same-noise"]) == 0
    assert run(["sanitise", "protocol.json", "t.csv", "out.csv", "--keep", "k"]) == 0
    assert set(pd.read_csv("out.csv").columns) == {"x", "k"}
