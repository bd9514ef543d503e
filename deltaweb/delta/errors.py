"""The errors of the Delta core: the facts of each, and its words.

DeltaError (deltaweb/errors.py: how an error writes its sentence)
├── LocationError, a place that is no table's root: LocationInvalidError,
│   LocationNotFoundError, LocationDeniedError, LocationNotAllowedError,
│   CredentialsNeededError, LocationUnreachableError, LocationUnsupportedError,
│   LocationNotWritableError, StorageFullError
├── TableNotFoundError, TimestampNotFoundError, TimestampInvalidError,
│   LogCorruptError
│   └── LogFileGoneError       was there when the log was listed
├── VersionError, a version that cannot be read or written: VersionNotFoundError,
│   │   LogGapError, CheckpointPartsError, CheckpointCancelledError,
│   │   UnsupportedProtocolError, UnsupportedWriterError,
│   │   UnsupportedWriterFeatureError
│   ├── MissingActionError: MissingMetadataError, MissingProtocolError
│   └── UnsupportedFeatureError
├── SchemaError: ColumnTypeError, SchemaMissingError, SchemaTooWideError
├── PropertyError, PartitionValueError, PredicateError, ColumnNotFoundError
├── DataFileError: PathEscapesTableError, DataFileMissingError, DataFileElsewhereError,
│   DataFileRowsError, DataFileUnsupportedError
├── what only comparing versions raises: changes/errors.py
└── and what only writing does: writing/errors.py
"""

from collections.abc import Sequence
from datetime import datetime

from deltaweb.errors import DeltawebError, column_hint, shortened_name


class DeltaError(DeltawebError, code="delta-error"):
    """Base of every error raised by the Delta core and its stores."""


class LocationError(DeltaError, code="location-invalid"):
    """A place that cannot be used as a table's root."""

    location: str


class LocationInvalidError(LocationError):
    reason: str
    message = "{location!r} is not a location: {reason}."
    hint = "Give an absolute path or a URL such as s3://bucket/table."


class LocationNotFoundError(LocationError, code="location-not-found"):
    message = "{location} does not exist."
    hint = "Check the spelling, and that the server sees this storage."


class LocationDeniedError(LocationError, code="location-denied"):
    message = "{location} cannot be read: permission denied."
    hint = "Give the server's user the right to list and read it."


class LocationNotAllowedError(LocationError, code="location-not-allowed"):
    allowed: Sequence[str] = ()
    message = "{location} is outside the allowed roots."
    hint = (
        "Allowed roots: {_roots}. An administrator can add one "
        "(DELTAWEB_ALLOWED_ROOTS, or 'storage add' for an object store)."
    )

    @property
    def _roots(self) -> str:
        return ", ".join(self.allowed) or "none"


class CredentialsNeededError(LocationError, code="credentials-needed"):
    message = "{location} needs credentials, or rejects the ones that were sent."
    hint = "Give its keys where a lake is added, or with `deltaweb storage add`."


class LocationUnreachableError(LocationError, code="location-unreachable"):
    reason: str
    message = "{location} cannot be reached: {reason}."
    hint = "Check the network and the storage's address, then try again."


class LocationUnsupportedError(LocationError, code="location-unsupported"):
    scheme: str
    package: str = ""
    message = "{location} cannot be opened: no driver for {scheme}:// is installed."
    hint = "{_remedy}, then try again."

    @property
    def _remedy(self) -> str:
        package = self.package
        return f"Install the package {package}" if package else "Use another scheme"


class StorageFullError(LocationError, code="storage-full"):
    reason: str
    message = "{location} cannot be written: {reason}."
    hint = "Free some space, then try again; nothing was left half-written."


class LocationNotWritableError(LocationError, code="location-not-writable"):
    reason: str
    message = "{location} cannot be written: {reason}."
    hint = "Give the server's user the right to write there, then try again."


class VersionError(DeltaError):
    """A version of the table at a root cannot be used."""

    root: str
    version: int


