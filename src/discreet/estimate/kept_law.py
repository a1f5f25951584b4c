"""Values that are values: a release whose outputs are letters and have the law of the table it was counted from.

E[Q_Z] = p, so the frequencies of the released values, counted as they are, are unbiased for those of the table. Given
the table, n Cov = diag(p) − Σ_z p_z Q_z Q_zᵀ; the table itself is a draw from its population, diag(p) − ppᵀ. Together
that is between once and twice what clean records have (theory 6.8): whoever counts as if nothing had happened states
errors that are up to √2 too small. None of it holds for groups by another column, nor for other records than those.

Other records may be as many. Those that were counted have outputs N_y = Σ_i B_iy whose records i are fixed and whose
draws are independent, so that with μ_y = n (Q p)_y and v_y = Σ_i Var B_iy = n Σ_z p_z Q_zy (1 − Q_zy), for every n,

    Pr[|N_y − μ_y| ≥ t] ≤ 2 exp(−t² / (2 v_y + 2t/3))                    (Bernstein)
    Pr[Σ_y |N_y − μ_y| ≥ Σ_y √v_y + t] ≤ exp(−t² / (2n))                 (McDiarmid: a draw moves the sum by at most 2)

Outputs beyond these bounds, at a level shared by both and by all outputs, are not those of the counted records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Integers
from discreet.channel import Channel
from discreet.exceptions import ParameterError
from discreet.protocol import Protocol
from discreet.protocol.counted_records import is_counted, keeps_law, stated_laws, target_places
from discreet.protocol.public import PublicProtocol
from discreet.records.persons import Rule, WhoseRows

if TYPE_CHECKING:
    from discreet.estimate.release_model import ReleaseModel

COUNTED = (
    "Assumed: these are the very records that the protocol was counted from. The mechanism keeps their law, so values "
    "are counted as they are; the errors contain what replaced values add. Groups by another column are not kept."
)
BY_CHANCE = 1e-6
"""How often the counted records are taken for others, at most: their estimates are then right, and less accurate."""
CONTRADICTED = (
    "Not assumed: that these are the very records that the protocol was counted from. They are as many, but outputs as "
    "far from the counted law are those of other records (by chance in less than one of a million releases), so the "
    "mechanism is undone."
)


Wave = tuple[Protocol | PublicProtocol | Channel, "ReleaseModel", Integers]
"""A protocol, its model, and how often each output occurs; every stratum is one."""


def are_counted(waves: Sequence[Wave]) -> tuple[bool, tuple[str, ...]]:
    """Whether these are taken for the records that were counted: they are as many, and nothing speaks against it. What
    does is said."""
    if not all(is_counted(protocol, int(counts.sum())) for protocol, _, counts in waves):
        return False, ()
    return (False, (CONTRADICTED,)) if _contradicted(waves) else (True, ())


def _contradicted(waves: Sequence[Wave]) -> bool:
    """Whether the outputs are those of other records. Where a row of each person was drawn first, N_y varies up to as
    much as for records that are drawn from the law."""
    means, variances = [], []
    for protocol, model, counts in waves:
        law, squares = model.matrix @ model.prior, (model.matrix * model.matrix) @ model.prior
        means.append(counts.sum() * law)
        variances.append(counts.sum() * np.maximum(law - (law**2 if _one_row(protocol) else squares), 0))
    v, n = np.concatenate(variances), sum(int(counts.sum()) for *_, counts in waves)
    far = np.abs(np.concatenate([counts for *_, counts in waves]) - np.concatenate(means))
    nats = np.log(2 / BY_CHANCE)  # half of the level for each bound
    each, all_of_them = nats + np.log(2 * len(v)), np.sqrt(2 * n * nats)
    beyond = far**2 > each * (2 * v + 2 * far / 3)
    return bool(beyond.any() or far.sum() > np.sqrt(v).sum() + all_of_them)


def _one_row(protocol: Protocol | PublicProtocol | Channel) -> bool:
    whose = None if isinstance(protocol, Channel) else protocol.statement.rows
    return isinstance(whose, WhoseRows) and whose.rule is Rule.one


def counted_model(model: ReleaseModel, protocol: Protocol | PublicProtocol) -> ReleaseModel:
    """The model under which values are counted as they are, with what the release adds to their covariance.

    A public file of a curator has the mean over the secret, for which Σ p Q Qᵀ is smaller: errors are not understated.
    """
    laws, place = stated_laws(protocol), target_places(protocol)
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
