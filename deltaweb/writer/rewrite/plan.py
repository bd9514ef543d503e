"""A change of rows, from the files it is about to its commit, or its dry run."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import monotonic
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.log.store import TableStore
from deltaweb.delta.protocol.schema import arrow_schema
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.writing.after_commit import commit_and_checkpoint
from deltaweb.delta.writing.transaction import CommitResult, TableRead, Transaction
from deltaweb.expressions.condition import SQLCondition
from deltaweb.writer.changes.change_writer import (
    AFTER,
    BEFORE,
    DELETE,
    ChangeWriter,
    WrittenChanges,
    marks_deleted_rows,
)
from deltaweb.writer.matching import (
    each_file,
    file_rows,
    find_matches,
    judged_rows,
    row_counts,
    rows_with_matches,
)
from deltaweb.writer.rewrite.dry_run import RowsSeen, RowTally
from deltaweb.writer.rewrite.row_changes import RowChange, nullable
from deltaweb.writer.table_write import TableWrite

EVERY_ROW: Final = "TRUE"
NUM_ROWS: Final = pa.field("num_rows", pa.int64())
"""How many rows of a file are concerned."""
ABSENT: Final = "NULL"

Progress = Callable[[int, int], None]
"""Told how many files are done, and of how many; it may raise to stop the work."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ConcernedFiles:
    """The files that a change is about, rows of `Snapshot.files`.

    Attributes:
        gone: Those that go without being opened, for every row of theirs does.
        opened: Those that are looked into.
        is_sure: Whether it is known that each of them has a row that is concerned.
        read: What of the version this depends on.
    """

    gone: pa.Table
    opened: pa.Table
    is_sure: bool
    read: TableRead


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RewrittenFiles:
    """What became of the files.

    Attributes:
        written: What was written.
        removed: Rows of `Snapshot.files`, and `NUM_ROWS`; those gone come first.
            Some stay with a vector, and are added again.
        num_copied_rows: Rows that were only written again.
    """

    written: WrittenChanges
    removed: pa.Table
    num_copied_rows: int

    @property
    def num_rows(self) -> int:
        """Rows that went or changed."""
        return pc.sum(self.removed["num_rows"]).as_py() or 0

    @property
    def size_bytes(self) -> int:
        """Bytes of the files removed."""
        return pc.sum(self.removed["size"]).as_py() or 0

    def file_metrics(self, num_bytes: int) -> dict[str, int]:
        """Return what the log says of the files; those that stay are left out.

        Args:
            num_bytes: Bytes of the new files.
        """
        added, paths = self.written.added["path"], self.removed["path"]
        stays = pc.is_in(paths, value_set=added.combine_chunks())
        gone = self.removed.filter(pc.invert(stays))
        return {
            "numAddedFiles": self.written.num_new_files,
            "numRemovedFiles": gone.num_rows,
            "numAddedBytes": num_bytes,
            "numRemovedBytes": pc.sum(gone["size"]).as_py() or 0,
            **self.written.metrics,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Rewrite:
    """A change of the rows of a version that a condition is true for.

    Attributes:
        store: The table's files.
        snapshot: The version.
        change: What becomes of the rows.
        where: The condition in SQL; every row for None.
    """

    store: TableStore
    snapshot: Snapshot
    change: RowChange
    where: str | None

    def plan(self, on_progress: Progress | None = None) -> "RewritePlan":
        """Do all of it but writing.

        Raises:
            DeltaError: As `commit` does before it writes.
        """
        about, seen = self._find(), RowsSeen()
        self._see_unopened(about.gone, seen)
        base = self.snapshot.state.definition
        marks_rows = marks_deleted_rows(base.protocol, base.metadata)
        with RowTally(marks_rows=marks_rows) as tally:
            done = self._rewrite(about, tally, on_progress, seen)
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
        """Write what is to be written, and commit it.

        Args:
            about: The files, where a plan has found them.
            on_progress: Told how many files are done.
            user_name: Who asked for it, for the log.

        Raises:
            DeltaError: As `DeltaTable.delete` and `update` list them.
        """
        started = monotonic()
        base = self.snapshot.state.definition
        about = about or self._find()
        write = TableWrite(self.store, base, base.metadata)
        with ChangeWriter(write, self.snapshot) as files:
            done = self._rewrite(about, files, on_progress)
            transaction = Transaction(
                base=base,
                operation=self.change.operation,
                parameters={"predicate": [] if self.where is None else [self.where]},
                metrics={
                    self.change.count_metric: done.num_rows,
                    "numCopiedRows": done.num_copied_rows,
                    **done.file_metrics(files.num_bytes),
                    "executionTimeMs": int((monotonic() - started) * 1_000),
                },
                read=about.read,
                added=done.written.added,
                removed=done.removed,
                change_files=done.written.change_files,
                user_name=user_name,
            )
        return commit_and_checkpoint(self.store, transaction)

    def _find(self) -> ConcernedFiles:
        matches = find_matches(self.snapshot, self.where)
        nothing = matches.whole.slice(0, 0)
        opened = [matches.partly]
        if self.change.opens_whole:
            opened = [matches.whole, matches.partly]
        return ConcernedFiles(
            gone=nothing if self.change.opens_whole else matches.whole,
            opened=pa.concat_tables(opened),
            is_sure=False,
            read=matches.read,
        )

    def _rewrite(
        self,
        about: ConcernedFiles,
        files: ChangeWriter | RowTally,
        on_progress: Progress | None,
        seen: RowsSeen | None = None,
    ) -> RewrittenFiles:
        change, snapshot = self.change, self.snapshot
        condition = SQLCondition(self.where or EVERY_ROW, snapshot.schema)
        removed = [_counted(about.gone, row_counts(snapshot, about.gone))]
        num_copied = 0
        for number, file in enumerate(each_file(about.opened)):
            if on_progress is not None:
                on_progress(number, about.opened.num_rows)
            look = judged_rows if about.is_sure else rows_with_matches
            judged = look(snapshot, file, condition)
            if judged is None:
                continue
            count = 0
            files.begin_file(file)
            for rows, holds in judged:
                changed = change.apply(rows, holds)
                count += holds.true_count
                if not files.marks_rows:
                    num_copied += rows.num_rows - holds.true_count
                files.replace(holds, changed.written, changed.changed)
                if files.feeds_changes:
                    _feed(files, rows.filter(holds), changed.changed)
                if seen is not None and not seen.is_full:
                    seen.see(rows.filter(holds), changed.changed)
            files.end_file(file)
            removed.append(_counted(file, pa.chunked_array([[count]], pa.int64())))
        tells_rows = len(removed) > 1  # else the files that go tell all
        if tells_rows and files.feeds_changes:
            for rows in file_rows(snapshot, about.gone):
                _feed(files, rows, None)
        return RewrittenFiles(
            written=files.finish(needs_feed=tells_rows),
            removed=pa.concat_tables(removed),
            num_copied_rows=num_copied,
        )

    def _see_unopened(self, files: pa.Table, seen: RowsSeen) -> None:
        for file in each_file(files):
            for rows in file_rows(self.snapshot, file):
                if seen.is_full:
                    return
                seen.see(rows, None)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RewritePlan:
    """What a change of rows would do.

    Attributes:
        rewrite: The change.
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
        """Do it, to the version that it was made of.

        Raises:
            CommitConflictError: If a commit since changed what it depends on.
            DeltaError: As `DeltaTable.delete` and `update` list them.
        """
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
        labels = _labels(removed, self.rewrite.snapshot.metadata.partition_columns)
        grouped = (
            removed.select(["size", "num_rows"])
            .append_column("partition", labels)
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


def _feed(
    files: ChangeWriter | RowTally, before: pa.RecordBatch, after: pa.RecordBatch | None
) -> None:
    """Tell of rows that go, or that become others."""
    if after is None:
        files.feed(DELETE, before)
        return
    files.feed(BEFORE, before)
    files.feed(AFTER, after)


def _counted(files: pa.Table, counts: pa.ChunkedArray) -> pa.Table:
    return files.append_column(NUM_ROWS, counts)


def _labels(files: pa.Table, names: Iterable[str]) -> pa.ChunkedArray:
    parts = [
        pc.binary_join_element_wise(name, _texts(files, name), "=") for name in names
    ]
    if not parts:
        return pa.chunked_array([pa.repeat("", files.num_rows)], pa.string())
    return pc.binary_join_element_wise(*parts, ", ")


def _texts(files: pa.Table, name: str) -> pa.ChunkedArray:
    values = files["partition_values"]
    texts = pc.map_lookup(values, query_key=name, occurrence="last")
    is_absent = pc.equal(pc.fill_null(texts, ""), "")
    return pc.if_else(is_absent, ABSENT, texts)