class TableNotFoundError(DeltaError, code="not-a-delta-table"):
    root: str
    message = "{root} is not a Delta table: no commit is in its _delta_log folder."
    hint = "Give the folder that contains _delta_log."


class VersionNotFoundError(VersionError, code="version-not-found"):
    earliest: int
    latest: int
    message = "{root} has no version {version}."
    hint = "Choose a version from {earliest} to {latest}."


class TimestampNotFoundError(DeltaError, code="timestamp-not-found"):
    root: str
    timestamp: datetime
    earliest: datetime
    latest: datetime
    message = "{root} has no version at or before {timestamp}."
    hint = "Choose a time from {earliest} to {latest}."


class TimestampInvalidError(DeltaError, code="timestamp-invalid"):
    text: str
    message = "{text!r} is not a time with a zone."
    hint = "Write it as 2026-01-31T12:00:00Z, or say its zone (time_zone, --time-zone)."


class LogGapError(VersionError, code="log-gap"):
    missing_version: int
    message = (
        "{root} cannot be read at version {version}: "
        "commit {missing_version} is missing from its log."
    )
    hint = "Restore that commit from a backup, or choose an older version."


class LogCorruptError(DeltaError, code="log-corrupt"):
    """The log breaks a rule that every valid log keeps."""

    path: str
    reason: str
    message = "{path}: {reason}."
    hint = "Restore the file from a backup, or choose an older version."


class LogFileGoneError(LogCorruptError):
    """A file of the log was deleted after it had been listed or read.

    A clean-up may have done that, and a checkpoint then has the same files.
    """

    hint = "Read the newest version. If that fails too, restore the file from a backup."


class MissingActionError(VersionError, code="no-metadata"):
    message = "{root} has no metaData action at version {version}."
    hint = "Restore the log from a backup, or choose another version."


class MissingMetadataError(MissingActionError):
    """The log of a version has no metaData."""


class MissingProtocolError(MissingActionError, code="no-protocol"):
    message = "{root} has no protocol action at version {version}."


class CheckpointPartsError(VersionError, code="checkpoint-parts-exist"):
    parts: int
    message = (
        "Another writer has already made a checkpoint of version {version} of "
        "{root}, in {parts} parts."
    )
    hint = "Choose another number of parts, or a single file."


class CheckpointCancelledError(VersionError, code="checkpoint-cancelled"):
    message = "{root}: the checkpoint of version {version} was cancelled."
    hint = "The table did not change. Start it again if you need it."


class UnsupportedProtocolError(VersionError, code="unsupported-protocol"):
    min_reader_version: int
    supported: int
    message = (
        "{root} at version {version} needs reader version "
        "{min_reader_version}; this server reads up to {supported}."
    )
    hint = "Its metadata and history are shown; older versions may be readable."


class UnsupportedFeatureError(VersionError, code="unsupported-feature"):
    features: Sequence[str]
    message = (
        "{root} at version {version} uses {features}, which this server does not read."
    )
    hint = "Its metadata and history are shown; older versions may be readable."


class UnsupportedWriterError(VersionError, code="unsupported-writer-protocol"):
    min_writer_version: int
    supported: int
    operation: str
    message = (
        "{root} at version {version} needs writer version {min_writer_version}; "
        "this server writes up to {supported} and makes {operation} of it."
    )
    hint = "Use an engine that supports this version."


class UnsupportedWriterFeatureError(VersionError, code="unsupported-writer-feature"):
    features: Sequence[str]
    operation: str
    message = (
        "{root} at version {version} uses {features}; this server makes {operation} "
        "of such a table."
    )
    hint = "Use an engine that supports these features."


class SchemaError(DeltaError, code="schema-invalid"):
    """A schema, or one of its columns, is not of the specification."""

    column: str
    reason: str
    hint: str = "Choose a version with a valid schema, or repair the table."
    message = "{_subject}: {reason}."

    @property
    def _subject(self) -> str:
        name = shortened_name(self.column)
        return f"Column {name!r}" if name else "The schema"


