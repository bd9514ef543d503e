"""Work of Spark in a thread of its own is stopped for good."""

import threading
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LIMIT_S = 60  # that something may take on a busy machine


def test_jobs_that_begin_after_a_cancel_are_stopped_too(
    spark: "SparkSession", tmp_path: Path
) -> None:
    from deltaweb.spark.spark_job import SparkJob

    class Told(SparkJob[None]):
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

    job = Told(spark, "Wait", work)
    job.start()
    assert begun.wait(LIMIT_S)

    try:
        job.cancel()

        assert job.wait(0)
        assert job.error is not None
    finally:
        gate.touch()


def _wait_for(path: str) -> None:
    import time

    while not Path(path).exists():
        time.sleep(0.02)
