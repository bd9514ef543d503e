"""A merge: the files whose rows change are written again, and new rows with them."""

from collections.abc import Iterator, Sequence
from functools import partial
from time import monotonic
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.protocol.schema import arrow_schema, schema_of_arrow
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.snapshot_state import load_state
from deltaweb.delta.values.python_values import python_values
from deltaweb.delta.writing.after_commit import commit_and_checkpoint
from deltaweb.delta.writing.requirements import check_writable
from deltaweb.delta.writing.transaction import (
    EVERYTHING_READ,
    CommitResult,
    TableRead,
    Transaction,
)
from deltaweb.writer.changes.change_writer import (
    AFTER,
    BEFORE,
    DELETE,
    INSERT,
    ChangeWriter,
)
from deltaweb.writer.changes.row_ids import KeptRowIds, joined_places
from deltaweb.writer.changes.wide_statistics import statistics_texts
from deltaweb.writer.matching import file_rows, files_within
from deltaweb.writer.merge.clauses import (
    NO_CLAUSE,
    About,
    BoundClause,
    Choices,
    MergeClause,
    Places,
    bound_rows,
    choose,
)
from deltaweb.writer.merge.pairs import JOINED_AT_ONCE, PairFinder
from deltaweb.writer.row_checks import RowChecks
from deltaweb.writer.rows.identity_numbers import IdentityNumbers
from deltaweb.writer.rows.row_schema import RowSchema
from deltaweb.writer.rows.row_source import open_rows
from deltaweb.writer.table_write import TableWrite

MERGE: Final = "MERGE"
INSERTED_AT_ONCE: Final = 1 << 16
PLANNED_BYTES: Final = 64 << 20
PARAMETERS: Final = {
    About.MATCHED: "matchedPredicates",
    About.NOT_MATCHED: "notMatchedPredicates",
    About.NOT_MATCHED_BY_SOURCE: "notMatchedBySourcePredicates",
}


class MergeMatchedTwiceError(DeltaError, code="merge-matched-twice"):
    """Several rows of the source match one of the table: which counts is not said."""

    on: str
    row: str
    message = "Several rows of the source match one of the table by {on:.500}: {row}."
    hint = "Nothing was written. Leave one of them in the source, or match by more."


def merge_rows(
    store: TableStore,
    source: Any,  # noqa: ANN401  # any Arrow stream
    on: str,
    clauses: Sequence[MergeClause],
) -> CommitResult:
    """Merge rows into a table; those of the source are held in memory.

    Args:
        store: The table's files.
        source: Whatever `open_rows` takes.
        on: SQL over `t`, the table, and `s`, the source.
        clauses: What is done with which rows.

    Raises:
        DeltaError: As `DeltaTable.merge` lists them.
    """
    started = monotonic()
    state = load_state(store, None)
    changes = any(clause.about is not About.NOT_MATCHED for clause in clauses)
    check_writable(
        state.definition, root=store.root, operation=MERGE, removes_rows=changes
    )
    snapshot = Snapshot(store, state)
    base = state.definition
    write = TableWrite(store, base, base.metadata)
    merge = _Merge(snapshot, source, on, clauses, write.numbers)
    texts = partial(statistics_texts, snapshot)
    with ChangeWriter(write, texts, KeptRowIds.of(store, snapshot)) as files:
        candidates = merge.candidates()
        removed = [candidates.slice(0, 0)]
        for position in range(candidates.num_rows):
            file = candidates.slice(position, 1)
            if merge.change(file, files):
                removed.append(file)
        gone = pa.concat_tables(removed)
        merge.insert(files, is_told=gone.num_rows > 0)
        written = files.finish(needs_feed=gone.num_rows > 0)
        added = written.added
        stays = pc.is_in(gone["path"], value_set=added["path"].combine_chunks())
        left = gone.filter(pc.invert(stays))
        transaction = Transaction(
            base=base,
            operation=MERGE,
            parameters={
                "predicate": on,
                **{
                    name: [c.parameters for c in clauses if c.about is about]
                    for about, name in PARAMETERS.items()
                },
            },
            metrics={
                **merge.metrics,
                "numOutputRows": files.files.num_rows,
                "numTargetFilesAdded": written.num_new_files,
                "numTargetFilesRemoved": left.num_rows,
                "numTargetBytesAdded": files.num_bytes,
                "numTargetBytesRemoved": pc.sum(left["size"]).as_py() or 0,
                **{f"numTarget{n[3:]}": count for n, count in written.metrics.items()},
                "executionTimeMs": int((monotonic() - started) * 1_000),
            },
            read=merge.read(candidates),
            added=added,
            removed=gone,
            change_files=written.change_files,
            metadata=write.new_metadata,
        )
    return commit_and_checkpoint(store, transaction)


