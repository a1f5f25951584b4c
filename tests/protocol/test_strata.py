"""Given columns: a problem, a matrix and a proof for every stratum, in one protocol (theory 7.2)."""

import hashlib
import json
import math

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import discreet as dc
from discreet.datasets import adult
from discreet.estimate import estimate_strata
from discreet.given_columns import MOST_STRATA
from discreet.protocol.file import ESCAPED, canonical
from discreet.protocol.public_file import decode_public, encode_public
from discreet.protocol.strata import StratifiedProtocol, decode_strata, load_protocol
from discreet.protocol.together import in_each_stratum
from discreet.release.draws_together import total_epsilon
from discreet.report import page
from discreet.study import Study
from discreet.wording import guarantee

ADULT = {"secret": "marital-status", "release": "education"}


def table(**columns):
    return pa.table({name: pa.array(values) for name, values in columns.items()})


def level_beside(release, counts_of_secret_letter_stratum):
    """max |ln P(s|y,k)/P(s|k)| from matrices and counts alone: nothing of the package is asked."""
    worst = 0.0
    for matrix, counts in zip(release, counts_of_secret_letter_stratum, strict=True):
        together = counts @ matrix.T / counts.sum()
        p_s, p_y = together.sum(axis=1), together.sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.abs(np.log(together / np.outer(p_s, p_y)))[p_s > 0][:, p_y > 0]
        worst = max(worst, float(ratios.max(initial=0.0)))
    return worst


def level_of(found, joint):
    protocols = found.protocol.strata
    return level_beside(
        [protocols[key].matrix for key in joint.strata],
        [one.counts.reshape(len(one.counts), -1) for one in joint.strata.values()],
    )


@pytest.fixture(scope="module")
def people():
    return adult()


@pytest.fixture(scope="module")
def designed(people):
    joint = dc.Joint.from_table(people, **ADULT, given=["sex", "income"])
    return joint, dc.design(joint, dc.LIP(0.5), force=True)


@pytest.mark.parametrize(("given", "kept"), [(["sex"], 0.839), (["income"], 0.777), (["sex", "income"], 0.753)])
def test_adult(people, given, kept):
    joint = dc.Joint.from_table(people, **ADULT, given=given)
    found = dc.design(joint, dc.LIP(0.5), force=True)
    assert found.utility / joint.entropy >= kept
    assert found.is_optimal()
    assert found.seconds <= 5
    assert level_of(found, joint) <= 0.5 + 1e-9


def test_ages_in_five_groups_are_published_as_groups(people, tmp_path):
    group = dc.Grouping(bins={"age": [26, 36, 46, 56]})
    joint = dc.Joint.from_table(people, **ADULT, given="age", group=group)
    found = dc.design(joint, dc.LIP(0.5), force=True)
    assert len(joint.strata) == 5
    assert level_of(found, joint) <= 0.5 + 1e-9
    found.protocol.save(tmp_path / "p.json")
    protocol = load_protocol(tmp_path / "p.json")
    released = protocol.sanitise(people)
    assert set(released["age"].to_pylist()) == {str(letter) for (letter,) in joint.strata}
    assert estimate_strata(released, protocol).keys() == joint.strata.keys()


def test_a_marginal_design_leaks_beside_what_strata_protect(people, designed):
    joint, _ = designed
    marginal = dc.design(dc.Joint.from_table(people, **ADULT), dc.LIP(0.5)).protocol
    counts = [one.counts.reshape(len(one.counts), -1) for one in joint.strata.values()]
    assert level_beside([marginal.matrix] * len(counts), counts) > 0.6  # type: ignore[attr-defined]


def test_an_independent_column_changes_nothing():
    counts = np.array([[50, 30, 20], [20, 30, 50], [40, 10, 10]])
    joint = dc.Joint.from_counts(counts)
    rows = [(s, x, k) for s in range(3) for x in range(3) for k in range(2) for _ in range(4 * counts[s, x] * (k + 1))]
    s, x, k = zip(*rows, strict=True)
    strata = dc.Joint.from_table(table(s=s, x=x, k=k), secret="s", release="x", given="k")
    assert dc.design(strata, dc.LIP(0.3)).utility == pytest.approx(dc.design(joint, dc.LIP(0.3)).utility, abs=1e-6)


