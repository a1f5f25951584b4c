"""What the protocol of a study says before its mechanism is searched, held against a protocol that there is.

Whatever a protocol file says beside its mechanism (promises, columns, letters, groupings, counts, noise, weights,
source, statement) follows from the study and its table. So a protocol is made of these around a mechanism that tells
nothing, and the two files are compared in their own words: nothing is left out, whatever files will say one day.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np

from discreet.attribute import Attribute
from discreet.design import drawn_independently, held
from discreet.given_columns import AnyJoint, StratifiedJoint
from discreet.joint import Joint
from discreet.notions import Notion
from discreet.protocol import Protocol
from discreet.protocol.document_2 import to_document_2
from discreet.protocol.statement import Statement
from discreet.protocol.strata import (
    AnyProtocol,
    StratifiedProtocol,
    population_of,
    to_strata_document,
)
from discreet.protocol.together import in_each_stratum
from discreet.records.cells import text_of_one
from discreet.records.kinds import Progress
from discreet.study.designing import counted_joint
from discreet.study_file import StudyFile

MECHANISM: Final = ("bits", "epsilon", "outputs", "weights", "sha256_1")
"""What a file says about the mechanism that was found."""
WORDS: Final = {
    "averages": "what it promises",
    "notions": "what it promises",
    "source": "where its distribution comes from",
    "noise": "the noise of its counts",
    "form": "what its mechanism reads",
    "weight": "the weights of its records",
    "statement": "what is stated beside its proof",
    "given": "its letters",
    "secrets": "its letters",
    "releases": "its letters",
    "counts": "its counts",
    "probabilities": "its counts",
    "n": "its counts",
}
"""How it is called in a sentence; what is not listed by its name in the file."""
SAME: Final = 1e-9
"""How near shares are that are the same but for the rounding of sums."""


def would_differ(asked: StudyFile, protocol: AnyProtocol, progress: Progress) -> list[str]:
    """In what the protocol of the study would differ from this one, by the words for it; nothing of mechanisms. The
    table of the study is counted."""
    joint = _written_alike(counted_joint(asked, progress, force=True), population_of(protocol))
    one, other = map(_parts, (telling_nothing(asked, joint, protocol.notion.epsilon), protocol))
    names = sorted({*one, *other}, key=lambda name: (name not in WORDS, [*WORDS, name].index(name), name))
    return list(dict.fromkeys(WORDS.get(name, name) for name in names if one.get(name) != other.get(name)))


def telling_nothing(asked: StudyFile, joint: AnyJoint, row: float) -> AnyProtocol:
    """The protocol of the study, its mechanism one output for everybody; where rows of a person are drawn by
    themselves, each of them at the level `row`, which a search finds."""
    notion, whose = asked.asked_notion, drawn_independently(joint)
    together = None if whose is None else Statement.about(whose.holding(notion.epsilon))
    notion = notion if whose is None else notion.at(row)

    def constant(one: Joint, notion: Notion) -> Protocol:
        law = held(one, notion)
        said = together or Statement.about(law.rows)
        return Protocol(np.full((1, law.size), 2), 1, law, notion, source="data", statement=said)

    if not isinstance(joint, StratifiedJoint):
        return constant(joint, notion)
    shared = in_each_stratum(notion, len(joint.strata))
    return StratifiedProtocol(joint.given, {key: constant(one, shared) for key, one in joint.strata.items()})


def _written_alike(found: AnyJoint, stated: AnyJoint) -> AnyJoint:
    """The joint with letters and shares of another where these differ only by how they are held: letters may be numbers
    in a frame and text in its file, and sums of weights end in other digits where they are added up in other parts."""
    if isinstance(found, StratifiedJoint) and isinstance(stated, StratifiedJoint):
        given = _same_letters(found.given, stated.given)
        places = [dict(zip(old.letters, new.letters, strict=True)) for old, new in zip(found.given, given, strict=True)]
        strata = {}
        for key, one in found.strata.items():
            known = tuple(place[letter] for place, letter in zip(places, key, strict=True))
            strata[known] = _law_alike(one, stated.strata[known]) if known in stated.strata else one
        return StratifiedJoint(given, strata)
    if isinstance(found, Joint) and isinstance(stated, Joint):
        return _law_alike(found, stated)
    return found


def _law_alike(found: Joint, stated: Joint) -> Joint:
    secrets, releases = _same_letters(found.secrets, stated.secrets), _same_letters(found.releases, stated.releases)
    one, other = found.probabilities, stated.probabilities
    summed = found.counts is None and one.shape == other.shape and np.allclose(one, other, rtol=SAME, atol=0)
    return replace(found, secrets=secrets, releases=releases, probabilities=other if summed else one)


def _same_letters(found: tuple[Attribute, ...], stated: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
    """Columns with the letters of others that are the same as text."""
    texts = [[[text_of_one(letter) for letter in one.letters] for one in each] for each in (found, stated)]
    if texts[0] != texts[1]:
        return found
    return tuple(replace(one, letters=other.letters) for one, other in zip(found, stated, strict=True))


def _parts(protocol: AnyProtocol) -> dict[str, list[tuple[int, Any]]]:
    """What the file says, by name: for the whole, and for each of its strata."""
    found: dict[str, list[tuple[int, Any]]] = {}
    for place, piece in enumerate(_pieces(protocol)):
        for name, value in piece.items():
            if name not in (*MECHANISM, "joint", "strata"):
                found.setdefault(name, []).append((place, value))
    return found


def _pieces(protocol: AnyProtocol) -> Iterator[dict[str, Any]]:
    document = to_document_2(protocol) if isinstance(protocol, Protocol) else to_strata_document(protocol)
    yield document
    yield document["joint"]
    yield from document.get("strata", ())
