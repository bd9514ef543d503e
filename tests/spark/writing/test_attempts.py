"""Only one attempt of a task is ever committed, whatever the others have written."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark import TaskContext
from pyspark.sql.datasource import WriterCommitMessage
from pyspark.sql.types import StructType as SparkStruct

from deltaweb.spark.writing.file_tasks import TaskFiles, write_rows
from deltaweb.spark.writing.part_commit import commit_parts
from deltaweb.spark.writing.source.batch_writer import BatchWriter
from deltaweb.spark.writing.source.data_source import DeltawebSource
from deltaweb.spark.writing.write_plan import WritePlan, WriteRequest, plan_write
from deltaweb.storage.place import TablePlace
from deltaweb.table import DeltaTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS, TASKS = 100, 3
SCHEMA = pa.schema([("n", pa.int64())])
LATER = datetime.now(UTC) + timedelta(days=8)


def numbers(table: DeltaTable) -> list[int]:
    (column,) = table.snapshot().read().columns
    return sorted(column.to_pylist())


def data_files(location: Path) -> set[str]:
    return {path.name for path in location.glob("*.parquet")}


def live_files(table: DeltaTable) -> set[str]:
    return set(table.snapshot().files["path"].to_pylist())


@pytest.fixture
def plan(tmp_path: Path) -> WritePlan:
    DeltaTable.create(str(tmp_path / "t"), SCHEMA)
    place = TablePlace(str(tmp_path / "t"))
    found = plan_write(place, SCHEMA, WriteRequest())
    assert found is not None
    return found


def attempt(plan: WritePlan, first: int) -> TaskFiles:
    rows = pa.record_batch({"n": range(first, first + 3)}, schema=SCHEMA)
    return write_rows(plan, iter([rows]))


def failing_source() -> type[DeltawebSource]:
    """The data source, where each task fails once, after it has written its files.

    What is defined in a function travels to tasks as it is.
    """

    class FailingWriter(BatchWriter):
        def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
            message = super().write(iterator)
            context = TaskContext.get()
            if context is None or not context.attemptNumber():
                raise RuntimeError(message)
            return message

    class FailingSource(DeltawebSource):
        @classmethod
        def name(cls) -> str:
            return "failing"

        def writer(self, schema: SparkStruct, overwrite: bool) -> FailingWriter:  # noqa: FBT001  # Spark's signature
            return FailingWriter(self._options, schema, overwrite=overwrite)

    return FailingSource


@contextmanager
def attempts_a_task(spark: "SparkSession", count: int) -> Iterator[None]:
    """Have a task tried so often: a session of threads tries it once.

    A master `local[2,2]` would have it so, in a session and a JVM of its own.
    """
    scheduler: Any = spark._jsparkSession.sparkContext().taskScheduler()  # noqa: SLF001  # there is no public way
    field = scheduler.getClass().getDeclaredField("maxTaskFailures")
    field.setAccessible(True)  # Java's signature
    before = field.getInt(scheduler)
    field.setInt(scheduler, count)
    try:
        yield
    finally:
        field.setInt(scheduler, before)


class TestAttempts:
    def test_at_once_have_files_of_their_own_and_one_is_committed(self, plan, tmp_path):
        counted = [attempt(plan, 0), attempt(plan, 3)]
        speculative = attempt(plan, 3)  # of the second task, and not the first to end

        commit_parts(plan, counted)

        table = DeltaTable(str(tmp_path / "t"))
        assert numbers(table) == list(range(6))
        left = {str(path) for path in speculative.added["path"].to_pylist()}
        assert data_files(tmp_path / "t") == live_files(table) | left
        assert not left & live_files(table)
        table.vacuum(dry_run=False, now=LATER)
        assert data_files(tmp_path / "t") == live_files(table)

    def test_that_failed_after_they_wrote_are_tried_again(self, spark, tmp_path):
        location = tmp_path / "t"
        spark.dataSource.register(failing_source())
        rows = spark.range(0, ROWS, 1, TASKS)
        with attempts_a_task(spark, 2):
            rows.write.format("failing").mode("append").save(str(location))

        table = DeltaTable(str(location))
        assert numbers(table) == list(range(ROWS))
        assert len(live_files(table)) == TASKS
        left = data_files(location) - live_files(table)
        assert len(left) == TASKS  # of the attempts that failed
        table.vacuum(dry_run=False, now=LATER)
        assert data_files(location) == live_files(table)
        assert numbers(table) == list(range(ROWS))