def test_exclusive_or():
    rows = [(s, k, s ^ k) for s in (0, 1) for k in (0, 1) for _ in range(200)]
    s, k, x = zip(*rows, strict=True)
    data = table(s=s, k=k, x=x)
    blind = dc.design(dc.Joint.from_table(data, secret="s", release="x"), dc.LIP(0.5))
    assert blind.utility == pytest.approx(math.log(2), abs=1e-9), "X alone says nothing about S"
    found = dc.design(dc.Joint.from_table(data, secret="s", release="x", given="k"), dc.LIP(0.5))
    alone = dc.design(dc.Joint.from_counts([[200, 0], [0, 200]]), dc.LIP(0.5))
    for one in found.designs.values():
        assert one.utility == pytest.approx(alone.utility, abs=1e-6)


def test_tiny_tables_have_no_violation():
    draws = np.random.default_rng(7)
    for _ in range(60):
        counts = draws.integers(0, 4, size=(2, 2, 2))
        if (counts.sum(axis=(0, 2)) == 0).any() or (counts.sum(axis=(1, 2)) == 0).any():
            continue
        rows = [(s, k, x) for (s, k, x), m in np.ndenumerate(counts) for _ in range(m)]
        s, k, x = zip(*rows, strict=True)
        joint = dc.Joint.from_table(table(s=s, k=k, x=x), secret="s", release="x", given="k")
        found = dc.design(joint, dc.LIP(0.4), force=True)
        assert level_of(found, joint) <= 0.4 + 1e-9


@pytest.mark.parametrize("notion", [dc.LDP(0.6), dc.SRLIP(0.5), dc.OrdinaryLDP(1.0), dc.LIP(0.5) & dc.OrdinaryLDP(3)])
@pytest.mark.parametrize("sees_secret", [False, True])
def test_every_notion_and_form(notion, sees_secret):
    draws = np.random.default_rng(1)
    data = table(s=draws.integers(0, 2, 900), x=draws.integers(0, 3, 900), k=draws.integers(0, 2, 900))
    joint = dc.Joint.from_table(data, secret="s", release="x", given="k")
    found = dc.design(joint, notion, sees_secret=sees_secret)
    again = decode_strata(found.protocol.encode())
    assert again.digest == found.protocol.digest
    assert found.utility <= found.upper_bound <= joint.entropy + 1e-9
    for one in again.strata.values():
        assert one.notion.level(one.channel, one.joint).epsilon <= notion.epsilon + 1e-9


def test_robust_sets_share_their_doubt():
    notion = in_each_stratum(dc.RLDP(1.0, dc.ChiSquare(0.95)), 5)
    assert notion.uncertainty.confidence == pytest.approx(0.99)  # type: ignore[attr-defined]
    assert in_each_stratum(dc.LIP(1.0), 5) == dc.LIP(1.0)


def test_files(tmp_path, designed):
    _, found = designed
    found.protocol.save(tmp_path / "p.json")
    again = load_protocol(tmp_path / "p.json")
    assert isinstance(again, StratifiedProtocol)
    assert again.digest == found.protocol.digest
    assert again.digest == hashlib.sha256((tmp_path / "p.json").read_bytes()).hexdigest()
    assert again.strata[("Male", ">50K")].digest == found.protocol.strata[("Male", ">50K")].digest
    with pytest.raises(dc.ProtocolError):
        dc.Protocol.load(tmp_path / "p.json")


