"""What a release is refused for before anything is drawn, entered or written, by `check` and `sanitise` alike.

A value that is no letter is released as a draw from the population (theory 4): no harm to anybody, and of no use. A few
of them are ordinary; many mean that the table and the protocol speak of different things, and a draw would be spent on
noise. A draw cannot be repeated, so such a table is refused, unless somebody says that it is meant.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import pyarrow as pa

from discreet.arrays import Integers
from discreet.exceptions import ParameterError, ReleaseError, TableError
from discreet.files.atomic_file import PIPE
from discreet.notions.notion import at_prior, words_of
from discreet.policy import Circumstances, Policy
from discreet.protocol.strata import AnyProtocol, StratifiedProtocol, load_protocol, promise_of, strata_of
from discreet.records.no_numbers import NoNumbers, read_as_missing, too_many_unknown
from discreet.records.source import SUFFIXES, format_of
from discreet.release.batches import BatchSanitiser, Tally
from discreet.release.draws_together import total_epsilon
from discreet.release.identity_risk import smallest_cell
from discreet.release.record_counts import RecordCounts, ValueColumn

BROKEN: Final = (
    "not the law that the protocol was proven for: what is promised does not hold at this table, these levels do"
)


def check_unknown(unknown: int, records: int, anyway: bool) -> None:
    """TableError where too many records have a value that is no letter of the protocol."""
    if anyway or not too_many_unknown(unknown, records):
        return
    raise TableError(
        f"{unknown:,} of {records:,} records have a value that the protocol does not know",
        where="the columns that the protocol reads",
        remedy="They would be released as noise, or as missing where they are no numbers, and the draw is spent. "
        "Compare codes, labels and columns with `discreet check`, or say that it is meant: --unknown-anyway, "
        "unknown_anyway=True.",
    )


def check_suffix(target: str, stated: object) -> None:
    """ReleaseError where a file's name promises a format that is not written; `stated` says it in so many words."""
    suffix = Path(target).suffix
    if target == PIPE or not suffix or stated is not None or format_of(target) is not None:
        return
    raise ReleaseError(
        f"{suffix} is not a format that is written",
        where=target,
        remedy=f"Use one of {', '.join(sorted(SUFFIXES))}, or state the format (--to).",
    )


def circumstances(
    protocol: AnyProtocol, k: int | None, rows: int = 1, there: Mapping[str, float] = MappingProxyType({})
) -> Circumstances:
    """What a policy asks about a release; `k` is None where it is not known. Of several promises the first is the
    notion, and every one has its level. Levels are a person's, of whom the release draws up to so many rows by
    themselves: what these tell together, or what was promised for all of them where that is more; or those of a table
    where the promise is broken, if they were measured `there`."""
    strata = strata_of(protocol)
    given = tuple(one.name for one in protocol.given) if isinstance(protocol, StratifiedProtocol) else ()
    tables = [one.joint.counts for one in strata]
    each = [table.reshape(len(table), -1).sum(axis=1) for table in tables if table is not None]
    secret = int(np.sum(each, axis=0).min()) if len(each) == len(strata) else None
    robust = not at_prior(protocol.notion)
    (leading, epsilon), *beside = [
        (words_of(one).name, total_epsilon(protocol, 1, rows, place=place))
        for place, one in enumerate(promise_of(protocol).promises)
    ]
    epsilon = max(epsilon, protocol.statement.to_a_unit(protocol.epsilon), there.get(leading, 0.0))
    beside = [(name, max(level, there.get(name, 0.0))) for name, level in beside]
    return Circumstances(leading, epsilon, robust and not there, given, secret, k, tuple(beside))


def check_policy(
    policy: Policy | None,
    protocol: AnyProtocol,
    rows: int = 1,
    k: int | None = None,
    *,
    k_known: bool,
    there: Mapping[str, float] = MappingProxyType({}),
) -> None:
    """ReleaseError that quotes every rule that the release would break; k is left out while it is not counted yet."""
    if policy is None:
        return
    release = circumstances(protocol, k, rows, there)
    found = [str(breach) for breach in policy.breaches(release) if k_known or not breach.rule.startswith("k = ")]
    if found:
        raise ReleaseError("; ".join(found), where="policy", remedy="Nothing was released.")


