"""The undo of a commit: its plan carried out, with its change data feed in reverse."""

from dataclasses import replace
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.changes.row_changes import CHANGE_TYPE, ChangeType
from deltaweb.delta.feed.changed_rows import FeedRequest, FeedScan
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.protocol.schema import parse_schema
from deltaweb.delta.writing.after_commit import commit_and_checkpoint
from deltaweb.delta.writing.operations.undo import UndoPlan
from deltaweb.delta.writing.transaction import (
    CHANGE_FILES,
    NO_CHANGE_FILES,
    CommitResult,
    Transaction,
)
from deltaweb.writer.table_write import TableWrite

REVERSED: Final = pa.table(
    {
        "told": [
            ChangeType.INSERT,
            ChangeType.DELETE,
            ChangeType.UPDATE_BEFORE,
            ChangeType.UPDATE_AFTER,
        ],
        "undone": [
            ChangeType.DELETE,
            ChangeType.INSERT,
            ChangeType.UPDATE_AFTER,
            ChangeType.UPDATE_BEFORE,
        ],
    },
    schema=pa.schema({"told": pa.string(), "undone": pa.string()}),
)
"""What the undo of a change is, in the words of the change data feed."""


def carry_out_undo(
    store: TableStore, plan: UndoPlan, *, user_name: str | None = None
) -> CommitResult:
    """Commit what was planned.

    Raises:
        UndoRefusedError: If the plan says that the commit cannot be undone.
        CommitConflictError: If another writer changed what the undo depends on.
        DeltaError: If a file of the change data feed cannot be read or written.
    """
    plan.check()
    transaction = plan.transaction
    if transaction is None or transaction.base is None:
        return CommitResult(version=None)
    change_files = NO_CHANGE_FILES
    if plan.feeds_changes:
        change_files = _reversed_feed(store, plan.version, transaction)
    done = replace(transaction, user_name=user_name, change_files=change_files)
    return commit_and_checkpoint(store, done)


def _reversed_feed(
    store: TableStore, version: int, transaction: Transaction
) -> pa.Table:
    """Write the rows that a commit recorded as changed, each with the reverse change.

    A commit without such files is told by the files that it added and removed. So is
    its undo then, and nothing is written.
    """
    scan = FeedScan(store, FeedRequest(versions=(version, version)))
    changed = [files for files in scan.files() if files.tells_kinds]
    if not changed:
        return NO_CHANGE_FILES
    base = transaction.base
    if base is None:
        return NO_CHANGE_FILES
    write = TableWrite(store, base, transaction.next_metadata)
    names = [*parse_schema(transaction.next_metadata.schema_string or "").names]
    with write.open_change_files() as feed:
        for files in changed:
            feed.spell_as(files.files)
            for rows in scan.read(files):
                told = pc.index_in(rows[CHANGE_TYPE], value_set=REVERSED["told"])
                columns = [rows[name] for name in names]
                columns.append(REVERSED["undone"].combine_chunks().take(told))
                feed.write(pa.Table.from_arrays(columns, [*names, CHANGE_TYPE]))
        return feed.finish().select(CHANGE_FILES.names)