@pytest.mark.parametrize(
    "fault",
    [
        "blank", "twice", "unknown letter", "other level", "a letter for weights", "too large a level", "own counts",
        "other key", "one record more",
    ],
)  # fmt: skip
def test_broken_files_are_refused(designed, fault):
    content = json.loads(designed[1].protocol.encode())
    assert decode_strata(as_written(content)).digest == designed[1].protocol.digest
    strata = content["strata"]
    if fault == "twice":
        strata[1]["given"] = strata[0]["given"]
    if fault == "unknown letter":
        strata[0]["given"] = ["Neither", strata[0]["given"][1]]
    if fault == "other level":
        content["epsilon"] = "0.4"
    if fault == "a letter for weights":
        strata[0]["weights"] = 7
    if fault == "too large a level":
        strata[0]["epsilon"] = content["epsilon"] = "0.6"
    if fault == "own counts":
        content["joint"]["counts"] = strata[0]["counts"]
    if fault == "other key":
        strata[0]["source"] = "data"
    if fault == "one record more":
        strata[0]["n"] += 1
    data = as_written(content) + (b" " if fault == "blank" else b"")
    with pytest.raises(dc.ProtocolError):
        decode_strata(data)


@pytest.mark.parametrize("kind", ["protocol", "public"])
def test_too_many_strata_are_refused_before_any_is_proven(designed, kind, monkeypatch):
    """Once after all of them had been."""
    protocol = designed[1].protocol
    content = json.loads(protocol.encode() if kind == "protocol" else encode_public(protocol.public()))
    one = content["strata"][0]
    letters = [f"letter {number:03}" for number in range(MOST_STRATA + 1)]
    content["given"][0]["letters"] = letters
    content["strata"] = [{**one, "given": [letter, one["given"][1]]} for letter in letters]
    proven: list[str] = []
    home = "discreet.protocol.strata.Protocol" if kind == "protocol" else "discreet.protocol.public_file._decode_one"
    monkeypatch.setattr(home, lambda *asked, **options: proven.append("one"))
    with pytest.raises(dc.ProtocolError, match="201 strata, more than 200"):
        (decode_strata if kind == "protocol" else decode_public)(as_written(content))
    assert not proven


def as_written(content):
    data = canonical(content)
    for sign, escape in ESCAPED.items():
        data = data.replace(sign, escape)
    return data + b"\n"


def by_group(data):
    return sorted(data.group_by(["sex", "income"]).aggregate([([], "count_all")]).to_pylist(), key=str)


def test_releases_and_estimates(people, designed):
    protocol = designed[1].protocol
    released = protocol.sanitise(people)
    assert released.schema.names == ["education", "sex", "income"]
    assert by_group(released) == by_group(people)
    each, pooled = estimate_strata(released, protocol), dc.estimate(released, protocol)
    assert pooled.frequencies == pytest.approx(
        sum(one.n * one.frequencies for one in each.values()) / pooled.n, abs=1e-12
    )
    for key, one in each.items():
        alone, seen = alone_of(people, key, protocol.strata[key])
        theirs = pc.and_(pc.equal(released["sex"], key[0]), pc.equal(released["income"], key[1]))
        separate = dc.estimate(released.filter(theirs), alone)
        assert one.frequencies[seen] == pytest.approx(separate.frequencies, abs=1e-12)
        assert one.covariance[np.ix_(seen, seen)] == pytest.approx(separate.covariance, abs=1e-12)


def test_values_that_keep_their_law_are_counted_as_they_are_in_every_stratum(people):
    joint = dc.Joint.from_table(people, **ADULT, given="sex")
    protocol = dc.design(joint, dc.LIP(0.5), utility=dc.Agreement(), force=True).protocol
    released = protocol.sanitise(people)
    each, pooled = estimate_strata(released, protocol), dc.estimate(released, protocol)
    undone = estimate_strata(released, protocol, assume="nothing")
    for key, one in each.items():
        separate = dc.estimate(released.filter(pc.equal(released["sex"], key[0])), protocol.strata[key])
        assert one.frequencies == pytest.approx(separate.frequencies, abs=1e-12)
        assert one.covariance == pytest.approx(separate.covariance, abs=1e-12)
        assert one.standard_errors.sum() < undone[key].standard_errors.sum() / 1.5
    together = sum(one.n * one.frequencies for one in each.values()) / pooled.n
    assert together == pytest.approx(pooled.attribute("education").frequencies, abs=1e-12)
    fewer = released.slice(1)
    for key, one in estimate_strata(fewer, protocol).items():  # others than those counted
        told = estimate_strata(fewer, protocol, assume="nothing")[key]
        assert one.covariance == pytest.approx(told.covariance, abs=1e-15)


