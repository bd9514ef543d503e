"""The errors of writing a table: why a commit is refused, and what to do then.

DeltaError
├── VersionError: CommitConflictError, CommitOutcomeUnknownError, AppendOnlyError,
│   UnsupportedWriteError, ProtocolUpgradeError (ProtocolTooOldError),
│   CommitInvalidError, CommitTooLargeError, CommitTimeError, UndoRefusedError
├── LocationError: LocationTakenError, InsideTableError, StoreNotWritableError
├── SchemaMismatchError: NewColumnsError, SourceColumnsError
├── ConstraintViolatedError, ConstraintNameError, IdentityColumnError,
│   TypeNotWidenedError, RetentionTooShortError
├── DataFileMissingError: RestoreFilesMissingError
└── PartitionValueError: PartitionKeysError
"""

from collections.abc import Mapping, Sequence
from typing import Final

from deltaweb.delta.errors import (
    DataFileMissingError,
    DeltaError,
    LocationError,
    PartitionValueError,
    VersionError,
)
from deltaweb.delta.protocol.actions import Protocol
from deltaweb.delta.values.cell_text import cell_text
from deltaweb.errors import shortened_name

MAX_ROWS_SHOWN: Final = 5
MAX_ROW_TEXT: Final = 200


class CommitConflictError(VersionError, code="commit-conflict"):
    """Another writer committed first, and what it did cannot be given way to.

    Attributes:
        kind: What the two have in common, kebab-case: `file-removed`, `file-added`,
            `metadata`, `protocol`, `transaction`, `history` or `attempts`.
        winning_operation: What the other did, as its commit says; empty if it does
            not.
        subject: The first file, property or application concerned; may be empty.
    """

    kind: str
    operation: str
    winning_operation: str = ""
    subject: str = ""
    reason: str = "it changed what this write depends on"
    message = (
        "{root}: {operation} conflicts with version {version}{_winner}, which was "
        "committed first: {reason}{_subject}."
    )
    hint = "Nothing was written. Read the table again and repeat the operation."

    @property
    def _winner(self) -> str:
        return f" ({self.winning_operation:.80})" if self.winning_operation else ""

    @property
    def _subject(self) -> str:
        return f" ({self.subject:.300})" if self.subject else ""


class CommitOutcomeUnknownError(VersionError, code="commit-outcome-unknown"):
    """The store took a commit and never said whether it is there.

    Attributes:
        txn_id: What the commit's `commitInfo.txnId` is, if it is there.
    """

    txn_id: str
    reason: str
    message = (
        "{root}: it is unknown whether version {version} was committed, because "
        "storage did not answer ({reason})."
    )
    hint = (
        "If the commitInfo of that version has the txnId {txn_id}, it was committed. "
        "Otherwise repeat the operation."
    )


class AppendOnlyError(VersionError, code="append-only"):
    operation: str
    message = (
        "{root} is append-only (delta.appendOnly), but {operation} would change "
        "or remove some."
    )
    hint = "Set delta.appendOnly to false first, if that is what you want."


class UnsupportedWriteError(VersionError, code="unsupported-write"):
    """The table asks more of its writers than is done here."""

    needs: Sequence[str]
    message = (
        "{root} at version {version} requires {needs} of its writers, which this "
        "server does not support: nothing was written."
    )
    hint = "Write this table with an engine that supports it; it can still be read."


class ProtocolUpgradeError(VersionError, code="protocol-upgrade"):
    reason: str
    message = "The protocol of {root} was not changed: {reason}."
    hint = (
        "Request the upgrade explicitly with `upgrade=True` or `--upgrade`. It cannot "
        "be undone."
    )


class ProtocolTooOldError(ProtocolUpgradeError, code="protocol-too-old"):
    """What is asked for needs a newer protocol, and nobody has agreed to that yet.

    Attributes:
        features: What writers have to know of from then on, besides what they do.
    """

    operation: str
    now: Protocol
    then: Protocol
    features: Sequence[str]
    reason: str = (
        "{operation} needs an upgrade from {_now} to {_then}, which adds {features}"
    )
    hint = (
        "Request both in one commit with `upgrade=True` or `--upgrade`. Clients that "
        "do not support the new protocol can then no longer write the table. This "
        "cannot be undone."
    )

    @property
    def _now(self) -> str:
        return _versions(self.now)

    @property
    def _then(self) -> str:
        return _versions(self.then)


