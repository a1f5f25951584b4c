"""One release out of parts: check, draw elsewhere, add up, refuse or enter in the ledger, publish.

The order of steps is that of `sanitise_file`; only who draws is different. A `Carrier` brings the parts of a table to
`drawn_part`, the drafts to `ordered_part`, and what they say back. Nothing that it does or fails to do can publish
anything: files lie in a staged folder until everything that was read was also written, once, and all rules hold.
"""

from __future__ import annotations

import json
import secrets
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import pyarrow as pa

from discreet import exceptions
from discreet.exceptions import DiscreetError, ParameterError, ReleaseError
from discreet.files.atomic_file import uninterrupted
from discreet.files.staged_folder import StagedFolder
from discreet.policy import Policy
from discreet.protocol.strata import AnyProtocol, load_protocol
from discreet.randomness import Keystream, fresh_key
from discreet.records.csvheader import there
from discreet.records.persons import NOT_CHECKED, Rule, Unit, WhoseRows
from discreet.records.source import TIMES, check_names, format_of, kept_for_itself
from discreet.release.batches import BatchSanitiser, ReleaseLaw
from discreet.release.counted_units import ONE_EACH, counts_units, differing_values, not_counted
from discreet.release.id_columns import SAMPLE, id_question, repeated_ids, suspected_ids
from discreet.release.kept_columns import KeptColumns, count_kept, judged_kept, kept_counts, kept_needs, not_given
from discreet.release.keyed_draws import IdentityDigest, KeyedDraw, KeyedDraws, keyed_draws
from discreet.release.ledger import Account, Ledger
from discreet.release.manifest import account_of, statement
from discreet.release.parts import MADE_ID, MOST_CELLS, PartJob, Seal, summed_cells
from discreet.release.readings import Reading
from discreet.release.refusals import Rules, policy_in_force
from discreet.release.sanitise import NO_VALUES, Outcome
from discreet.release.secret_cells import secrets_in
from discreet.release.whose_rows import KEYED, SHARED, RowsAsked, unit_in_force

MANIFEST, PUBLIC_FILE = "_manifest.json", "_public.json"
"""Readers of Parquet folders leave names out that begin so."""
SCHEME: Final = "file://"


class Carrier(Protocol):
    """Who brings parts of a table to other machines."""

    @property
    def schema(self) -> pa.Schema:
        """The columns of the table."""
        ...

    @property
    def buckets(self) -> int:
        """Into how many buckets drafts are dealt: as many as one of them fits into a machine's memory."""
        ...

    def first(self, records: int) -> pa.Table:
        """Some records, so many if there are."""
        ...

    def repeated(self, columns: Sequence[str]) -> str | None:
        """One of these columns in which a value occurs twice, missing ones aside; None where there is no such."""
        ...

    def differing(self, job: PartJob, columns: Sequence[str]) -> int:
        """How many persons have two kinds, of what `person_kinds` makes of these columns."""
        ...

    def number(self, job: PartJob, columns: Sequence[str], folder: Path) -> None:
        """Store what `numbered_part` makes of these columns in the folder."""
        ...

    def count(self, job: PartJob, columns: Sequence[str]) -> Generator[bytes, None, None]:
        """What `counted_part` says of these columns, on a reading of its own; of what is stored, their number."""
        ...

    def carry(self, job: PartJob, columns: Sequence[str], numbered: Path | None) -> Generator[bytes, None, None]:
        """What every part and every file says. With `numbered` the records are those that were stored there."""
        ...


