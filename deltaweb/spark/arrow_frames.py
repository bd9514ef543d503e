"""DataFrames whose rows are made by Python functions over Arrow batches."""

from collections.abc import Callable, Iterator
from typing import Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.udf import UserDefinedFunction
from pyspark.util import PythonEvalType

from deltaweb.environment.own_process import leave_modules_out_of_collections
from deltaweb.spark.driver.pyspark_internals import mapped_rows

ROWS_A_BATCH: Final = 16_384  # what the JVM holds of a batch stays some ten megabytes
TASK: Final = "task"

Batches = Iterator[pa.RecordBatch]


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


def in_small_batches(batch: pa.RecordBatch) -> Batches:
    """Cut a batch as the JVM takes it well."""
    for first in range(0, batch.num_rows, ROWS_A_BATCH):
        yield batch.slice(first, ROWS_A_BATCH)
