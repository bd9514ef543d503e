"""A Spark standalone cluster from the installed pyspark, on this machine alone."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyspark

from deltaweb.spark.driver.class_archive import reading_options
from deltaweb.spark.driver.java import find_java_home
from tests.support.processes.installation import wait_for
from tests.support.processes.ports import free_port
from tests.support.stores.gated_storage import gated_environment

SPARK_HOME = Path(pyspark.__file__).parent
START_TIMEOUT_S = 120
STOP_TIMEOUT_S = 30
DEPLOY = "org.apache.spark.deploy"
JARS = SPARK_HOME / "jars"
# As Spark's own scripts have it: so the archive of its classes fits.
CLASS_PATH = f"{SPARK_HOME}/conf:{next(JARS.glob('slf4j-api-*.jar'))}:{JARS}/*"


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

    def log(self, name: str) -> str:
        """What the `master` or `worker-0`, ... has printed so far."""
        return (self.folder / f"{name}.log").read_text()

    def executor_logs(self, number: int) -> str:
        """What the executors on a worker have printed so far."""
        logs = sorted((self.folder / f"worker-{number}").glob("app-*/*/stderr"))
        return "".join(log.read_text(errors="replace") for log in logs)


@contextmanager
def running_cluster(folder: Path, *, num_workers: int = 2) -> Iterator[Cluster]:
    """Start a master and workers; stop them by their process ids.

    Executors read tables of `tests.support.stores.gated_storage`, too.
    """
    java_home = find_java_home(folder)
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith("DELTAWEB_")},
        "JAVA_HOME": str(java_home),
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_SCALA_VERSION": "2.13",  # as the scripts of Spark set it
        **gated_environment(folder / "site"),
    }
    cluster = Cluster(f"spark://127.0.0.1:{free_port()}", folder, num_workers)
    processes: list[subprocess.Popen[bytes]] = []

    def start(name: str, *arguments: str) -> None:
        command = (str(java_home / "bin" / "java"), "-Xmx256m", *quick_java().split())
        with (folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                [*command, "-cp", CLASS_PATH, *arguments],
                env=environment,
                cwd=folder,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        processes.append(process)

    place = ("--host", "127.0.0.1", "--webui-port", "0", "--port")
    port = cluster.master.rpartition(":")[2]
    try:
        start("master", f"{DEPLOY}.master.Master", *place, port)
        for number in range(num_workers):
            name = f"worker-{number}"
            size = ("--cores", "1", "--memory", "1g", "--work-dir", str(folder / name))
            start(name, f"{DEPLOY}.worker.Worker", *place, "0", *size, cluster.master)
        assert wait_for(lambda: _is_up(cluster), timeout_s=START_TIMEOUT_S), (
            cluster.log("master")
        )
        yield cluster
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            try:
                process.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _is_up(cluster: Cluster) -> bool:
    names = [f"worker-{number}" for number in range(cluster.num_workers)]
    return all("Successfully registered" in cluster.log(name) for name in names)
