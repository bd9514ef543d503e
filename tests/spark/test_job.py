"""Work of Spark in a thread of its own is watched, and stopped for good."""

import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

from deltaweb.delta.errors import LogCorruptError, StorageFullError
from deltaweb.environment import logs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LIMIT_S = 60  # that something may take on a busy machine


class StoppedError(Exception):
    """What a caller raises that wants no more of the work."""


def test_jobs_that_begin_after_a_cancel_are_stopped_too(spark, tmp_path):
    from deltaweb.spark.job import SparkJob

    class Held(SparkJob[None]):
        """Lets its work go on once its jobs, of which there are none, are stopped."""

        def cancel_tasks(self) -> None:
            super().cancel_tasks()
            may_go_on.set()

    begun, may_go_on = threading.Event(), threading.Event()
    gate = tmp_path / "gate"

    def work() -> None:
        begun.set()
        assert may_go_on.wait(LIMIT_S)
        numbers = spark.sparkContext.parallelize([str(gate)], 1)
        numbers.foreach(_wait_for)

    def stop() -> NoReturn:
        assert begun.wait(LIMIT_S)
        raise StoppedError

    job = Held(spark, "Wait", work)
    try:
        with pytest.raises(StoppedError):
            job.watch(stop)

        assert job.wait(0)
        assert job.error is not None
    finally:
        gate.touch()


class TestRunJob:
    def test_returns_the_result_and_reports_the_last_task(self, spark: "SparkSession"):
        from deltaweb.spark.job import run_job

        heard: list[tuple[int, int | None]] = []

        def work() -> int:
            numbers = spark.sparkContext.parallelize([1, 2, 3], 3).sum()
            ends_at_s = time.monotonic() + LIMIT_S
            while (not heard or heard[-1][1] != 3) and time.monotonic() < ends_at_s:
                time.sleep(0.02)  # Spark tells of tasks a moment later
            return numbers

        result = run_job(spark, work, lambda *pair: heard.append(pair), title="Add")

        assert (result, heard[-1]) == (6, (3, 3))

    def test_raises_what_the_work_raises(self, spark: "SparkSession") -> None:
        from deltaweb.spark.job import run_job

        def work() -> NoReturn:
            raise LogCorruptError(path="log", reason="broken")

        with pytest.raises(LogCorruptError, match="broken"):
            run_job(spark, work, lambda *_: None, title="Fail")

    def test_names_the_full_disk_of_spark(self, spark: "SparkSession") -> None:
        from deltaweb.spark.job import run_job

        def work() -> None:
            spark.sparkContext.parallelize([1], 1).foreach(_meet_a_full_disk)

        with pytest.raises(StorageFullError, match="Spark's files"):
            run_job(spark, work, lambda *_: None, title="Fill")


def _meet_a_full_disk(_: int) -> NoReturn:
    raise OSError(28, "No space left on device")


def _wait_for(path: str) -> None:
    while not Path(path).exists():
        time.sleep(0.02)


class TestIds:
    def test_spark_shows_the_request_and_the_job_that_work_is_done_for(
        self, spark: "SparkSession"
    ):
        from deltaweb.spark.job import run_job

        context = spark.sparkContext

        def work() -> list[str | None]:
            names = ("spark.job.description", "mdc.request", "mdc.job")
            return [context.getLocalProperty(name) for name in names]

        with logs.named_in_lines(request="r-1", job="j-1"):
            found = run_job(spark, work, lambda *_: None, title="Add")
        without = run_job(spark, work, lambda *_: None, title="Add")

        assert found == ["Add (request r-1, job j-1)", "r-1", "j-1"]
        assert without == ["Add", None, None]

    def test_a_task_that_fails_writes_them_into_the_log_of_spark(
        self, spark: "SparkSession", capfd: pytest.CaptureFixture[str]
    ):
        from pyspark.errors import PythonException

        from deltaweb.spark.job import run_job

        def work() -> None:
            spark.sparkContext.parallelize([0], 1).map(_divide).collect()

        with (
            logs.named_in_lines(request="r-2", job="j-2"),
            pytest.raises(PythonException),
        ):
            run_job(spark, work, lambda *_: None, title="Divide")

        ends_at_s = time.monotonic() + LIMIT_S
        written = ""
        while " request=r-2 job=j-2" not in written and time.monotonic() < ends_at_s:
            written += capfd.readouterr().err
            time.sleep(0.05)
        assert " request=r-2 job=j-2" in written


def _divide(number: int) -> float:
    return 1 / number
