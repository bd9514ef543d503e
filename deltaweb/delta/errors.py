"""The errors of the Delta core, and the wording of each.

    DeltaError
    ├── LocationError                 the place itself
    │   ├── LocationNotFoundError     nothing is there
    │   ├── LocationDeniedError       the server may not read it
    │   ├── LocationNotAllowedError   outside the roots that an administrator allowed
    │   ├── CredentialsNeededError    the store wants credentials, or others
    │   ├── LocationUnreachableError  the store does not answer
    │   └── LocationUnsupportedError  no driver for this kind of location
    ├── TableNotFoundError            no log, or a log without commits
    ├── VersionNotFoundError          the log does not reach that version
    ├── TimestampNotFoundError        the log does not reach that time
    ├── TimestampInvalidError         not a time with a zone
    ├── LogGapError                   a commit between two others is missing
    ├── LogCorruptError               an unreadable commit or checkpoint
    ├── CommitConflictError           another writer made that version first
    ├── MissingActionError            no metaData, or no protocol
    ├── UnsupportedProtocolError      a reader version above ours
    ├── UnsupportedFeatureError       features that we do not read
    ├── SchemaError                   a schema that does not parse
    │   └── SchemaMissingError        metaData without a schema
    ├── PropertyError                 a table property that does not parse
    ├── PartitionValueError           a partition value that is not of its type
    ├── PredicateError                a filter that does not parse or fit the schema
    ├── ColumnNotFoundError           a column that the schema lacks
    └── DataFileError                 a data file that does not read
        ├── DataFileMissingError      it is not there
        └── PathEscapesTableError     it lies outside the table

An error takes facts and writes its own sentence, so a `raise` stays one line and
the same fault always reads the same. `hint` says what the reader can do next.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import ClassVar


class DeltaError(Exception):
    """Base of every error raised by the Delta core and its stores.

    Attributes:
        code: Stable kebab-case name; logs, API bodies and tests use it.
        message: One sentence: what, and where.
        hint: One sentence: what to do next.
    """

    code: ClassVar[str] = "delta-error"

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(f"{message} {hint}")
        self.message = message
        self.hint = hint


# === Locations ===


class LocationError(DeltaError):
    """A place that cannot be used as a table's root."""

    code = "location-invalid"

    def __init__(self, message: str, *, hint: str, location: str) -> None:
        super().__init__(message, hint=hint)
        self.location = location


class LocationInvalidError(LocationError):
    """The text is not a path or a URL."""

    def __init__(self, *, location: str, reason: str) -> None:
        super().__init__(
            f"{location!r} is not a location: {reason}.",
            hint="Give an absolute path or a URL such as s3://bucket/table.",
            location=location,
        )


class LocationNotFoundError(LocationError):
    """Nothing exists at the location."""

    code = "location-not-found"

    def __init__(self, *, location: str) -> None:
        super().__init__(
            f"{location} does not exist.",
            hint="Check the spelling, and that the server sees this storage.",
            location=location,
        )


class LocationDeniedError(LocationError):
    """The storage refuses to let this server read."""

    code = "location-denied"

    def __init__(self, *, location: str) -> None:
        super().__init__(
            f"{location} cannot be read: permission denied.",
            hint="Give the server's user the right to list and read it.",
            location=location,
        )


class LocationNotAllowedError(LocationError):
    """The location is outside the roots that an administrator allowed."""

    code = "location-not-allowed"

    def __init__(self, *, location: str, allowed: Iterable[str] = ()) -> None:
        roots = ", ".join(allowed) or "none"
        super().__init__(
            f"{location} is outside the allowed roots.",
            hint=f"Allowed roots: {roots}. An administrator can add one.",
            location=location,
        )


class CredentialsNeededError(LocationError):
    """The storage wants credentials that were not given, or refuses those given."""

    code = "credentials-needed"

    def __init__(self, *, location: str) -> None:
        super().__init__(
            f"{location} needs credentials, or refuses those it was given.",
            hint="Add the storage with its options (storage add), then try again.",
            location=location,
        )


