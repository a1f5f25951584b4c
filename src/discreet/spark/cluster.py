"""Spark as it is found: is there a Java, the right pyspark, a master that answers; a session, and its settings.

Whatever is missing is said in one line before Spark, which would say it in two hundred.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from discreet.exceptions import InOwnWords, ParameterError, ReleaseError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

OLDEST_SPARK, OLDEST_JAVA = 4, 17
ANSWER_SECONDS: Final = 5.0
MASTER_PORT: Final = 7077
"""Versions that were tried, Java's as Spark 4 asks for it; a wait for a master that may not be there; Spark's port."""
ENCRYPTION: Final = "spark.io.encryption.enabled"
SETTINGS: Final[dict[str, str]] = {
    ENCRYPTION: "true",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}
"""Of a session that is started here: what Spark itself writes to disk while it counts is encrypted."""
BATCHES: Final[dict[str, str]] = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(1 << 17),
    "spark.sql.execution.arrow.maxBytesPerBatch": str(1 << 26),
    "spark.sql.execution.arrow.useLargeVarTypes": "false",
}
"""While frames are carried: batches that are worth the way to Python and back."""


class OpenShuffles(UserWarning):
    """A session whose shuffle files are not encrypted."""


def require_spark() -> None:
    """ParameterError, in one line, where Spark cannot run."""
    try:
        found = version("pyspark")
    except PackageNotFoundError:
        raise ParameterError("Spark needs pyspark", where="spark", remedy="pip install 'discreet[spark]'.") from None
    if int(found.split(".")[0]) < OLDEST_SPARK:
        raise ParameterError(
            f"pyspark {found} is too old", where="spark", remedy=f"pip install 'pyspark>={OLDEST_SPARK}'."
        )


def require_java() -> None:
    """ParameterError, in one line, where there is no Java that Spark can run on."""
    remedy = f"Install Java {OLDEST_JAVA} (Debian: openjdk-17-jre-headless), or set JAVA_HOME."
    home = os.environ.get("JAVA_HOME", "")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if java is None or not os.access(java, os.X_OK):
        raise ParameterError("Spark needs Java, and there is none", where=home or "PATH", remedy=remedy)
    with suppress(OSError, subprocess.TimeoutExpired):
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60).stderr
        number = re.search(r'version "(?:1\.)?(\d+)', said)
        if number and int(number[1]) < OLDEST_JAVA:
            raise ParameterError(f"Java {number[1]} is too old for Spark", where=java, remedy=remedy)


def require_master(master: str) -> None:
    """ReleaseError, in one line, where nobody answers at a standalone master's address."""
    if not master.startswith("spark://"):
        return
    for address in master.removeprefix("spark://").split(","):
        host, _, port = address.rpartition(":")
        with suppress(OSError, ValueError):
            socket.create_connection((host or address, int(port or MASTER_PORT)), ANSWER_SECONDS).close()
            return
    raise ReleaseError(
        "no Spark master answers there", where=master, remedy="Check the address; start-master.sh prints it."
    )


def session(master: str | None = None, settings: Mapping[str, str] | None = None) -> SparkSession:
    """A session that encrypts what Spark writes to its disks; the one there is, if there is one.

    Python on the workers is this one unless PYSPARK_PYTHON says otherwise.

    Arguments:
        master: the address of a cluster; one on this machine if not given.
        settings: of Spark, beside ours.
    Returns:
        A `SparkSession`.
    Raises:
        ParameterError: no pyspark or Java, or too old ones.
        ReleaseError: no master answers at this address.
    Example:
        >>> import discreet.spark  # doctest: +SKIP
        >>> discreet.spark.session("local[2]").version  # doctest: +SKIP
    """
    require_spark()
    require_java()
    require_master(master or "")
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None and not master and not settings:
        return active
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder: Any = SparkSession.builder
    builder = builder.appName("discreet")
    if master:
        builder = builder.master(master)
    for name, value in {**SETTINGS, **(settings or {})}.items():
        builder = builder.config(name, value)
    with spark_words("the session"), quiet():
        made: SparkSession = builder.getOrCreate()
        return made


def session_of(df: Any) -> SparkSession:
    """The session of a frame; ParameterError for anything that is no frame of Spark, or one that never ends."""
    require_spark()
    from pyspark.sql import DataFrame

    if not isinstance(df, DataFrame):
        raise ParameterError(
            f"a {type(df).__name__} is no frame of Spark", where="df", remedy="Read the table with spark.read."
        )
    if df.isStreaming:
        raise ParameterError("a stream has no end", where="df", remedy="Release a table that was stored.")
    return df.sparkSession


def warn_open_shuffles(spark: SparkSession) -> None:
    """A count by groups sends values between machines, over the disks of Spark."""
    if str(spark.conf.get(ENCRYPTION, "false")).lower() != "true":
        warnings.warn(
            f"Spark writes what it groups to its disks in the clear: start the session with {ENCRYPTION}=true",
            OpenShuffles,
            stacklevel=4,
        )


@contextmanager
def carrying(spark: SparkSession) -> Iterator[None]:
    """Settings while frames are carried; afterwards they are what they were."""
    before = {name: spark.conf.get(name, None) for name in BATCHES}
    try:
        for name, value in BATCHES.items():
            spark.conf.set(name, value)
        with quiet():
            yield
    finally:
        for name, old in before.items():
            if old is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, old)


@contextmanager
def quiet() -> Iterator[None]:
    """Without pyspark's advice about pandas: no frame of pandas is made here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*pandas.*", category=FutureWarning)
        yield


def spark_words(where: str) -> InOwnWords:
    """Spark's messages quote records and settings."""

    def told(error: Exception) -> ReleaseError:
        remedy = "Nothing was released. Spark's own log says more."
        return ReleaseError(f"Spark broke off ({type(error).__name__})", where=where, remedy=remedy)

    return InOwnWords(told)


def chosen(df: DataFrame, columns: tuple[str, ...] | list[str]) -> DataFrame:
    """These columns, whatever signs are in their names."""
    from pyspark.sql import functions

    return df.select(*(functions.col(f"`{name.replace('`', '``')}`") for name in columns))
