"""DataFrames whose rows are made by Python functions over Arrow batches."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.udf import UserDefinedFunction
from pyspark.util import PythonEvalType

from deltaweb.environment.own_process import leave_modules_out_of_collections
from deltaweb.spark.driver.pyspark_internals import mapped_rows

if TYPE_CHECKING:
    from pyspark import Broadcast

ROWS_A_BATCH: Final = 16_384  # what the JVM holds of a batch stays some ten megabytes
TASK: Final = "task"

Batches = Iterator[pa.RecordBatch]
T = TypeVar("T")


def map_in_arrow(
    frame: DataFrame, function: Callable[[Batches], Batches], schema: pa.Schema
) -> DataFrame:
    """Return the rows that a function makes of each partition's batches."""

    def of_batches(batches: Batches) -> Batches:
        yield from function(batches)
        leave_modules_out_of_collections()

    mapped = UserDefinedFunction(
        of_batches,
        returnType=from_arrow_schema(schema),
        evalType=PythonEvalType.SQL_MAP_ARROW_ITER_UDF,
    )
    column = mapped(*(column_of(frame, name) for name in frame.columns))
    return mapped_rows(frame, column)


def column_of(frame: DataFrame, name: str) -> Column:
    """Return the column of exactly a name, whatever its characters."""
    return frame["`" + name.replace("`", "``") + "`"]


def run_tasks(
    spark: SparkSession,
    count: int,
    function: Callable[[int], Batches],
    schema: pa.Schema,
) -> DataFrame:
    """Return the rows that tasks make, each of its number alone.

    Args:
        function: Makes the batches of the task 0 to `count - 1`; it travels to the
            executors with all it refers to.
    """

    def of_partition(batches: Batches) -> Batches:
        for batch in batches:
            for number in batch[0].to_pylist():
                yield from function(number)

    numbers = spark.range(0, count, 1, max(1, count)).toDF(TASK)
    return map_in_arrow(numbers, of_partition, schema)


@contextmanager
def run_parts(
    spark: SparkSession,
    parts: Sequence[T],
    function: Callable[[T], Batches],
    schema: pa.Schema,
) -> Iterator[DataFrame]:
    """Give the rows that tasks make, each of one part; executors hold all of them."""
    kept = spark.sparkContext.broadcast(list(parts))
    try:
        yield run_tasks(spark, len(parts), partial(_of_part, function, kept), schema)
    finally:
        kept.destroy()


def _of_part(
    function: Callable[[T], Batches], parts: "Broadcast[list[T]]", number: int
) -> Batches:
    return function(parts.value[number])


def in_small_batches(batch: pa.RecordBatch) -> Batches:
    """Cut a batch as the JVM takes it well."""
    for first in range(0, batch.num_rows, ROWS_A_BATCH):
        yield batch.slice(first, ROWS_A_BATCH)


# === Rows as values ===


def row_of(schema: pa.Schema, *values: object) -> pa.RecordBatch:
    columns = [
        pa.array([value], kind.type) for value, kind in zip(values, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def packed(rows: pa.Table) -> bytes:
    """Return rows as the bytes of a stream of Arrow's."""
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with pa.ipc.new_stream(sink, rows.schema, options=options) as writer:
        writer.write_table(rows)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def unpacked(data: bytes | pa.Buffer) -> pa.Table:
    """Return the rows that were packed."""
    with pa.ipc.open_stream(data) as reader:
        return reader.read_all()
