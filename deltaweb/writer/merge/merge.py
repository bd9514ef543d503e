"""A merge: the files whose rows change are written again, and new rows with them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.features.row_tracking import kept_row_ids
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.protocol.schema import (
    StructType,
    arrow_schema,
    nullable_schema,
    schema_of_arrow,
)
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.snapshot.state import load_state
from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.delta.writing.after_commit import commit_and_checkpoint
from deltaweb.delta.writing.requirements import check_writable
from deltaweb.delta.writing.transaction import EVERYTHING_READ, CommitResult, TableRead
from deltaweb.writer.changes.change_writer import ChangeWriter, marks_deleted_rows
from deltaweb.writer.changes.row_ids import KeptRowIds
from deltaweb.writer.changes.wide_statistics import statistics_texts
from deltaweb.writer.changes.work_times import WorkTimes
from deltaweb.writer.matching import files_within
from deltaweb.writer.merge.clauses import (
    NO_CLAUSE,
    About,
    BoundClause,
    BoundClauses,
    Choices,
    MergeClause,
    Places,
    bound_rows,
    check_all_taken,
    choose,
    may_repeat,
)
from deltaweb.writer.merge.file_merge import (
    FileMerger,
    MergeMatchedTwiceError,
    PlannedRows,
)
from deltaweb.writer.merge.outcome import MERGE, MergeOutcome, MergeOutlook
from deltaweb.writer.merge.pairs import JOINED_AT_ONCE, PairFinder
from deltaweb.writer.rewrite.dry_run import RowTally
from deltaweb.writer.rows.row_checks import RowChecks
from deltaweb.writer.rows.row_schema import RowSchema
from deltaweb.writer.rows.row_source import open_rows
from deltaweb.writer.table_write import TableWrite

INSERTED_AT_ONCE: Final = 1 << 16
PLANNED_BYTES: Final = 64 << 20


def read_for_merge(store: TableStore, clauses: Sequence[MergeClause]) -> Snapshot:
    """Return the newest version of a table that takes what clauses do."""
    state = load_state(store, None)
    changes = any(clause.about is not About.NOT_MATCHED for clause in clauses)
    check_writable(
        state.definition, root=store.root, operation=MERGE, removes_rows=changes
    )
    return Snapshot(store, state)


def merge_rows(
    store: TableStore,
    source: Any,  # noqa: ANN401  # any Arrow stream
    on: str,
    clauses: Sequence[MergeClause],
    *,
    time_zone: str = UTC_ZONE,
) -> CommitResult:
    """Merge rows into a table; those of the source are held in memory."""
    return plan_merge(store, source, on, clauses, time_zone=time_zone).commit()


def plan_merge(  # noqa: PLR0913  # what is merged into what, and how
    store: TableStore,
    source: Any,  # noqa: ANN401  # any Arrow stream
    on: str,
    clauses: Sequence[MergeClause],
    snapshot: Snapshot | None = None,
    *,
    time_zone: str = UTC_ZONE,
) -> "MergePlan":
    """Read the rows of a source, and find the files that they may match.

    Args:
        snapshot: The version that it is about, of `read_for_merge`; None to read it.
    """
    times = WorkTimes()
    snapshot = snapshot or read_for_merge(store, clauses)
    base = snapshot.state.definition
    write = TableWrite(store, base, base.metadata, time_zone=time_zone)
    merge = _Merge(snapshot, source, on, clauses, write)
    return MergePlan(write=write, snapshot=snapshot, merge=merge, times=times)


def source_schema(incoming: pa.Schema) -> StructType:
    """Return the columns of a source, each of them nullable."""
    return schema_of_arrow(nullable_schema(arrow_schema(schema_of_arrow(incoming))))


def source_rows(reader: pa.RecordBatchReader) -> pa.Table:
    """Return all rows of a source, in types that tables have; each may be null."""
    schema = source_schema(reader.schema)
    fit = RowSchema(schema, reader.schema)
    batches = [fit.fit(batch) for batch in reader]
    return pa.Table.from_batches(batches, arrow_schema(schema))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MergePlan:
    """A merge in process, up to its first file."""

    write: TableWrite
    snapshot: Snapshot
    merge: "_Merge"
    times: WorkTimes

    def opened_bytes(self) -> int:
        """Return the bytes of the files that are inspected."""
        return pc.sum(self.merge.candidates["size"]).as_py() or 0

    @property
    def is_for_a_process(self) -> bool:
        """Whether Spark's tasks cannot: rows keep ids, or new ones get numbers."""
        base = self.snapshot.state.definition
        keeps_ids = kept_row_ids(base.protocol, base.metadata) is not None
        inserts = any(c.about is About.NOT_MATCHED for c in self.merge.clauses)
        return keeps_ids or (inserts and bool(self.write.numbers.columns))

    def preview(self) -> MergeOutlook:
        """Find out what it would do; nothing is written."""
        base = self.write.base
        marks_rows = marks_deleted_rows(base.protocol, base.metadata)
        with RowTally(marks_rows=marks_rows) as tally:
            outcome = self.merge.carry_out(tally)
        return MergeOutlook(snapshot=self.snapshot, outcome=outcome)

    def commit(self, *, user_name: str | None = None) -> CommitResult:
        """Do it; a plan is carried out or previewed once."""
        snapshot, write = self.snapshot, self.write
        texts = partial(statistics_texts, snapshot)
        row_ids = KeptRowIds.of(write.store, snapshot)
        with ChangeWriter(write, texts, row_ids) as files:
            self.times.end_scan()
            outcome = self.merge.carry_out(files)
            asked = (self.merge.on, self.merge.clauses)
            transaction = replace(
                outcome.transaction(write.base, *asked, self.times),
                metadata=write.new_metadata,
                user_name=user_name,
            )
        return commit_and_checkpoint(write.store, transaction)


