"""`discreet.spark.sanitise`: a frame of Spark is released into a folder of Parquet files. No lazy frame is returned.

Of the frame it takes the ids to count them, and the columns that are needed to draw; `exchange` has the rest of it. A
table that is named by its path is read by the workers themselves, once (`folder_carrier`), which is faster.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from discreet.policy import Policy
from discreet.protocol.strata import AnyProtocol
from discreet.release.assembly import PartsRequest, release_in_parts
from discreet.release.ledger import Account
from discreet.release.parts import PartJob, numbered_part
from discreet.release.sanitise import Job, Outcome
from discreet.release.whose_rows import RowsAsked
from discreet.spark.cluster import carrying, chosen, session, session_of, spark_words
from discreet.spark.exchange import (
    SAID,
    DrawingPart,
    IdTexts,
    PersonKinds,
    buckets_of,
    counted_parts,
    differing_persons,
    exchanged,
    part_number,
    repeated_ids_in,
    said_rows,
)
from discreet.spark.folder_carrier import FolderCarrier, path_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def sanitise_frame(
    df: DataFrame | str | PathLike[str],
    protocol: AnyProtocol | str | PathLike[str],
    *,
    to: str | PathLike[str],
    key: str | PathLike[str] | None = None,
    identity: str | None = None,
    keep: Sequence[str] = (),
    keep_anyway: bool = False,
    several_rows: bool = False,
    ledger: str | PathLike[str] | None = None,
    people: str | None = None,
    budget: float | None = None,
    policy: Policy | str | PathLike[str] | None = None,
    unknown_anyway: bool = False,
    repeat: bool = False,
    person: str | None = None,
    household: str | None = None,
    rows: str | None = None,
    one_row_per_person: bool = False,
    announce: Callable[[Account], None] = lambda account: None,
) -> Outcome:
    """Release a frame of Spark into a folder: Parquet files and `_manifest.json`.

    The driver and every worker must see `to`, and the `key`, under the same name: a mounted folder and a secret file,
    or for the key `env:NAME`, a variable of the environment on all of them. With `key` and `identity` the draws repeat;
    without both, ids and a key are made for this release, the records stored with them, sealed, and then drawn.

    Arguments:
        df: a frame, or the path of Parquet files, one or a folder, which the workers then read themselves: faster.
        protocol: what was proven, or the path of its file.
        to: the folder, which must not be there yet.
        announce: is told what the release comes to before anything is written.
        ledger: the file named, the one beside the protocol if that is a path, or one in the user's data folder.
        …: those of `discreet.release.sanitise`.
    Returns:
        An `Outcome`.
    Raises:
        ReleaseError: whatever stops a release; nothing was published.
        BudgetError: a release that would tell more than the budget.
    Example:
        >>> import discreet.spark  # doctest: +SKIP
        >>> df = discreet.spark.session().read.parquet("table")  # doctest: +SKIP
        >>> discreet.spark.sanitise(df, "protocol.json", to="released").records  # doctest: +SKIP
    """
    request = PartsRequest(
        protocol, to, tuple(keep), keep_anyway, key, identity, several_rows, ledger, people, budget, policy,
        unknown_anyway, repeat, RowsAsked(person, household, rows, one_row_per_person),
    )  # fmt: skip
    path = path_of(df)
    carrier = FrameCarrier(df) if path is None else FolderCarrier(session(), path)  # type: ignore[arg-type]
    return release_in_parts(request, carrier, announce)


def sanitise_path(job: Job, master: str | None, announce: Callable[[Account], None]) -> Outcome:
    """`sanitise_frame` for a command: Parquet, a file or a folder, by a session of its own."""
    spark = session(master)
    try:
        return sanitise_frame(
            job.source, job.protocol, to=job.target, key=job.key, identity=job.identity, keep=job.keep,
            keep_anyway=job.keep_anyway, several_rows=job.several_rows, people=job.data, budget=job.budget,
            policy=job.policy, unknown_anyway=job.unknown_anyway, repeat=job.repeat, announce=announce,
            **asdict(job.rows),
        )  # fmt: skip
    finally:
        spark.stop()


@dataclass(frozen=True, eq=False)
class FrameCarrier:
    """Carries the parts of a frame."""

    frame: DataFrame

    @cached_property
    def schema(self) -> pa.Schema:
        spark = session_of(self.frame)
        with spark_words("the table"), carrying(spark):
            return self.frame.limit(0).toArrow().schema

    def first(self, records: int) -> pa.Table:
        with spark_words("the table"), carrying(session_of(self.frame)):
            return self.frame.limit(records).toArrow()

    def repeated(self, columns: Sequence[str]) -> str | None:
        with spark_words("the table"), carrying(session_of(self.frame)):
            found = (name for name in columns if repeated_ids_in(chosen(self.frame, [name]), IdTexts()))
            return next(found, None)

    def differing(self, job: PartJob, columns: Sequence[str]) -> int:
        with spark_words("the table"), carrying(session_of(self.frame)):
            return differing_persons(chosen(self.frame, list(columns)), PersonKinds(job))

    @cached_property
    def buckets(self) -> int:
        return buckets_of(session_of(self.frame))

    def number(self, job: PartJob, columns: Sequence[str], folder: Path) -> None:
        with spark_words("the table"), carrying(session_of(self.frame)):
            numbered = chosen(self.frame, list(columns)).mapInArrow(_NumberedPart(job), SAID)
            numbered.write.option("compression", "none").parquet(str(folder))

    def count(self, job: PartJob, columns: Sequence[str]) -> Generator[bytes, None, None]:
        with spark_words("the table"), carrying(session_of(self.frame)):
            yield from counted_parts(chosen(self.frame, list(columns)), job)

    def carry(self, job: PartJob, columns: Sequence[str], numbered: Path | None) -> Generator[bytes, None, None]:
        spark = session_of(self.frame)
        with spark_words("the table"), carrying(spark):
            source = chosen(self.frame, list(columns)) if numbered is None else spark.read.parquet(str(numbered))
            yield from exchanged(source, DrawingPart(job), job)


@dataclass(frozen=True, eq=False)
class _NumberedPart:
    """What a worker does with records that have no id."""

    job: PartJob

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return said_rows(numbered_part(self.job, batches, part_number()))
