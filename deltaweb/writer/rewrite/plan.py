"""A change of rows, from the files it is about to its commit, or its dry run."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.features.row_tracking import kept_row_ids
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.protocol.schema import StructType, arrow_schema
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.values.partition_values import canonical_column, partition_schema
from deltaweb.delta.writing.after_commit import commit_and_checkpoint
from deltaweb.delta.writing.transaction import CommitResult, Transaction
from deltaweb.writer.changes.work_times import WorkTimes
from deltaweb.writer.matching import each_file, find_matches
from deltaweb.writer.rewrite.dry_run import RowsSeen
from deltaweb.writer.rewrite.engine import ConcernedFiles, RewriteEngine
from deltaweb.writer.rewrite.file_changes import NUM_ROWS, Progress, RewrittenFiles
from deltaweb.writer.rewrite.row_changes import ChangeKind, nullable

ABSENT: Final = "NULL"


@dataclass(frozen=True, eq=False)
class Rewrite:
    """A change of the rows of a version that a condition is true for.

    Attributes:
        engine: What reads the files and writes them again.
        found: The files that it is about, where they are known; else they are found.
    """

    store: TableStore
    snapshot: Snapshot
    change: ChangeKind
    where: str | None
    engine: RewriteEngine
    found: ConcernedFiles | None = None

    def plan(self, on_progress: Progress | None = None) -> "RewritePlan":
        about, seen = self.concerned, RowsSeen()
        self._see_unopened(about.gone, seen)
        done = self.engine.look(about, seen, on_progress)
        schema = nullable(arrow_schema(self.snapshot.schema))
        return RewritePlan(
            rewrite=self,
            files=ConcernedFiles(
                gone=about.gone,
                opened=done.removed.drop_columns(NUM_ROWS.name).slice(
                    about.gone.num_rows
                ),
                is_sure=True,
                read=about.read,
                condition=about.condition,
            ),
            outcome=done,
            before=seen.before(schema),
            after=seen.after(schema) if self.change.opens_whole else None,
        )

    def commit(
        self,
        about: ConcernedFiles | None = None,
        *,
        on_progress: Progress | None = None,
        user_name: str | None = None,
    ) -> CommitResult:
        """Write what is to be written, and commit it."""
        times = WorkTimes()
        about = about or self.concerned
        times.end_scan()
        with self.engine.write(about, on_progress) as done:
            transaction = Transaction(
                base=self.snapshot.state.definition,
                operation=self.change.operation,
                parameters={"predicate": [] if self.where is None else [self.where]},
                metrics={
                    self.change.count_metric: done.num_rows,
                    "numCopiedRows": done.num_copied_rows,
                    **done.file_metrics(),
                    **times.metrics(),
                },
                read=about.read,
                added=done.written.added,
                removed=done.removed,
                change_files=done.written.change_files,
                user_name=user_name,
            )
        return commit_and_checkpoint(self.store, transaction)

    def opened_bytes(self) -> int:
        """Return the bytes of the files that are inspected."""
        return pc.sum(self.concerned.opened["size"]).as_py() or 0

    @property
    def is_for_a_process(self) -> bool:
        """Whether Spark's tasks cannot: rows keep what they are known by."""
        base = self.snapshot.state.definition
        return kept_row_ids(base.protocol, base.metadata) is not None

    @cached_property
    def concerned(self) -> ConcernedFiles:
        """The files that it is about, none of them opened."""
        if self.found is not None:
            return self.found
        matches = find_matches(
            self.snapshot,
            self.where,
            is_evaluated_here=self.engine.is_evaluated_here,
            settings=self.engine.settings,
        )
        nothing = matches.whole.slice(0, 0)
        opened = [matches.partly]
        if self.change.opens_whole:
            opened = [matches.whole, matches.partly]
        return ConcernedFiles(
            gone=nothing if self.change.opens_whole else matches.whole,
            opened=pa.concat_tables(opened),
            is_sure=False,
            read=matches.read,
            condition=matches.condition,
        )

    def _see_unopened(self, files: pa.Table, seen: RowsSeen) -> None:
        for file in each_file(files):
            for rows in self.snapshot.file_rows(file):
                if seen.is_full:
                    return
                seen.see(rows, None)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RewritePlan:
    """What a change of rows would do.

    Attributes:
        files: The files that it is about, found.
        outcome: What becomes of them, but that nothing is written.
        before: The first of the rows, as they are: twenty at most.
        after: The same rows with their new values, in the same order; None where
            they go.
    """

    rewrite: Rewrite
    files: ConcernedFiles
    outcome: RewrittenFiles
    before: pa.Table
    after: pa.Table | None

    def carry_out(
        self, *, on_progress: Progress | None = None, user_name: str | None = None
    ) -> CommitResult:
        """Do it, to the version that it was made of."""
        return self.rewrite.commit(
            self.files, on_progress=on_progress, user_name=user_name
        )

    def by_partition(self) -> pa.Table:
        """Return what is concerned of each partition, most rows first.

        Returns:
            partition string (`region=eu, day=NULL`; empty where the table has none),
            num_files int64, size_bytes int64, num_rows int64.
        """
        removed = self.outcome.removed
        snapshot = self.rewrite.snapshot
        names = snapshot.metadata.partition_columns
        labels = _labels(removed, partition_schema(snapshot.schema, names))
        grouped = (
            removed.select(["size", "num_rows"])
            .append_column("partition", pa.chunked_array([labels]))
            .group_by("partition")
            .aggregate([("size", "count"), ("size", "sum"), ("num_rows", "sum")])
        )
        return pa.table(
            {
                "partition": grouped["partition"],
                "num_files": grouped["size_count"],
                "size_bytes": grouped["size_sum"],
                "num_rows": grouped["num_rows_sum"],
            }
        ).sort_by([("num_rows", "descending"), ("partition", "ascending")])


def _labels(files: pa.Table, columns: StructType) -> pa.Array:
    """Return the partition of each file, by its values and not by their texts."""
    parts = [
        pc.binary_join_element_wise(
            column.name,
            pc.fill_null(canonical_column(files["partition_values"], column), ABSENT),
            "=",
        )
        for column in columns.fields
    ]
    if not parts:
        return pa.repeat("", files.num_rows)
    return pc.binary_join_element_wise(*parts, ", ")
