"""What a caller is told of a commit."""

from collections.abc import Mapping, Sequence
from typing import Final

import pyarrow.compute as pc

from deltaweb.delta.writing.transaction import CommitResult, Transaction

ROW_METRICS: Final[Mapping[str, Sequence[str]]] = {
    "num_rows_written": ("numOutputRows",),
    "num_rows_inserted": ("numTargetRowsInserted", "numInsertedRows"),
    "num_rows_updated": ("numTargetRowsUpdated", "numUpdatedRows"),
    "num_rows_deleted": ("numTargetRowsDeleted", "numDeletedRows"),
    "num_rows_copied": ("numTargetRowsCopied", "numCopiedRows"),
}
"""The metrics that each count of rows is taken from, the first that is there."""


def nothing_done(transaction: Transaction, *, is_noted: bool = False) -> CommitResult:
    """Return what is told where no version was made.

    Args:
        is_noted: Whether it was done before, as its `txn` says.
    """
    base = transaction.base
    version = None if is_noted or base is None else base.version
    return CommitResult(version=version)


def committed(
    transaction: Transaction,
    version: int,
    *,
    attempts: int,
    rebased_over: Sequence[int],
) -> CommitResult:
    """Return what is told of a transaction that made a version."""
    metrics = transaction.metrics
    rows = {
        name: next((metrics[key] for key in keys if key in metrics), None)
        for name, keys in ROW_METRICS.items()
    }
    if rows["num_rows_inserted"] is None and transaction.data_change:
        rows["num_rows_inserted"] = _only_new_rows(transaction)
    added, removed = transaction.added["path"], transaction.removed["path"]
    stays = pc.is_in(added, value_set=removed.combine_chunks())  # with another vector
    num_staying = pc.sum(stays).as_py() or 0
    return CommitResult(
        version=version,
        num_added_files=len(added) - num_staying,
        num_removed_files=len(removed) - num_staying,
        attempts=attempts,
        rebased_over=tuple(rebased_over),
        metrics=dict(metrics),
        **{name: count or 0 for name, count in rows.items()},
    )


def _only_new_rows(transaction: Transaction) -> int:
    """Rows written are new ones where none was changed, deleted or copied."""
    metrics = transaction.metrics
    others = [key for name, keys in ROW_METRICS.items() for key in keys][1:]
    if any(metrics.get(key) for key in others):
        return 0
    return metrics.get("numOutputRows", 0)