class _Merge:
    """One merge on its way: what is bound, and which rows were met so far."""

    def __init__(  # what a merge is bound to
        self,
        snapshot: Snapshot,
        source: Any,  # noqa: ANN401  # any Arrow stream
        on: str,
        clauses: Sequence[MergeClause],
        write: TableWrite,
    ) -> None:
        table = snapshot.schema
        reader = open_rows(source)
        schema = source_schema(reader.schema)
        check_all_taken(on, clauses, table, schema)
        numbers, zone = write.numbers, write.time_zone
        bound = BoundClauses.of(
            [
                BoundClause(one, table, schema, numbers, time_zone=zone)
                for one in clauses
            ]
        )
        self._clauses = bound
        rows = source_rows(reader)
        self._snapshot, self.on, self.clauses = snapshot, on, clauses
        self._checks = RowChecks(snapshot.metadata, table, time_zone=zone)
        self._finder = PairFinder(on, table, schema, rows, zone)
        self._is_met = np.zeros(rows.num_rows, np.bool_)
        self._may_repeat = may_repeat(clauses)

        # Rows that match nothing are anywhere.
        self._reach = None if bound.alone else self._finder.reach()

    def carry_out(self, files: ChangeWriter | RowTally) -> MergeOutcome:
        merger = FileMerger(
            self._clauses, files, lambda new, _: self._checks.check(new)
        )
        merger.counts["numSourceRows"] = len(self._is_met)
        candidates = self.candidates
        changed = [candidates.slice(0, 0)]
        for position in range(candidates.num_rows):
            file = candidates.slice(position, 1)
            if self._change(file, merger):
                changed.append(file)
        gone = pa.concat_tables(changed)
        self._insert(merger, in_feed=gone.num_rows > 0)
        return MergeOutcome(
            written=files.finish(needs_feed=gone.num_rows > 0),
            num_output_rows=files.files.num_rows,
            changed=gone,
            counts=merger.counts,
            read=self._read(candidates),
        )

    # === Rows of the table ===

    @cached_property
    def candidates(self) -> pa.Table:
        if self._reach is None:
            return self._snapshot.counted(self._snapshot.files)
        return files_within(self._snapshot, self._reach)

    def _read(self, candidates: pa.Table) -> TableRead:
        if self._reach is None:
            return EVERYTHING_READ
        return TableRead(predicate=self._reach, files=candidates)

    def _change(self, file: pa.Table, merger: FileMerger) -> bool:
        """Change the rows of a file, if any is to be; tell whether one was."""
        read = _together(self._snapshot.file_rows(file))
        plans = [self._plan(rows) for rows in read]
        if not any((chosen != NO_CLAUSE).any() for chosen, _ in plans):
            return False
        chosen = np.concatenate([chosen for chosen, _ in plans])
        partners = np.concatenate([partners for _, partners in plans])
        planned = self._planned(file, chosen, partners)
        merger.change(file, planned, self._finder.source_rows)
        return True

    def _planned(
        self, file: pa.Table, chosen: Choices, partners: Places
    ) -> Iterator[PlannedRows]:
        start = 0
        for rows in self._snapshot.file_rows(file):
            end = start + rows.num_rows
            yield PlannedRows(rows, chosen[start:end], partners[start:end])
            start = end

    def _plan(self, rows: pa.RecordBatch) -> tuple[Choices, Places]:
        """Return the clause and the row of the source that count for each row.

        The clauses about rows that match none come after those about matched ones.
        """
        matched, alone_clauses = self._clauses.matched, self._clauses.alone
        chosen = np.full(rows.num_rows, NO_CLAUSE, np.int16)
        partners = np.full(rows.num_rows, -1, np.int64)
        is_matched = np.zeros(rows.num_rows, np.bool_)
        for mine, theirs in self._finder.pairs(rows):
            is_matched[mine] = True
            self._is_met[theirs] = True
            if not matched:
                continue
            found = self._choose_matched(rows, mine, theirs)
            counts = found != NO_CLAUSE
            hit = mine[counts]
            unique, times = np.unique(hit, return_counts=True)
            twice = unique[(times > 1) | (chosen[unique] != NO_CLAUSE)]
            if len(twice) and not self._may_repeat:
                raise MergeMatchedTwiceError.of(self.on, rows.slice(int(twice[0]), 1))
            chosen[hit], partners[hit] = found[counts], theirs[counts]
        alone = np.flatnonzero(~is_matched)
        if alone_clauses and len(alone):
            found = choose(alone_clauses, bound_rows(t=rows.take(pa.array(alone))))
            counts = found != NO_CLAUSE
            chosen[alone[counts]] = found[counts] + len(matched)
        return chosen, partners

    def _choose_matched(
        self, rows: pa.RecordBatch, mine: Places, theirs: Places
    ) -> Choices:
        matched = self._clauses.matched
        if not matched[0].is_conditional:
            return np.zeros(len(mine), np.int16)
        both = bound_rows(
            t=rows.take(pa.array(mine)), s=self._finder.source_rows(theirs)
        )
        return choose(matched, both)

    # === Rows of the source ===

    def _insert(self, merger: FileMerger, *, in_feed: bool) -> None:
        """Write the rows of the source that no row of the table matches."""
        inserts = self._clauses.inserts
        if not inserts:
            return
        new = np.flatnonzero(~self._is_met)
        for start in range(0, len(new), INSERTED_AT_ONCE):
            some = self._finder.source_rows(new[start : start + INSERTED_AT_ONCE])
            merger.insert(some, choose(inserts, bound_rows(s=some)), in_feed=in_feed)


def _together(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield rows in larger batches: for each one the source is hashed again."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        num_bytes = sum(some.nbytes for some in waiting)
        num_rows = sum(some.num_rows for some in waiting)
        if num_rows >= JOINED_AT_ONCE or num_bytes >= PLANNED_BYTES:
            yield from pa.Table.from_batches(waiting).combine_chunks().to_batches()
            waiting = []
    if waiting:
        yield from pa.Table.from_batches(waiting).combine_chunks().to_batches()
