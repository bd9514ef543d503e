"""What the data files of a version really hold, by their footers, read by tasks.

Each task adds up its files to a few rows, and Spark adds these up: the driver gets a
row a different name, at most `MAX_ROWS`, however many files there are.
"""

from collections.abc import Iterator
from functools import partial
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (the name that all Spark code has)

from deltaweb.delta.features.column_mapping import table_schema
from deltaweb.delta.snapshot import Snapshot
from deltaweb.index.file_survey import survey_files, surveyed_columns
from deltaweb.parquet.inspection.differences import SurveyedColumn
from deltaweb.parquet.inspection.survey import SURVEY_SCHEMA, Survey
from deltaweb.spark.arrow_frames import Batches
from deltaweb.spark.data_files.shares import FrameOf, VersionRequest, over_files
from deltaweb.spark.job import OnProgress, run_job
from deltaweb.spark.log.replay import ReplayedState
from deltaweb.spark.task_faults import faults_are_carried
from deltaweb.storage.place import TablePlace

MAX_ROWS: Final = 20_000
TITLE: Final = "Inspect the files"
_KEYS: Final = ("kind", "name", "detail", "relation")
_SUMS: Final = ("files", "bytes", "rows", "count", "extra_bytes")


def survey_version(
    spark: SparkSession, request: VersionRequest, on_progress: OnProgress
) -> pa.Table:
    """Return what the files of a version add up to, as `SURVEY_SCHEMA`."""

    def work(version: Snapshot | ReplayedState, frame_of: FrameOf) -> pa.Table:
        schema = table_schema(version.protocol, version.metadata)
        columns = surveyed_columns(schema, version.metadata.partition_columns)
        with frame_of(partial(_look, request.place, columns), SURVEY_SCHEMA) as frame:
            return _added_up(frame, on_progress)

    return over_files(spark, request, work, ["path"])


def _added_up(frame: DataFrame, on_progress: OnProgress) -> pa.Table:
    sums = (F.sum(name).alias(name) for name in _SUMS)
    added = frame.groupBy(*_KEYS).agg(*sums, F.min("example").alias("example"))
    largest = added.orderBy(F.desc("files"), F.desc("bytes"), *_KEYS).limit(MAX_ROWS)
    rows = run_job(frame.sparkSession, largest.collect, on_progress, title=TITLE)
    found = [row.asDict() for row in rows]
    if len(found) == MAX_ROWS:
        found.append({"kind": "more"})
    return pa.Table.from_pylist(found, SURVEY_SCHEMA)


def _look(
    place: TablePlace, columns: tuple[SurveyedColumn, ...], files: Iterator[pa.Table]
) -> Batches:
    survey = Survey(columns)
    with faults_are_carried():
        open_file = place.open().open_data_file
        for some in files:
            survey_files(survey, some["path"].to_pylist(), open_file)
    yield survey.batch()
