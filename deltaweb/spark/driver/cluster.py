"""What a session on a cluster needs, found out before the first job.

Spark itself waits for minutes on a master that is not there, and for ever for
executors that never come; what an executor lacks it tells in the words of a traceback.
Here each of these is one sentence, soon.
"""

import importlib
import os
import re
import secrets
import socket
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from pyspark import SparkContext
from pyspark.sql import SparkSession

from deltaweb.errors import DeltawebError
from deltaweb.version import VERSION

CONNECT_TIMEOUT_S: Final = 5
STANDALONE_PORT: Final = 7077
_DEFAULT_PORTS: Final = {"spark": STANDALONE_PORT, "https": 443, "http": 80}
_NOT_SHARED: Final = "not-shared"
_OTHER_VERSION: Final = "other-version"
# The texts of Spark for a Python that does not fit, each with the words that matter.
_PYTHON_FAULTS: Final = (
    re.compile(r"ModuleNotFoundError: (No module named '[\w.]+')"),
    re.compile(r"(PYTHON_VERSION_MISMATCH\] [^\n]*)"),
    re.compile(r"(Cannot run program \"[^\"]*\"[^\n]*)"),
)


class SparkClusterError(DeltawebError, code="spark-cluster"):
    """Base of what keeps jobs from running on a cluster."""

    hint = "See “Spark cluster” in the manual."


class MasterUnsupportedError(SparkClusterError, code="spark-master-unsupported"):
    """The master is of a kind that the pipeline cannot run on."""

    master: str
    message = "Jobs cannot run on the Spark master {master!r}."
    hint = (
        "Set DELTAWEB_SPARK_MASTER to local[*], spark://HOST:PORT, yarn or k8s://URL."
    )


class MasterUnreachableError(SparkClusterError, code="spark-master-unreachable"):
    """Nothing answers at the master's address."""

    master: str
    reason: str
    message = "The Spark master {master} cannot be reached: {reason}."
    hint = "Start the master, or correct DELTAWEB_SPARK_MASTER, then retry."


class NoExecutorsError(SparkClusterError, code="spark-no-executors"):
    """The cluster gives no executor."""

    master: str
    within_s: float
    message = "{master} gave no executor within {within_s:.0f} s."
    hint = (
        "Check whether the cluster has a worker with free cores and memory for an"
        " executor (spark.executor.memory), and whether it reaches this machine."
    )


class ApplicationEndedError(SparkClusterError, code="spark-application-ended"):
    """The cluster ended the session while it was being made."""

    master: str
    reason: str
    message = "{master} ended the session that was starting: {reason}."
    hint = "Check the logs of the cluster's master and workers, then retry."


class ExecutorsUnfitError(SparkClusterError, code="spark-executors-unfit"):
    """An executor lacks what jobs need."""

    reason: str
    message = "The executors cannot run jobs: {reason}."


# === Before the session ===


def is_local(master: str) -> bool:
    """Whether Spark runs on this machine alone."""
    return master.startswith("local")


def find_driver_host(master: str) -> str | None:
    """Return the address of this machine that the master's side of the network sees.

    Returns:
        The address; None where the master has none of its own (`yarn`), so that
        Spark chooses.
    """
    if master == "yarn":
        return None
    addresses = _addresses(master)
    reason = "it has no address"
    for host, port in addresses:
        try:
            with socket.create_connection((host, port), CONNECT_TIMEOUT_S) as probe:
                return str(probe.getsockname()[0])
        except OSError as error:
            reason = f"{host}:{port}: {error.strerror or error}"
    raise MasterUnreachableError(master=master, reason=reason)


def _addresses(master: str) -> list[tuple[str, int]]:
    """The hosts and ports of `spark://a:7077,b:7077` or `k8s://https://a:6443`."""
    kind, _, rest = master.partition("://")
    if kind == "k8s":
        urls = [rest if "://" in rest else f"https://{rest}"]
    elif kind == "spark":
        urls = [f"spark://{place}" for place in rest.split(",")]
    else:
        raise MasterUnsupportedError(master=master)
    try:
        parts = [urlsplit(url) for url in urls]
        return [
            (part.hostname or "", part.port or _DEFAULT_PORTS.get(part.scheme, 443))
            for part in parts
        ]
    except ValueError as error:
        raise MasterUnsupportedError(master=master) from error


# === After it ===


def check_executors(spark: SparkSession, folder: Path, *, within_s: float) -> None:
    """Run a small job that looks for what every later one needs."""
    context = spark.sparkContext
    marker = folder / f".shared-{secrets.token_hex(8)}"
    marker.touch()
    look = _Look(context, str(marker))
    try:
        look.start()
        look.join(within_s)
        if look.is_alive():
            raise NoExecutorsError(master=str(context.master), within_s=within_s)
    finally:
        marker.unlink(missing_ok=True)
    if look.error is not None:
        raise ExecutorsUnfitError(reason=_python_fault(look.error)) from look.error
    if _OTHER_VERSION in look.found:
        raise ExecutorsUnfitError(reason=f"their deltaweb is not version {VERSION}")
    if _NOT_SHARED in look.found:
        reason = f"they cannot write to {folder}, which has to be shared with them"
        raise ExecutorsUnfitError(reason=reason)


class _Look(threading.Thread):
    """The job, in a thread that can be left behind."""

    def __init__(self, context: SparkContext, marker: str) -> None:
        super().__init__(daemon=True, name="executor-check")
        self.error: BaseException | None = None
        self.found: set[str] = set()
        self._context = context
        self._marker = marker

    def run(self) -> None:
        try:
            task = (self._marker, VERSION)
            tasks = [task] * max(1, self._context.defaultParallelism)
            rows = self._context.parallelize(tasks, len(tasks)).mapPartitions(_look)
            self.found = set(rows.collect())
        except BaseException as error:  # noqa: BLE001 (read by the waiting thread)
            self.error = error


def _python_fault(error: BaseException) -> str:
    text = str(error)
    for pattern in _PYTHON_FAULTS:
        if found := pattern.search(text):
            return found[1].strip().rstrip(".")
    return first_line(error)


def first_line(error: BaseException) -> str:
    """Return the line of an error of Spark that says most, without a full stop."""
    lines = [line.strip(" :") for line in str(error).splitlines() if line.strip(" :")]
    own = [line for line in lines if not line.startswith("An error occurred while")]
    return (own or lines or [type(error).__name__])[0][:300].rstrip(".")


def _look(tasks: Iterable[tuple[str, str]]) -> Iterator[str]:
    """In an executor: say what is missing here, if anything is."""
    importlib.import_module("deltaweb.index.build.full")  # with all that it needs
    for marker, version in tasks:
        if version != VERSION:
            yield _OTHER_VERSION
        mine = Path(f"{marker}.{os.getpid()}")
        try:
            shared = Path(marker).exists()
            mine.touch()
            mine.unlink()
        except OSError:
            shared = False
        if not shared:
            yield _NOT_SHARED
