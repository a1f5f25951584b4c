"""A private prior: what is declared, what is charged, what is written, and an attack on table and record together."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from private_attacks import combined, corners

import discreet as dc
from discreet.attribute import Form
from discreet.datasets import adult
from discreet.records import private_prior
from discreet.records.noise import noisy_joint, projected
from discreet.records.private_prior import read_letters
from discreet.study.comparisons import rare_secrets
from discreet.wording import caveats, guarantee, has_counts

LETTERS = {"s": ["a", "b"], "x": ["u", "v", "w"]}
COLUMNS = {"secret": "s", "release": "x"}


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    s = rng.integers(0, 2, 4000)
    x = (s + rng.integers(0, 3, 4000)) % 3
    return pd.DataFrame({"s": np.array(["a", "b"])[s], "x": np.array(["u", "v", "w"])[x]})


@pytest.fixture
def drawn(people, tmp_path):
    return dc.Joint.from_table(people, **COLUMNS, letters=LETTERS, private=dc.Noise(1.0, ledger=tmp_path / "book"))


def test_counts_have_noise_and_the_raw_ones_are_gone(people, drawn):
    raw = dc.Joint.from_table(people, **COLUMNS)
    assert drawn.n == 4000
    assert drawn.noise == dc.Noise(1.0)
    assert not np.array_equal(drawn.counts, raw.counts)  # type: ignore[attr-defined]
    assert np.abs(drawn.counts - raw.counts).max() < 60  # type: ignore[attr-defined]
    assert np.array_equal(drawn.probabilities, projected(drawn.counts))


def test_a_second_draw_is_refused_and_the_first_can_be_had_again(people, drawn, tmp_path):
    def again(letters=LETTERS, epsilon=1.0, **options):
        noise = dc.Noise(epsilon, ledger=tmp_path / "book", **options)
        return dc.Joint.from_table(people, **COLUMNS, letters=letters, private=noise)

    with pytest.raises(dc.BudgetError, match=r"noise was drawn for this table before, at ε0 = 1\.0"):
        again()
    assert np.array_equal(again(again=True).counts, drawn.counts)
    for other in ({"epsilon": 0.5}, {"letters": {**LETTERS, "x": ["u", "v", "w", "z"]}}):
        with pytest.raises(dc.BudgetError):
            again(again=True, **other)


ODD = {
    "texts": {"counts": list("abcdef")},
    "endless": {"counts": [float("inf")] * 6},
    "not whole": {"counts": [298.9, 94.2, 3.0, 4.0, 5.0, 6.0]},
    "too few": {"counts": [1, 2, 3]},
    "none": {"counts": []},
    "missing": {"counts": [None] * 6},
    "objects": {"counts": [{}] * 6},
    "nested": {"counts": [[1, 2, 3], [4, 5, 6]]},
    "true": {"counts": [True] * 6},
    "wrapping around": {"counts": [-(2**63)] * 6},
    "of 400 digits": {"counts": [10**400, 1, 1, 1, 1, 1]},
    "people of 400 digits": {"n": 10**400},
    "nobody": {"n": 0},
    "people who are true": {"n": True},
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_an_odd_line_of_noise_is_not_designed_on(people, drawn, tmp_path, odd, own_data_folder):
    """Some once ended in an error that quoted the line, others were cut to whole numbers or wrapped around."""
    for book in (tmp_path / "book", *own_data_folder.rglob("*.ledger")):
        (line,) = book.read_text().splitlines()
        book.write_text(json.dumps({**json.loads(line), **odd}) + "\n")
    noise = dc.Noise(1.0, ledger=tmp_path / "book", again=True)
    with pytest.raises(dc.BudgetError, match="cannot be read, and may have been a draw"):
        dc.Joint.from_table(people, **COLUMNS, letters=LETTERS, private=noise)


def test_a_copy_of_a_file_has_the_same_ledger(people, tmp_path):
    for name in ("one.csv", "two.csv"):
        people.to_csv(tmp_path / name, index=False)
    dc.Joint.from_table(tmp_path / "one.csv", **COLUMNS, letters=LETTERS, private=dc.Noise(1.0))
    assert (tmp_path / "one.csv.ledger").is_file()
    for name in ("one.csv", "two.csv"):
        with pytest.raises(dc.BudgetError):
            dc.Joint.from_table(tmp_path / name, **COLUMNS, letters=LETTERS, private=dc.Noise(1.0))


def test_nothing_is_handed_out_before_it_is_charged(people, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "no space left")

    monkeypatch.setattr(private_prior, "_charge", full)
    noise = dc.Noise(1.0, ledger=tmp_path / "book")
    with pytest.raises(OSError, match="no space"):
        dc.Joint.from_table(people, **COLUMNS, letters=LETTERS, private=noise)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"letters": None}, "needs the letters of every column"),
        ({"letters": {"s": ["a", "b"]}}, "needs the letters of every column"),
        ({"group": dc.Grouping.parse(merges=["rare:50"])}, "learnt from the table"),
        ({"given": "x"}, "a column is named twice"),
        ({"given": "k"}, "needs the letters of every column"),
        ({"person": "s"}, "not together with a private prior"),
        ({"weight": "s"}, "not together with a private prior"),
        ({"private": dc.Noise(1.0)}, "without a ledger"),
        ({"private": None}, "letters are declared for a private prior"),
    ],
)
def test_what_would_look_at_the_table_is_refused(people, tmp_path, options, words):
    given = {**COLUMNS, "letters": LETTERS, "private": dc.Noise(1.0, ledger=tmp_path / "book"), **options}
    with pytest.raises(dc.InputError, match=words):
        dc.Joint.from_table(people, **given)
    assert not (tmp_path / "book").exists()


@pytest.mark.parametrize("notion", [dc.LIP(1.0), dc.LDP(1.0), dc.RLDP(1.0, dc.ChiSquare(0.95)), dc.SRLIP(1.0)])
def test_only_exact_limits_bear_noise(drawn, notion):
    with pytest.raises(dc.ParameterError, match="exact confidence limits"):
        dc.design(drawn, notion)


@pytest.mark.parametrize("change", [lambda j: j.observed(), lambda j: j.merge_secrets(["a", "b"], "c")])
def test_noisy_counts_are_not_made_into_an_estimate(drawn, change):
    """Once `observed` forgot the noise, and sets that hold for exact counts were promised around what was left."""
    with pytest.raises(dc.DistributionError, match=r"stay as they were drawn.*Declare other letters before the draw"):
        change(drawn)


@pytest.mark.parametrize("notion", [dc.RLDP(1.0), dc.RLIP(1.0), dc.RLDP(1.0) & dc.OrdinaryLDP(3.0)])
@pytest.mark.parametrize("form", ["funnel", "include_secret", "sees_secret"])
def test_files_hold_noisy_counts_and_prove_again(notion, form, tmp_path):
    counts = np.array([[300, -7, 120], [90, 260, 150]])
    secrets, releases = (dc.Attribute("s", ("a", "b")),), (dc.Attribute("x", ("u", "v", "w")),)
    joint = noisy_joint(counts, 900, secrets, releases, dc.Noise(0.5), include_secret=form == "include_secret")
    protocol = dc.design(joint, notion, sees_secret=form == "sees_secret", time_limit=3).protocol
    protocol.save(tmp_path / "p.json")
    again = dc.Protocol.load(tmp_path / "p.json")
    assert again.digest == protocol.digest
    assert again.joint.noise == dc.Noise(0.5)
    assert again.joint.counts.tolist() == counts.tolist()
    assert not has_counts(again)
    said = guarantee(again)
    assert "table 0.5, record" in said
    assert "confidence 95%" in said
    assert any("may be published as it is" in one for one in caveats(again))
    content = json.loads((tmp_path / "p.json").read_text())
    for change in ({"noise": "0.01"}, {"noise": "0.0"}, {"noise": "x"}, {"noise": 0.5}):
        changed = {**content, "joint": {**content["joint"], **change}}
        (tmp_path / "q.json").write_text(json.dumps(changed, sort_keys=True, separators=(",", ":")) + "\n")
        with pytest.raises(dc.ProtocolError):
            dc.Protocol.load(tmp_path / "q.json")


def test_nothing_that_is_written_depends_on_the_raw_counts(people, tmp_path, monkeypatch):
    """Two tables, one noisy table: every byte of protocol and public file is the same."""
    fixed = np.array([[640, 655, 700], [701, 640, 664]])
    monkeypatch.setattr(dc.Noise, "added", lambda self, counts, words: fixed)
    files = []
    for number, table in enumerate((people, people.assign(x=people["x"].iloc[::-1].to_numpy()), people.assign(x="u"))):
        noise = dc.Noise(1.0, ledger=tmp_path / f"book{number}")
        joint = dc.Joint.from_table(table, **COLUMNS, letters=LETTERS, private=noise)
        protocol = dc.design(joint, dc.RLDP(1.0)).protocol
        protocol.save(tmp_path / f"{number}.json")
        protocol.public().save(tmp_path / f"{number}.public.json")
        files.append([(tmp_path / f"{number}.{end}").read_bytes() for end in ("json", "public.json")])
    assert files[0] == files[1] == files[2]


def test_what_rare_secrets_cost_is_not_measured_on_noise():
    """A letter of the secret that nobody has, beside rare ones: the search and the study go through."""
    letters = tuple(dc.Attribute(name, tuple("abcd"[:size])) for name, size in (("s", 4), ("x", 2)))
    joint = noisy_joint([[300, 90], [80, 310], [9, 8], [0, -1]], 796, *((one,) for one in letters), dc.Noise(1.0))
    for form in (joint, replace(joint, form=Form.RELEASES_SECRET)):
        found = dc.design(form, dc.RLDP(3.0), time_limit=2)
        assert found.protocol.epsilon <= 3
        assert rare_secrets(found.protocol, seconds=0.5) is None


def test_limits_that_no_distribution_meets_are_refused():
    secrets, releases = (dc.Attribute("s", ("a", "b")),), (dc.Attribute("x", ("u", "v")),)
    joint = noisy_joint([[900, 900], [-900, 900]], 1000, secrets, releases, dc.Noise(3.0))
    with pytest.raises(dc.InfeasibleError):
        dc.design(joint, dc.RLDP(1.0))


@pytest.mark.parametrize("form", ["include_secret", "funnel"])
def test_an_attack_on_table_and_record_together(form):
    """Who knows everything but record i, its law at any corner of F, learns at most ε0 + ε; and close to it."""
    rng, epsilon, noise, reached = np.random.default_rng(4), 0.8, 0.6, 0.0
    a = Fraction(float(np.exp(-noise / 2)))
    secrets, releases = (dc.Attribute("s", ("a", "b")),), (dc.Attribute("x", ("u", "v")),)
    for _ in range(4):
        m = rng.integers(60, 300, (2, 2))
        joint = noisy_joint(m, int(m.sum()), secrets, releases, dc.Noise(noise), include_secret=form != "funnel")
        protocol = dc.design(joint, dc.RLDP(epsilon), time_limit=5).protocol
        limits = protocol.notion.uncertainty.limits(protocol.joint, masses=False)  # type: ignore[attr-defined]
        each = [corners(low, high) for low, high in zip(limits.low, limits.high, strict=True)]
        for first in each[0]:
            for second in each[1]:
                given = np.array([first, second], dtype=object)
                for _ in range(3):
                    others = [m.ravel() + rng.integers(-2, 3, 4) for _ in range(2)]
                    found = combined(protocol, m.ravel(), others, [Fraction(1), Fraction(1, 3)], a, given)
                    reached = max(reached, float(found))
    assert reached <= np.exp(epsilon + noise) * (1 + 1e-9)
    assert reached > np.exp(epsilon + 0.9 * noise), "the bound is not idle"


def test_the_attack_sees_a_record_that_is_told_outright():
    secrets, releases = (dc.Attribute("s", ("a", "b")),), (dc.Attribute("x", ("u", "v")),)
    joint = noisy_joint([[100, 10], [10, 100]], 220, secrets, releases, dc.Noise(0.6))
    weak = dc.Protocol.make(dc.Channel(0.9 * np.eye(2) + 0.05, joint.letters), joint, dc.RLDP(5.0))
    given = np.array([[Fraction(9, 10), Fraction(1, 10)], [Fraction(1, 10), Fraction(9, 10)]], dtype=object)
    others = [joint.counts.ravel()]
    assert combined(weak, joint.counts.ravel(), others, [Fraction(1)], Fraction(3, 4), given) > np.exp(0.8 + 0.6)


def test_letters_come_from_a_codebook(tmp_path):
    path = tmp_path / "letters.json"
    path.write_text(json.dumps(LETTERS))
    assert read_letters(path) == LETTERS
    for wrong in ("{", "[]", '{"s": "a"}', '{"s": [["a"]]}'):
        path.write_text(wrong)
        with pytest.raises(dc.ParameterError):
            read_letters(path)
    with pytest.raises(dc.ParameterError):
        read_letters(tmp_path / "none.json")


def test_values_that_were_not_declared_are_counted_nowhere(people, tmp_path):
    odd = pd.concat([people, pd.DataFrame({"s": ["c"] * 500, "x": ["q"] * 500})])
    joint = dc.Joint.from_table(odd, **COLUMNS, letters=LETTERS, private=dc.Noise(3.0, ledger=tmp_path / "book"))
    assert joint.n == 4500
    assert abs(int(joint.counts.sum()) - 4000) < 60  # type: ignore[attr-defined]


def test_the_command(tmp_path, monkeypatch):
    from discreet.cli.app import run

    monkeypatch.chdir(tmp_path)
    table = adult().select(["sex", "education"])
    pd.DataFrame(table.to_pydict()).to_csv("t.csv", index=False)
    letters = {name: sorted(set(table[name].to_pylist())) for name in ("sex", "education")}
    (tmp_path / "letters.json").write_text(json.dumps(letters))
    design = ["design", "t.csv", "--secret", "sex", "--release", "education", "--notion", "rldp", "--no-curve"]
    private = [*design, "--private", "1.0", "--letters", "letters.json", "--time-limit", "3"]
    assert run(private) == 0
    assert dc.load_protocol("protocol.json").joint.noise == dc.Noise(1.0)
    assert run([*private, "--force"]) != 0, "a second draw"
    assert run([*private, "--force", "--same-noise"]) == 0
    assert run([*design, "--private", "1.0", "--force"]) != 0, "no letters"
