"""Rows of a table that a condition is true for: found, and left out, by tasks.

Files that hold such rows are written again without them. The condition is Spark's own
to evaluate, so none is refused but one whose value is another each time.
"""

from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import SparkSession

from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.writing.transaction import TableRead
from deltaweb.expressions.session.settings import SessionSettings
from deltaweb.spark.writing.faults import spark_errors_are_ours
from deltaweb.spark.writing.file_rows import (
    FILE_NUMBER,
    FileReading,
    numbered_rows,
    reading_of,
)
from deltaweb.spark.writing.session.checked_sql import check_settled, is_true
from deltaweb.storage.place import TablePlace
from deltaweb.writer.matching import count_rows, find_matches


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FoundRows:
    """The files that hold rows of a condition.

    Attributes:
        whole: Files of which every row matches, by their partition values.
        num_matching: Rows of `touched` that match.
    """

    whole: pa.Table
    touched: pa.Table
    num_whole: int
    num_matching: int
    read: TableRead
    reading: FileReading

    @property
    def files(self) -> pa.Table:
        return pa.concat_tables([self.whole, self.touched])


def find_rows(
    spark: SparkSession,
    place: TablePlace,
    snapshot: Snapshot,
    where: str | None,
    settings: SessionSettings,
) -> FoundRows:
    """Find the files of a version that hold rows of a condition."""
    matches = find_matches(snapshot, where, is_evaluated_here=False, settings=settings)
    reading = reading_of(snapshot.state.definition, place)
    counts: dict[int, int] = {}
    if matches.partly.num_rows and where is not None:
        counts = count_matches(spark, reading, matches.partly, where)
    return FoundRows(
        whole=matches.whole,
        touched=matches.partly.take(pa.array(sorted(counts), pa.int64())),
        num_whole=count_rows(snapshot, matches.whole),
        num_matching=sum(counts.values()),
        read=matches.read,
        reading=reading,
    )


def count_matches(
    spark: SparkSession, reading: FileReading, files: pa.Table, where: str
) -> dict[int, int]:
    """Return how many rows of files match, by the file; those of none are left out."""
    with spark_errors_are_ours(spark), numbered_rows(spark, reading, files) as rows:
        holds = is_true(rows, where)
        check_settled(rows, holds, where)
        found = rows.filter(holds).groupBy(FILE_NUMBER).count().collect()
    return {row[FILE_NUMBER]: row["count"] for row in found}
