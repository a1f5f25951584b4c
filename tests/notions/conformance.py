"""What a notion, or an uncertainty set, still lacks: one sentence for each thing, none if it is complete."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from fractions import Fraction
from typing import Any

import jsonschema
import numpy as np

from discreet.attribute import Attribute
from discreet.audit import audit
from discreet.certify import PROVERS, level_upper_bound, prove, round_columns
from discreet.channel import Channel
from discreet.joint import Joint
from discreet.notions import NOTIONS, Notion, Words
from discreet.notions.by_name import notion_of
from discreet.notions.rldp import RLDP
from discreet.protocol import Protocol
from discreet.protocol.document import decode_notion, encode_notion
from discreet.protocol.file import decode, encode
from discreet.protocol.schema import PATH
from discreet.report import page
from discreet.report.mathml import formulae, mathml
from discreet.study import OPTIMUM, Point, Study
from discreet.uncertainty import SETS, SetWords
from discreet.wording import caveats, guarantee, notion_name

JOINT = Joint.from_counts(
    [[50, 30, 20], [20, 30, 50], [40, 10, 10]],
    [Attribute("illness", ("flu", "cold", "none"))],
    [Attribute("income", ("low", "mid", "high"))],
)
MILD = Channel(0.1 * np.eye(3) + 0.3, JOINT.letters, ("a", "b", "c"))
NOTHING = Channel(np.full((2, 3), 0.5), JOINT.letters, ("a", "b"))
BITS = 52


def missing(kind: type[Notion]) -> list[str]:
    """Everything that a registered notion lacks."""
    return list(_missing({
        "is a frozen dataclass with Words": lambda: _well_made(kind, Words),
        "is registered under its name": lambda: NOTIONS[kind.words.name] is kind,
        "has every word": lambda: all(vars(kind.words)[one.name] not in ("", None) for one in required(Words)),
        "can be asked for": lambda: isinstance(_asked(kind), kind),
        "has a name on the command line": lambda: _asked(kind) == notion_of(kind.words.command, 1.0, 0.9),
        "follows another level": lambda: _fixed(_asked(kind)) or _asked(kind).at(0.25).epsilon == 0.25,
        "has a level, 0 for a channel that tells nothing": lambda: _levels(_asked(kind)),
        "has a cone that agrees with the level": lambda: _cone(_asked(kind)),
        "has a prover that agrees with the level": lambda: _proof(_asked(kind)),
        "survives a file": lambda: _file(_asked(kind)),
        "follows the schema": lambda: _schema(_asked(kind)),
        "is audited": lambda: _audited(_asked(kind)),
        "has a promise and a title": lambda: _promise(_asked(kind)),
        "has a formula": lambda: _formula(_asked(kind)),
        "has a page": lambda: _page(_asked(kind)),
    }))  # fmt: skip


def missing_from_set(kind: Any) -> list[str]:
    """Everything that a registered kind of uncertainty lacks, RLDP over it included."""
    stated = _stated(kind)
    notion = RLDP(1.0, stated)
    return list(_missing({
        "is a frozen dataclass with SetWords": lambda: _well_made(kind, SetWords),
        "is registered under its name": lambda: SETS[kind.words.name] is kind,
        "says what it means": lambda: kind.words.holds(stated).endswith("."),
        "has extremes on either side of the mean": lambda: _ranges(stated),
        "contains the estimate and the witness of a level": lambda: _contains(stated),
        "has a cone that agrees with the level": lambda: _cone(notion),
        "has a prover for RLDP": lambda: (RLDP, kind) in PROVERS,
        "has a prover that agrees with the level": lambda: _proof(notion),
        "survives a file": lambda: _file(notion),
        "follows the schema": lambda: _schema(notion),
        "is audited": lambda: _audited(notion),
        "has a promise and a title": lambda: _promise(notion),
        "has a page": lambda: _page(notion),
    }))  # fmt: skip


def _missing(checks: dict[str, Callable[[], Any]]) -> Iterator[str]:
    for what, check in checks.items():
        try:
            if not check():
                yield f"not so: {what}"
        except Exception as error:
            yield f"not so: {what} ({type(error).__name__}: {error})"


def _asked(kind: type[Notion]) -> Any:
    return kind.asked(1.0, 0.9)


def _stated(kind: Any) -> Any:
    """A set with a half for every number that has no default."""
    return kind(**{one.name: 0.5 for one in required(kind)})


def required(kind: Any) -> list[Any]:
    """The fields without a default."""
    return [one for one in fields(kind) if one.default is MISSING and one.default_factory is MISSING]


def _fixed(notion: Any) -> bool:
    """Whether the notion has no numbers, and so one level only."""
    return not fields(notion)


def _well_made(kind: Any, words: type) -> bool:
    frozen: bool = is_dataclass(kind) and kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
    return frozen and isinstance(kind.words, words)


def _ranges(stated: Any) -> bool:
    """Extremes are attained by distributions, on either side of the mean at the estimate."""
    known = stated.around(JOINT)
    rows = JOINT.expand(MILD.matrix)
    mean = (rows * known.conditional).sum(axis=-1)
    most, least = known.ranges(rows)
    attained = all(
        np.allclose((rows * found.attained_at).sum(axis=-1), found.value, atol=1e-9)
        and np.allclose(found.attained_at.sum(axis=-1), 1)
        and (found.attained_at >= 0).all()
        for found in (most, least)
    )
    return attained and bool((least.value <= mean + 1e-12).all() and (mean <= most.value + 1e-12).all())


def _contains(stated: Any) -> bool:
    known = stated.around(JOINT)
    witness = RLDP(1.0, stated).level(MILD, JOINT).witness
    assert witness is not None
    far = np.zeros_like(JOINT.table)
    far[0, 0] = 1.0
    return bool(known.contains(JOINT.table) and known.contains(witness.distribution)) and (
        known.everything or not known.contains(far)
    )


def _levels(notion: Any) -> bool:
    nothing, mild = notion.level(NOTHING, JOINT), notion.level(MILD, JOINT)
    return abs(nothing.epsilon) < 1e-12 and 0 < mild.epsilon < 5 and mild.witness.output in MILD.outputs


def _cone(notion: Any) -> bool:
    """All rows of a channel lie in the cone a little above its level, and not all of them a little below."""
    if _fixed(notion):
        cone = notion.cone(JOINT)
        return all(cone.excess(row) <= 1e-12 for row in NOTHING.matrix) and cone.excess(MILD.matrix[0]) > 0
    level = notion.level(MILD, JOINT).epsilon
    above, below = (notion.at(level * factor).cone(JOINT) for factor in (1.001, 0.999))
    return all(above.excess(row) <= 1e-12 for row in MILD.matrix) and any(below.excess(row) > 0 for row in MILD.matrix)


def _proof(notion: Any) -> bool:
    """The proven level is the float one, rounded up; nothing below it is proven."""
    weights = round_columns(MILD.matrix, BITS)
    level, proven = notion.level(MILD, JOINT).epsilon, level_upper_bound(weights, BITS, JOINT, notion)
    prove(weights, BITS, JOINT, notion, proven)
    refused = False
    if _fixed(notion):
        assert level_upper_bound(round_columns(NOTHING.matrix, BITS), BITS, JOINT, notion) <= notion.epsilon
    try:
        prove(weights, BITS, JOINT, notion, float(Fraction(level) * Fraction(999, 1000)))
    except Exception as error:
        refused = type(error).__name__ == "ProofError"
    return refused and level - 1e-12 <= proven <= level + 2e-6


def _protocol(notion: Any) -> Protocol:
    return Protocol.make(NOTHING if _fixed(notion) else MILD, JOINT, notion.at(3.0), source="public")


def _file(notion: Any) -> bool:
    protocol = _protocol(notion)
    stated = json.loads(json.dumps(encode_notion(notion)))
    return decode_notion(stated) == notion and decode(encode(protocol)).digest == protocol.digest


def _schema(notion: Any) -> bool:
    jsonschema.validate(json.loads(encode(_protocol(notion))), json.loads(PATH.read_text()))
    return True


def _audited(notion: Any) -> bool:
    found = audit(_protocol(notion))
    name = notion.words.name
    return found.levels[name].epsilon <= found.proven + 1e-9 and "output" in found.witnesses[name]


def _promise(notion: Any) -> bool:
    protocol = _protocol(notion)
    return (
        guarantee(protocol).endswith(".") and notion_name(notion) == notion.words.title and len(caveats(protocol)) > 2
    )


def _formula(notion: Any) -> bool:
    ET.fromstring(f"<math>{mathml(notion.words.formula)}</math>")
    return notion.words.symbol in formulae(notion)[1][0]


def _page(notion: Any) -> bool:
    protocol = _protocol(notion)
    shown = page(Study(protocol, curves={OPTIMUM: [Point(1.0, 0.1, 0.2)]}))
    return notion.words.row in shown and notion.words.title in shown and mathml(notion.words.formula) in shown
