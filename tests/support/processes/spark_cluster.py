"""A Spark standalone cluster from the installed pyspark, on this machine alone.

Its master and its workers run in the JVM of a session that is there: each JVM more is
a start. What they start, they start as ever: executors are processes of their own.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deltaweb.spark.driver.class_archive import reading_options
from deltaweb.spark.driver.java import find_java_home

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HOST = "127.0.0.1"
ANY_PORT = 0
WORKER_CORES, WORKER_MEMORY_MB = 1, 1024


def quick_java() -> str:
    """Options of a JVM that starts quickly, in one line."""
    options = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    with tempfile.TemporaryDirectory() as folder:  # which a Java of a package needs
        return options + reading_options(find_java_home(Path(folder)))


@dataclass(frozen=True)
class Cluster:
    """A running master and its workers, of one core each."""

    master: str
    folder: Path
    num_workers: int

    def executor_logs(self, number: int) -> str:
        """What the executors on a worker have printed so far, behind their commands."""
        logs = sorted((self.folder / f"worker-{number}").glob("app-*/*/stderr"))
        return "".join(log.read_text(errors="replace") for log in logs)


@contextmanager
def running_cluster(
    spark: "SparkSession", folder: Path, *, num_workers: int = 2
) -> Iterator[Cluster]:
    """Start a master and workers, and stop them with their executors.

    Args:
        spark: Whose JVM they run in. Executors have the variables of that JVM, too.
        folder: Where the workers keep what executors leave.
        num_workers: How many there are.
    """
    # There is no public way to the JVM.
    jvm: Any = spark._jvm  # noqa: SLF001
    gateway: Any = spark.sparkContext._gateway  # noqa: SLF001
    deploy, option = jvm.org.apache.spark.deploy, jvm.scala.Option
    conf = jvm.org.apache.spark.SparkConf(False)  # noqa: FBT003  # no properties of the JVM
    started = deploy.master.Master.startRpcEnvAndEndpoint(
        HOST, ANY_PORT, ANY_PORT, conf
    )
    running = [started._1()]  # noqa: SLF001  # of Scala's tuple
    try:
        master: str = running[0].address().toSparkURL()
        addresses = gateway.new_array(jvm.java.lang.String, 1)
        addresses[0] = master
        for number in range(num_workers):
            size = (WORKER_CORES, WORKER_MEMORY_MB)
            place = str(folder / f"worker-{number}")
            started = deploy.worker.Worker.startRpcEnvAndEndpoint(
                *(HOST, ANY_PORT, ANY_PORT, *size, addresses, place),
                *(option.apply(number), conf, option.empty()),
            )
            running.append(started)
        yield Cluster(master, folder, num_workers)
    finally:
        for environment in reversed(running):
            environment.shutdown()
            environment.awaitTermination()