class LocationUnreachableError(LocationError):
    """The storage does not answer, or breaks off."""

    code = "location-unreachable"

    def __init__(self, *, location: str, reason: str) -> None:
        super().__init__(
            f"{location} cannot be reached: {reason}.",
            hint="Check the network and the storage's address, then try again.",
            location=location,
        )


class LocationUnsupportedError(LocationError):
    """No driver is installed for this kind of location."""

    code = "location-unsupported"

    def __init__(self, *, location: str, scheme: str, package: str = "") -> None:
        wanted = f"Install the package {package}" if package else "Use another scheme"
        super().__init__(
            f"{location}: no driver here reads {scheme}:// locations.",
            hint=f"{wanted}, then try again.",
            location=location,
        )


# === The log ===


class TableNotFoundError(DeltaError):
    """No Delta log is under the root, or it holds no commit."""

    code = "not-a-delta-table"

    def __init__(self, *, root: str) -> None:
        super().__init__(
            f"{root} is not a Delta table: no commit is in its _delta_log folder.",
            hint="Give the folder that holds _delta_log.",
        )
        self.root = root


class VersionNotFoundError(DeltaError):
    """The log does not hold the version that was asked for."""

    code = "version-not-found"

    def __init__(self, *, root: str, version: int, earliest: int, latest: int) -> None:
        super().__init__(
            f"{root} has no version {version}.",
            hint=f"Choose a version from {earliest} to {latest}.",
        )
        self.root = root
        self.version = version
        self.earliest = earliest
        self.latest = latest


class TimestampNotFoundError(DeltaError):
    """The table's readable history begins after the time that was asked for."""

    code = "timestamp-not-found"

    def __init__(
        self, *, root: str, timestamp: datetime, earliest: datetime, latest: datetime
    ) -> None:
        super().__init__(
            f"{root} has no version at or before {timestamp.isoformat()}.",
            hint=(
                f"Choose a time from {earliest.isoformat()} to {latest.isoformat()}."
            ),
        )
        self.root = root
        self.timestamp = timestamp
        self.earliest = earliest
        self.latest = latest


class TimestampInvalidError(DeltaError):
    """The text is not a time, or the time has no zone."""

    code = "timestamp-invalid"

    def __init__(self, *, text: str) -> None:
        super().__init__(
            f"{text!r} is not a time with a zone.",
            hint="Write it as 2026-01-31T12:00:00Z.",
        )


class LogGapError(DeltaError):
    """A commit that the version is built from is missing."""

    code = "log-gap"

    def __init__(self, *, root: str, version: int, missing_version: int) -> None:
        super().__init__(
            f"{root} cannot be read at version {version}: "
            f"commit {missing_version} is missing from its log.",
            hint="Restore that commit from a backup, or choose an older version.",
        )
        self.root = root
        self.version = version
        self.missing_version = missing_version


class LogCorruptError(DeltaError):
    """The log breaks a rule that every valid log keeps."""

    code = "log-corrupt"

    def __init__(self, *, path: str, reason: str) -> None:
        super().__init__(
            f"{path}: {reason}.",
            hint="Restore the file from a backup, or choose an older version.",
        )
        self.path = path
        self.reason = reason


class CommitConflictError(DeltaError):
    """Another writer made the version first."""

    code = "commit-conflict"

    def __init__(self, *, root: str, version: int) -> None:
        super().__init__(
            f"{root}: another writer committed version {version} first.",
            hint="Read the table again and repeat the write.",
        )
        self.version = version


class MissingActionError(DeltaError):
    """The log of a version has no protocol, or no metaData."""

    code = "no-metadata"

    def __init__(self, *, root: str, version: int) -> None:
        super().__init__(
            f"{root} has no {self.action} action at version {version}.",
            hint="Restore the log from a backup, or choose another version.",
        )
        self.version = version

    action: ClassVar[str] = "metaData"


class MissingMetadataError(MissingActionError):
    """The log of a version has no metaData."""


class MissingProtocolError(MissingActionError):
    """The log of a version has no protocol."""

    code = "no-protocol"
    action = "protocol"


