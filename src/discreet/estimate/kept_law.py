"""Values that are values: a release whose outputs are letters and have the law of the table it was counted from.

E[Q_Z] = p, so the frequencies of the released values, counted as they are, are unbiased for those of the table. Given
the table, n Cov = diag(p) − Σ_z p_z Q_z Q_zᵀ; the table itself is a draw from its population, diag(p) − ppᵀ. Together
that is between once and twice what clean records have (theory 6.8): whoever counts as if nothing had happened states
errors that are up to √2 too small. None of it holds for groups by another column, nor for other records than those.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Floats
from discreet.estimate.row_clusters import stated_rows
from discreet.exceptions import ParameterError
from discreet.protocol import Protocol
from discreet.protocol.public import PublicProtocol
from discreet.protocol.reveals import Prior, prior_of

if TYPE_CHECKING:
    from discreet.estimate.release_model import ReleaseModel

LAW_KEPT = 2.0**-40
"""A law that differs by less is the same, rounded; a public file states laws to a little less."""
STATED_LAW = 1e-9
"""For a law that a public file states in decimal digits."""
WHOLE = 1e-5
"""A law of so many records times their number is whole but for rounding: less than this up to 10^10 records."""
COUNTED = (
    "Assumed: these are the very records that the protocol was counted from. The mechanism keeps their law, so values "
    "are counted as they are; the errors contain what replaced values add. Groups by another column are not kept."
)


def _laws(protocol: Protocol | PublicProtocol) -> tuple[Floats, Floats] | None:
    """The laws of inputs and of targets, where they are stated."""
    if isinstance(protocol, PublicProtocol):
        return None if protocol.law is None else (protocol.law, protocol.law)
    return protocol.joint.prior, protocol.joint.target_prior


def _targets(protocol: Protocol | PublicProtocol) -> dict[Hashable, int]:
    letters = protocol.target_letters if isinstance(protocol, PublicProtocol) else protocol.joint.target_letters
    return {letter: t for t, letter in enumerate(letters)}


def stated_prior(protocol: Protocol | PublicProtocol) -> Prior:
    """Whether the laws are those of the records that were counted, of their weights, or of counts with noise."""
    return protocol.prior if isinstance(protocol, PublicProtocol) else prior_of(protocol.joint)


def keeps_law(protocol: Protocol | PublicProtocol) -> bool:
    """Whether outputs are letters of the target and have its law."""
    place, laws = _targets(protocol), _laws(protocol)
    if laws is None or not all(output in place for output in protocol.outputs):
        return False
    law = np.zeros(len(place))
    law[[place[output] for output in protocol.outputs]] = protocol.matrix @ laws[0]
    close = STATED_LAW if isinstance(protocol, PublicProtocol) else LAW_KEPT
    return bool(np.abs(law - laws[1]).max() <= close)


def is_counted(protocol: object, records: int) -> bool:
    """Whether so many records are, as far as anybody can tell, those that the protocol was counted from and whose law
    it keeps. A public file does not say how many there were, but its law is one of so many records or is not. Kept is
    the law of persons, which rows do not have where persons have several; or of weighted records, or of counts with
    noise, which the records themselves do not have."""
    if stated_rows(protocol) is not None:
        return False
    if not isinstance(protocol, Protocol | PublicProtocol) or protocol.source != "data":
        return False
    if stated_prior(protocol) != "exact":
        return False
    return _may_be_of(protocol, records) and keeps_law(protocol)


def _may_be_of(protocol: Protocol | PublicProtocol, records: int) -> bool:
    """Whether the law is that of so many records: n in a full file; in a public one every letter has a whole number."""
    if isinstance(protocol, Protocol):
        return protocol.joint.n == records
    if protocol.law is None:
        return False
    held = protocol.law * records
    return bool(np.abs(held - held.round()).max() <= WHOLE)


def counted_model(model: ReleaseModel, protocol: Protocol | PublicProtocol) -> ReleaseModel:
    """The model under which values are counted as they are, with what the release adds to their covariance.

    A public file of a curator has the mean over the secret, for which Σ p Q Qᵀ is smaller: errors are not understated.
    """
    laws, place = _laws(protocol), _targets(protocol)
    if laws is None or not keeps_law(protocol):
        raise ParameterError(
            "values that do not keep their law", where="assume", remedy='Use "nothing", or a design for values.'
        )
    prior, law = laws
    letters = np.array([place[output] for output in protocol.outputs])
    channel = np.zeros((len(place), len(prior)))
    channel[letters] = protocol.matrix
    in_columns = len(model.labels) > 1
    rows = np.arange(len(place)) if in_columns else letters
    absent = np.setdiff1d(np.arange(len(place)), rows)
    matrix = np.eye(len(place))[np.concatenate([rows, absent])]
    names = tuple(f"\N{REPLACEMENT CHARACTER}{number}" for number in range(len(absent)))
    return replace(
        model,
        matrix=matrix,
        attributes=protocol.released if isinstance(protocol, PublicProtocol) else protocol.joint.released,
        prior=law,
        labels=model.labels if in_columns else ((*model.labels[0], *names),),
        notes=(COUNTED,),
        excess=np.diag(law) - (channel * prior) @ channel.T,
    )
