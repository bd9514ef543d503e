"""What is asked of the tasks that change rows by a condition, and what they answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa

from deltaweb.spark.writing.change_tasks import TEXTS, ChangeRequest
from deltaweb.spark.writing.session.conditions import FilledColumns
from deltaweb.writer.changes.change_writer import ChangeWriter, WrittenChanges
from deltaweb.writer.rewrite.dry_run import RowsSeen, RowTally
from deltaweb.writer.rewrite.file_changes import NUM_ROWS, FileRewriter, RewrittenFiles

EVERY_ROW: Final = "TRUE"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowRequest(ChangeRequest):
    """A change of the rows of a condition.

    Attributes:
        assignments: SQL by the column, by the table's spelling; None where rows go.
        filled: Columns of the changed rows that Spark generates again.
    """

    where: str | None
    assignments: Mapping[str, str] | None = None
    filled: FilledColumns = field(default_factory=FilledColumns)

    @property
    def changed(self) -> list[str]:
        """Names of the columns whose values Spark gives, by `judged_rows`."""
        return [*(self.assignments or {}), *self.filled.generated]

    def open_changes(self, *, is_dry: bool) -> ChangeWriter | RowTally:
        return RowTally(marks_rows=self.marks_rows) if is_dry else self.open_writer()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ShareAnswer:
    """What a task answers.

    Attributes:
        seen: The first of the rows that were concerned, as they are, and as they
            become unless they go; None where none are shown.
    """

    done: RewrittenFiles
    seen: tuple[pa.Table, pa.Table | None] | None = None


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
