"""What clauses do to the rows of files, once it is known which counts for which row."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.values.data_values import relabelled
from deltaweb.delta.values.python_values import python_values
from deltaweb.writer.changes.change_writer import (
    AFTER,
    BEFORE,
    DELETE,
    INSERT,
    ChangeWriter,
)
from deltaweb.writer.changes.row_ids import joined_places
from deltaweb.writer.matching import check_all_read
from deltaweb.writer.merge.clauses import (
    NO_CLAUSE,
    SOURCE,
    TABLE,
    About,
    BoundClause,
    BoundClauses,
    Choices,
    Places,
    bound_rows,
)
from deltaweb.writer.rewrite.dry_run import RowTally

COUNTS: Final = (
    "numSourceRows",
    "numTargetRowsInserted",
    "numTargetRowsUpdated",
    "numTargetRowsDeleted",
    "numTargetRowsMatchedUpdated",
    "numTargetRowsMatchedDeleted",
    "numTargetRowsNotMatchedBySourceUpdated",
    "numTargetRowsNotMatchedBySourceDeleted",
    "numTargetRowsCopied",
)
"""What is counted of a merge, by Spark's names."""

SourceRows = Callable[[Places], pa.RecordBatch]
"""Returns the rows of the source at some places."""
CheckRows = Callable[[pa.RecordBatch, pa.RecordBatch | None], None]
"""Refuses new rows that break a rule; beside them are those of the source."""


class MergeMatchedTwiceError(DeltaError, code="merge-matched-twice"):
    """Several rows of the source match one of the table: which counts is not said."""

    on: str
    row: str
    message = "Several source rows match one row of the table by {on:.500}: {row}."
    hint = (
        "Nothing was written. Keep one of them in the source, or match by more columns."
    )

    @classmethod
    def of(cls, on: str, row: pa.RecordBatch) -> "MergeMatchedTwiceError":
        shown = {
            name: python_values(column)[0]
            for name, column in zip(row.schema.names, row.columns, strict=True)
        }
        return cls(on=on, row=str(shown)[:500])


class PlannedRows(NamedTuple):
    """The next rows of a file, and what is to be done with each.

    Attributes:
        chosen: The place of a clause among `BoundClauses.changes`, or `NO_CLAUSE`.
        partners: The place of the row of the source that counts, or -1.
    """

    rows: pa.RecordBatch
    chosen: Choices
    partners: Places


class FileMerger:
    """Changes files by the clauses that count for their rows, and counts.

    Args:
        check: Refuses new rows that break a rule of the table.
    """

    def __init__(
        self, clauses: BoundClauses, files: ChangeWriter | RowTally, check: CheckRows
    ) -> None:
        self.counts = dict.fromkeys(COUNTS, 0)
        self._clauses = clauses
        self._files = files
        self._check = check

    def change(
        self, file: pa.Table, planned: Iterable[PlannedRows], source_rows: SourceRows
    ) -> None:
        """Change a file.

        Args:
            planned: All its live rows, in their order.
        """
        files, num_read = self._files, 0
        files.begin_file(file)
        for part in planned:
            rows, chosen = part.rows, part.chosen
            num_read += rows.num_rows
            is_touched = pa.array(chosen != NO_CLAUSE)
            kept, new = rows.filter(pa.array(chosen == NO_CLAUSE)), rows.slice(0, 0)
            changed = [*self._apply(part, source_rows)]
            if changed:
                new = pa.Table.from_batches(changed)
                kept = pa.concat_tables(
                    [pa.Table.from_batches([relabelled(kept, new.schema)]), new]
                )
            if not files.marks_rows:
                copied = rows.num_rows - is_touched.true_count
                self.counts["numTargetRowsCopied"] += copied
            files.replace(is_touched, kept, new, changed=self._changed_places(chosen))
        check_all_read(file, num_read)
        files.end_file(file)

    def insert(self, rows: pa.RecordBatch, chosen: Choices, *, in_feed: bool) -> None:
        """Write rows of the source that no row of the table matches.

        Args:
            chosen: The place of a clause among `BoundClauses.inserts`, or `NO_CLAUSE`.
        """
        self._files.begin_new()
        for place, clause in enumerate(self._clauses.inserts):
            some = rows.filter(pa.array(chosen == place))
            inserted = clause.rows(bound_rows(s=some))
            self._check(inserted, some)
            self._files.files.write(inserted)
            if in_feed:
                self._files.feed(INSERT, inserted)
            self.counts["numTargetRowsInserted"] += inserted.num_rows

    def _changed_places(self, chosen: Choices) -> Places:
        """Return where the rows are that change, in the order of `_apply`."""
        clauses = enumerate(self._clauses.changes)
        stay = [place for place, clause in clauses if not clause.deletes]
        return joined_places(np.flatnonzero(chosen == place) for place in stay)

    def _apply(
        self, part: PlannedRows, source_rows: SourceRows
    ) -> Iterator[pa.RecordBatch]:
        for place, clause in enumerate(self._clauses.changes):
            where = np.flatnonzero(part.chosen == place)
            if not len(where):
                continue
            self._count(clause, len(where))
            before = part.rows.take(pa.array(where))
            self._files.feed(DELETE if clause.deletes else BEFORE, before)
            if clause.deletes:
                continue
            sides = {TABLE: before}
            if SOURCE in clause.sides:
                sides[SOURCE] = source_rows(part.partners[where])
            changed = clause.rows(bound_rows(**sides))
            self._check(changed, sides.get(SOURCE))
            self._files.feed(AFTER, changed)
            yield changed

    def _count(self, clause: BoundClause, num_rows: int) -> None:
        done = "Deleted" if clause.deletes else "Updated"
        is_matched = clause.clause.about is About.MATCHED
        which = "Matched" if is_matched else "NotMatchedBySource"
        self.counts[f"numTargetRows{done}"] += num_rows
        self.counts[f"numTargetRows{which}{done}"] += num_rows
