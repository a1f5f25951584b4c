"""A standalone cluster on this machine, from the pip package: one master, workers that can be killed and replaced."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from discreet.exceptions import DiscreetError
from discreet.spark.cluster import require_java, require_spark

PARENT_DEATH_SIGNAL = 1
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Java that starts soon: tests are short."""
WAITING_SECONDS = 600
LOGGING = """
appender.file.type = File
appender.file.name = file
appender.file.fileName = {log}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d %p %c: %m%n%ex
rootLogger.level = info
rootLogger.appenderRef.file.ref = file
"""


def missing() -> str:
    """Why Spark cannot run here; nothing if it can."""
    try:
        require_spark()
        require_java()
    except DiscreetError as error:
        return str(error)
    return ""


class Cluster:
    """Every process is the leader of a group of its own, so that its executors end with it."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        self.folder = folder
        found = find_spec("pyspark")
        assert found is not None
        assert found.origin is not None
        self.home = Path(found.origin).parent
        self.port = _free_port()
        self.master = f"spark://127.0.0.1:{self.port}"
        (folder / "local").mkdir(parents=True)
        (folder / "events").mkdir()
        self._processes: list[subprocess.Popen[bytes]] = []
        where = ["--host", "127.0.0.1", "--port", str(self.port), "--webui-port", "0"]
        self._started("master", "org.apache.spark.deploy.master.Master", where)
        wait_for(lambda: _answers(self.port), "a master")
        self.workers = [self.add_worker() for _ in range(workers)]

    def _started(self, name: str, kind: str, arguments: list[str]) -> subprocess.Popen[bytes]:
        variables = {
            **os.environ, "SPARK_HOME": str(self.home), "SPARK_LOCAL_DIRS": str(self.folder / "local"),
            "SPARK_DAEMON_MEMORY": "256m", "SPARK_NO_DAEMONIZE": "1", "PYSPARK_PYTHON": sys.executable,
            "SPARK_LOCAL_IP": arguments[1], "SPARK_DAEMON_JAVA_OPTS": QUICK,
        }  # fmt: skip
        log = (self.folder / f"{name}.log").open("wb")
        process = subprocess.Popen(
            [str(self.home / "bin" / "spark-class"), kind, *arguments],
            env=variables, stdout=log, stderr=log, start_new_session=True, preexec_fn=_die_with_parent,
        )  # fmt: skip
        self._processes.append(process)
        return process

    def add_worker(self) -> subprocess.Popen[bytes]:
        name = f"worker{len(self._processes)}"
        host = f"127.0.0.{1 + len(self._processes)}"  # an attempt is speculative on another host only
        arguments = ["--host", host, "--cores", "1", "--memory", "1g", "--webui-port", "0"]
        arguments += ["--work-dir", str(self.folder / name), self.master]
        process = self._started(name, "org.apache.spark.deploy.worker.Worker", arguments)
        log = self.folder / f"{name}.log"
        wait_for(lambda: "Successfully registered with master" in log.read_text(errors="replace"), "a worker")
        return process

    def kill_worker(self) -> None:
        """The first worker and its executors, as by a power cut; `restore` puts another in its place."""
        process = self.workers.pop(0)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def restore(self) -> None:
        self.workers.append(self.add_worker())

    def settings(self, log: Path) -> dict[str, str]:
        """Of a session that retries, speculates, and writes down everything it can."""
        logging = self.folder / "log4j2.properties"
        logging.write_text(LOGGING.format(log=log))
        return {
            "spark.eventLog.enabled": "true", "spark.eventLog.dir": f"file://{self.folder / 'events'}",
            "spark.eventLog.compress": "false", "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1", "spark.local.dir": str(self.folder / "local"),
            "spark.driver.extraJavaOptions": f"{QUICK} -Dlog4j2.configurationFile=file:{logging}",
            "spark.executor.extraJavaOptions": QUICK,
            "spark.speculation": "true", "spark.speculation.interval": "100ms", "spark.speculation.multiplier": "1.5",
            "spark.speculation.quantile": "0.5", "spark.speculation.minTaskRuntime": "500ms",
            "spark.executor.memory": "600m", "spark.driver.memory": "600m", "spark.log.level": "INFO",
            "spark.sql.shuffle.partitions": "4", "spark.ui.enabled": "false", "spark.task.maxFailures": "4",
        }  # fmt: skip

    def stop(self) -> None:
        for process in reversed(self._processes):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        shutil.rmtree(self.folder / "local", ignore_errors=True)


def _die_with_parent() -> None:
    """A test run that is killed leaves no cluster behind (Linux; elsewhere it must be stopped)."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def wait_for(true: Callable[[], bool], what: str = "what a test waits for", pause: float = 0.02) -> None:
    """Until something is so; the time is only there to end a test that waits in vain."""
    deadline = time.monotonic() + WAITING_SECONDS
    while not true():
        if time.monotonic() > deadline:
            raise TimeoutError(f"no sign of {what}")
        time.sleep(pause)
