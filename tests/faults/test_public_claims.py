"""Public files that contradict themselves: their words, their notions and their weights."""

import json

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.phrases import times
from discreet.protocol.file import ESCAPED, canonical
from discreet.protocol.public_file import decode_public
from discreet.protocol.strata import StratifiedProtocol
from discreet.protocol.together import in_all_strata
from discreet.report import public_page
from discreet.report.page import page
from discreet.study.study import Study
from discreet.uncertainty import Everything

COUNTS = np.array([[60, 25, 15], [30, 30, 40]])
NEAR = np.array([[0.6, 0.4, 0.3], [0.4, 0.6, 0.7]])
FAR = np.array([[0.99, 0.4, 0.01], [0.01, 0.6, 0.99]])
S, X = dc.Attribute("ill 2", ("yes", "no")), dc.Attribute("x3", ("a", "b", "c"))
NOTIONS = [
    dc.LIP(2.0), dc.LDP(0.1234567 + 2), dc.ALIP(2.0, 3.0), dc.Shift(0.5), dc.PML(2.0), dc.SRLIP(3.0), dc.RLDP(3.0),
    dc.RLIP(3.0), dc.OrdinaryLDP(3.0), dc.LIP(2.0) & dc.OrdinaryLDP(3.0), dc.Funnel(0.5, ceiling=dc.LIP(3.0)),
    dc.MaximalLeakage(1.0), dc.Guess(0.9), dc.RLDP(3.0, Everything()), dc.RLDP(3.0, dc.Confidence(0.9)),
]  # fmt: skip


def joint_of(form="funnel"):
    return dc.Joint.from_counts(COUNTS, [S], [X], include_secret=form == "include_secret")


def protocol_of(notion, form="funnel", matrix=NEAR):
    joint = joint_of(form) if form != "sees_secret" else joint_of().curator()
    wide = np.tile(matrix, (1, 2)) if joint.reads_secret else matrix
    return dc.Protocol.make(dc.Channel(wide, joint.letters), joint, notion)


def altered(public, change):
    content = json.loads(public.encode())
    change(content)
    data = canonical(content)
    for sign, escape in ESCAPED.items():
        data = data.replace(sign, escape)
    return data + b"\n"


@pytest.mark.parametrize("form", ["funnel", "include_secret", "sees_secret"])
@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_what_a_protocol_publishes_agrees(notion, form):
    protocol = protocol_of(notion, form)
    assert decode_public(protocol.public().encode()).notion == notion
    strata = {("k1",): protocol, ("k2",): protocol}
    stratified = StratifiedProtocol((dc.Attribute("region 7", ("k1", "k2")),), strata)
    assert decode_public(stratified.public().encode()).notion == in_all_strata(notion, 2)


@pytest.mark.parametrize(
    "said", ["Nothing can be learnt.", "Whoever sees a released record finds no value of ill 2 more than 1.1 times …"]
)
def test_words_that_promise_something_else_are_refused(said):
    public = protocol_of(dc.LIP(2.0)).public()
    assert decode_public(altered(public, lambda c: None)).promise == public.promise
    with pytest.raises(dc.ProtocolError, match="in words"):
        decode_public(altered(public, lambda c: c.update(promise=said)))


def test_other_words_of_the_same_numbers_are_read():
    """Another release may say it otherwise."""
    public = protocol_of(dc.LIP(2.0)).public()
    said = public.promise.replace("Whoever sees", "Anybody who sees")
    assert decode_public(altered(public, lambda c: c.update(promise=said))).promise == said != public.promise


@pytest.mark.parametrize("form", ["funnel", "include_secret", "sees_secret"])
@pytest.mark.parametrize("stated", ["LDP of the data", "a belt"])
def test_a_belt_that_the_weights_break_is_refused(form, stated):
    claimed = dc.OrdinaryLDP(1.0) if stated == "LDP of the data" else dc.LIP(6.0) & dc.OrdinaryLDP(1.0)
    honest = protocol_of(claimed, form).public()
    forged = json.loads(protocol_of(dc.LIP(6.0), form, FAR).public().encode())

    def with_other_weights(content):
        content["weights"] = forged["weights"]
        content.update({"law": forged["law"]} if "law" in forged else {})

    with pytest.raises(dc.ProtocolError, match="weights that are not those of"):
        decode_public(altered(honest, with_other_weights))


def test_the_robust_promise_for_whatever_distribution_too():
    forged = json.loads(protocol_of(dc.LDP(6.0), matrix=FAR).public().encode())
    change = {name: forged[name] for name in ("weights", "law")}
    with pytest.raises(dc.ProtocolError, match="weights that are not those of"):
        decode_public(altered(protocol_of(dc.RLDP(1.0, Everything())).public(), lambda c: c.update(change)))


def test_the_secret_is_no_input_unless_it_is_released():
    for form in ("funnel", "sees_secret"):
        with pytest.raises(dc.ProtocolError, match="column of the secret"):
            decode_public(altered(protocol_of(dc.LIP(2.0), form).public(), lambda c: c.update(secrets=["x3"])))
    releasing = protocol_of(dc.LIP(2.0), "include_secret").public()
    for secrets in (["x3"], ["elsewhere"], ["ill 2", "ill 2"], ["ill 2", "x3"]):
        with pytest.raises(dc.ProtocolError, match="secret"):
            decode_public(altered(releasing, lambda c, secrets=secrets: c.update(secrets=secrets)))


def test_the_secret_is_no_given_column():
    protocol = protocol_of(dc.LIP(2.0))
    public = StratifiedProtocol((dc.Attribute("g", ("k",)),), {("k",): protocol}).public()
    with pytest.raises(dc.ProtocolError, match="column of the secret"):
        decode_public(altered(public, lambda c: c.update(secrets=["g"])))


def persons() -> dc.Protocol:
    rng = np.random.default_rng(1)
    people = [(f"p{i}", s, rng.choice(list("xyz"))) for i in range(900) for s in [rng.choice(["a", "b"])] for _ in "12"]
    table = pa.table(dict(zip(("id", "s", "x"), map(list, zip(*people, strict=True)), strict=True)))
    joint = dc.Joint.from_table(table, secret="s", release="x", person="id", rows="independent")
    return dc.design(joint, dc.LIP(0.6), time_limit=5).protocol


def test_what_rows_of_a_person_tell_together_is_what_is_promised():
    """Once any number was taken, and the page told the level of one row in large letters."""
    protocol = persons()
    public, together = protocol.public(), protocol.statement.rows.epsilon
    assert together > protocol.epsilon
    assert decode_public(public.encode()).statement.rows.epsilon == together
    for change in (lambda rows: rows.update(epsilon="0.1"), lambda rows: rows.pop("epsilon")):
        with pytest.raises(dc.ProtocolError, match="rows of a person"):
            decode_public(altered(public, lambda c, change=change: change(c["statement"]["rows"])))
    for text in (public_page(public), page(Study(protocol))):
        assert f"× {times(together)}" in text
    assert "each drawn by itself" in public_page(public)
    assert "{" not in public_page(public).split("</style>")[1]