class ColumnTypeError(SchemaError, code="column-type-not-read"):
    type_name: str
    reason: str = "this server does not read its type {type_name}"
    message = "{_subject} is of type {type_name}, which this server does not read."
    hint: str = "Choose other columns: they can still be read."

    @property
    def _subject(self) -> str:
        return f"Column {self.column!r}" if self.column else "A column"


class SchemaMissingError(SchemaError, code="metadata-missing-schema"):
    """The metaData action carries no schema."""

    root: str
    version: int
    column: str = ""
    reason: str = "it is missing from the metaData of {root} at version {version}"


class SchemaTooWideError(SchemaError, code="schema-too-wide"):
    """A schema with more columns than a page builds."""

    num_columns: int
    num_fields: int
    most: int
    column: str = ""
    reason: str = "{_size}, too wide to show; pages show {most:,} at most"
    hint: str = "Download the schema as JSON; history and files are shown."

    @property
    def _size(self) -> str:
        if not self.num_fields:
            return "it is long"
        flat = f"it has {self.num_columns:,} columns"
        nested = f"{flat} ({self.num_fields:,} with nested ones)"
        return flat if self.num_fields == self.num_columns else nested


class PropertyError(DeltaError, code="property-invalid"):
    name: str
    value: str
    expected: str
    message = "The table property {name} is {value!r}, which is not {expected}."
    hint = "Correct the property of the table."


class UnknownPropertyError(PropertyError):
    meant: str
    expected: str = "a property that Delta knows"
    message = "There is no table property {name:q}. Names with delta. are reserved."
    hint = "Did you mean {meant!r}? Give your own properties another prefix."


class PartitionValueError(DeltaError, code="partition-value-invalid"):
    path: str
    column: str
    value: str
    type_name: str
    message = (
        "The partition value {value:q} of column {column:q} is not a "
        "{type_name} (file {path:.500})."
    )
    hint = "Choose a version without that file, or repair the table."


class PredicateError(DeltaError, code="predicate-invalid"):
    reason: str
    message = "The filter cannot be used: {reason}."
    hint = "Write it as in SQL, for example: amount > 10 AND country = 'DE'."


class ColumnNotFoundError(DeltaError, code="column-not-found"):
    column: str
    columns: Sequence[str]
    message = "The table has no column {column:q}."
    hint = "{_choice}"

    @property
    def _choice(self) -> str:
        return column_hint(self.column, self.columns)


NOT_READ = "Check that its storage answers and lets this program read the file."
"""The hint for a file that may be healthy, and that the storage does not give."""


class DataFileError(DeltaError, code="data-file-corrupt"):
    path: str
    reason: str
    message = "The data file {path} cannot be read: {reason}."
    hint: str = "Restore the file from a backup, or choose another version."


class DataFileMissingError(DataFileError, code="data-file-missing"):
    """A file of the version is not in storage."""

    reason: str = "it is gone from storage, perhaps vacuumed"


class DataFileElsewhereError(DataFileMissingError, code="data-file-elsewhere"):
    """A file outside of its table is not there, or belongs to a closed place.

    Both are one error, because it must not reveal where private tables are.
    """

    reason: str = (
        "it is outside of the table, and no file is there that everybody who may view "
        "this table may read"
    )
    hint: str = (
        "Restore the file, or copy it into the table's folder. If it belongs to a "
        "private table, make this one private, too, and give rights on it only to "
        "those who may view that one."
    )


class DataFileRowsError(DataFileError, code="data-file-rows-missing"):
    """A file has other rows than its footer counts, or fewer than the log says."""


class DataFileUnsupportedError(DataFileError, code="data-file-unsupported"):
    """A file that may be intact, but that this server does not read."""

    hint: str = (
        "The file may be intact: read it with another engine, or write it again."
    )


class PathEscapesTableError(DataFileError, code="path-outside-table"):
    """A path of the log leads outside the table's root."""

    reason: str = "its path is outside the table"
