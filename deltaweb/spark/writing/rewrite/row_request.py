"""What is asked of the tasks that change rows, as it travels to them."""

import pickle
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.snapshot_state import Definition
from deltaweb.delta.writing.requirements import RowConstraint
from deltaweb.spark.writing.file_rows import FileReading, reading_of
from deltaweb.storage.place import TablePlace
from deltaweb.writer.changes.change_writer import (
    ChangeWriter,
    WrittenChanges,
    marks_deleted_rows,
)
from deltaweb.writer.rewrite.dry_run import RowsSeen, RowTally
from deltaweb.writer.rewrite.file_changes import (
    NUM_ROWS,
    FileRewriter,
    RewrittenFiles,
)
from deltaweb.writer.table_write import TableWrite

TEXTS: Final = "_deltaweb_stats"
"""The column of files with what the log says of each, as JSON."""
ANSWER: Final = pa.schema([("answer", pa.binary())])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowRequest:
    """A change of rows.

    Attributes:
        place: The table.
        base: What holds at the version whose rows change.
        where: The condition of the rows, in SQL; every row for None.
        assignments: SQL by the name of the column that takes its value, by the
            table's spelling; None where the rows go.
        elsewhere: Rules of the table that Spark evaluates.
    """

    place: TablePlace
    base: Definition
    where: str | None
    assignments: Mapping[str, str] | None = None
    elsewhere: tuple[RowConstraint, ...] = ()

    @property
    def reading(self) -> FileReading:
        """How the rows are read."""
        return reading_of(self.base, self.place)

    @property
    def schema(self) -> StructType:
        """The table's logical schema."""
        return self.reading.schema

    @property
    def marks_rows(self) -> bool:
        """Whether rows that go are marked."""
        return marks_deleted_rows(self.base.protocol, self.base.metadata)

    def open_changes(self, *, is_dry: bool) -> ChangeWriter | RowTally:
        """Return what takes the changes of a task."""
        if is_dry:
            return RowTally(marks_rows=self.marks_rows)
        write = TableWrite(self.place.open(), self.base, self.base.metadata)
        return ChangeWriter(write, _texts, row_ids=None)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ShareAnswer:
    """What a task answers.

    Attributes:
        done: What became of its files.
        seen: The first of the rows that were concerned, as they are, and as they
            become unless they go; None where none are shown.
    """

    done: RewrittenFiles
    seen: tuple[pa.Table, pa.Table | None] | None = None

    def pack(self) -> Iterator[pa.RecordBatch]:
        """Yield it as a row by `ANSWER`."""
        packed = pa.array([pickle.dumps(self)], pa.binary())
        yield pa.RecordBatch.from_arrays([packed], schema=ANSWER)


def unpack(packed: bytes) -> ShareAnswer:
    """Return what a task of this driver has packed."""
    answer = pickle.loads(packed)  # noqa: S301  # of a task: pickles are how Spark talks, too
    if not isinstance(answer, ShareAnswer):
        raise TypeError(type(answer))
    return answer


def answer_of(
    share: pa.Table,
    written: WrittenChanges,
    rewriter: FileRewriter,
    seen: RowsSeen | None = None,
) -> ShareAnswer:
    """Return what became of a share, once all its files are changed."""
    kept = [name for name in share.column_names if name != TEXTS]
    nothing = share.slice(0, 0).append_column(NUM_ROWS, pa.array([], NUM_ROWS.type))
    removed = pa.concat_tables([nothing, *rewriter.removed])
    done = RewrittenFiles(
        written=written,
        removed=removed.select([*kept, NUM_ROWS.name]),
        num_copied_rows=rewriter.num_copied_rows,
    )
    return ShareAnswer(done=done, seen=None if seen is None else seen.tables())


def _texts(files: pa.Table) -> dict[str, str]:
    """Return the statistics of files, where the log has some."""
    pairs = zip(files["path"].to_pylist(), files[TEXTS].to_pylist(), strict=True)
    return {path: text for path, text in pairs if text is not None}