@dataclass(frozen=True)
class PartsRequest:
    """A release in parts: the options of `sanitise`, and the folder it goes `to`."""

    protocol: AnyProtocol | str | PathLike[str]
    to: str | PathLike[str]
    keep: tuple[str, ...] = ()
    keep_anyway: bool = False
    key: str | PathLike[str] | None = None
    identity: str | None = None
    several_rows: bool = False
    ledger: str | PathLike[str] | None = None
    people: str | None = None
    budget: float | None = None
    policy: Policy | str | PathLike[str] | None = None
    unknown_anyway: bool = False
    repeat: bool = False
    rows: RowsAsked = field(default_factory=RowsAsked)

    @property
    def target(self) -> Path:
        name = str(self.to).removeprefix(SCHEME)
        if "://" in name:
            raise ReleaseError(
                "not a path", where=name, remedy="Give a folder that the driver and every worker see, such as a mount."
            )
        if format_of(name) not in (None, "parquet"):
            raise ReleaseError(
                f"{Path(name).suffix} is not what is written: a folder of Parquet files is", where=name,
                remedy="Give the name of a folder, such as one without a suffix.",
            )  # fmt: skip
        return Path(name).absolute()

    def loaded(self) -> tuple[AnyProtocol, Ledger]:
        """The protocol and its ledger: the one named, that beside the file, or that in the user's data folder."""
        if isinstance(self.protocol, str | PathLike):
            path = Path(self.protocol)
            protocol = load_protocol(path)
            if not self.ledger:
                return protocol, Ledger.beside(path, protocol, self.people, repeat=self.repeat)
        else:
            protocol = self.protocol
        return protocol, Ledger.of_user(protocol, self.people, self.ledger, repeat=self.repeat)

    def check_rows(self, protocol: AnyProtocol, carrier: Carrier) -> None:
        """ReleaseError where somebody says whose rows these are and this release would not check it: what it checks is
        that every id of a release with a key occurs once. And where nobody says it, and a column looks as if it did."""
        stated, (unit, _) = protocol.statement.rows, unit_in_force(protocol, self.rows)
        if unit is None and isinstance(stated, WhoseRows):
            unit = Unit(stated.unit, stated.column)
        if unit is not None and (unit.columns != (self.identity,) or self.several_rows):
            raise ReleaseError(
                f"rows are those of a {unit.name}, and in parts only one row for each of them can be released",
                where=", ".join(unit.columns),
                remedy="Make that column the id, with one row each, or release on one machine, which knows the rules.",
            )
        if unit is not None or self.rows.one_row_per_person:
            return
        if self.several_rows and not counts_units(protocol, Unit("person", str(self.identity))):
            choice = f"Release that on one machine, which knows the rules. {ONE_EACH}"
            raise not_counted(protocol, Unit("person", str(self.identity)), None, choice, Rule.tied)
        known = carrier.schema.names
        for one in suspected_ids(carrier.first(SAMPLE), id_question(protocol, self.identity), None):
            if known.count(one.name) > 1 or carrier.repeated([one.name]) is not None:
                raise repeated_ids(one)


@NO_VALUES
def release_in_parts(
    request: PartsRequest, carrier: Carrier, announce: Callable[[Account], None] = lambda account: None
) -> Outcome:
    """Release a table that somebody else carries. `announce` is told what it comes to, or the least, before anything
    is read."""
    rules = Rules(policy_in_force(request.policy), request.unknown_anyway)
    protocol, ledger = request.loaded()
    rules.before(protocol)
    ledger = ledger.under(rules.policy)
    public = protocol.public().encode()
    made = request.key is None and request.identity is None
    if made and request.several_rows:
        raise ParameterError("several rows of one id, and no id", where="several_rows", remedy="Name the id.")
    request.check_rows(protocol, carrier)
    with StagedFolder(request.target) as staged:
        key = str(staged.secret("key", fresh_key()) if made else request.key)
        keyed = keyed_draws(key, MADE_ID if made else request.identity, protocol.digest)
        assert keyed is not None
        announce(ledger.foretold(KeyedDraw(keyed.name, keyed.column), request.budget))
        kernel = BatchSanitiser(protocol, Keystream.fresh(), request.keep, keyed)
        parts = _Assembly(protocol, kernel, keyed, rules, request)
        columns, counted = parts.columns(carrier.schema)
        job = PartJob(
            law=ReleaseLaw.of(protocol), keep=kernel.keep, identity=keyed.column, key=str(Path(key).absolute())
            if not key.startswith("env:") else key, key_name=keyed.name, nonce=secrets.token_bytes(16),
            several_rows=request.several_rows, buckets=carrier.buckets, counted=counted, folder=str(staged.parts),
            schema=kernel.schema(carrier.schema), made=made,
        )  # fmt: skip
        numbered = staged.path / "numbered" if made else None
        if numbered is not None:
            carrier.number(job, columns, numbered)
        seal = Seal.of(job)
        parts.hear(seal, carrier.count(job, columns if made else (keyed.column,)))
        if request.several_rows and (persons := carrier.differing(job, columns)):
            raise differing_values(protocol, persons, keyed.column)
        parts.hear(seal, carrier.carry(job, columns, numbered))
        parts.settle()
        with uninterrupted():
            account = ledger.enter(keyed.draw, request.budget)
            said = {**statement(kernel, False, request.several_rows), **parts.statement(made)}
            said = {**said, **account_of(account), **rules.statement()}
            content = (json.dumps(said, indent=2) + "\n").encode()
            staged.publish(parts.names(), {MANIFEST: content, PUBLIC_FILE: public, **parts.empty(job.schema)})
    tally = kernel.tally
    return Outcome(
        str(request.target), str(request.target / MANIFEST), tally.records, tally.without_letter, 0, account.draws,
        account.epsilon, tally.unknown, account,
    )  # fmt: skip


