"""Cells in bins that are no numbers count as missing: never without a word, and not where they are many."""

import warnings

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.records.no_numbers import NoNumbers
from discreet.release import sanitise, sanitise_batches

ROWS = 400
AGES = dc.Grouping(bins={"age": [30, 50]})


def people(strange, mark="31 years"):
    """Every age from 20 to 69, some empty, and so many cells that are something else."""
    rng = np.random.default_rng(1)
    ages = [str(age) for age in rng.integers(20, 70, ROWS)]
    ages[:8] = [None] * 8
    ages[8 : 8 + strange] = [mark] * strange
    return pa.table({"s": rng.choice(["ill", "well"], ROWS), "age": pa.array(ages, pa.string())})


def joint_of(table, **options):
    return dc.Joint.from_table(table, secret="s", release="age", group=AGES, **options)


def protocol():
    return dc.design(joint_of(people(0)), dc.LIP(1.0)).protocol


def test_a_count_tells_how_many_and_refuses_many():
    with pytest.warns(NoNumbers, match="age: 12 of 400 values in bins are no numbers"):
        few = joint_of(people(12))
    assert few.releases[0].letters == ("under 30", "30 to under 50", "50 and over", None)
    with pytest.raises(dc.TableError, match="150 of 400 values in bins are no numbers") as caught:
        joint_of(people(150))
    assert "31 years" not in str(caught.value)
    with pytest.warns(NoNumbers, match="150 of 400"):
        joint_of(people(150), force=True)


@pytest.mark.parametrize("mark", ["?", "NA", " - ", ""])
def test_what_means_missing_is_missing(mark):
    with warnings.catch_warnings():
        warnings.simplefilter("error", NoNumbers)
        joint = joint_of(people(150, mark))
        sanitise(people(150, mark), protocol(), law_anyway=True, one_row_per_person=True)
    assert joint.releases[0].letters[-1] is None


@pytest.mark.parametrize("mark", ["31 years", "31,5", "inf"])
def test_a_release_and_its_rehearsal_tell_how_many_and_refuse_many(mark):
    ours, few, many = protocol(), people(12, mark), people(150, mark)
    with pytest.warns(NoNumbers, match="age: 12 of 400"):
        sanitise(few, ours)
    check = ours.check(few)
    assert any("12 of 400 values in bins" in one.what for one in check.warnings)
    assert check.unknown == 12
    with pytest.warns(NoNumbers), pytest.raises(dc.TableError, match="150 of 400 records"):
        sanitise(many, ours, law_anyway=True)
    assert "150 of 400 records have a value that the protocol does not know" in [
        x.what for x in ours.check(many).refusals
    ]
    with pytest.warns(NoNumbers):
        assert len(sanitise(many, ours, law_anyway=True, unknown_anyway=True)) == ROWS


def test_batches_are_refused_alike(tmp_path):
    key = tmp_path / "key"
    key.touch(0o600)
    key.write_bytes(bytes(range(64)))
    table = people(150).append_column("id", pa.array(list(map(str, range(ROWS)))))
    with pytest.warns(NoNumbers), pytest.raises(dc.TableError, match="150 of 400 records"):
        sanitise_batches(table, protocol(), key=key, identity="id").read_all()


def test_a_given_column_is_counted_as_well():
    rng = np.random.default_rng(2)
    more = people(0).append_column("x", pa.array(rng.choice(["a", "b"], ROWS)))
    joint = dc.Joint.from_table(more, secret="s", release="x", given="age", group=AGES)
    ours = dc.design(joint, dc.LIP(1.0), force=True).protocol
    strange = people(150).append_column("x", more["x"])
    with pytest.warns(NoNumbers, match="age: 150"), pytest.raises(dc.TableError, match="150 of 400 records"):
        sanitise(strange, ours)
