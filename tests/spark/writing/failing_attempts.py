"""A DataFrame is written where each task fails once, after it has written its files.

Run with the folder of the table, and a folder for Spark. What is defined here travels
to tasks as it is.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import WriterCommitMessage
from pyspark.sql.types import StructType

from deltaweb.spark.driver.session import SparkOptions, get_spark, stop_session
from deltaweb.spark.writing.source.batch_writer import BatchWriter
from deltaweb.spark.writing.source.data_source import DeltawebSource

ROWS, TASKS = 100, 3


class FailingWriter(BatchWriter):
    """Writes as any other, and fails where no attempt was before."""

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """In a task: write its rows."""
        message = super().write(iterator)
        context = TaskContext.get()
        if context is None or not context.attemptNumber():
            raise RuntimeError(message)
        return message


class FailingSource(DeltawebSource):
    """The data source with that writer."""

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return "failing"

    def writer(self, schema: StructType, overwrite: bool) -> FailingWriter:  # noqa: FBT001  # Spark's signature
        """Return what writes rows of a schema."""
        return FailingWriter(self._options, schema, overwrite=overwrite)


def main(location: Path, scratch: Path) -> None:
    """Write a table; each task may be tried twice."""
    options = SparkOptions(master="local[2,2]", folder=scratch, driver_memory="1g")
    spark = get_spark(options)
    spark.dataSource.register(FailingSource)
    rows = spark.range(0, ROWS, 1, TASKS)
    rows.write.format("failing").mode("append").save(str(location))
    stop_session()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
