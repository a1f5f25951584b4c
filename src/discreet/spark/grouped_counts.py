"""`discreet.spark.joint` and `.estimate`: one groupBy, and what one machine does with its counts.

A frame comes down to its different rows with how often each occurs; from there on `records` and `estimate` count as
they always do, so that letters, groupings, strata and refusals are the same, and so is the digest of a protocol.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from discreet.estimate.estimation import estimate
from discreet.estimate.release_model import model_of
from discreet.estimate.result import Estimate
from discreet.exceptions import AlphabetError
from discreet.given_columns import StratifiedJoint
from discreet.joint import Joint
from discreet.protocol.strata import AnyProtocol, StratifiedProtocol
from discreet.records.counting import MOST_CELLS
from discreet.records.grouping import Grouping
from discreet.records.source import TIMES, Weighted, check_names
from discreet.spark.cluster import carrying, chosen, session_of, spark_words, warn_open_shuffles

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def joint_of_frame(
    df: DataFrame,
    *,
    secret: str | Sequence[str],
    release: str | Sequence[str],
    given: str | Sequence[str] = (),
    group: Grouping | None = None,
    include_secret: bool = False,
) -> Joint | StratifiedJoint:
    """`dc.Joint.from_table` of a frame of Spark, by one groupBy.

    Arguments:
        df: a frame.
        secret, release: the columns of S and of X.
        given: columns that are published as they are.
        group: bins and merges, without what is learnt from the table.
        include_secret: X contains the secret as well.
    Returns:
        A `Joint`, or a `StratifiedJoint`.
    Raises:
        ParameterError: no frame of Spark, or a stream.
        AlphabetError: a column that it does not have, or too many combinations.
    Example:
        >>> import discreet.spark  # doctest: +SKIP
        >>> df = discreet.spark.session().read.parquet("table")  # doctest: +SKIP
        >>> discreet.spark.joint(df, secret="sex", release="education").n  # doctest: +SKIP
    """
    warn_open_shuffles(session_of(df))
    columns = [name for names in (secret, release, given) for name in ((names,) if isinstance(names, str) else names)]
    options: Any = {"given": given} if given else {}
    options |= {"include_secret": include_secret, "group": group}
    found: Joint | StratifiedJoint = Joint.from_table(grouped(df, columns), secret=secret, release=release, **options)
    return found


def estimate_frame(df: DataFrame, protocol: AnyProtocol, *, column: str | None = None, **options: Any) -> Estimate:
    """`dc.estimate` of a released frame of Spark, by one groupBy; a release is public, and so are its counts.

    Arguments:
        df: a released frame.
        protocol: the one it was made with.
        column: the released column, where its name is another.
        options: those of `dc.estimate`.
    Returns:
        An `Estimate`.
    Raises:
        ParameterError: no frame of Spark, or a stream.
        TableError: a value in the release that is no output of the protocol.
    Example:
        >>> import discreet as dc, discreet.spark, pyarrow as pa  # doctest: +SKIP
        >>> df = discreet.spark.session().read.parquet("released")  # doctest: +SKIP
        >>> discreet.spark.estimate(df, dc.PublicProtocol.load("public.json")).frequencies  # doctest: +SKIP
    """
    first = protocol.first if isinstance(protocol, StratifiedProtocol) else protocol
    given = [one.name for one in protocol.given] if isinstance(protocol, StratifiedProtocol) else []
    return estimate(grouped(df, [*model_of(first, column=column).columns, *given]), protocol, column=column, **options)


def grouped(df: DataFrame, columns: Sequence[str]) -> Weighted:
    """The different rows of these columns, each with how often it occurs."""
    from pyspark.sql import functions

    spark = session_of(df)
    with spark_words("the table"), carrying(spark):
        check_names(columns, df.columns)
        narrow = chosen(df, list(columns)).toDF(*(f"c{place}" for place in range(len(columns))))
        counted = narrow.groupBy(*narrow.columns).agg(functions.count(functions.lit(1)).alias(TIMES))
        found: pa.Table = counted.limit(MOST_CELLS + 1).toArrow()
    if len(found) > MOST_CELLS:
        raise AlphabetError(
            f"more than {MOST_CELLS:,} different combinations",
            where=", ".join(columns),
            remedy="Use fewer columns, or columns of fewer values: round or bin numbers in the frame.",
        )
    return Weighted(found.rename_columns([*columns, TIMES]).combine_chunks())