# === What the protocol asks for ===


class UnsupportedProtocolError(DeltaError):
    """The table asks for a reader version above ours."""

    code = "unsupported-protocol"

    def __init__(
        self, *, root: str, version: int, min_reader_version: int, supported: int
    ) -> None:
        super().__init__(
            f"{root} at version {version} needs reader version "
            f"{min_reader_version}; this server reads up to {supported}.",
            hint="Its metadata and history are shown; older versions may be readable.",
        )
        self.version = version
        self.min_reader_version = min_reader_version


class UnsupportedFeatureError(DeltaError):
    """The table uses reader features that this server does not read."""

    code = "unsupported-feature"

    def __init__(self, *, root: str, version: int, features: Iterable[str]) -> None:
        self.features = tuple(features)
        super().__init__(
            f"{root} at version {version} uses {', '.join(self.features)}, "
            "which this server does not read.",
            hint="Its metadata and history are shown; older versions may be readable.",
        )
        self.version = version


# === Values ===


class SchemaError(DeltaError):
    """A schema, or one of its columns, is not of the specification."""

    code = "schema-invalid"

    def __init__(self, *, column: str, reason: str) -> None:
        where = f"Column {column!r}" if column else "The schema"
        super().__init__(
            f"{where}: {reason}.",
            hint="Choose a version with a valid schema, or repair the table.",
        )
        self.column = column
        self.reason = reason


class SchemaMissingError(SchemaError):
    """The metaData action carries no schema."""

    code = "metadata-missing-schema"

    def __init__(self, *, root: str, version: int) -> None:
        reason = f"it is missing from the metaData of {root} at version {version}"
        super().__init__(column="", reason=reason)


class PropertyError(DeltaError):
    """A table property does not parse."""

    code = "property-invalid"

    def __init__(self, *, name: str, value: str, expected: str) -> None:
        super().__init__(
            f"The table property {name} is {value!r}, which is not {expected}.",
            hint="Correct the property of the table.",
        )
        self.name = name


class PartitionValueError(DeltaError):
    """A partition value is not of its column's type."""

    code = "partition-value-invalid"

    def __init__(self, *, path: str, column: str, value: str, type_name: str) -> None:
        super().__init__(
            f"The partition value {value!r} of column {column!r} is not a {type_name} "
            f"(file {path}).",
            hint="Choose a version without that file, or repair the table.",
        )
        self.path = path
        self.column = column
        self.value = value


class PredicateError(DeltaError):
    """A filter does not parse, or does not fit the schema.

    Attributes:
        reason: Why, as half a sentence.
    """

    code = "predicate-invalid"

    def __init__(self, *, reason: str) -> None:
        self.reason = reason
        super().__init__(
            f"The filter cannot be used: {reason}.",
            hint="Write it as in SQL, for example: amount > 10 AND country = 'DE'.",
        )


class ColumnNotFoundError(DeltaError):
    """A column that was asked for is not in the schema."""

    code = "column-not-found"

    def __init__(self, *, column: str, columns: Iterable[str]) -> None:
        super().__init__(
            f"The table has no column {column!r}.",
            hint=f"Its columns are: {', '.join(columns)}.",
        )
        self.column = column


# === Data files ===


class DataFileError(DeltaError):
    """A data file cannot be read as Parquet of this table."""

    code = "data-file-corrupt"

    def __init__(self, *, path: str, reason: str) -> None:
        super().__init__(
            f"The data file {path} cannot be read: {reason}.",
            hint="Restore the file from a backup, or choose another version.",
        )
        self.path = path
        self.reason = reason


class DataFileMissingError(DataFileError):
    """A file of the version is not in storage."""

    code = "data-file-missing"

    def __init__(self, *, path: str) -> None:
        super().__init__(path=path, reason="it is gone from storage, perhaps vacuumed")


class PathEscapesTableError(DataFileError):
    """A path of the log leads outside the table's root."""

    code = "path-outside-table"

    def __init__(self, *, path: str) -> None:
        super().__init__(
            path=path, reason="its path leads outside the table, and is not followed"
        )
