"""Values are counted as they are for the records that were counted, and for no others: not for as many by accident."""

import json

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.estimate import estimate_strata
from discreet.protocol.counted_records import counted_records
from discreet.protocol.file import canonical
from discreet.protocol.public_file import decode_public

COUNTS = np.array([[150, 125, 200], [350, 125, 50]])
OTHERS = np.array([0.2, 0.3, 0.5])
TAKEN, DROPPED = "Assumed: these are the very records", "Not assumed: that these are the very records"


def values(counts=COUNTS, **options):
    joint = dc.Joint.from_counts(counts, ["u", "v"], ["a", "b", "c", "d"][: counts.shape[1]])
    return dc.design(joint, dc.LIP(0.2), utility=dc.Agreement(), time_limit=2, **options).protocol


def released(protocol, cells, rng):
    """Outputs of records with these numbers of input letters."""
    return np.sum([rng.multinomial(n, protocol.matrix[:, z]) for z, n in enumerate(cells)], axis=0)


def begins(found, start):
    return any(note.startswith(start) for note in found.notes)


def both(protocol):
    return protocol, decode_public(protocol.public().encode())


@pytest.mark.parametrize("n", [400, 500, 2000])
def test_a_part_several_waves_and_other_people_are_undone(n) -> None:
    """The law is whole at all these numbers: intervals of the public file covered nothing."""
    protocol, rng = values(), np.random.default_rng(5)
    assert counted_records(protocol) == counted_records(protocol.public()) == 1000
    inside = []
    for _ in range(60):
        outputs = released(protocol, rng.multinomial(n, OTHERS), rng)
        full, public = (dc.estimate(outputs, one) for one in both(protocol))
        assert not begins(public, TAKEN)
        np.testing.assert_allclose(public.frequencies, full.frequencies, atol=1e-12)
        low, high = public.interval(0.99).T
        inside.append((low <= OTHERS) & (high >= OTHERS))
    assert np.mean(inside, axis=0).min() >= 0.9
    as_they_are = dc.estimate(outputs, protocol, assume="counted").interval(0.99)  # the control
    assert not ((as_they_are[:, 0] <= OTHERS) & (as_they_are[:, 1] >= OTHERS)).all()


def test_a_public_file_without_a_number_of_records_assumes_nothing() -> None:
    protocol = values()
    content = json.loads(protocol.public().encode())
    assert content["law"].pop("records") == 1000
    older = decode_public(canonical(content) + b"\n")
    outputs = released(protocol, COUNTS.sum(axis=0), np.random.default_rng(1))
    assert not begins(dc.estimate(outputs, older), TAKEN)
    assert begins(dc.estimate(outputs, protocol.public()), TAKEN)


@pytest.mark.parametrize("sees", [False, True])
def test_as_many_records_of_another_law_are_undone_in_both_files(sees) -> None:
    protocol, rng = values(10 * COUNTS, sees_secret=sees), np.random.default_rng(8)
    given_x = protocol.joint.table / protocol.joint.table.sum(axis=0)
    law = (given_x * OTHERS).reshape(-1) if sees else OTHERS
    inside = []
    for _ in range(40):
        outputs = released(protocol, rng.multinomial(10_000, law), rng)
        full, public = (dc.estimate(outputs, one) for one in both(protocol))
        assert begins(full, DROPPED)
        assert begins(public, DROPPED)
        assert not begins(public, TAKEN)
        np.testing.assert_allclose(public.frequencies, full.frequencies, atol=1e-9)
        low, high = public.interval(0.99).T
        inside.append((low <= OTHERS) & (high >= OTHERS))
    assert np.mean(inside, axis=0).min() >= 0.9


@pytest.mark.parametrize("sees", [False, True])
@pytest.mark.parametrize("counts", [COUNTS, np.array([[700, 250, 1, 0], [20, 27, 1, 1]]), 40 * COUNTS])
def test_the_counted_records_themselves_are_never_taken_for_others(counts, sees) -> None:
    """The control, with values of one and two records: the bounds hold for every number of records."""
    protocol, rng = values(counts, sees_secret=sees), np.random.default_rng(3)
    cells = counts.reshape(-1) if sees else counts.sum(axis=0)
    public = protocol.public()
    for _ in range(300):
        outputs = released(protocol, cells, rng)
        assert begins(dc.estimate(outputs, protocol), TAKEN)
        assert begins(dc.estimate(outputs, public), TAKEN)