def _versions(protocol: Protocol) -> str:
    return f"reader {protocol.min_reader_version}, writer {protocol.min_writer_version}"


class CommitInvalidError(VersionError, code="commit-invalid"):
    reason: str
    message = "{root}: version {version} cannot be committed: {reason}."
    hint = "Nothing was written; please report this."


class CommitTooLargeError(VersionError, code="commit-too-large"):
    size_bytes: int
    most: int
    message = (
        "{root}: the commit of version {version} would have {size_bytes:,} bytes, "
        "but at most {most:,} can be read."
    )
    hint = "Write it in several steps."


class CommitTimeError(VersionError, code="commit-time"):
    """The commit before carries the last time that there is."""

    before_ms: int
    message = (
        "{root}: version {version} cannot get a later time than the version before, "
        "which has {before_ms} milliseconds since 1970."
    )
    hint = (
        "Set delta.enableInCommitTimestamps to false: commits then take the times of "
        "their files."
    )


class LocationTakenError(LocationError, code="location-taken"):
    """A table is to be made where something is already."""

    reason: str = "it is a table already"
    message = "{location} cannot be used for a new table: {reason}."
    hint: str = "Choose an empty location, or write to the existing table."


class InsideTableError(LocationError, code="inside-table"):
    outer: str
    message = "{location} is inside the folder of the table {outer}."
    hint = (
        "Choose a location outside of it. A vacuum of that table, by any engine, "
        "deletes files that its log does not list."
    )


class StoreNotWritableError(LocationError, code="store-not-writable"):
    """Storage does not keep what a writer relies on.

    Source: delta_protocol_first_draft.md, "Blob Store Requirements".
    """

    promise: str
    message = "{location} is read-only: its storage does not guarantee {promise}."
    hint = "Keep tables that are written on a local disk, S3, Azure or Google Storage."


class SchemaMismatchError(DeltaError, code="schema-mismatch"):
    """Rows do not fit the columns of the table.

    Attributes:
        misfits: Every column that does not fit, and half a sentence why.
    """

    misfits: Mapping[str, str]
    message = "The rows do not fit the table: {_each}."
    hint = "Change the rows, or the table's schema where that is compatible."

    @property
    def _each(self) -> str:
        return "; ".join(
            f"{shortened_name(column)!r} {why}" for column, why in self.misfits.items()
        )


class SourceColumnsError(SchemaMismatchError):
    message = "The merge would lose values: {_each}."
    hint = (
        "Add these columns to the table first, set the columns explicitly, or leave "
        "them out of the source."
    )


class NewColumnsError(SchemaMismatchError):
    message = "These columns cannot be added: {_each}."
    hint = "Choose other names, and make the columns nullable."


class ColumnInUseError(DeltaError, code="column-in-use"):
    column: str
    user: str
    message = "The column {column!r} cannot be changed: {user}."
    hint = "Drop that first."


class TypeNotWidenedError(DeltaError, code="type-not-widened"):
    """A column keeps its type: it does not become the one that is asked for."""

    column: str
    narrow: str
    wide: str
    allowed: str
    message = "The column {column!r} is {narrow}, which cannot become {wide}."
    hint = "It can become {allowed}."


class ConstraintViolatedError(DeltaError, code="constraint-violated"):
    """A constraint is false, or unknown, for some rows.

    Attributes:
        num_rows: How many there are; None where it was not counted.
        is_check: Whether it is a CHECK constraint of the table, which can be dropped.
    """

    name: str
    expression: str
    rows: Sequence[Mapping[str, object]]
    num_rows: int | None = None
    is_check: bool = False
    message = "{_count} the constraint {name!r} ({expression:.500}): {_rows}."
    hint = "Nothing was written. {_remedy}."

    @property
    def _remedy(self) -> str:
        dropped = ", or drop the constraint" * self.is_check
        return f"Correct the rows{dropped}"

    @property
    def _count(self) -> str:
        if self.num_rows is None:
            return "Some rows break"
        return "1 row breaks" if self.num_rows == 1 else f"{self.num_rows:,} rows break"

    @property
    def _rows(self) -> str:
        texts = (cell_text(dict(row)) for row in self.rows)
        return ", ".join(text[:MAX_ROW_TEXT] for text in [*texts][:MAX_ROWS_SHOWN])


