"""What a protocol tells the analyst: a channel on named letters, and a prior for them.

Protocols on different columns are brought to common letters, the product of all their columns; a channel on some of the
columns treats letters alike that agree on these. So yearly waves of one protocol, one protocol per column, and
protocols that share columns are one and the same case.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discreet.arrays import Floats, Rows, whole
from discreet.attribute import Attribute, Form, distinct_names
from discreet.channel import Channel, label
from discreet.estimate.kept_law import counted_model
from discreet.estimate.many_letters import MANY_ENTRIES, NOBODY
from discreet.exceptions import AlphabetError, ParameterError
from discreet.joint import Joint
from discreet.protocol import Protocol
from discreet.protocol.public import PublicProtocol
from discreet.protocol.published import exact_law
from discreet.protocol.statement import stated_rows
from discreet.records.letters import column_of, released_columns
from discreet.records.persons import WhoseRows

Assumption = Literal["counted", "P(s|x)", "nothing"]
"""What analysts take from the protocol beside the mechanism: that these are the very records that were counted, whose
law it keeps; how the secret depends on the rest; or nothing."""
MOST_CELLS = 50_000_000
"""400 MB for a channel with every entry."""
COLUMN = "output"
ASSUMED = "Assumed: P(s|x), how the secret depends on the rest, is that of the protocol's prior."
MORE_IF_ASSUMED = (
    "Nothing is assumed about how the secret depends on the rest. Where the protocol's prior holds for these records, "
    'assume="P(s|x)" (--assume-secret) determines more.'
)

NO_PRIOR = (
    "The public file states no law where the values contain the secret: scores are weighted as if all values were "
    "equally common. With the full protocol file the errors may be smaller."
)


@dataclass(frozen=True, eq=False)
class ReleaseModel:
    """Q[y, letter] with letters in C order of the attributes; `asked` names those that the release is about.

    `labels` and `columns` say how the outputs look in the released table; several columns were released together.
    """

    matrix: Rows
    attributes: tuple[Attribute, ...]
    prior: Floats
    asked: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    columns: tuple[str, ...]
    notes: tuple[str, ...] = ()
    excess: Floats | None = None
    """n times the covariance over letters that the release adds to that of the outputs; None if it adds none."""
    rows: WhoseRows | None = None
    """Whose rows they are, where persons have several and all are released."""

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(attribute) for attribute in self.attributes)

    @property
    def size(self) -> int:
        """How many outputs there are."""
        return int(self.matrix.shape[0])

    def lifted(self, attributes: tuple[Attribute, ...]) -> Rows:
        """Q on the letters of more attributes."""
        return self.matrix if attributes == self.attributes else self.matrix[:, self._letter_of(attributes)]

    def _letter_of(self, attributes: tuple[Attribute, ...]) -> NDArray[np.intp]:
        """The letter of this model that every letter of a larger product has."""
        axes = {attribute.name: axis for axis, attribute in enumerate(attributes)}
        codes = np.indices([len(attribute) for attribute in attributes]).reshape(len(attributes), -1)
        mine = tuple(codes[axes[attribute.name]] for attribute in self.attributes)
        return np.asarray(np.ravel_multi_index(mine, self.shape))


def assumption_of(joint: Joint, source: str | None, assume: Assumption | None) -> Assumption:
    """What is assumed: what was asked for; otherwise P(s|x) where a curator's table itself was counted.

    The release is then of the very people that were counted, so that P(s|x) is known and not guessed.
    """
    if assume not in (None, "counted", "P(s|x)", "nothing"):
        raise ParameterError(
            "an unknown assumption", where="assume", remedy='Use None, "counted", "P(s|x)" or "nothing".'
        )
    if assume == "counted":
        return assume
    if joint.form is not Form.CURATOR:
        return "nothing"
    return assume or ("P(s|x)" if source == "data" else "nothing")


def model_of(
    protocol: Protocol | PublicProtocol | Channel, assume: Assumption | None = None, column: str | None = None
) -> ReleaseModel:
    """A protocol as the analyst sees it. `assume="P(s|x)"` averages over the secret as the protocol's prior has it."""
    return replace(_model_of(protocol, assume, column), rows=stated_rows(protocol))


