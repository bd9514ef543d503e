"""Python workers start with what tasks need, and without what they do not."""

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from deltaweb.spark.driver.python_daemon import LOADED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def loaded(_numbers: Iterable[int]) -> Iterator[tuple[int, list[str]]]:
    """The daemon that forked this worker, and what the worker has imported."""
    yield os.getppid(), list(sys.modules)


def of_a_worker(spark: "SparkSession") -> tuple[int, list[str]]:
    numbers = spark.sparkContext.parallelize([1], 1)
    return numbers.mapPartitions(loaded).collect()[0]


def test_workers_have_our_modules_and_no_pandas(spark: "SparkSession") -> None:
    _, modules = of_a_worker(spark)

    assert set(LOADED) <= set(modules)
    assert "pandas" not in modules


def test_a_daemon_that_forks_has_no_thread_of_python_or_arrow(spark: "SparkSession"):
    """Such a thread may hold a lock, which no one gives back in the fork."""
    daemon, _ = of_a_worker(spark)

    names = [
        name.read_text().strip() for name in Path(f"/proc/{daemon}/task").glob("*/comm")
    ]

    assert len(names) - ("jemalloc_bg_thd" in names) == 1  # its allocator's may stay


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