def test_many_small_differences_contradict_as_well() -> None:
    """No value by itself is far from what is expected; all of them together are."""
    counts = np.full((2, 150), 80)
    joint = dc.Joint.from_counts(counts)
    keep = 0.9 * np.eye(150) + 0.1 / 150
    protocol = dc.Protocol.make(dc.Channel(keep, joint.letters, joint.release_letters), joint, dc.LIP(0.1))
    moved = counts.sum(axis=0) + np.where(np.arange(150) % 2, 14, -14)
    rng = np.random.default_rng(4)
    found = [released(protocol, cells, rng) for cells in (moved, counts.sum(axis=0))]
    spread = np.sqrt(160 * (1 - (keep**2).sum(axis=0)))
    assert np.abs(found[0] - 160).max() < 7 * spread.max()
    assert begins(dc.estimate(found[0], protocol), DROPPED)
    assert begins(dc.estimate(found[1], protocol), TAKEN)


def stratified(counts=(4 * COUNTS, 8 * COUNTS[:, ::-1])):
    given = (dc.Attribute("k", ("N", "S")),)
    joints = {(k,): dc.Joint.from_counts(one, ["u", "v"], ["a", "b", "c"]) for k, one in zip("NS", counts, strict=True)}
    joint = dc.StratifiedJoint(given, joints)
    return dc.design(joint, dc.LIP(0.2), utility=dc.Agreement(), time_limit=2).protocol


def table_of(protocol, laws, rng):
    rows = []
    for (key, one), law in zip(protocol.strata.items(), laws, strict=True):
        outputs = released(one, law, rng)
        rows += [(key[0], str(name)) for name, n in zip(one.outputs, outputs, strict=True) for _ in range(n)]
    return {"k": [k for k, _ in rows], "X": [x for _, x in rows]}


def test_strata_each_state_their_records_and_each_can_contradict() -> None:
    protocol, rng = stratified(), np.random.default_rng(6)
    counted = [one.joint.table.sum(axis=0) * one.joint.n for one in protocol.strata.values()]
    counted = [one.round().astype(int) for one in counted]
    assert [one.records for one in protocol.public().strata.values()] == [4000, 8000]
    name = next(iter(protocol.strata.values())).joint.released[0].name
    for laws, start in ((counted, TAKEN), ([counted[0], counted[1][::-1]], DROPPED)):
        table = pa.table(table_of(protocol, laws, rng)).rename_columns(["k", name])
        for one in both(protocol):
            assert begins(dc.estimate(table, one), start)
            assert all(begins(found, start) for found in estimate_strata(table, one).values())


def test_where_the_number_is_stated_it_is_said(tmp_path) -> None:
    public = values().public()
    assert json.loads(public.encode())["law"]["records"] == 1000
    assert any(said.startswith("records: how many were counted") for said in public.reveals)
    joint = dc.Joint.from_counts(COUNTS)
    letters = {"s": ["u", "v"], "x": ["a", "b", "c"]}
    people = {"s": ["u", "v"] * 200, "x": ["a", "b", "c", "c"] * 100}
    noise = dc.Noise(1.0, ledger=tmp_path / "noise")
    noisy = dc.Joint.from_table(pa.table(people), secret="s", release="x", letters=letters, private=noise)
    others = [
        dc.design(joint, dc.LIP(0.2)).protocol,
        values().with_source("public"),
        dc.design(noisy, dc.RLDP(1.0), utility=dc.Agreement()).protocol,
    ]
    for one in others:
        public = one.public()
        assert public.records is None
        assert b'"records"' not in public.encode()
        assert not any(said.startswith("records:") for said in public.reveals)


@pytest.mark.parametrize("records", [0, -1, "1000", True, 2**60])
def test_a_number_of_records_that_is_none_is_refused(records) -> None:
    content = json.loads(values().public().encode())
    content["law"]["records"] = records
    with pytest.raises(dc.ProtocolError):
        decode_public(canonical(content) + b"\n")
