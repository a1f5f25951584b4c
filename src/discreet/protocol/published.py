"""From the full protocol to the public one: what goes in, and the exact laws and means that it is made of."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from scipy import sparse

from discreet.arrays import Floats
from discreet.attribute import Attribute, Form
from discreet.certify.exact_arithmetic import apportioned, exact_prior
from discreet.joint import Joint
from discreet.notions.notion import Notion, promised
from discreet.protocol.counted_records import counted_records
from discreet.protocol.protocol import Protocol
from discreet.protocol.public import PublicProtocol, StratifiedPublic
from discreet.protocol.reveals import prior_of, revealed
from discreet.protocol.strata import StratifiedProtocol
from discreet.records.persons import WhoseRows


def public_protocol(protocol: Protocol, promise: Notion, given: tuple[Attribute, ...] = ()) -> PublicProtocol:
    """What of a protocol everybody may have; beside `given` columns the `promise` is among people who agree in them."""
    joint, secret = protocol.joint, protocol.joint.form is Form.RELEASES_SECRET
    statement = replace(protocol.statement, forecast={}) if secret else protocol.statement
    whose = statement.rows
    person = whose.epsilon if isinstance(whose, WhoseRows) else None  # asked for; a row's level follows from the counts
    notion = promise if person is None else promise.at(person)
    records = None if secret else counted_records(protocol)
    return PublicProtocol(
        columns=averaged_weights(protocol) if joint.form is Form.CURATOR else protocol.columns,
        bits=protocol.bits,
        form=joint.form,
        notion=notion,
        outputs=protocol.outputs,
        reads=joint.released,
        secrets=tuple(attribute.name for attribute in joint.secrets),
        law=None if secret else exact_law(joint),
        marginal=None if secret else protocol.marginal,
        source=protocol.source,
        promise=promised(notion, joint, notion.epsilon, given),
        reveals=revealed(joint, protocol.source, counted=records is not None),
        statement=statement,
        protocol_digest=protocol.digest,
        prior=prior_of(joint),
        records=records,
    )


def public_strata(protocol: StratifiedProtocol, promise: Notion) -> StratifiedPublic:
    """The same for a protocol with given columns; the `promise` is that of all strata together."""
    found = {key: public_protocol(one, promise, protocol.given) for key, one in protocol.strata.items()}
    stated = any(one.records is not None for one in found.values())  # a law may be kept in some strata only
    reveals = revealed(protocol.joint, protocol.first.source, counted=stated)
    each = {key: replace(one, protocol_digest=protocol.digest, reveals=reveals) for key, one in found.items()}
    return StratifiedPublic(protocol.given, each, protocol.shares)


def exact_law(joint: Joint) -> Floats:
    """P(x), each the float nearest to a quotient of integers: it depends on nothing but these quotients."""
    masses = exact_prior(joint).reshape(len(joint.probabilities), -1).sum(axis=0)
    total = int(masses.sum())
    return np.array([int(mass) / total for mass in masses.tolist()])


def averaged_weights(protocol: Protocol) -> sparse.csc_array:
    """Σ_s P(s|x) w[y, (s, x)] in integers over 2^bits; P(s) in the place of P(s|x) for an x that nobody has.

    An output that somebody with x can have keeps at least one unit.
    """
    joint = protocol.joint
    prior = exact_prior(joint).reshape(len(joint.probabilities), -1)
    unseen = prior.sum(axis=0) == 0
    shares = np.where(unseen, prior.sum(axis=1)[:, None], prior)
    a = shares.shape[1]
    cells = protocol.columns.tocoo()
    s, x = np.divmod(cells.col.astype(np.int64), a)
    order = np.lexsort((cells.row, x))
    masses, rows, letters = (cells.data.astype(object) * shares[s, x])[order], cells.row[order], x[order]
    place = letters * protocol.columns.shape[0] + rows
    starts = np.flatnonzero(np.diff(place, prepend=-1))
    totals, rows, letters = np.add.reduceat(masses, starts), rows[starts], letters[starts]
    bounds = np.searchsorted(letters, np.arange(a + 1))
    parts = [
        apportioned(totals[low:high], protocol.bits, np.flatnonzero(totals[low:high]))
        for low, high in pairwise(bounds.tolist())
    ]
    return sparse.csc_array((np.concatenate(parts), (rows, letters)), shape=(protocol.columns.shape[0], a))
