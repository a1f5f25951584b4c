"""What a public file says twice must agree: its words with its notions, its notions with its weights, and its columns.

Most promises cannot be proven without the counts. What can be seen from the file alone is proven when it is read:
ordinary LDP, and LDP under whatever distribution, are about the weights.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Final

import numpy as np

from discreet.arrays import Weights
from discreet.attribute import Attribute, Form
from discreet.certify.proof import check
from discreet.exceptions import ProtocolError
from discreet.joint import Joint
from discreet.notions import RLDP, OrdinaryLDP
from discreet.notions.notion import Notion, promised, words_of
from discreet.protocol.public import AnyPublic, PublicProtocol, StratifiedPublic
from discreet.records.persons import Rule, WhoseRows
from discreet.uncertainty.sets import Everything

NUMBER: Final = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")
ROUNDED: Final = 2
"""Units of 2^−bits that a mean over the secret may be from the exact one."""


def check_claims(public: AnyPublic) -> None:
    """ProtocolError where the file contradicts itself."""
    given = public.given if isinstance(public, StratifiedPublic) else ()
    each = list(public.strata.values()) if isinstance(public, StratifiedPublic) else [public]
    first = each[0]
    _check_columns(first, given)
    frame = _frame(first)
    _check_words(first, frame, given)
    for one in each:
        rows = one.statement.rows
        if isinstance(rows, WhoseRows) and rows.rule is Rule.independent and rows.epsilon != one.notion.epsilon:
            raise _contradiction("rows of a person that tell together what the promise does not allow", "rows")
        for notion in one.notion.promises:
            if not _may_hold(notion, one, frame):
                raise _contradiction(f"weights that are not those of {words_of(notion).title}", "weights")


def _contradiction(what: str, where: str) -> ProtocolError:
    return ProtocolError(what, where=where, remedy="Ask the steward for the file again: it contradicts itself.")


def _check_columns(one: PublicProtocol, given: tuple[Attribute, ...]) -> None:
    """The secret is read and released as a whole and first, or is nowhere among the input values; never given."""
    reads, secrets = [attribute.name for attribute in one.reads], list(one.secrets)
    leading = reads[: len(secrets)] if one.form is Form.RELEASES_SECRET else []
    others = [*reads[len(leading) :], *(attribute.name for attribute in given)]
    if len(set(secrets)) != len(secrets) or not set(secrets).isdisjoint(others):
        raise _contradiction("a column of the secret among those that are not", "secrets")
    if one.form is Form.RELEASES_SECRET and (leading != secrets or len(reads) == len(secrets)):
        raise _contradiction("inputs without the secret, where the mechanism releases it", "secrets")


def _frame(one: PublicProtocol) -> Joint:
    """A joint of these columns that stands for the one nobody has here: its numbers mean nothing. A secret without
    letters has two."""
    form = one.form if one.form is Form.RELEASES_SECRET else Form.FUNNEL
    if form is Form.RELEASES_SECRET:
        secrets, releases = one.reads[: len(one.secrets)], one.reads[len(one.secrets) :]
    else:
        last = len(one.secrets) - 1
        secrets = tuple(Attribute(name, (0, 1) if place == last else (0,)) for place, name in enumerate(one.secrets))
        releases = one.reads
    shape = (math.prod(map(len, secrets)), *map(len, releases))
    return Joint(np.full(shape, 1 / math.prod(shape)), secrets, releases, form=form)


def _check_words(one: PublicProtocol, frame: Joint, given: tuple[Attribute, ...]) -> None:
    """The numbers of the promise are those of its notions; another release may say it in other words. About weighted
    records something more is said at the end."""
    expected = NUMBER.findall(promised(one.notion, frame, one.notion.epsilon, given))
    stated = NUMBER.findall(one.promise)
    if (stated[: len(expected)] if one.prior == "weighted" else stated) != expected:
        raise _contradiction("a promise in words that is not that of the notions", "promise")


def _may_hold(notion: Notion, one: PublicProtocol, frame: Joint) -> bool:
    """Whether these weights can be those of a mechanism with this promise; True where they alone do not say."""
    anywhere = isinstance(notion, RLDP) and isinstance(notion.uncertainty, Everything)
    if not (isinstance(notion, OrdinaryLDP) or (anywhere and not one.averaged)):
        return True
    if one.averaged:
        return _means_within(one.columns, notion.epsilon)
    return check(one.columns, one.bits, frame, notion, Fraction(notion.epsilon)).proven


def _means_within(weights: Weights, epsilon: float) -> bool:
    """Means of columns that are within e^ε of each other are so too, but for rounding."""
    rows = weights.toarray() if not isinstance(weights, np.ndarray) else weights
    most, least = rows.max(axis=1).astype(float), rows.min(axis=1).astype(float)
    return bool((most - ROUNDED <= math.exp(min(epsilon, 700.0)) * (least + ROUNDED) * (1 + 1e-9)).all())
