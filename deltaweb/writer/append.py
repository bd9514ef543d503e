"""Rows are added: the log is read for what holds, never for the files."""

from dataclasses import replace
from typing import Any, Final

from deltaweb.delta.log.paths import commit_name
from deltaweb.delta.log.store import FileStatus, TableStore
from deltaweb.delta.protocol.actions import SetTransaction
from deltaweb.delta.snapshot.state import Definition, commit_status, load_definition
from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.delta.writing.after_commit import commit_and_checkpoint
from deltaweb.delta.writing.concurrent_commits import is_noted, may_define
from deltaweb.delta.writing.requirements import check_writable
from deltaweb.delta.writing.transaction import CommitResult, Transaction
from deltaweb.writer.rows.row_source import open_rows
from deltaweb.writer.table_write import TableWrite, WrittenRows, evolved

WRITE = "WRITE"
MAX_COMMITS_FOLLOWED: Final = 100
"""Commits that are looked at one by one; after more the log is read again."""
MAX_COMMIT_BYTES: Final = 1 << 20
"""A commit of as many bytes is no small one, and the log is read again."""


class KnownDefinition:
    """What holds at a table's newest version, kept from one append to the next.

    Who appends often has made the newest version itself: whether it still is the newest
    is asked of two names. Of the commits of others only those are read that are new;
    the log is read again when one of them changes what holds.
    """

    def __init__(self, store: TableStore) -> None:
        self._store = store
        self._kept: tuple[Definition, FileStatus | None] | None = None

    def newest(self) -> Definition:
        """Return what holds at the newest version."""
        kept = self._kept
        if kept is not None:
            definition, status = kept
            if commit_status(self._store, definition.version) == status:
                newest = self._advanced(definition)
                if newest is definition:
                    return definition
                if newest is not None:
                    self._keep(newest)
                    return newest
        definition = load_definition(self._store)
        self._keep(definition)
        return definition

    def follow(self, transaction: Transaction, result: CommitResult) -> None:
        """Keep what a commit has made, or has found where it gave way to others."""
        base, version = transaction.base, result.version
        if base is None or version is None or _may_be_dated(transaction):
            self._kept = None
        elif not result.rebased_over:
            metadata = transaction.next_metadata
            self._keep(replace(base, version=version, metadata=metadata))

    def _keep(self, definition: Definition) -> None:
        status = commit_status(self._store, definition.version)
        self._kept = None if status is None else (definition, status)

    def _advanced(self, definition: Definition) -> Definition | None:
        """Return the newest version of a definition; None if it is to be read again."""
        version = definition.version
        while version - definition.version < MAX_COMMITS_FOLLOWED:
            try:
                data = self._store.read_head(commit_name(version + 1), MAX_COMMIT_BYTES)
            except FileNotFoundError:
                is_same = version == definition.version
                return definition if is_same else replace(definition, version=version)
            if len(data) == MAX_COMMIT_BYTES or may_define(data):
                return None
            version += 1
        return None


def _may_be_dated(transaction: Transaction) -> bool:
    """Whether a commit says more of the table than was asked for: since when it is so.

    A new column or a number that an identity column has come to is not dated.
    """
    base, metadata = transaction.base, transaction.metadata
    if base is None or transaction.protocol is not None:
        return True
    return (
        metadata is not None and metadata.configuration != base.metadata.configuration
    )


def append_rows(  # noqa: PLR0913  # what comes, and how it is taken
    store: TableStore,
    rows: Any,  # noqa: ANN401  # any Arrow stream
    *,
    merge_schema: bool = False,
    txn: tuple[str, int] | None = None,
    known: KnownDefinition | None = None,
    time_zone: str = UTC_ZONE,
) -> CommitResult:
    """Add rows to a table.

    Args:
        txn: How far an application comes with this; a version that the table has
            already makes nothing happen.
        known: What is known of the table from appends before.
    """
    known = known or KnownDefinition(store)
    base = known.newest()
    check_writable(base, root=store.root, operation=WRITE)
    noted = None if txn is None else SetTransaction(app_id=txn[0], version=txn[1])
    if is_noted(store, noted):
        return CommitResult(version=None)
    reader = open_rows(rows)
    metadata = evolved(base, reader.schema, merge=merge_schema)
    write = TableWrite(store, base, metadata, time_zone=time_zone)
    with write.open_files() as files:
        for batch in write.accept(reader):
            files.write(batch)
        added = files.finish()
        written = WrittenRows(
            added=added, num_rows=files.num_rows, num_bytes=files.num_bytes
        )
        transaction = append_transaction(write, written, noted)
    result = commit_and_checkpoint(store, transaction)
    known.follow(transaction, result)
    return result


def append_transaction(
    write: TableWrite, written: WrittenRows, txn: SetTransaction | None
) -> Transaction:
    return Transaction(
        base=write.base,
        operation=WRITE,
        parameters={
            "mode": "Append",
            "partitionBy": [*write.metadata.partition_columns],
        },
        metrics={
            "numFiles": written.added.num_rows,
            "numOutputRows": written.num_rows,
            "numOutputBytes": written.num_bytes,
        },
        added=written.added,
        metadata=write.new_metadata,
        txn=txn,
    )
