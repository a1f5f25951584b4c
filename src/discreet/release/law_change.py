"""Whether a table has the law that a protocol was proven at, and what the promise is at the table's own.

The law of a table of n records differs from the law it was drawn from by chance: the expected distance in total
variation is at most Σ √(p(1 − p)/n) / 2, and a change of one record moves it by at most 1/n, so it exceeds that by
t with probability at most e^(−2nt²) (McDiarmid). What exceeds it is a change of the law.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

import numpy as np
import pyarrow as pa

from discreet.arrays import Floats, Integers
from discreet.attribute import Attribute
from discreet.audit.least_levels import at_one_law
from discreet.audit.letter_order import columns_filled
from discreet.channel import Channel
from discreet.exceptions import DiscreetError, ReleaseError
from discreet.joint import Joint
from discreet.protocol import Protocol
from discreet.protocol.strata import AnyProtocol, StratifiedProtocol, strata_of
from discreet.records.letters import LetterReader
from discreet.release.check import LawChange
from discreet.release.record_counts import RecordCounts
from discreet.release.rows_law import Shares
from discreet.release.secret_cells import with_secrets
from discreet.uncertainty.tails import Decay, noise_reach

HOLDS: Final = "LDP and LIP hold at the distribution in the file, RLDP and RLIP at those of their set"
CHANCE: Final = 0.01
"""How often a table of the same law is said to have another one."""


@dataclass(eq=False)
class CountedLaw:
    """The law of a table as a protocol counts it: records by stratum and by secret and release (or by what is read
    alone, without the `secrets`), each by its share, and how many independent records that is worth."""

    protocol: AnyProtocol
    secrets: Sequence[Attribute]
    shares: Shares | None = None
    _met: Floats = field(init=False)
    _read: int = 0

    def __post_init__(self) -> None:
        joint = self.protocol.joint
        size = joint.probabilities.size if self.secrets else len(joint.letters)
        self._met = np.zeros((len(strata_of(self.protocol)), size + 1))

    @property
    def _attributes(self) -> tuple[Attribute, ...]:
        joint = self.protocol.joint
        return (*joint.secrets, *joint.releases) if self.secrets else joint.reads

    def counted(self, counts: RecordCounts) -> CountedLaw:
        """Of records that were counted as they are released."""
        np.add.at(self._met, (counts.strata(), counts.codes(self._attributes)), counts.counts)
        return self

    def watching(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same batches, counted on the way by the shares of their records; nothing without shares."""
        for batch in batches:
            if self.shares is not None:
                here = self.shares.of_rows[self._read : self._read + len(batch)]
                self._read += len(batch)
                if len(here) != len(batch):
                    raise ReleaseError("the table changed while it was read", where="rows", remedy="Release it again.")
                np.add.at(self._met, strata_and_letters(self.protocol, self._attributes, batch), here)
            yield batch

    @property
    def met(self) -> Floats:
        """Without the records that have no letter."""
        return self._met[:, :-1]

    @property
    def records(self) -> int:
        return round(float(self.met.sum())) if self.shares is None else self.shares.records


def strata_and_letters(
    protocol: AnyProtocol, attributes: Sequence[Attribute], batch: pa.RecordBatch
) -> tuple[Integers, Integers]:
    """The stratum of every record, and its letter in these columns together."""
    place = np.zeros(len(batch), np.int64)
    if isinstance(protocol, StratifiedProtocol):
        place = np.maximum(protocol.numbers.take(_codes(LetterReader(protocol.given), batch)), 0)
    return place, _codes(LetterReader(tuple(attributes)), with_secrets(protocol.joint, batch))


def _codes(reader: LetterReader, batch: pa.RecordBatch) -> Integers:
    return reader.codes([batch.column(name) for name in reader.columns]).astype(np.int64)


def law_change(law: CountedLaw) -> LawChange | None:
    """Of the secret and what is released together, or of what is read alone where the secret is not there."""
    protocol, secrets, met, total = law.protocol, law.secrets, law.met, float(law.met.sum())
    strata = strata_of(protocol)
    if not total:
        return None
    laws = [one.joint.probabilities.reshape(-1) if secrets else one.joint.prior for one in strata]
    prior = law_of(protocol, laws)
    mine = met / total
    if protocol.joint.weight and len(strata) > 1:  # how many records a stratum is worth is not what it weighs
        sizes = met.sum(axis=1, keepdims=True)
        mine = np.divide(met, sizes, out=np.zeros_like(met), where=sizes > 0) * prior.sum(axis=1, keepdims=True)
    distance = float(np.abs(mine - prior).sum() / 2)
    levels = [level_at(one, table) for one, table in zip(strata, met, strict=True) if table.any()]
    known = [level for level in levels if level is not None]
    level = max(known) if secrets and len(known) == len(levels) else None
    about = "secret and release" if secrets else "release"
    return LawChange(distance, by_chance(protocol, prior, max(law.records, 1)), level, about)


def law_of(protocol: AnyProtocol, laws: Sequence[Floats]) -> Floats:
    """Laws of the strata, one in a row, by the shares of their records."""
    shares = np.array([one.joint.n or 1 for one in strata_of(protocol)], float)
    return np.asarray(np.array(laws) * (shares / shares.sum())[:, None])


def level_at(protocol: Protocol, met: Floats) -> float | None:
    """The level of a stratum at the table's own law; None where the promise does not depend on it."""
    joint = protocol.joint
    if met.size != joint.probabilities.size:
        return None
    notion = at_one_law(protocol.notion)
    if notion is None:
        return None
    table = met.reshape(joint.probabilities.shape)
    there = Joint(table / table.sum(), joint.secrets, joint.releases, form=joint.form)
    channel = channel_at(protocol, there)
    try:
        return None if channel is None else float(notion.level(channel, there).epsilon)
    except DiscreetError:
        return None


def channel_at(protocol: Protocol, there: Joint) -> Channel | None:
    """The channel with a column for every letter of another table: letters that nobody had when it was made are drawn
    from the law that the outputs had *then*. None where that would be too much."""
    channel = protocol.channel
    silent = channel.silent[there.prior[channel.silent] > 0]
    return columns_filled(channel, silent, protocol.marginal / 2.0**protocol.bits)


def by_chance(protocol: AnyProtocol, prior: Floats, n: int) -> float:
    """The distance that a table of n records of this law stays below, all but one time in a hundred; the sample that
    the law was learnt from has its own."""
    counted = sum(one.joint.n or 0 for one in strata_of(protocol))
    sample = counted if protocol.source != "given" and protocol.joint.n else None
    spread = float(np.sqrt(np.clip(prior * (1 - prior), 0, None)).sum()) / 2
    sizes = [n, *([sample] if sample else [])]
    drawn = sum(spread / math.sqrt(size) + math.sqrt(math.log(len(sizes) / CHANCE) / (2 * size)) for size in sizes)
    return drawn + by_noise(protocol)


def by_noise(protocol: AnyProtocol) -> float:
    """What noise moves the law of the letters by, all but one time in a hundred: every letter by no more than the noise
    of its cells, and at most twice as much where negative shares are set to zero."""
    noise, strata = protocol.joint.noise, strata_of(protocol)
    if noise is None:
        return 0.0
    letters = sum(len(one.joint.prior) for one in strata)
    cells = max(1, protocol.joint.probabilities.size // len(protocol.joint.prior))
    reach = noise_reach(cells, Decay.of(noise.exact / 2), Fraction(repr(CHANCE)) / letters)
    return letters * reach / max(1, sum(one.joint.n or 0 for one in strata))