@dataclass(eq=False)
class _Assembly:
    """What was said so far, and whether it is a release."""

    protocol: AnyProtocol
    kernel: BatchSanitiser
    keyed: KeyedDraws
    rules: Rules
    request: PartsRequest
    files: list[dict[str, Any]] = field(default_factory=list)
    _drawn: list[int] = field(default_factory=lambda: [0, 0])
    _counted: Reading = field(default_factory=Reading)
    _read: Reading = field(default_factory=Reading)
    _cells: pa.Table | None = None
    _too_many: bool = False

    def columns(self, schema: pa.Schema) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The columns to read, and those of them whose combinations are counted for the checks."""
        needs = [name for name in self.kernel.needs if name != MADE_ID]
        for name in (TIMES, MADE_ID):
            if name in self.kernel.keep:
                raise kept_for_itself(name)
        check_names(needs, schema.names)
        there(self.kernel.hidden, schema.names)
        asked, secrets = not_given(self.protocol, self.kernel.keep), secrets_in(self.protocol.joint, schema.names)
        counted: list[str] = []
        self.judges = bool(asked) and secrets is not None
        if self.judges and secrets is not None:
            check_names(secrets, schema.names)
            counted += [name for name in kept_needs(self.protocol, asked) if name in schema.names]
        if self.rules.watches(self.kernel):
            counted += self.kernel.keep
        return tuple(dict.fromkeys([*needs, *counted])), tuple(dict.fromkeys(counted))

    def hear(self, seal: Seal, saying: Generator[bytes, None, None]) -> None:
        with closing(saying) as said_by_all:
            for sealed in said_by_all:
                self.add(*seal.hear(sealed))

    def add(self, said: dict[str, Any], cells: pa.Table | None) -> None:
        if said["kind"] == "refusal":
            kind = getattr(exceptions, said["error"], ReleaseError)
            raise (kind if issubclass(kind, DiscreetError) else ReleaseError)(
                said["what"], where=said["where"], remedy=said["remedy"]
            )
        if said["kind"] == "file":
            self.files.append(said)
            return
        if said["kind"] == "reading":
            self._counted += Reading.heard(said)
            return
        tally, ids = self.kernel.tally, self.keyed.identities
        tally.records += said["records"]
        tally.without_letter += said["without_letter"]
        tally.unknown += said["unknown"]
        for name, missing in said["no_numbers"].items():
            tally.no_numbers[name] = tally.no_numbers.get(name, 0) + missing
        _add_ids(ids, said)
        self._read += Reading.heard({"records": said["records"], "sums": said["read"]})
        self._drawn = [self._drawn[0] + said["records"], (self._drawn[1] + said["places"]) % 2**64]
        self._too_many = self._too_many or said["too_many"]
        if cells is not None and not self._too_many:
            self._cells = cells if self._cells is None else summed_cells([self._cells, cells])
            self._too_many = len(self._cells) > MOST_CELLS

    def settle(self) -> None:
        """Every rule, once everything was read; ReleaseError where what was written is not what was read."""
        self._counted.check(self._read)
        written = [sum(one["records"] for one in self.files), sum(one["places"] for one in self.files) % 2**64]
        if written != self._drawn:
            raise ReleaseError(
                "what was written is not what was read: drafts were lost, changed or read twice",
                where=str(self.request.target),
                remedy="Nothing was released. Release again; if it comes again, look after the folder's file system.",
            )
        cells = None if self._too_many or self._cells is None else self._cells.combine_chunks()
        batches = [] if cells is None else cells.to_batches()
        if self.rules.watches(self.kernel):
            self.rules.watch(None if self._too_many else self.kernel_batch(batches), self.kernel, _times(batches))
        self.rules.after(self.protocol, self.kernel.tally)
        if self.judges:
            asked = not_given(self.protocol, self.kernel.keep)
            each = [kept_counts(self.protocol, asked)]
            for batch in batches:
                count_kept(each[0], self.protocol, batch, _times([batch]))
            if self._too_many:
                told = f"not judged: {', '.join(asked)} have too many combinations"
                warnings.warn(told, KeptColumns, stacklevel=3)
                each = []
            judged_kept(each, self.protocol, self.request.identity, self.request.keep_anyway, stacklevel=3)
        repeated = sum(one["repeated"] for one in self.files)
        if repeated and not self.request.several_rows:
            self.keyed.refuse_repeated(repeated)

    def kernel_batch(self, batches: list[pa.RecordBatch]) -> pa.RecordBatch:
        """The cells as one batch of records that the kernel knows; none where there are no records."""
        if batches:
            return batches[0]
        return pa.record_batch([pa.nulls(0) for _ in self.kernel.keep], names=list(self.kernel.keep))

    def names(self) -> dict[str, str]:
        """The files by the first place in them, which says nothing about the table."""
        ordered = sorted(self.files, key=lambda one: int(one["first"]))
        return {one["name"]: f"part-{number:05}.parquet" for number, one in enumerate(ordered)}

    def statement(self, made: bool) -> dict[str, Any]:
        names = self.names()
        files = [
            {"name": names[one["name"]], **{fact: one[fact] for fact in ("records", "bytes", "sha256")}}
            for one in sorted(self.files, key=lambda one: names[one["name"]])
        ]
        checked = not made and not self.request.several_rows
        said: dict[str, Any] = {"order": "by a keyed hash", "files": files}
        said["rows"] = f"one row per person: checked in the column {self.keyed.column}" if checked else NOT_CHECKED
        if self.request.several_rows:
            told = f"{NOT_CHECKED}; {SHARED} {self.keyed.column}"
            persons = f"{KEYED} {self.keyed.column}, all with one value"
            said["rows"] = told if self.request.rows.one_row_per_person else persons
        if made:
            said["identity"] = {"column": None, "rows": "ids and key made for this release: every record its own draw"}
        return said

    def empty(self, schema: pa.Schema) -> dict[str, bytes]:
        """A file without records, where there are none: it still says which columns there are."""
        if self.files:
            return {}
        import pyarrow.parquet as pq

        sink = pa.BufferOutputStream()
        pq.write_table(schema.empty_table(), sink)
        return {"part-00000.parquet": sink.getvalue().to_pybytes()}


def _times(batches: list[pa.RecordBatch]) -> Any:
    found = [batch.column(batch.schema.get_field_index(TIMES)).to_numpy() for batch in batches]
    return np.concatenate([np.zeros(0, np.int64), *found])


def _add_ids(ids: IdentityDigest, said: dict[str, Any]) -> None:
    ids.count += said["ids"]
    low, high = said["sums"]
    ids.sums = (ids.sums[0] + low) % 2**64, (ids.sums[1] + high) % 2**64
    ids.values = (ids.values + said["values"]) % 2**64