def _model_of(
    protocol: Protocol | PublicProtocol | Channel, assume: Assumption | None, column: str | None
) -> ReleaseModel:
    labels = (tuple(label(output) for output in protocol.outputs),)
    if isinstance(protocol, PublicProtocol):
        return _public_model(protocol, assume, column, labels)
    if isinstance(protocol, Channel):
        letters = Attribute("letter", protocol.inputs)
        prior = np.full(len(letters), 1 / len(letters))
        return ReleaseModel(_held(protocol), (letters,), prior, ("letter",), labels, (column or COLUMN,))
    joint = protocol.joint
    read = joint.reads
    model = ReleaseModel(
        _held(protocol.channel),
        read,
        exact_law(joint) if joint.form is Form.FUNNEL else joint.prior,  # to the last bit what a public file states
        tuple(attribute.name for attribute in joint.released),
        labels,
        (column or column_of(joint),),
        _nobody(protocol.channel),
    )
    model = model if column else _in_columns(model, joint, protocol.outputs)
    if assume == "counted":
        return counted_model(model, protocol)
    if joint.form is not Form.CURATOR:
        return model
    if assumption_of(joint, protocol.source, assume) == "nothing":
        return replace(model, notes=(*model.notes, MORE_IF_ASSUMED))
    return replace(
        model,
        matrix=averaged_over_secret(model.matrix, joint),
        attributes=joint.releases,
        prior=joint.target_prior,
        notes=(*model.notes, ASSUMED),
    )


def _held(channel: Channel) -> Rows:
    """Every entry, or of very many those that are not zero."""
    return channel.matrix if np.prod(channel.rows.shape) <= MANY_ENTRIES else channel.entries


def _nobody(channel: Channel) -> tuple[str, ...]:
    return (NOBODY,) if np.prod(channel.rows.shape) > MANY_ENTRIES and len(channel.silent) else ()


def _public_model(
    public: PublicProtocol, assume: Assumption | None, column: str | None, labels: tuple[tuple[str, ...], ...]
) -> ReleaseModel:
    """The channel of the public file; all letters alike where it states no law, which costs accuracy and no more."""
    if public.averaged and assume == "nothing":
        raise ParameterError(
            "the public file has the mean over the secret only",
            where="assume",
            remedy="Estimate with the full protocol file, or assume P(s|x) as counted.",
        )
    size = len(public.inputs)
    prior = np.full(size, 1 / size) if public.law is None else public.law
    asked, where = tuple(attribute.name for attribute in public.reads), (column or column_of(public),)
    notes = (ASSUMED,) if public.averaged else (NO_PRIOR,) if public.law is None else ()
    notes = (*notes, *_nobody(public.channel))
    model = ReleaseModel(_held(public.channel), public.reads, prior, asked, labels, where, notes)
    model = model if column else _in_columns(model, public, public.outputs)
    return counted_model(model, public) if assume == "counted" else model


def _in_columns(model: ReleaseModel, joint: Joint | PublicProtocol, outputs: tuple[Hashable, ...]) -> ReleaseModel:
    """Outputs that are values of several columns as these columns: one row for each of their combinations."""
    columns = released_columns(joint, outputs)
    if len(columns) == 1:
        return model
    place = {letter: i for i, letter in enumerate(joint.target_letters)}
    rows = [place[output] for output in outputs]
    placed = sparse.csr_array((np.ones(len(rows)), (rows, np.arange(len(rows)))), shape=(len(place), len(rows)))
    matrix: Rows = placed @ model.matrix  # type: ignore[assignment]
    labels = tuple(tuple(label(letter) for letter in column.letters) for column in joint.released)
    return replace(model, matrix=matrix, labels=labels, columns=tuple(name for name, _ in columns))


