"""The profile of a column: what its values look like, at one version.

Tasks read data files by the readers and stores of every other process, so that
storage options work the same; what they hand to Spark is one column, and Spark adds it
up in sketches: approximate distinct values, quantiles, frequent values. The driver gets
one row.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any, Final

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (the name that all Spark code has)

from deltaweb.delta.features.column_mapping import table_schema
from deltaweb.delta.features.registry import reading_refusal
from deltaweb.delta.log.file_actions import VECTOR
from deltaweb.delta.protocol.schema import (
    DataType,
    PrimitiveType,
    type_text,
)
from deltaweb.delta.values.cell_text import cell_text
from deltaweb.spark.arrow_frames import map_in_arrow, run_tasks
from deltaweb.spark.column_reader import (
    ProfiledColumn,
    ProfileRequest,
    read_batches,
    read_part,
)
from deltaweb.spark.data_files.shares import deal_out
from deltaweb.spark.job import OnProgress, run_job
from deltaweb.spark.log.replay import ReplayedState, use_state
from deltaweb.table import DeltaTable

LISTED_FILES: Final = 200_000
"""A table of more files is replayed by Spark; the driver never lists it."""
QUANTILES: Final = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
TOP_VALUES: Final = 10
TRACKED_VALUES: Final = 10_000  # candidates that the sketch of frequent values holds
SKETCH_SIZE: Final = 16_384  # the power of two above, by which its error is bounded
EXACT_DISTINCT: Final = 7_000  # so many values surely fit the sketch
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnProfile:
    """What the values of a column look like; values are text, None is unknown.

    Attributes:
        column: Names from the top.
        num_nulls: Rows without a value.
        num_distinct: Distinct values, about 2 % off where they are many.
        minimum, maximum: The extremes; text is cut.
        mean, deviation: Of numbers.
        quantiles: (share, value); about 0.01 % off in rank.
        min_length, max_length, mean_length: Characters of text, bytes of binary.
        top: (value, count), the most frequent first.
        top_error: How far the counts of `top` may be off; values that are not more
            frequent than that are left out.
    """

    version: int
    column: tuple[str, ...]
    type_text: str
    num_rows: int
    num_nulls: int
    num_nan: int | None = None
    num_distinct: int | None = None
    minimum: str | None = None
    maximum: str | None = None
    mean: float | None = None
    deviation: float | None = None
    quantiles: tuple[tuple[float, str], ...] = ()
    min_length: int | None = None
    max_length: int | None = None
    mean_length: float | None = None
    num_empty: int | None = None
    top: tuple[tuple[str, int], ...] = ()
    top_error: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return asdict(self)


def profile_column(
    spark: SparkSession,
    request: ProfileRequest,
    *,
    on_progress: OnProgress | None = None,
) -> ColumnProfile:
    """Read one column of a version and describe its values.

    Args:
        on_progress: Called some times a second; what it raises ends the work.
    """
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
        snapshot.schema, snapshot.metadata.partition_columns, request
    )
    parts = deal_out(listed, at_least=spark.sparkContext.defaultParallelism)
    kept = spark.sparkContext.broadcast(parts)
    try:
        frame = run_tasks(
            spark, len(parts), partial(read_part, column, kept), column.schema
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
    column = ProfiledColumn.of(schema, state.metadata.partition_columns, request)
    files = state.live_files().select("path", "partition_values", VECTOR)
    parts = max(4 * state.spark.sparkContext.defaultParallelism, 16)
    frame = map_in_arrow(
        files.repartition(parts), partial(read_batches, column), column.schema
    )
    return _profile(frame, column, state.version, report)


# === In the driver ===


def _profile(
    frame: DataFrame, column: ProfiledColumn, version: int, report: OnProgress
) -> ColumnProfile:
    row = _collect_one(frame.agg(*_aggregates(column.kind)), report)
    profile = ColumnProfile(
        version=version,
        column=tuple(column.path),
        type_text=type_text(column.data_type),
        num_rows=row["num_rows"],
        num_nulls=row["num_rows"] - row["present"],
    )
    if column.kind == "presence":
        return profile
    return _described(profile, row, column, row["present"])


def _described(
    profile: ColumnProfile, row: Row, column: ProfiledColumn, present: int
) -> ColumnProfile:
    found = row.asDict()
    num_distinct = min(found["num_distinct"], present)
    error = 0 if num_distinct <= EXACT_DISTINCT else present * 7 // (2 * SKETCH_SIZE)
    say = partial(_value_text, column.data_type)
    quantiles = found.get("quantiles") or ()
    return replace(
        profile,
        num_distinct=num_distinct,
        num_nan=found.get("num_nan"),
        minimum=say(found["minimum"]),
        maximum=say(found["maximum"]),
        mean=found.get("mean"),
        deviation=found.get("deviation"),
        quantiles=tuple(
            (share, say(value) or "")
            for share, value in zip(QUANTILES, quantiles, strict=False)
        ),
        min_length=found.get("min_length"),
        max_length=found.get("max_length"),
        mean_length=found.get("mean_length"),
        num_empty=found.get("num_empty"),
        top=tuple(
            (say(item["item"]) or "", item["count"])
            for item in found["top"] or ()
            if item["item"] is not None and item["count"] > error
        ),
        top_error=error,
    )


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


def _value_text(data_type: DataType, value: Any) -> str | None:  # noqa: ANN401 (a value of any column)
    """Return a value as people read it, with all its digits."""
    if value is None:
        return None
    name = data_type.name if isinstance(data_type, PrimitiveType) else ""
    is_time = name == "date" or name.startswith("timestamp")
    return _time_text(name, value) if is_time else cell_text(value)


def _time_text(name: str, value: int) -> str:
    """Return a count of days or microseconds since 1970 as people read it."""
    try:
        if name == "date":
            return (date(1970, 1, 1) + timedelta(days=value)).isoformat()
        text = (EPOCH + timedelta(microseconds=value)).isoformat()
    except OverflowError:
        return f"{value} {'days' if name == 'date' else 'µs'} since 1970"
    return text.replace("+00:00", "Z" if name == "timestamp" else "")


def _collect_one(frame: DataFrame, report: OnProgress) -> Row:
    rows = run_job(frame.sparkSession, frame.collect, report, title="Profile a column")
    return rows[0]
