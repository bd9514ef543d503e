"""Rows take the place of others: of all, of those of a condition, or of partitions."""

from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.log.store import TableStore
from deltaweb.delta.protocol.actions import SetTransaction
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.values.partition_values import canonical_keys, partition_schema
from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.delta.writing.after_commit import commit_and_checkpoint
from deltaweb.delta.writing.requirements import RowConstraint
from deltaweb.delta.writing.transaction import (
    EVERYTHING_READ,
    NO_CHANGE_FILES,
    CommitResult,
    TableRead,
    Transaction,
)
from deltaweb.expressions.session.settings import SessionSettings
from deltaweb.writer.append import WRITE
from deltaweb.writer.changes.change_writer import DELETE, INSERT, ChangeWriter
from deltaweb.writer.changes.row_ids import KeptRowIds
from deltaweb.writer.changes.wide_statistics import statistics_texts
from deltaweb.writer.matching import (
    check_all_read,
    count_rows,
    each_file,
    find_matches,
    rows_with_matches,
)
from deltaweb.writer.rewrite.run import read_for_rewrite
from deltaweb.writer.rows.row_source import open_rows
from deltaweb.writer.table_write import TableWrite, WrittenRows, evolved

REPLACE_WHERE: Final = "replaceWhere"


def overwrite_rows(  # noqa: PLR0913  # what goes, and what comes
    store: TableStore,
    rows: Any,  # noqa: ANN401  # any Arrow stream
    *,
    where: str | None = None,
    overwrite_schema: bool = False,
    dynamic: bool = False,
    merge_schema: bool = False,
    time_zone: str = UTC_ZONE,
) -> CommitResult:
    if sum((where is not None, overwrite_schema, dynamic)) > 1:
        message = "choose one of where, overwrite_schema and dynamic"
        raise ValueError(message)
    snapshot = read_for_rewrite(store, WRITE)
    base = snapshot.state.definition
    reader = open_rows(rows)
    metadata = evolved(
        base, reader.schema, merge=merge_schema, replaces=overwrite_schema
    )
    write = TableWrite(store, base, metadata, time_zone=time_zone)
    rule = () if where is None else (RowConstraint(REPLACE_WHERE, where),)
    texts = partial(statistics_texts, snapshot)
    with ChangeWriter(write, texts, KeptRowIds.of(store, snapshot)) as changes:
        files = changes.files
        for batch in write.accept(reader, rule):
            files.write(batch)
            if where is not None:
                changes.feed(INSERT, batch)
        num_rows, tells_rows = files.num_rows, False
        removed, read = snapshot.files, EVERYTHING_READ
        deleted = 0
        if where is not None:
            removed, deleted, read, tells_rows = _keep_others(
                write, snapshot, where, changes
            )
        done = changes.finish(needs_feed=tells_rows)
        if dynamic:
            removed = files_of_partitions(snapshot, done.added)
        written = WrittenRows(
            added=done.added,
            num_rows=files.num_rows,
            num_bytes=files.num_bytes,
            num_copied=files.num_rows - num_rows,
        )
        replaced = ReplacedRows(
            removed=removed,
            num_rows=deleted or count_rows(snapshot, removed),
            read=read,
            where=where,
            dynamic=dynamic,
            change_files=done.change_files,
        )
        transaction = overwrite_transaction(write, written, replaced)
    return commit_and_checkpoint(store, transaction)


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class ReplacedRows:
    """What goes when rows are written in the place of others.

    Attributes:
        removed: The files that go, rows of `Snapshot.files`.
        num_rows: The rows that go with them and are not written again.
        change_files: Files that tell the rows which go, and those which come, where
            the files that are removed and added do not.
    """

    removed: pa.Table
    num_rows: int
    read: TableRead = EVERYTHING_READ
    where: str | None = None
    dynamic: bool = False
    change_files: pa.Table = field(default_factory=lambda: NO_CHANGE_FILES)


def overwrite_transaction(
    write: TableWrite,
    written: WrittenRows,
    replaced: ReplacedRows,
    txn: SetTransaction | None = None,
) -> Transaction:
    removed, where = replaced.removed, replaced.where
    dynamic = {"partitionOverwriteMode": "dynamic"} if replaced.dynamic else {}
    return Transaction(
        base=write.base,
        operation=WRITE,
        parameters={
            "mode": "Overwrite",
            "partitionBy": [*write.metadata.partition_columns],
            **({} if where is None else {"predicate": where}),
            **dynamic,
        },
        metrics={
            "numFiles": written.added.num_rows,
            "numOutputRows": written.num_rows - written.num_copied,
            "numOutputBytes": written.num_bytes,
            "numRemovedFiles": removed.num_rows,
            "numRemovedBytes": pc.sum(removed["size"]).as_py() or 0,
            "numDeletedRows": replaced.num_rows,
            "numCopiedRows": written.num_copied,
        },
        read=replaced.read,
        added=written.added,
        removed=removed,
        change_files=replaced.change_files,
        metadata=write.new_metadata,
        txn=txn,
    )


def _keep_others(
    write: TableWrite, snapshot: Snapshot, where: str, changes: ChangeWriter
) -> tuple[pa.Table, int, TableRead, bool]:
    """Write again what a condition is not true for, of the files where it is for some.

    Returns:
        The files that go, the rows that go with them, what was read, and whether
        rows are written again that stay.
    """
    matches = find_matches(
        snapshot, where, settings=SessionSettings(time_zone=write.time_zone)
    )
    removed, deleted = [matches.whole], count_rows(snapshot, matches.whole)
    for file in each_file(matches.partly):
        judged = rows_with_matches(snapshot.file_rows, file, matches.condition)
        if judged is None:
            continue
        removed.append(file)
        changes.begin_copies(file)
        num_read = 0
        for rows, holds in judged:
            num_read += rows.num_rows
            deleted += holds.true_count
            changes.copy(rows, pc.invert(holds))
            changes.feed(DELETE, rows.filter(holds))
        check_all_read(file, num_read)
    tells_rows = len(removed) > 1  # else the files that go tell all
    if tells_rows and changes.feeds_changes:
        for rows in snapshot.file_rows(matches.whole):
            changes.feed(DELETE, rows)
    return pa.concat_tables(removed), deleted, matches.read, tells_rows


def files_of_partitions(snapshot: Snapshot, added: pa.Table) -> pa.Table:
    """Return the files of the partitions that new files are in.

    Partitions are told apart by their values: other writers spell these otherwise.
    """
    columns = partition_schema(snapshot.schema, snapshot.metadata.partition_columns)
    wanted = set(canonical_keys(added["partition_values"], columns))
    keys = canonical_keys(snapshot.files["partition_values"], columns)
    return snapshot.files.filter(pa.array([key in wanted for key in keys], pa.bool_()))
