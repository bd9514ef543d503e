"""The text of a commit: commitInfo first, and the rest, which versions hardly change.

Source: delta_protocol.md, "Delta Log Entries" and "Commit Provenance Information".
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import pyarrow as pa

from deltaweb.delta.features.clustering import is_clustered
from deltaweb.delta.features.row_tracking import assigns_row_ids, kept_row_ids
from deltaweb.delta.log.commits.partition_keys import partition_keys
from deltaweb.delta.log.file_actions import DELETION_VECTOR, VECTOR
from deltaweb.delta.log.store import MAX_LOG_FILE_BYTES, TableStore
from deltaweb.delta.row_tracking.logged_fields import DOMAIN as ROW_TRACKING_DOMAIN
from deltaweb.delta.row_tracking.logged_fields import IN_THE_LOG, LOGGED_FIELDS
from deltaweb.delta.row_tracking.numbering import FileNumbering
from deltaweb.delta.writing.authorship import author
from deltaweb.delta.writing.commit_clock import dated_metadata
from deltaweb.delta.writing.errors import CommitTooLargeError
from deltaweb.delta.writing.log_lines import (
    action_line,
    add_lines,
    change_lines,
    domain_line,
    metadata_line,
    protocol_line,
    remove_lines,
    transaction_line,
)
from deltaweb.delta.writing.transaction import (
    ADDED_FILES,
    CHANGE_FILES,
    REMOVED_FILES,
    Transaction,
)
from deltaweb.version import VERSION

ENGINE_INFO: Final = f"deltaweb/{VERSION}"
ROWS_KEPT: Final = "delta.rowTracking.preserved"
OWN_TIME_BYTES: Final = 48
"""What a first line has more at most when it says the commit's own time."""


class CommitText:
    """The bytes of a transaction's commit, most of them made once for all attempts.

    Args:
        txn_id: What makes this commit known, whoever else writes the same.
        numbering: What the rows of its files are known by; None where the table has
            no use for that.
    """

    def __init__(
        self,
        transaction: Transaction,
        *,
        root: str,
        txn_id: str,
        now_ms: int,
        numbering: FileNumbering | None = None,
    ) -> None:
        self._root = root
        self._transaction = transaction
        self.numbering = numbering
        self._now_ms = now_ms
        self._info = _info(transaction, txn_id=txn_id, now_ms=now_ms)
        self._info_bytes = len(action_line("commitInfo", self._info))
        self._files = b""
        if numbering is None:
            self._files = b"".join(_file_lines(transaction, now_ms))

    @property
    def info_bytes(self) -> int:
        """Length at most of the first line, which has the `txnId`."""
        return self._info_bytes + OWN_TIME_BYTES

    def of_version(self, version: int, time_ms: int | None = None) -> bytes:
        """Return the commit that makes a version.

        Args:
            time_ms: The time that it carries, in milliseconds; None for none.
        """
        dated = {"inCommitTimestamp": time_ms, **self._info}
        files, mark = self._files, None
        if self.numbering is not None:
            added, mark = self.numbering.of_version(version)
            transaction = replace(
                self._transaction, added=added, removed=self.numbering.removed
            )
            files = b"".join(_file_lines(transaction, self._now_ms))
        head = b"".join(
            [
                action_line("commitInfo", dated),
                *_definition_lines(self._transaction, version, time_ms),
                *([] if mark is None else [domain_line(ROW_TRACKING_DOMAIN, mark)]),
            ]
        )
        size = len(head) + len(files)
        if size > MAX_LOG_FILE_BYTES:
            raise CommitTooLargeError(
                root=self._root,
                version=version,
                size_bytes=size,
                most=MAX_LOG_FILE_BYTES,
            )
        return head + files


def numbering_of(store: TableStore, transaction: Transaction) -> FileNumbering | None:
    """Return what the rows of a transaction's files are known by.

    None where the table neither tracks rows nor tells who laid out a file.
    """
    protocol, metadata = transaction.next_protocol, transaction.next_metadata
    assigns_ids = assigns_row_ids(protocol, metadata)
    if not (assigns_ids or is_clustered(protocol)):
        return None
    return FileNumbering.of(
        store,
        None if transaction.base is None else transaction.base.version,
        added=transaction.added,
        removed=transaction.removed,
        assigns_ids=assigns_ids,
        are_files_new=transaction.are_files_new,
    )


def _info(transaction: Transaction, *, txn_id: str, now_ms: int) -> dict[str, Any]:
    base = transaction.base
    return {
        "timestamp": now_ms,
        "userName": transaction.user_name or author(),
        "operation": transaction.operation,
        "operationParameters": {
            key: value if isinstance(value, str) else json.dumps(value)
            for key, value in transaction.parameters.items()
        },
        "readVersion": None if base is None else base.version,
        "isolationLevel": transaction.isolation.value,
        "isBlindAppend": transaction.is_blind_append,
        "operationMetrics": {
            key: str(value) for key, value in transaction.metrics.items()
        },
        "engineInfo": ENGINE_INFO,
        "txnId": txn_id,
        "tags": _tags(transaction),
    }


def _tags(transaction: Transaction) -> dict[str, str] | None:
    """Return whether rows that were written again kept their ids: here they do."""
    protocol, metadata = transaction.next_protocol, transaction.next_metadata
    keeps = kept_row_ids(protocol, metadata) is not None
    return {ROWS_KEPT: "true"} if keeps else None


def _definition_lines(
    transaction: Transaction, version: int, time_ms: int | None
) -> Iterator[bytes]:
    if transaction.txn is not None:
        yield transaction_line(transaction.txn)
    if transaction.protocol is not None:
        yield protocol_line(transaction.protocol)
    metadata = dated_metadata(transaction, version, time_ms)
    if metadata is not None:
        yield metadata_line(metadata)


def _file_lines(transaction: Transaction, now_ms: int) -> Iterator[bytes]:
    changes = transaction.data_change
    base = transaction.base
    if base is not None and transaction.removed.num_rows:
        removed = _with_vectors(transaction.removed, REMOVED_FILES)
        keys = partition_keys(base.protocol, base.metadata)
        yield from remove_lines(removed, keys, data_change=changes, deletion_ms=now_ms)
    keys = partition_keys(transaction.next_protocol, transaction.next_metadata)
    if transaction.added.num_rows:
        added = _with_vectors(transaction.added, ADDED_FILES)
        yield from add_lines(added, keys, data_change=changes)
    if transaction.change_files.num_rows:
        changed = transaction.change_files.select(CHANGE_FILES.names).cast(CHANGE_FILES)
        yield from change_lines(changed, keys)


def _with_vectors(files: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return files in the columns of a schema, and their vectors as far as known."""
    files = files.combine_chunks()  # each chunk takes as long as all of them
    logged = [name for name in files.column_names if name in IN_THE_LOG]
    known = files.select([*schema.names, *logged]).cast(
        pa.schema([*schema, *map(LOGGED_FIELDS.field, logged)])
    )
    if VECTOR not in files.column_names:
        return known.append_column(VECTOR, pa.nulls(files.num_rows, DELETION_VECTOR))
    return known.append_column(VECTOR, files[VECTOR].cast(DELETION_VECTOR))
