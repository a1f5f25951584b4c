"""Confidence limits of groups that the counts chose miss the truth: they are refused, and hints name what is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc

LETTERS, RECORDS, SHARE = 400, 20_000, 0.445
RARE = dc.Grouping(rare={"x": 50})


def sample(rng: np.random.Generator) -> pa.Table:
    """A has 400 letters, equally likely; B has Z, or with this probability one of very many."""
    common = [f"v{i:03d}" for i in rng.integers(0, LETTERS, RECORDS)]
    many = [f"w{i:04d}" for i in rng.integers(0, 4000, RECORDS)]
    of_b = np.where(rng.random(RECORDS) < SHARE, many, "Z")
    return pa.table({"s": ["A"] * RECORDS + ["B"] * RECORDS, "x": [*common, *of_b]})


def counted(table: pa.Table, group: dc.Grouping) -> dc.Joint:
    return dc.Joint.from_table(table, secret="s", release="x", group=group)


def test_why_limits_of_learnt_groups_miss_the_truth_and_those_of_other_records_do_not() -> None:
    missed = {"learnt": 0, "declared": 0}
    for seed in range(6):
        rng = np.random.default_rng(seed)
        table = sample(rng)
        for how, source in (("learnt", table), ("declared", sample(rng))):
            kept = {letter for letter in counted(source, RARE).releases[0].letters if letter != "other"}
            every = {f"v{i:03d}" for i in range(LETTERS)} | {f"w{i:04d}" for i in range(4000)}
            joint = counted(table, dc.Grouping(merge={"x": {"other": sorted(every - kept)}}))
            limits = dc.Confidence(0.95).around(joint).limits
            place = joint.letters.index("other")
            truth = 1 - sum(str(letter).startswith("v") for letter in kept) / LETTERS
            low, high = limits.lower[0, place] / 2**40, limits.upper[0, place] / 2**40
            missed[how] += not low <= truth <= high
    assert missed == {"learnt": 6, "declared": 0}


@pytest.mark.parametrize("notion", [dc.RLDP(1.0), dc.RLIP(1.0), dc.RLDP(1.0) & dc.OrdinaryLDP(3)], ids=str)
@pytest.mark.parametrize(
    "group",
    [dc.Grouping(rare={"x": 50}), dc.Grouping(bins={"age": "quantiles:3"}), dc.Grouping(rare={"s": 300})],
    ids=str,
)
def test_groups_that_the_counts_chose_are_refused_for_confidence(notion: dc.Notion, group: dc.Grouping) -> None:
    rng = np.random.default_rng(1)
    table = pa.table(
        {
            "s": rng.choice(["a", "b", "c", "d"], 4000, p=[0.45, 0.45, 0.05, 0.05]),
            "x": rng.choice(["p", "q", "r", "t"], 4000, p=[0.49, 0.49, 0.01, 0.01]),
            "age": rng.integers(18, 90, 4000),
        }
    )
    joint = dc.Joint.from_table(
        table, secret="s", release=["x", "age"], group=replace(group, bins={"age": [40], **group.bins})
    )
    with pytest.raises(dc.ParameterError, match="chosen by the same counts"):
        dc.design(joint, notion, time_limit=5)
    assert dc.design(joint, dc.LIP(1.0), time_limit=5).protocol.epsilon <= 1.0


def test_given_columns_that_the_counts_grouped_are_refused_too() -> None:
    rng = np.random.default_rng(2)
    table = pa.table({name: rng.choice(list("abcd"), 4000, p=[0.4, 0.4, 0.1, 0.1]) for name in ("s", "k", "x")})
    asked = {"secret": "s", "given": ["k"], "release": "x"}
    learnt = dc.Joint.from_table(table, **asked, group=dc.Grouping(rare={"k": 600}))
    with pytest.raises(dc.ParameterError, match="chosen by the same counts"):
        dc.design(learnt, dc.RLDP(1.0), time_limit=5)
    named = dc.Joint.from_table(table, **asked, group=dc.Grouping(merge={"k": {"other": ["c", "d"]}}))
    assert dc.design(named, dc.RLDP(1.0), time_limit=5).protocol.epsilon <= 1.0


def test_merging_secrets_by_hand_does_not_hide_what_the_counts_chose() -> None:
    rng = np.random.default_rng(3)
    table = pa.table({name: rng.choice(list("abcd"), 4000, p=[0.45, 0.45, 0.05, 0.05]) for name in ("s", "x")})
    joint = dc.Joint.from_table(table, secret="s", release="x", group=dc.Grouping(rare={"s": 300}))
    with pytest.raises(dc.ParameterError, match="chosen by the same counts"):
        dc.design(joint.merge_secrets(["a", "other"], "some"), dc.RLDP(1.0), time_limit=5)


def test_hints_for_confidence_name_groups_by_name() -> None:
    counts = np.array([[500, 400, 3], [450, 500, 2]])
    strata = {(k,): dc.Joint.from_counts(counts // part) for k, part in (("k", 1), ("m", 200))}
    joint = dc.StratifiedJoint((dc.Attribute("g", ("k", "m")),), strata)
    for notion, option in ((dc.LIP(0.5), "g:rare:200"), (dc.RLDP(0.5), "'g: A, B -> C'")):
        with pytest.raises(dc.DistributionError, match=f"--merge {option}"):
            dc.design(joint, notion)