def alone_of(people, key, stratum):
    """The mechanism of one stratum as a protocol of its own, on the letters that the stratum has."""
    mine = pc.and_(pc.equal(people["sex"], key[0]), pc.equal(people["income"], key[1]))
    joint = dc.Joint.from_table(people.filter(mine), **ADULT)
    seen = [stratum.joint.letters.index(letter) for letter in joint.letters]  # type: ignore[attr-defined]
    return dc.Protocol(stratum.weights[:, seen], stratum.bits, joint, stratum.notion, stratum.outputs), seen


def test_pooled_intervals_cover():
    draws, covered, asked = np.random.default_rng(3), 0, 0
    s, k = draws.integers(0, 2, 4000), draws.integers(0, 2, 4000)
    x = (s + 2 * k + draws.integers(0, 3, 4000)) % 3
    data = table(s=s, k=k, x=x)
    protocol = dc.design(dc.Joint.from_table(data, secret="s", release="x", given="k"), dc.LIP(0.3)).protocol
    law = np.bincount(x, minlength=3) / len(x)
    for _ in range(100):
        drawn = data.take(draws.integers(0, 4000, 1500))
        found = dc.estimate(protocol.sanitise(drawn), protocol)
        limits = found.interval(0.95)
        covered += int(((limits[:, 0] <= law) & (law <= limits[:, 1])).sum())
        asked += 3
    assert 0.90 <= covered / asked <= 0.99


def test_an_unknown_stratum_is_refused_before_anything_is_drawn(people, designed, monkeypatch):
    strange = people.set_column(people.schema.get_field_index("sex"), "sex", pa.array(["Other"] * len(people)))
    drawn = []
    monkeypatch.setattr("discreet.release.batches.BatchSanitiser._draw", lambda *given: drawn.append(1))
    with pytest.raises(dc.AlphabetError, match="32,561 records of a stratum"):
        designed[1].protocol.sanitise(strange)
    assert not drawn


def test_small_strata_are_counted_with_the_merge_that_helps():
    rows = [(s, x, k) for k, m in (("a", 200), ("b", 5), ("c", 400)) for s in (0, 1) for x in (0, 1) for _ in range(m)]
    s, x, k = zip(*rows, strict=True)
    joint = dc.Joint.from_table(table(s=s, x=x, k=k), secret="s", release="x", given="k")
    with pytest.raises(dc.DistributionError, match=r"1 of 3 strata with fewer than 200.*--merge k:rare:200") as refused:
        dc.design(joint, dc.LIP(0.5))
    assert "'b'" not in str(refused.value), "a stratum of few records is not named"
    assert dc.design(joint, dc.LIP(0.5), force=True).protocol.epsilon <= 0.5


def test_bad_columns():
    data = table(s=[0, 1] * 300, x=[0, 1] * 300, k=[i // 2 for i in range(600)])
    for given in ("s", "x", ["k", "k"]):
        with pytest.raises(dc.AlphabetError):
            dc.Joint.from_table(data, secret="s", release="x", given=given)
    with pytest.raises(dc.AlphabetError, match="300 strata"):
        dc.Joint.from_table(data, secret="s", release="x", given="k")


def test_words_page_and_ledger(designed):
    protocol = designed[1].protocol
    said = guarantee(protocol)
    assert said.startswith("Whoever knows sex and income of a person and sees the released record finds no value")
    assert said.endswith("as among people of that sex and income.")
    assert said in page(Study(protocol))
    assert total_epsilon(protocol, 2) == max(total_epsilon(one, 2) for one in protocol.strata.values())
