"""The profile of a column: what its values look like, at one version.

Tasks read data files by the readers and stores of every other process, so that
storage options work the same; what they hand to Spark is one column, and Spark adds it
up in sketches: approximate distinct values, quantiles, frequent values. The driver gets
one row.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (the name that all Spark code has)

from deltaweb.delta.features.column_mapping import table_schema
from deltaweb.delta.features.registry import reading_refusal
from deltaweb.delta.profile.column import ProfiledColumn
from deltaweb.delta.profile.described import (
    QUANTILES,
    TOP_VALUES,
    ColumnProfile,
    describe,
)
from deltaweb.delta.profile.histogram import HAS_BINS, edges_of, estimated_counts
from deltaweb.delta.protocol.column_path import ColumnPath
from deltaweb.delta.snapshot import Snapshot
from deltaweb.spark.arrow_frames import Batches
from deltaweb.spark.data_files.shares import FrameOf, VersionRequest, over_files
from deltaweb.spark.job import OnProgress, run_job
from deltaweb.spark.log.replay import ReplayedState
from deltaweb.spark.task_faults import faults_are_carried
from deltaweb.storage.place import TablePlace

TRACKED_VALUES: Final = 10_000  # candidates that the sketch of frequent values holds
SKETCH_SIZE: Final = 16_384  # the power of two above, by which its error is bounded
RANKS: Final = tuple(place / 200 for place in range(201))  # of the histogram
EXACT_DISTINCT: Final = 7_000  # so many values surely fit the sketch


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileRequest(VersionRequest):
    """A column to profile."""

    column: ColumnPath


def profile_column(
    spark: SparkSession,
    request: ProfileRequest,
    *,
    on_progress: OnProgress | None = None,
) -> ColumnProfile:
    """Read one column of a version and describe its values."""
    place, report = request.place, on_progress or _say_nothing

    def work(version: Snapshot | ReplayedState, frame_of: FrameOf) -> ColumnProfile:
        protocol, metadata = version.protocol, version.metadata
        number = version.version
        refusal = reading_refusal(
            protocol, metadata, root=place.location, version=number
        )
        if refusal is not None:
            raise refusal
        schema = table_schema(protocol, metadata)
        column = ProfiledColumn.of(schema, metadata.partition_columns, request.column)
        with frame_of(partial(_read, place, column), column.schema) as frame:
            return _profile(frame, column, number, report)

    return over_files(spark, request, work)


def _say_nothing(_done: int, _total: int | None) -> None:
    return


def _read(
    place: TablePlace, column: ProfiledColumn, files: Iterator[pa.Table]
) -> Batches:
    """In a task: read the column of files."""
    with faults_are_carried():
        open_file = place.open().open_data_file
        for some in files:
            yield from column.read(some, open_file)


# === In the driver ===


def _profile(
    frame: DataFrame, column: ProfiledColumn, version: int, report: OnProgress
) -> ColumnProfile:
    sums = _collect_one(frame.agg(*_aggregates(column.kind)), report).asDict()
    sums |= _histogram(column.kind, sums)
    if "top" not in sums:
        return describe(column, version, sums)
    sums["top"] = [(item["item"], item["count"]) for item in sums["top"] or ()]
    sums["num_distinct"] = min(sums["num_distinct"], sums["present"])
    is_exact = sums["num_distinct"] <= EXACT_DISTINCT
    error = 0 if is_exact else sums["present"] * 7 // (2 * SKETCH_SIZE)
    return describe(column, version, sums, top_error=error)


def _histogram(kind: str, sums: Mapping[str, Any]) -> dict[str, Any]:
    """Return the quantiles and the histogram of all that were asked for."""
    found = [*(sums.get("quantiles") or ())]
    if kind not in HAS_BINS or not found:
        return {}
    shown, ranked = found[: len(QUANTILES)], found[len(QUANTILES) :]
    finite = [value for value in map(_number, ranked) if math.isfinite(value)]
    if not finite:
        return {"quantiles": shown}
    is_whole = len(finite) == len(ranked)
    low, high = (
        (sums["minimum"], sums["maximum"]) if is_whole else (finite[0], finite[-1])
    )
    edges = edges_of(kind, low, high)
    num_values = sums["present"] - (sums.get("num_nan") or 0)
    num_values = round(num_values * len(finite) / len(ranked))
    counts = estimated_counts(finite, num_values, edges)
    return {
        "quantiles": shown,
        "histogram": (edges, counts),
        "is_histogram_exact": False,
    }


def _number(value: float | Decimal) -> float:
    return float(value)


def _aggregates(kind: str) -> Iterator[Column]:
    yield F.count(F.lit(1)).alias("num_rows")
    yield F.count("value").alias("present")
    if kind == "presence":
        return
    value, length = F.col("value"), F.col("length")
    yield F.approx_count_distinct(value, 0.02).alias("num_distinct")
    limits = F.lit(TOP_VALUES), F.lit(TRACKED_VALUES)
    yield F.call_function("approx_top_k", value, *limits).alias("top")
    number = F.when(~F.isnan(value), value) if kind == "double" else value
    yield F.min(number).alias("minimum")
    yield F.max(number).alias("maximum")
    if kind == "double":
        yield F.count_if(F.isnan(value)).alias("num_nan")
    if kind in {"integer", "double", "decimal"}:
        yield F.avg(number.cast("double")).alias("mean")
        yield F.stddev_pop(number.cast("double")).alias("deviation")
    if kind in {"integer", "double", "decimal", "date", "timestamp"}:
        shares = [*QUANTILES, *RANKS]
        yield F.percentile_approx(number, shares, 10000).alias("quantiles")
    if kind in {"text", "binary"}:
        yield F.min(length).alias("min_length")
        yield F.max(length).alias("max_length")
        yield F.avg(length).alias("mean_length")
        yield F.count_if(length == F.lit(0)).alias("num_empty")


def _collect_one(frame: DataFrame, report: OnProgress) -> Row:
    rows = run_job(frame.sparkSession, frame.collect, report, title="Profile a column")
    return rows[0]
