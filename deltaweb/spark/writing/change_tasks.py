"""What tasks that change rows are asked, and how they answer, as it travels."""

import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeVar

import pyarrow as pa
from pyspark.sql import SparkSession

from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.snapshot.state import Definition
from deltaweb.delta.writing.requirements import RowConstraint
from deltaweb.expressions.session.settings import OURS, SessionSettings
from deltaweb.spark.arrow_frames import row_of
from deltaweb.spark.job import run_job
from deltaweb.spark.writing.faults import spark_errors_are_ours
from deltaweb.spark.writing.file_rows import FileReading, reading_of
from deltaweb.storage.place import TablePlace
from deltaweb.writer.changes.change_writer import ChangeWriter, marks_deleted_rows
from deltaweb.writer.changes.wide_statistics import statistics_texts
from deltaweb.writer.table_write import TableWrite

TEXTS: Final = "_deltaweb_stats"
"""The column of files with what the log says of each, as JSON."""
ANSWER: Final = pa.schema([("answer", pa.binary())])

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChangeRequest:
    """A change of the rows of a table.

    Attributes:
        elsewhere: Rules of the table that Spark evaluates.
    """

    place: TablePlace
    base: Definition
    settings: SessionSettings = OURS
    elsewhere: tuple[RowConstraint, ...] = ()

    @property
    def reading(self) -> FileReading:
        return reading_of(self.base, self.place)

    @property
    def schema(self) -> StructType:
        return self.reading.schema

    @property
    def marks_rows(self) -> bool:
        return marks_deleted_rows(self.base.protocol, self.base.metadata)

    def open_writer(self) -> ChangeWriter:
        write = TableWrite(self.place.open(), self.base, self.base.metadata)
        return ChangeWriter(write, _texts, row_ids=None)

    def logged(self, snapshot: Snapshot, files: pa.Table) -> pa.Table:
        """Return files with what the log says of them, where it is to be said again."""
        if not self.marks_rows:
            return files
        texts = statistics_texts(snapshot, files)
        said = [texts.get(path) for path in files["path"].to_pylist()]
        return files.append_column(TEXTS, pa.array(said, pa.string()))


def pack(answer: object) -> Iterator[pa.RecordBatch]:
    """Yield what a task answers as a row by `ANSWER`."""
    yield row_of(ANSWER, pickle.dumps(answer))


def unpack(packed: bytes, kind: type[T]) -> T:
    answer = pickle.loads(packed)  # noqa: S301  # of a task: pickles are how Spark talks, too
    if not isinstance(answer, kind):
        raise TypeError(type(answer))
    return answer


def run_watched(
    spark: SparkSession,
    work: Callable[[], T],
    on_progress: Callable[[int, int], None] | None,
    *,
    title: str,
) -> T:
    """Do work that runs jobs of Spark.

    Args:
        on_progress: Told how many of their tasks are done; it may raise to stop them.
    """
    with spark_errors_are_ours(spark):
        if on_progress is None:
            return work()

        def report(done: int, total: int | None) -> None:
            if total is not None:
                on_progress(done, total)

        return run_job(spark, work, report, title=title)


def _texts(files: pa.Table) -> dict[str, str]:
    """Return the statistics of files, where the log has some."""
    pairs = zip(files["path"].to_pylist(), files[TEXTS].to_pylist(), strict=True)
    return {path: text for path, text in pairs if text is not None}
