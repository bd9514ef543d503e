"""The files of all tasks as one transaction, built as in process."""

from collections.abc import Sequence
from typing import Final

from deltaweb.delta.protocol.schema import parse_schema
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.snapshot.state import load_state
from deltaweb.delta.writing.after_commit import commit_and_checkpoint
from deltaweb.delta.writing.transaction import CommitResult, Transaction
from deltaweb.spark.writing.file_tasks import TaskFiles, added_files, discard_parts
from deltaweb.spark.writing.write_plan import SaveMode, WritePlan
from deltaweb.writer.append import append_transaction
from deltaweb.writer.making.new_table import NewTable, creation_parameters
from deltaweb.writer.matching import count_rows
from deltaweb.writer.overwrite import (
    ReplacedRows,
    files_of_partitions,
    overwrite_transaction,
)
from deltaweb.writer.table_write import WrittenRows

CREATE_FROM_ROWS: Final = "CREATE TABLE AS SELECT"


def commit_parts(
    plan: WritePlan,
    parts: Sequence[TaskFiles],
    *,
    replaced: ReplacedRows | None = None,
    num_copied: int = 0,
) -> CommitResult:
    """Commit what tasks wrote; what is not committed is deleted.

    Args:
        replaced: What goes, where a condition says so.
    """
    store = plan.place.open()
    try:
        written = WrittenRows(
            added=added_files(parts),
            num_rows=sum(part.num_rows for part in parts),
            num_bytes=sum(part.num_bytes for part in parts),
            num_copied=num_copied,
        )
        transaction = _transaction(plan, written, replaced)
    except BaseException:
        discard_parts(store, parts)
        raise
    return commit_and_checkpoint(store, transaction)


def _transaction(
    plan: WritePlan, written: WrittenRows, replaced: ReplacedRows | None
) -> Transaction:
    txn = plan.request.noted
    if plan.base is None:
        return _creation(plan, written)
    if plan.request.mode is not SaveMode.OVERWRITE:
        return append_transaction(plan.write, written, txn)
    if replaced is None:
        replaced = _replaced(plan, written)
    return overwrite_transaction(plan.write, written, replaced, txn)


def _replaced(plan: WritePlan, written: WrittenRows) -> ReplacedRows:
    """Return what goes of the version that was read: all, or some partitions."""
    snapshot = base_snapshot(plan)
    dynamic = plan.request.dynamic
    removed = snapshot.files
    if dynamic:
        removed = files_of_partitions(snapshot, written.added)
    num_rows = count_rows(snapshot, removed)
    return ReplacedRows(removed=removed, num_rows=num_rows, dynamic=dynamic)


def base_snapshot(plan: WritePlan) -> Snapshot:
    """Return the version that a plan was made for."""
    store = plan.place.open()
    version = None if plan.base is None else plan.base.version
    return Snapshot(store, load_state(store, version))


def _creation(plan: WritePlan, written: WrittenRows) -> Transaction:
    metadata = plan.metadata
    new = NewTable(
        schema=parse_schema(metadata.schema_string or ""),
        properties=plan.request.properties,
    )
    return Transaction(
        base=None,
        operation=CREATE_FROM_ROWS,
        parameters=creation_parameters(metadata, new),
        metrics={
            "numFiles": written.added.num_rows,
            "numOutputRows": written.num_rows,
            "numOutputBytes": written.num_bytes,
        },
        added=written.added,
        metadata=metadata,
        protocol=plan.protocol,
        txn=plan.request.noted,
    )
