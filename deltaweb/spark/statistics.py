"""The profile of a column: what its values look like, at one version.

Tasks read data files by the readers and stores of every other process, so that
storage options work the same; what they hand to Spark is one column, and Spark adds it
up in sketches: approximate distinct values, quantiles, frequent values. The driver gets
one row.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (the name that all Spark code has)

from deltaweb.delta.features.column_mapping import table_schema
from deltaweb.delta.features.registry import reading_refusal
from deltaweb.delta.log.file_actions import VECTOR
from deltaweb.delta.profile.column import ProfiledColumn
from deltaweb.delta.profile.described import (
    QUANTILES,
    TOP_VALUES,
    ColumnProfile,
    describe,
)
from deltaweb.spark.arrow_frames import map_in_arrow, run_tasks
from deltaweb.spark.column_reader import ProfileRequest, read_batches, read_part
from deltaweb.spark.data_files.shares import deal_out
from deltaweb.spark.job import OnProgress, run_job
from deltaweb.spark.log.replay import ReplayedState, use_state
from deltaweb.table import DeltaTable

LISTED_FILES: Final = 200_000
"""A table of more files is replayed by Spark; the driver never lists it."""
TRACKED_VALUES: Final = 10_000  # candidates that the sketch of frequent values holds
SKETCH_SIZE: Final = 16_384  # the power of two above, by which its error is bounded
EXACT_DISTINCT: Final = 7_000  # so many values surely fit the sketch


def profile_column(
    spark: SparkSession,
    request: ProfileRequest,
    *,
    on_progress: OnProgress | None = None,
) -> ColumnProfile:
    """Read one column of a version and describe its values."""
    report = on_progress or _say_nothing
    if (request.num_files or 0) > LISTED_FILES:
        return use_state(
            spark,
            request.place,
            request.version,
            lambda state: _profile_replayed(state, request, report),
        )
    table = DeltaTable.from_store(request.place.open())
    snapshot = table.snapshot(request.version)
    listed = snapshot.row_source(snapshot.files).files
    column = ProfiledColumn.of(
        snapshot.schema, snapshot.metadata.partition_columns, request.column
    )
    parts = deal_out(listed, at_least=spark.sparkContext.defaultParallelism)
    kept = spark.sparkContext.broadcast(parts)
    try:
        frame = run_tasks(
            spark,
            len(parts),
            partial(read_part, request.place, column, kept),
            column.schema,
        )
        return _profile(frame, column, request.version, report)
    finally:
        kept.destroy()


def _say_nothing(_done: int, _total: int | None) -> None:
    return


def _profile_replayed(
    state: ReplayedState, request: ProfileRequest, report: OnProgress
) -> ColumnProfile:
    """Profile a table whose files are listed by tasks alone."""
    root = request.place.location
    refusal = reading_refusal(
        state.protocol, state.metadata, root=root, version=state.version
    )
    if refusal is not None:
        raise refusal
    schema = table_schema(state.protocol, state.metadata)
    column = ProfiledColumn.of(schema, state.metadata.partition_columns, request.column)
    files = state.live_files().select("path", "partition_values", VECTOR)
    parts = max(4 * state.spark.sparkContext.defaultParallelism, 16)
    frame = map_in_arrow(
        files.repartition(parts),
        partial(read_batches, request.place, column),
        column.schema,
    )
    return _profile(frame, column, state.version, report)


# === In the driver ===


def _profile(
    frame: DataFrame, column: ProfiledColumn, version: int, report: OnProgress
) -> ColumnProfile:
    sums = _collect_one(frame.agg(*_aggregates(column.kind)), report).asDict()
    if "top" not in sums:
        return describe(column, version, sums)
    sums["top"] = [(item["item"], item["count"]) for item in sums["top"] or ()]
    sums["num_distinct"] = min(sums["num_distinct"], sums["present"])
    is_exact = sums["num_distinct"] <= EXACT_DISTINCT
    error = 0 if is_exact else sums["present"] * 7 // (2 * SKETCH_SIZE)
    return describe(column, version, sums, top_error=error)


def _aggregates(kind: str) -> Iterator[Any]:
    yield F.expr("count(*)").alias("num_rows")
    yield F.expr("count(value)").alias("present")
    if kind == "presence":
        return
    yield F.expr("approx_count_distinct(value, 0.02)").alias("num_distinct")
    top = f"approx_top_k(value, {TOP_VALUES}, {TRACKED_VALUES})"
    yield F.expr(top).alias("top")
    number = "if(isnan(value), null, value)" if kind == "double" else "value"
    yield F.expr(f"min({number})").alias("minimum")
    yield F.expr(f"max({number})").alias("maximum")
    if kind == "double":
        yield F.expr("count_if(isnan(value))").alias("num_nan")
    if kind in {"integer", "double", "decimal"}:
        yield F.expr(f"avg(double({number}))").alias("mean")
        yield F.expr(f"stddev_pop(double({number}))").alias("deviation")
    if kind in {"integer", "double", "decimal", "date", "timestamp"}:
        shares = ", ".join(str(share) for share in QUANTILES)
        yield F.expr(f"percentile_approx({number}, array({shares}), 10000)").alias(
            "quantiles"
        )
    if kind in {"text", "binary"}:
        yield F.expr("min(length)").alias("min_length")
        yield F.expr("max(length)").alias("max_length")
        yield F.expr("avg(length)").alias("mean_length")
        yield F.expr("count_if(length = 0)").alias("num_empty")


def _collect_one(frame: DataFrame, report: OnProgress) -> Row:
    rows = run_job(frame.sparkSession, frame.collect, report, title="Profile a column")
    return rows[0]