class _Merge:
    """One merge on its way: what is bound, and what was done so far."""

    def __init__(
        self,
        snapshot: Snapshot,
        source: Any,  # noqa: ANN401  # any Arrow stream
        on: str,
        clauses: Sequence[MergeClause],
        numbers: IdentityNumbers,
    ) -> None:
        table = snapshot.schema
        reader = open_rows(source)
        schema = schema_of_arrow(reader.schema)
        fit = RowSchema(schema, reader.schema)
        bound = {
            about: [
                BoundClause(c, table, schema, numbers)
                for c in clauses
                if c.about is about
            ]
            for about in About
        }
        self._matched = bound[About.MATCHED]
        self._alone = bound[About.NOT_MATCHED_BY_SOURCE]
        self._inserts = bound[About.NOT_MATCHED]
        batches = [fit.fit(batch) for batch in reader]
        whole = pa.schema([f.with_nullable(True) for f in arrow_schema(schema)])  # noqa: FBT003  # pyarrow's own
        rows = pa.Table.from_batches(batches, whole)
        self._snapshot, self._on = snapshot, on
        self._checks = RowChecks(snapshot.metadata, table)
        self._finder = PairFinder(on, table, schema, rows)
        self._is_met = np.zeros(rows.num_rows, np.bool_)
        self.metrics = dict.fromkeys(
            (
                "numSourceRows",
                "numTargetRowsInserted",
                "numTargetRowsUpdated",
                "numTargetRowsDeleted",
                "numTargetRowsMatchedUpdated",
                "numTargetRowsMatchedDeleted",
                "numTargetRowsNotMatchedBySourceUpdated",
                "numTargetRowsNotMatchedBySourceDeleted",
                "numTargetRowsCopied",
            ),
            0,
        )
        self.metrics["numSourceRows"] = rows.num_rows

        # Rows that match nothing are anywhere.
        self._reach = None if self._alone else self._finder.reach()

    # === Rows of the table ===

    def candidates(self) -> pa.Table:
        """Return the files that may hold a row that changes or goes."""
        if self._reach is None:
            return self._snapshot.files
        return files_within(self._snapshot, self._reach)

    def read(self, candidates: pa.Table) -> TableRead:
        """Return what of the version the merge depends on."""
        if self._reach is None:
            return EVERYTHING_READ
        return TableRead(predicate=self._reach, files=candidates)

    def change(self, file: pa.Table, files: ChangeWriter) -> bool:
        """Change the rows of a file, if any is to be; tell whether one was."""
        read = _together(file_rows(self._snapshot, file))
        plans = [self._plan(rows) for rows in read]
        if not any((chosen != NO_CLAUSE).any() for chosen, _ in plans):
            return False
        chosen = np.concatenate([chosen for chosen, _ in plans])
        partners = np.concatenate([partners for _, partners in plans])
        start = 0
        files.begin_file(file)
        for rows in file_rows(self._snapshot, file):
            end = start + rows.num_rows
            some = chosen[start:end]
            kept, new = rows.filter(pa.array(some == NO_CLAUSE)), rows.slice(0, 0)
            changed = [*self._apply(rows, some, partners[start:end], files)]
            if changed:
                new = pa.Table.from_batches(changed)
                kept = pa.concat_tables(
                    [pa.Table.from_batches([kept]).cast(new.schema), new]
                )
            if not files.marks_rows:
                copied = int((some == NO_CLAUSE).sum())
                self.metrics["numTargetRowsCopied"] += copied
            is_touched = pa.array(some != NO_CLAUSE)
            files.replace(is_touched, kept, new, changed=self._changed_places(some))
            start = end
        files.end_file(file)
        return True

    def _changed_places(self, chosen: Choices) -> Places:
        """Return where the rows are that change, in the order of `_apply`."""
        clauses = enumerate((*self._matched, *self._alone))
        stay = [place for place, clause in clauses if not clause.deletes]
        return joined_places(np.flatnonzero(chosen == place) for place in stay)

    def _plan(self, rows: pa.RecordBatch) -> tuple[Choices, Places]:
        """Return the clause and the row of the source that count for each row.

        The clauses about rows that match none come after those about matched ones.
        """
        chosen = np.full(rows.num_rows, NO_CLAUSE, np.int16)
        partners = np.full(rows.num_rows, -1, np.int64)
        is_matched = np.zeros(rows.num_rows, np.bool_)
        for mine, theirs in self._finder.pairs(rows):
            is_matched[mine] = True
            self._is_met[theirs] = True
            if not self._matched:
                continue
            found = self._choose_matched(rows, mine, theirs)
            counts = found != NO_CLAUSE
            hit = mine[counts]
            unique, times = np.unique(hit, return_counts=True)
            twice = unique[(times > 1) | (chosen[unique] != NO_CLAUSE)]
            if len(twice):
                raise self._matched_twice(rows.slice(int(twice[0]), 1))
            chosen[hit], partners[hit] = found[counts], theirs[counts]
        alone = np.flatnonzero(~is_matched)
        if self._alone and len(alone):
            found = choose(self._alone, bound_rows(t=rows.take(pa.array(alone))))
            counts = found != NO_CLAUSE
            chosen[alone[counts]] = found[counts] + len(self._matched)
        return chosen, partners

    def _choose_matched(
        self, rows: pa.RecordBatch, mine: Places, theirs: Places
    ) -> Choices:
        if not self._matched[0].is_conditional:
            return np.zeros(len(mine), np.int16)
        both = bound_rows(
            t=rows.take(pa.array(mine)), s=self._finder.source_rows(theirs)
        )
        return choose(self._matched, both)

    def _apply(
        self,
        rows: pa.RecordBatch,
        chosen: Choices,
        partners: Places,
        files: ChangeWriter,
    ) -> Iterator[pa.RecordBatch]:
        """Yield what becomes of the rows that change."""
        for place, clause in enumerate((*self._matched, *self._alone)):
            where = np.flatnonzero(chosen == place)
            if not len(where):
                continue
            self._count(clause, len(where))
            before = rows.take(pa.array(where))
            files.feed(DELETE if clause.deletes else BEFORE, before)
            if clause.deletes:
                continue
            sides = {"t": before}
            if clause.clause.about is About.MATCHED:
                sides["s"] = self._finder.source_rows(partners[where])
            changed = clause.rows(bound_rows(**sides))
            self._checks.check(changed)
            files.feed(AFTER, changed)
            yield changed

    def _count(self, clause: BoundClause, num_rows: int) -> None:
        done = "Deleted" if clause.deletes else "Updated"
        is_matched = clause.clause.about is About.MATCHED
        which = "Matched" if is_matched else "NotMatchedBySource"
        self.metrics[f"numTargetRows{done}"] += num_rows
        self.metrics[f"numTargetRows{which}{done}"] += num_rows

    def _matched_twice(self, row: pa.RecordBatch) -> MergeMatchedTwiceError:
        shown = {
            name: python_values(column)[0]
            for name, column in zip(row.schema.names, row.columns, strict=True)
        }
        return MergeMatchedTwiceError(on=self._on, row=str(shown)[:500])

    # === Rows of the source ===

    def insert(self, files: ChangeWriter, *, is_told: bool) -> None:
        """Write the rows of the source that no row of the table matches.

        Args:
            files: Where they go.
            is_told: Whether they are told of beside the new files.
        """
        if not self._inserts:
            return
        new = np.flatnonzero(~self._is_met)
        for start in range(0, len(new), INSERTED_AT_ONCE):
            some = self._finder.source_rows(new[start : start + INSERTED_AT_ONCE])
            rows = bound_rows(s=some)
            chosen = choose(self._inserts, rows)
            for place, clause in enumerate(self._inserts):
                inserted = clause.rows(rows.filter(pa.array(chosen == place)))
                self._checks.check(inserted)
                files.files.write(inserted)
                if is_told:
                    files.feed(INSERT, inserted)
                self.metrics["numTargetRowsInserted"] += inserted.num_rows


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
