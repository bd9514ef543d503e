"""The same jobs on a real standalone cluster, by one setting alone."""

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import sysconfig
import threading
import time
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from tests.support import cases, matrix
from tests.support.index.index_builds import build_index
from tests.support.index.index_folders import open_index
from tests.support.processes.installation import ROOT, wait_for
from tests.support.processes.ports import free_port
from tests.support.processes.spark_cluster import Cluster, running_cluster
from tests.support.processes.spark_worker import (
    add_gated,
    all_have_ended,
    indexes,
    jobs,
    new_home,
    queue_spark_jobs,
    quick_starts,
    worker,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TIMEOUT_S = 240  # a start takes many seconds on a busy machine
TABLES = ("orders", "customers", "returns")
INDEX_TABLES = """
from deltaweb.environment.own_process import prepare_process
prepare_process()
import json, sys
from pathlib import Path
from deltaweb.spark.pipeline import IndexRequest, index_tables
from deltaweb.spark.driver.session import SparkOptions, get_spark, stop_session
from deltaweb.storage.place import TablePlace
given = json.loads(sys.argv[1])
folder = Path(given["folder"])
options = SparkOptions(
    master=given["master"], folder=folder / "spark", driver_memory="512m",
    executors_within_s=given["within_s"],
)
requests = [
    IndexRequest(place=TablePlace(location), folder=str(folder / "index" / str(number)))
    for number, location in enumerate(given["locations"])
]
results = {}
try:
    spark = get_spark(options)
    index_tables(
        spark, requests, results.__setitem__, scratch=folder / "runs"
    )
    print(json.dumps([results[n].to_json() for n in range(len(requests))]))
except Exception as error:
    print(json.dumps([type(error).__name__, error.message, error.hint]))
stop_session()
"""


@pytest.fixture(scope="module")
def cluster(
    spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    with running_cluster(spark, tmp_path_factory.mktemp("cluster")) as started:
        yield started


def by_path(files: pa.Table) -> list[dict[str, object]]:
    """Rows of an index in one order: tasks end in any."""
    return files.sort_by("path").to_pylist()


def index_in_a_process(
    folder: Path, master: str, *locations: Path, within_s: float = 180, **extra: str
) -> Any:  # noqa: ANN401 (any JSON)
    """Index tables as a worker does, by a driver of its own."""
    given = {
        "folder": str(folder),
        "master": master,
        "locations": [str(location) for location in locations],
        "within_s": within_s,
    }
    done = subprocess.run(
        [sys.executable, "-c", INDEX_TABLES, json.dumps(given)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
        env=plain_environment() | quick_starts() | extra,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def plain_environment() -> dict[str, str]:
    """The environment without what a session of this process has set."""
    set_here = ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "SPARK_LOCAL_IP")
    return {k: v for k, v in os.environ.items() if k not in set_here}


# === On the cluster ===


class TestTheCluster:
    @pytest.mark.timeout(900)  # many jobs, and a start of everything
    @cases(
        "num_executors, large, kinds",
        {
            "one executor": (1, 1 << 30, ()),
            "two executors": (
                *(2, 0),
                ("diff_rows", "profile_column", "write_checkpoint"),
            ),
        },
        often=["one executor"],  # threads of one machine do all in other tests
    )
    def test_does_a_workers_jobs_as_the_in_process_engine_does(  # noqa: PLR0913, PLR0917 (a case)
        self,
        cluster: Cluster,
        lake: Path,
        tmp_path: Path,
        num_executors: int,
        large: int,
        kinds: tuple[str, ...],
    ) -> None:
        """With the settings, and the executors, that the readme tells of."""
        if kinds:
            shutil.copytree(lake / "orders", tmp_path / "lake" / "orders")
        home = new_home(tmp_path, lake)
        names = ("customers", "returns")[:num_executors]
        slow = [add_gated(home, lake / name) for name in names]
        sizes = {
            "DELTAWEB_SPARK_REPLAY_BYTES": str(large),
            "DELTAWEB_SPARK_DIFF_BYTES": "0",
        }
        exported = readme_settings(
            {
                "/mnt/deltaweb": str(home),
                "/opt/deltaweb/bin/python": str(other_python(tmp_path)),
                "/etc/deltaweb/spark": str(
                    new_defaults(tmp_path, cores=str(num_executors))
                ),
                "spark://master.example:7077": cluster.master,
            }
        )

        with worker(home, **exported, **sizes):
            log = home / "worker.log"
            # Each executor has one core: all are at work.
            all_read = wait_for(
                lambda: all(gate.has_reader for gate in slow), timeout_s=TIMEOUT_S
            )
            assert all_read, log.read_text()
            for gate in slow:
                gate.open()
            assert wait_for(lambda: all_have_ended(home), timeout_s=TIMEOUT_S), (
                log.read_text()
            )
            if kinds:
                queue_spark_jobs(home, "orders", *kinds)
            assert wait_for(lambda: all_have_ended(home), timeout_s=TIMEOUT_S), (
                log.read_text()
            )

        assert {job["kind"]: (job["state"], job["error"]) for job in jobs(home)} == {
            f"tables.{kind}": ("DONE", "") for kind in ("index_log", *kinds)
        }
        for name, there in indexes(home).items():
            place = tmp_path / "lake" / name
            if name.startswith("slow_"):
                place = tmp_path / "gated" / name.removeprefix("slow_")
            folder = tmp_path / "here" / name
            here = build_index(str(place), None, folder)
            assert there.summary["num_files"] == here.num_files
            assert by_path(there.files) == by_path(open_index(folder).files)
        parts = tmp_path.glob(f"lake/orders/_delta_log/{21:020d}.checkpoint.*.parquet")
        assert len(list(parts)) == 2 * kinds.count("write_checkpoint")
        logs = [cluster.executor_logs(number) for number in range(cluster.num_workers)]
        assert sum("-Xmx768M" in log for log in logs) == num_executors

    @matrix(
        "lacks", ["memory", "package"], often=[]
    )  # a local session says both, below
    def test_says_what_is_missing(self, cluster, lake, tmp_path, lacks):
        if lacks == "memory":
            defaults = new_defaults(tmp_path, memory="900g")
            extra = {"SPARK_CONF_DIR": str(defaults)}
            expected = ("NoExecutorsError", "gave no executor within 1 s")
        else:
            defaults = new_defaults(tmp_path, cores="1")  # one executor says it
            python = other_python(tmp_path, has_package=False)
            extra = {"SPARK_CONF_DIR": str(defaults), "PYSPARK_PYTHON": str(python)}
            expected = ("ExecutorsUnfitError", "No module named 'deltaweb'")
        within_s = 1 if lacks == "memory" else 180

        kind, message, hint = index_in_a_process(
            tmp_path, cluster.master, lake / "orders", within_s=within_s, **extra
        )

        assert kind == expected[0]
        assert expected[1] in message
        assert hint


# === Without one ===


class TestAMasterThatIsNotThere:
    @pytest.mark.exhaustive  # every run asks for its address, below
    def test_ends_the_job_at_once_in_one_sentence(self, lake: Path, tmp_path: Path):
        home = new_home(tmp_path, lake, *TABLES)
        master = f"spark://127.0.0.1:{free_port()}"

        with worker(home, DELTAWEB_SPARK_MASTER=master):
            ended = wait_for(lambda: all_have_ended(home), timeout_s=TIMEOUT_S)
            assert ended, (home / "worker.log").read_text()

        for job in jobs(home):
            assert (job["state"], job["error_code"]) == (
                "FAILED",
                "spark-master-unreachable",
            )
            assert job["error"].startswith(
                f"The Spark master {master} cannot be reached"
            )
            assert "DELTAWEB_SPARK_MASTER" in job["error_hint"]


class TestFindDriverHost:
    def test_is_the_address_from_which_the_master_is_reached(self) -> None:
        from deltaweb.spark.driver.cluster import find_driver_host

        with socket.create_server(("127.0.0.1", 0)) as master:
            port = master.getsockname()[1]

            assert find_driver_host(f"spark://127.0.0.1:{port}") == "127.0.0.1"
            several = f"spark://127.0.0.1:{free_port()},127.0.0.1:{port}"
            assert find_driver_host(several) == "127.0.0.1"
            assert find_driver_host(f"k8s://https://127.0.0.1:{port}") == "127.0.0.1"

    def test_is_left_to_spark_on_yarn(self) -> None:
        from deltaweb.spark.driver.cluster import find_driver_host

        assert find_driver_host("yarn") is None

    @pytest.mark.parametrize(
        "master",
        [
            pytest.param("sc://host:15002", id="Spark Connect has no tasks of ours"),
            pytest.param("spark://host:port", id="no port"),
            pytest.param("nonsense", id="no master"),
        ],
    )
    def test_refuses_a_master_that_jobs_cannot_run_on(self, master: str) -> None:
        from deltaweb.spark.driver.cluster import (
            MasterUnsupportedError,
            find_driver_host,
        )

        with pytest.raises(MasterUnsupportedError, match="DELTAWEB_SPARK_MASTER"):
            find_driver_host(master)

    def test_does_not_wait_for_minutes(self) -> None:
        from deltaweb.spark.driver.cluster import (
            MasterUnreachableError,
            find_driver_host,
        )

        started = time.monotonic()
        with pytest.raises(MasterUnreachableError, match=r"127\.0\.0\.1"):
            find_driver_host(f"spark://127.0.0.1:{free_port()}")

        assert time.monotonic() - started < 60  # Spark itself would try for longer


class TestCheckExecutors:
    def test_is_content_with_executors_that_have_everything(self, spark, tmp_path):
        from deltaweb.spark.driver.cluster import check_executors

        check_executors(spark, tmp_path, within_s=60)

        assert list(tmp_path.iterdir()) == []

    def test_waits_as_long_as_it_is_told_to(self, spark, tmp_path):
        from deltaweb.spark.driver.cluster import NoExecutorsError, check_executors

        with pytest.raises(NoExecutorsError, match="gave no executor within 0 s"):
            check_executors(spark, tmp_path, within_s=0)

        for thread in threading.enumerate():
            if thread.name == "executor-check":  # what is left behind ends by itself
                thread.join(TIMEOUT_S)
        assert list(tmp_path.iterdir()) == []

    def test_asks_for_the_same_version(self, spark, tmp_path, monkeypatch):
        from deltaweb.spark.driver import cluster

        monkeypatch.setattr(cluster, "VERSION", "9.9.9")

        with pytest.raises(cluster.ExecutorsUnfitError, match=r"not version 9\.9\.9"):
            cluster.check_executors(spark, tmp_path, within_s=60)

    def test_asks_for_our_packages(self, spark, tmp_path, monkeypatch):
        from deltaweb.spark.driver.cluster import ExecutorsUnfitError, check_executors

        python = other_python(tmp_path, has_package=False)
        monkeypatch.setattr(spark.sparkContext, "pythonExec", str(python))

        with pytest.raises(ExecutorsUnfitError, match="No module named"):
            check_executors(spark, tmp_path, within_s=60)

    def test_asks_for_a_shared_folder(self, spark, tmp_path, monkeypatch):
        from deltaweb.spark.driver.cluster import ExecutorsUnfitError, check_executors

        monkeypatch.chdir(tmp_path)  # executors have another working directory

        with pytest.raises(ExecutorsUnfitError, match="has to be shared"):
            check_executors(spark, Path(), within_s=60)

        assert list(tmp_path.iterdir()) == []


# === What the readme tells ===


def readme_settings(values: dict[str, str]) -> dict[str, str]:
    """The variables of the manual's page of clusters, each of its values replaced."""
    exports = manual_exports()
    assert sorted(exports.values()) == sorted(values)
    return {name: values[value] for name, value in exports.items()}


def manual_exports() -> dict[str, str]:
    """The variables that the manual's page about clusters set."""
    page = ROOT / "docs" / "manual" / "operate" / "cluster.md"
    lines = page.read_text().splitlines()
    assert len([line for line in lines if line.strip()]) <= 24
    exports = [line for line in lines if re.match(r"export \w+=", line)]
    words = [shlex.split(line, comments=True)[1] for line in exports]
    return dict(word.split("=", 1) for word in words)


def new_defaults(folder: Path, *, cores: str = "2", memory: str = "768m") -> Path:
    conf = folder / "conf"
    conf.mkdir()
    (conf / "spark-defaults.conf").write_text(
        f"spark.cores.max {cores}\nspark.executor.memory {memory}\n"
    )
    return conf


def other_python(folder: Path, *, has_package: bool = True) -> Path:
    """A Python at another path, as executors have it, with the package or without."""
    home = folder / "python"
    venv.create(home, symlinks=True)
    if has_package:
        libraries = home / "lib" / Path(sysconfig.get_path("purelib")).parent.name
        links = f"{sysconfig.get_path('purelib')}\n{ROOT}\n"
        (libraries / "site-packages" / "deltaweb.pth").write_text(links)
    return home / "bin" / "python"