def load_shown(path: Path, digest: str | None) -> AnyProtocol:
    """The protocol, proven; ReleaseError where its digest is stated and is another one."""
    found = load_protocol(path)
    if digest is not None and found.digest != digest:
        raise ReleaseError(
            "the protocol file has other rules than those that were shown",
            where=str(path),
            remedy="Put back the file that was looked at, or look at this one and state its digest.",
        )
    return found


@dataclass(eq=False)
class Rules:
    """The rules of one release, at the three moments that they can be broken: before, while and after it is drawn."""

    policy: Policy | None
    unknown_anyway: bool = False
    k: int | None = None
    rows: int = 1
    there: dict[str, float] = field(default_factory=dict)
    """Levels by notion at a table where the promise is broken, which is released all the same."""
    _counts: RecordCounts | None = None

    def before(self, protocol: AnyProtocol, rows: int = 1) -> None:
        """Once it is known how many rows of a person are drawn by themselves; before, of one of them."""
        self.rows = rows
        check_policy(self.policy, protocol, rows, k_known=False)

    def watching(self, batches: Iterable[pa.RecordBatch], kernel: BatchSanitiser) -> Iterator[pa.RecordBatch]:
        """The same batches; the kept columns are counted on the way where the policy has a rule for them."""
        if not self.watches(kernel):
            yield from batches
            return
        for batch in batches:
            self.watch(batch, kernel)
            yield batch

    def watches(self, kernel: BatchSanitiser) -> bool:
        """Whether the policy has a rule for the kept columns."""
        return self.policy is not None and self.policy.k is not None and bool(kernel.keep)

    def watch(self, batch: pa.RecordBatch | None, kernel: BatchSanitiser, times: Integers | None = None) -> None:
        """Count the kept columns of records, or of different ones with how often each occurs; None: too many."""
        self._counts = self._counts or RecordCounts((), tuple(map(ValueColumn, kernel.keep)))
        if batch is None:
            self._counts.complete = False
        else:
            self._counts.add(kernel.published(batch), times=times)

    def after(self, protocol: AnyProtocol, tally: Tally) -> None:
        """Once everything was read, and before anything is entered or published."""
        for name, cells in tally.no_numbers.items():
            warnings.warn(f"{name}: {read_as_missing(cells, tally.records)}", NoNumbers, stacklevel=5)
        check_unknown(tally.unknown, tally.records, self.unknown_anyway)
        if self.policy is None:
            return
        counts = self._counts
        if counts is None:
            self.k = tally.records
        else:
            self.k = smallest_cell(counts.kept(), counts.counts) if counts.complete else 1
        check_policy(self.policy, protocol, self.rows, self.k, k_known=True)

    def at(self, there: Mapping[str, float], protocol: AnyProtocol) -> None:
        """Once it is known which levels hold at a table where the promise is broken."""
        self.there = dict(there)
        if there:
            check_policy(self.policy, protocol, self.rows, self.k, k_known=True, there=there)

    @property
    def law(self) -> dict[str, Any] | None:
        """What holds at a table where the promise is broken."""
        levels = [{"notion": name, "epsilon": level} for name, level in self.there.items()]
        return {"accepted": BROKEN, "levels": levels} if levels else None

    def statement(self) -> dict[str, Any]:
        """What may be published: the levels of a table where the promise is broken, the policy, and k of columns that
        are published themselves."""
        said: dict[str, Any] = {"unknown_values": "any number of them accepted"} if self.unknown_anyway else {}
        said |= {} if self.law is None else {"law": self.law}
        if self.policy is not None:
            said["policy"] = {"sha256": self.policy.digest, **({"k": self.k} if self._counts is not None else {})}
        return said


def policy_in_force(given: object) -> Policy | None:
    """The policy itself, the file of this path, or that of the environment."""
    if isinstance(given, Policy):
        return given
    if given is not None and not (given and isinstance(given, str | os.PathLike)):
        raise ParameterError("neither a policy nor a path", where="policy", remedy="Give the path of a policy.toml.")
    return Policy.in_force(given)