def averaged_over_secret(matrix: Rows, joint: Joint) -> Rows:
    """Q[y, x] = Σ_s P(s | x) Q[y, (s, x)]; for an x of probability zero, P(s)."""
    secret_given_release = np.where(joint.target_prior > 0, joint.table, joint.secret_prior[:, None])
    secret_given_release = secret_given_release / secret_given_release.sum(axis=0)
    if not isinstance(matrix, np.ndarray):
        shares = secret_given_release.ravel()
        size = secret_given_release.shape[1]
        average = (shares, (np.arange(len(shares)), np.arange(len(shares)) % size))
        return sparse.csr_array(matrix @ sparse.csr_array(average, shape=(len(shares), size)))
    return np.asarray((matrix.reshape(len(matrix), *joint.table.shape) * secret_given_release).sum(axis=1))


def product_model(models: Sequence[ReleaseModel]) -> ReleaseModel:
    """Several columns of the same records, each drawn by itself: outputs are tuples, in C order."""
    if len(models) == 1:
        return models[0]
    attributes = union([model.attributes for model in models])
    check_size([prod(model.size for model in models), *(len(attribute) for attribute in attributes)])
    matrix = whole(models[0].lifted(attributes))
    for model in models[1:]:
        lifted = whole(model.lifted(attributes))
        matrix = (matrix[:, None, :] * lifted[None, :, :]).reshape(-1, matrix.shape[1])
    return ReleaseModel(
        matrix,
        attributes,
        common_prior(models, attributes),
        tuple(dict.fromkeys(name for model in models for name in model.asked)),
        tuple(labels for model in models for labels in model.labels),
        tuple(column for model in models for column in model.columns),
        tuple(dict.fromkeys(note for model in models for note in model.notes)),
        rows=next((model.rows for model in models if model.rows is not None), None),
    )


def union(groups: Sequence[tuple[Attribute, ...]]) -> tuple[Attribute, ...]:
    """All attributes, each once; the same column must have the same letters everywhere."""
    found: dict[str, Attribute] = {}
    for attribute in (attribute for group in groups for attribute in group):
        if found.setdefault(attribute.name, attribute).letters != attribute.letters:
            raise AlphabetError(
                "two protocols have different letters for one column",
                where=attribute.name,
                remedy="Estimate each release by itself.",
            )
    attributes = tuple(found.values())
    distinct_names(attributes)
    return attributes


def common_prior(models: Sequence[ReleaseModel], attributes: tuple[Attribute, ...]) -> Floats:
    """The first model's prior, times for every further one the prior of the columns it adds, as if independent."""
    prior = np.ones(prod(len(attribute) for attribute in attributes))
    known: set[str] = set()
    for model in models:
        added = tuple(axis for axis, attribute in enumerate(model.attributes) if attribute.name not in known)
        if added:
            kept = tuple(axis for axis in range(len(model.attributes)) if axis not in added)
            masses = model.prior.reshape(model.shape).sum(axis=kept).reshape(-1)
            part = replace(model, attributes=tuple(model.attributes[axis] for axis in added))
            prior = prior * masses[part._letter_of(attributes)]
            known |= {attribute.name for attribute in model.attributes}
    return np.asarray(prior / prior.sum())


def check_size(sizes: Sequence[int]) -> None:
    if prod(sizes) > MOST_CELLS:
        raise AlphabetError(
            f"a channel of {prod(sizes):,} entries, more than {MOST_CELLS:,}",
            where="several protocols together",
            remedy="Estimate fewer columns at a time.",
        )


def marginal_rows(attributes: tuple[Attribute, ...], names: Sequence[str]) -> Floats:
    """Rows over the letters that sum them to the letters of some attributes, in the order named."""
    known = {attribute.name: axis for axis, attribute in enumerate(attributes)}
    for name in names:
        if name not in known or list(names).count(name) > 1:
            raise AlphabetError(
                "not a column of this estimate, or named twice", where=name, remedy=f"It has {', '.join(known)}."
            )
    codes = np.indices([len(attribute) for attribute in attributes]).reshape(len(attributes), -1)
    sizes = tuple(len(attributes[known[name]]) for name in names)
    cell = np.ravel_multi_index(tuple(codes[known[name]] for name in names), sizes)
    rows = np.zeros((prod(sizes), len(cell)))
    rows[cell, np.arange(len(cell))] = 1
    return rows
