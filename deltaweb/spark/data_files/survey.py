"""What the data files of a version really hold, by their footers, read by tasks.

Each task adds up its files to a few rows, and Spark adds these up: the driver gets a
row a different name, at most `MAX_ROWS`, however many files there are.
"""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (the name that all Spark code has)

from deltaweb.delta.features.column_mapping import table_schema
from deltaweb.index.file_survey import survey_files, surveyed_columns
from deltaweb.parquet.inspection.differences import SurveyedColumn
from deltaweb.parquet.inspection.survey import SURVEY_SCHEMA, Survey
from deltaweb.spark.arrow_frames import Batches, map_in_arrow, run_tasks
from deltaweb.spark.data_files.shares import deal_out
from deltaweb.spark.job import OnProgress, run_job
from deltaweb.spark.log.replay import ReplayedState, use_state
from deltaweb.spark.task_faults import faults_are_carried
from deltaweb.storage.place import TablePlace
from deltaweb.table import DeltaTable

if TYPE_CHECKING:
    from pyspark import Broadcast

LISTED_FILES: Final = 200_000
"""A table of more files is replayed by Spark; the driver never lists it."""
MAX_ROWS: Final = 20_000
TITLE: Final = "Inspect the files"
_KEYS: Final = ("kind", "name", "detail", "relation")
_SUMS: Final = ("files", "bytes", "rows", "count", "extra_bytes")


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyRequest:
    """A version whose files are inspected."""

    place: TablePlace
    version: int
    num_files: int | None = None


def survey_version(
    spark: SparkSession, request: SurveyRequest, on_progress: OnProgress
) -> pa.Table:
    """Return what the files of a version add up to, as `SURVEY_SCHEMA`."""
    if (request.num_files or 0) > LISTED_FILES:
        return use_state(
            spark,
            request.place,
            request.version,
            lambda state: _survey_replayed(state, request, on_progress),
        )
    snapshot = DeltaTable.from_store(request.place.open()).snapshot_metadata(
        request.version
    )
    columns = surveyed_columns(snapshot.schema, snapshot.metadata.partition_columns)
    parts = deal_out(snapshot.files, at_least=spark.sparkContext.defaultParallelism)
    kept = spark.sparkContext.broadcast(parts)
    try:
        read = partial(_read_part, request.place, columns, kept)
        frame = run_tasks(spark, len(parts), read, SURVEY_SCHEMA)
        return _added_up(frame, on_progress)
    finally:
        kept.destroy()


def _survey_replayed(
    state: ReplayedState, request: SurveyRequest, on_progress: OnProgress
) -> pa.Table:
    """Inspect a table whose files are listed by tasks alone."""
    schema = table_schema(state.protocol, state.metadata)
    columns = surveyed_columns(schema, state.metadata.partition_columns)
    parts = max(4 * state.spark.sparkContext.defaultParallelism, 16)
    files = state.live_files().select("path").repartition(parts)
    read = partial(_read_batches, request.place, columns)
    return _added_up(map_in_arrow(files, read, SURVEY_SCHEMA), on_progress)


def _added_up(frame: DataFrame, on_progress: OnProgress) -> pa.Table:
    sums = (F.sum(name).alias(name) for name in _SUMS)
    added = frame.groupBy(*_KEYS).agg(*sums, F.min("example").alias("example"))
    largest = added.orderBy(F.desc("files"), F.desc("bytes"), *_KEYS).limit(MAX_ROWS)
    rows = run_job(frame.sparkSession, largest.collect, on_progress, title=TITLE)
    found = [row.asDict() for row in rows]
    if len(found) == MAX_ROWS:
        found.append({"kind": "more"})
    return pa.Table.from_pylist(found, SURVEY_SCHEMA)


def _read_part(
    place: TablePlace,
    columns: tuple[SurveyedColumn, ...],
    parts: "Broadcast[list[pa.Table]]",
    number: int,
) -> Batches:
    survey = Survey(columns)
    _look(survey, place, parts.value[number]["path"].to_pylist())
    yield survey.batch()


def _read_batches(
    place: TablePlace, columns: tuple[SurveyedColumn, ...], batches: Batches
) -> Batches:
    """Inspect files that come as batches of a replay."""
    survey = Survey(columns)
    for batch in batches:
        _look(survey, place, batch["path"].to_pylist())
    yield survey.batch()


def _look(survey: Survey, place: TablePlace, paths: list[str]) -> None:
    with faults_are_carried():
        survey_files(survey, paths, place.open().open_data_file)