class IdentityColumnError(DeltaError, code="identity-column"):
    column: str
    reason: str
    message = "The identity column {column!r} cannot take these values: {reason}."
    hint = (
        "Nothing was written. Leave the column out. Only a column that was created "
        "with delta.identity.allowExplicitInsert takes values."
    )


class ConstraintNameError(DeltaError, code="constraint-name"):
    """A constraint's name is taken, or nothing has it."""

    name: str
    names: Sequence[str]
    is_taken: bool
    message = "{_fault}."
    hint = "Its constraints are: {_names}."

    @property
    def _fault(self) -> str:
        name = repr(shortened_name(self.name))
        if not self.is_taken:
            return f"The table has no constraint {name}"
        return f"The name {name} of a constraint is taken, or empty"

    @property
    def _names(self) -> str:
        return ", ".join(map(shortened_name, self.names)) or "none"


class RetentionTooShortError(DeltaError, code="retention-too-short"):
    hours: float
    least: float
    message = (
        "A retention of {hours:g} hours is shorter than the {least:g} hours of "
        "delta.deletedFileRetentionDuration."
    )
    hint = "Running readers and writers may lose their files: keep more."


class RestoreFilesMissingError(DataFileMissingError):
    version: int
    paths: Sequence[str]
    message = (
        "Version {version} cannot be restored: {_count:,} of its files are gone from "
        "storage, perhaps vacuumed: {_named}."
    )
    hint = "Choose a version whose files are there."

    @property
    def _count(self) -> int:
        return len(self.paths)

    @property
    def _named(self) -> str:
        named = ", ".join(shortened_name(path) for path in self.paths[:MAX_ROWS_SHOWN])
        more = len(self.paths) - MAX_ROWS_SHOWN
        return f"{named} and {more:,} more" if more > 0 else named


class UndoRefusedError(VersionError, code="undo-refused"):
    """A commit cannot be undone.

    Attributes:
        kind: Why, kebab-case: `first-version`, `log-cleaned`, `definition`, `protocol`,
            `nothing`, `files-rewritten`, `files-returned`, `files-missing` or
            `later-change`.
        paths: The files that are missing.
        later: The first later version that prevents it; None if none does.
        newest: The newest version of the table.
    """

    kind: str
    reason: str
    paths: Sequence[str] = ()
    later: int | None = None
    newest: int | None = None
    message = "Version {version} cannot be undone: {reason}."
    hint = "{_remedy}"

    @property
    def restores(self) -> int | None:
        """The version that a restore could bring back instead; None without one."""
        kinds = {"definition", "files-rewritten", "files-returned", "later-change"}
        version = self.version
        return version - 1 if version and self.kind in kinds else None

    @property
    def _remedy(self) -> str:
        if self.kind == "first-version":
            return "Remove the table from the catalog if it is not needed."
        if self.kind in {"nothing", "protocol"}:
            return "There is nothing to undo."
        if self.restores is None or self.newest is None:
            return (
                "Restore an earlier version, which also reverts the versions after it, "
                "or change the rows."
            )
        first = (self.version or 0) + 1
        later = f"versions {first} to" if self.newest > first else "version"
        return (
            f"Restore version {self.restores}, which also reverts {later} "
            f"{self.newest}, or change the rows."
        )


class PartitionKeysError(PartitionValueError):
    type_name: str = ""
    value: str = ""
    columns: Sequence[str]
    message = (
        "The file {path:.500} has no partition values for exactly the columns "
        "{columns}."
    )
    hint = "Nothing was written; please report this."
