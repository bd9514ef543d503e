"""Python workers start with what tasks need, and without what they do not."""

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from deltaweb.spark.driver.python_daemon import (
    LOADED,
    leave_archives_of_spark_out_of_the_path,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


Loaded = tuple[int, list[str], list[str]]


def loaded(_numbers: Iterable[int]) -> Iterator[Loaded]:
    """The daemon of this worker, what the worker has imported, and its path."""
    yield os.getppid(), list(sys.modules), sys.path


def of_a_worker(spark: "SparkSession") -> Loaded:
    numbers = spark.sparkContext.parallelize([1], 1)
    return numbers.mapPartitions(loaded).collect()[0]


def test_workers_have_our_modules_and_no_pandas(spark: "SparkSession") -> None:
    _, modules, _ = of_a_worker(spark)

    assert set(LOADED) <= set(modules)
    assert "pandas" not in modules


def test_workers_look_through_no_archive_of_spark(spark: "SparkSession") -> None:
    *_, places = of_a_worker(spark)

    assert places
    assert not [place for place in places if Path(place).is_file()]


def test_an_archive_of_another_spark_stays(tmp_path, monkeypatch):
    archive = tmp_path / "pyspark.zip"
    archive.touch()
    monkeypatch.setattr(sys, "path", places := [str(archive), *sys.path])

    leave_archives_of_spark_out_of_the_path()

    assert places[0] == str(archive)


def test_a_daemon_that_forks_has_one_thread(spark: "SparkSession"):
    """Such a thread may hold a lock, which no one gives back in the fork."""
    daemon, *_ = of_a_worker(spark)

    assert len([*Path(f"/proc/{daemon}/task").iterdir()]) == 1


def test_a_module_that_is_missing_there_is_left_to_the_tasks() -> None:
    """Executors of another version say by their first task which they have."""
    code = (
        "import sys\n"
        "from deltaweb.spark.driver import python_daemon as daemon\n"
        "daemon.LOADED = ('deltaweb.spark.of_tomorrow', 'deltaweb.spark.checkpoint')\n"
        "daemon.load()\n"
        "print('deltaweb.spark.checkpoint' in sys.modules, 'pandas' in sys.modules)"
    )
    command = [sys.executable, "-c", code]

    done = subprocess.run(command, check=True, capture_output=True, text=True)

    assert done.stdout == "True False\n"
