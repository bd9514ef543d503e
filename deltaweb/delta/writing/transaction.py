"""A transaction: what was read of a version, and what is to become the next one.

It is a value that knows no engine: whoever writes data files hands over Arrow tables
of files that are added and removed, and `commit.commit` decides whether they may
become a version.

Source: delta_protocol.md, "Actions".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

import pyarrow as pa

from deltaweb.delta.deletion_vectors.places import vector_paths
from deltaweb.delta.log.file_actions import DELETION_VECTOR, PARTITION_VALUES, VECTOR
from deltaweb.delta.protocol.actions import Metadata, Protocol, SetTransaction
from deltaweb.delta.scan.predicate import Predicate
from deltaweb.delta.snapshot.state import Definition

ISOLATION_LEVEL: Final = "delta.isolationLevel"
ADDED_FILES: Final = pa.schema(
    [
        pa.field("path", pa.string()),
        pa.field("size", pa.int64()),
        pa.field("modification_time", pa.int64()),
        pa.field("partition_values", PARTITION_VALUES),
        pa.field("stats", pa.string()),
    ]
)
"""Files that are added: as `Snapshot.files` has them, and their statistics as JSON."""
REMOVED_FILES: Final = pa.schema(
    [
        pa.field("path", pa.string()),
        pa.field("size", pa.int64()),
        pa.field("partition_values", PARTITION_VALUES),
    ]
)
"""Files that are removed: rows of `Snapshot.files`; more columns do no harm."""
MARKED_FILES: Final = ADDED_FILES.append(pa.field(VECTOR, DELETION_VECTOR))
"""Files that are added may have a vector, too: such a file was there before, or comes
back; of a file that was written for a transaction every row counts."""
CHANGE_FILES: Final = REMOVED_FILES
"""Files with the rows that changed: of the change data feed."""
NO_FILES: Final = ADDED_FILES.empty_table()
NO_CHANGE_FILES: Final = CHANGE_FILES.empty_table()


class IsolationLevel(Enum):
    """What of concurrent commits a transaction may not have missed.

    `WRITE_SERIALIZABLE` lets a blind append that was committed first count as if it
    came after us; `SERIALIZABLE` does not. A transaction that changes no rows, nor
    what the table is, depends on less: on `SNAPSHOT`, which no table asks for.
    """

    WRITE_SERIALIZABLE = "WriteSerializable"
    SERIALIZABLE = "Serializable"
    SNAPSHOT = "SnapshotIsolation"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TableRead:
    """What of the version a transaction looked at, and so depends on.

    Attributes:
        predicate: Rows that may satisfy this condition; None where no condition was
            asked for. One that has no such form is read as `everything`.
        files: The files that were opened, rows of `Snapshot.files`; None where that
            is not known, so that every removed file may be one.
    """

    everything: bool = False
    predicate: Predicate | None = None
    files: pa.Table | None = None

    @property
    def is_nothing(self) -> bool:
        """Whether nothing was read: an append that is blind."""
        return not self.everything and self.predicate is None and self.files is None


NOTHING_READ: Final = TableRead()
EVERYTHING_READ: Final = TableRead(everything=True)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Transaction:
    """What is to become the next version.

    Attributes:
        base: The version that was read, of `DeltaTable.definition` or
            `SnapshotState.definition`; None to create the table.
        operation: What is done, by the name that Spark gives it: `WRITE`, `DELETE`.
        parameters: Of the operation; what is no text becomes JSON, as Spark's do.
        metrics: Of the operation, by Spark's names: `numOutputRows`.
        added: Files to add, in the columns of `ADDED_FILES`, or of `MARKED_FILES`.
        removed: Files to remove, in the columns of `REMOVED_FILES` at least.
        change_files: Files of the change data feed, in the columns of `CHANGE_FILES`.
        data_change: False where files are only rearranged: the rows stay the same.
        are_files_new: Whether the added files were written for this transaction. Then
            they are deleted when it is known that it lost. Files that the table had
            before are not new.
        txn: How far an application has come with this; a version that the table has
            already makes the commit do nothing.
        user_name: Who asked for it, for the log; None for what `authored` says.
        is_mark: Whether it makes a version though the table stays as it is: a word in
            the history, as a vacuum leaves one.
        is_last_word: Whether the table is to be as this says, whatever its isolation
            level: what was committed meanwhile would be lost, or stay unseen.
    """

    base: Definition | None
    operation: str
    parameters: Mapping[str, object] = field(default_factory=dict)
    metrics: Mapping[str, int] = field(default_factory=dict)
    read: TableRead = NOTHING_READ
    added: pa.Table = field(default_factory=lambda: NO_FILES)
    removed: pa.Table = field(default_factory=lambda: NO_FILES)
    change_files: pa.Table = field(default_factory=lambda: NO_CHANGE_FILES)
    data_change: bool = True
    are_files_new: bool = True
    metadata: Metadata | None = None
    protocol: Protocol | None = None
    txn: SetTransaction | None = None
    user_name: str | None = None
    is_mark: bool = False
    is_last_word: bool = False

    @property
    def next_metadata(self) -> Metadata:
        if self.metadata is not None:
            return self.metadata
        if self.base is not None:
            return self.base.metadata
        message = "a transaction that creates a table has a metaData"
        raise ValueError(message)

    @property
    def next_protocol(self) -> Protocol:
        if self.protocol is not None:
            return self.protocol
        if self.base is not None:
            return self.base.protocol
        message = "a transaction that creates a table has a protocol"
        raise ValueError(message)

    @property
    def new_files(self) -> pa.Table:
        if not self.are_files_new:
            return self.added.slice(0, 0)
        if VECTOR not in self.added.column_names:
            return self.added
        return self.added.filter(self.added[VECTOR].is_null())

    def written_paths(self) -> list[str]:
        """Return the paths of all that was written for it: nobody else needs them."""
        changes: list[str] = self.change_files["path"].to_pylist()
        if not self.are_files_new:
            return changes
        vectors: list[str] = []
        if VECTOR in self.added.column_names:
            vectors = vector_paths(self.added)
        return [
            *self.new_files["path"].to_pylist(),
            *changes,
            *vectors,
        ]

    @property
    def changes_definition(self) -> bool:
        return self.metadata is not None or self.protocol is not None

    @property
    def is_blind_append(self) -> bool:
        """Whether it depends on no file of the base: nothing read, nothing removed."""
        return self.read.is_nothing and not self.removed.num_rows

    @property
    def is_empty(self) -> bool:
        """Whether the table would be as it is: such a transaction makes no version."""
        return not (
            self.added.num_rows
            or self.removed.num_rows
            or self.changes_definition
            or self.txn
            or self.is_mark
        )

    @property
    def _changes_nothing(self) -> bool:
        """Whether rows, definition and applications stay as they are."""
        has_files = bool(self.added.num_rows or self.removed.num_rows)
        has_changed = has_files and self.data_change
        return not (has_changed or self.changes_definition or self.txn)

    @property
    def isolation(self) -> IsolationLevel:
        """The level that the table asks for; any that is not known is the strictest.

        What is checked of rows before the table's definition changes (that they
        satisfy a new constraint) must hold of every row, so appends count, too.
        """
        if self._changes_nothing:
            return IsolationLevel.SNAPSHOT
        if self.is_last_word or (self.changes_definition and not self.read.is_nothing):
            return IsolationLevel.SERIALIZABLE
        asked = self.next_metadata.configuration.get(ISOLATION_LEVEL)
        weakest = IsolationLevel.WRITE_SERIALIZABLE
        if asked is None or asked.lower() == weakest.value.lower():
            return weakest
        return IsolationLevel.SERIALIZABLE


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitResult:
    """What became of a transaction.

    Attributes:
        version: The version that it made, or the one read where there was nothing to
            do; None where its `txn` was in the table already: nothing was done.
        num_rows_written: Rows of the added files, as `operationMetrics` has them; the
            next four are as well.
        num_rows_copied: Rows that were only written again.
        attempts: How often a version was tried.
        rebased_over: The versions of others that it had to give way to.
        metrics: All of `operationMetrics`, by Spark's names.
    """

    version: int | None
    num_added_files: int = 0
    num_removed_files: int = 0
    num_rows_written: int = 0
    num_rows_inserted: int = 0
    num_rows_updated: int = 0
    num_rows_deleted: int = 0
    num_rows_copied: int = 0
    attempts: int = 0
    rebased_over: tuple[int, ...] = ()
    metrics: Mapping[str, int] = field(default_factory=dict)
