"""What was proven is what is drawn from: arrays changed behind a protocol are found, and copies are proven."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import discreet as dc
from discreet.attribute import Form
from discreet.exceptions import ProtocolError
from discreet.release import Job, sanitise_file

COUNTS = np.array([[30, 10, 5], [5, 20, 40]])


def people() -> pa.Table:
    s, x = (place.repeat(COUNTS.reshape(-1)).astype(str) for place in (a.reshape(-1) for a in np.indices(COUNTS.shape)))
    return pa.table({"s": s, "x": x, "k": np.where(np.arange(len(s)) % 2, "a", "b")})


def made(**options: Any) -> Any:
    return dc.design(
        dc.Joint.from_table(people(), secret="s", release="x", **options), dc.LIP(0.3), force=True
    ).protocol


def reveal_all(protocol: Any) -> None:
    columns, whole = protocol.columns, 1 << protocol.bits
    columns.data, columns.indices, columns.indptr = np.array([whole] * 3), np.arange(3), np.arange(4)


def other_weights(protocol: Any) -> None:
    protocol.columns.data = protocol.columns.data[::-1].copy()


def other_prior(protocol: Any) -> None:
    object.__setattr__(protocol.joint, "counts", COUNTS[::-1].copy())


@pytest.mark.parametrize("change", [reveal_all, other_weights, other_prior])
@pytest.mark.parametrize("given", [{}, {"given": "k"}])
def test_what_was_changed_after_its_proof_is_not_used(change: Callable[[Any], None], given: dict, tmp_path) -> None:
    protocol = made(**given)
    digest = protocol.digest
    change(protocol if not given else protocol.first)
    for use in (
        lambda: protocol.sanitise(people()),
        lambda: protocol.save(tmp_path / "p.json"),
        lambda: protocol.public(),
        lambda: pickle.dumps(protocol),
    ):
        with pytest.raises(ProtocolError, match="changed after it was proven"):
            use()
    assert protocol.check(people()).refusals
    assert protocol.digest == digest
    assert not (tmp_path / "p.json").exists()


@pytest.mark.parametrize("form", Form)
def test_what_follows_from_a_joint_cannot_be_written_to(form: Any) -> None:
    """Once a prior that was changed behind a joint made an audit find nothing, and the seal did not see it."""
    joint = replace(made().joint, form=form)
    names = [name for name in dir(dc.Joint) if isinstance(getattr(dc.Joint, name), cached_property)]
    found = {name: part for name in names if isinstance(part := getattr(joint, name), np.ndarray)}
    assert {"prior", "secret_prior", "target_prior", "letter_given_secret", "release_given_secret"} <= set(found)
    for part in (*found.values(), joint.counts, joint.probabilities):
        with pytest.raises(ValueError, match="read-only"):
            part[:] = 0


def test_what_follows_from_a_protocol_cannot_be_written_to() -> None:
    protocol, stratified = made(), made(given="k")
    public = protocol.public()
    parts = (protocol.marginal, protocol.weights, protocol.silent, protocol.channel.silent, public.decoding)
    for part in (*parts, stratified.law, stratified.shares, stratified.numbers):
        with pytest.raises(ValueError, match="read-only"):
            part[:] = 0
    with pytest.raises(TypeError):
        stratified.strata[("a",)] = protocol


@pytest.mark.parametrize("given", [{}, {"given": "k"}])
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_is_the_same_protocol(copied: Callable[[Any], Any], given: dict) -> None:
    """Once no protocol could be sent to another process."""
    protocol = made(**given)
    again = copied(protocol)
    assert again.digest == protocol.digest
    assert again.encode() == protocol.encode()
    assert copied(protocol.public()).encode() == protocol.public().encode()


def test_a_copy_of_other_weights_is_not_proven() -> None:
    """The negative control: bytes that promise less than they keep do not become a protocol."""
    decode, (content,) = made().__reduce__()
    with pytest.raises(dc.DiscreetError):
        decode(content.replace(b'"epsilon":"0.3"', b'"epsilon":"0.1"'))


@pytest.mark.parametrize("name", ["p.json.ledger", "policy.toml", "other.ledger"])
def test_no_release_replaces_a_ledger_or_its_policy(name: str, tmp_path: Path) -> None:
    """Once the ledger became the released table, whose rows were read as so many releases."""
    made().save(tmp_path / "p.json")
    (tmp_path / "policy.toml").write_text("k = 1\n")
    pa.csv.write_csv(people(), tmp_path / "t.csv")
    job = Job(
        tmp_path / "p.json",
        str(tmp_path / "t.csv"),
        str(tmp_path / name),
        format="csv",
        policy=tmp_path / "policy.toml",
    )
    with pytest.raises(dc.DiscreetError, match="replace an input or a ledger"):
        sanitise_file(job)
    assert (tmp_path / "policy.toml").read_text() == "k = 1\n"
