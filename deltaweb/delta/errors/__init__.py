"""The errors of the Delta core, and the wording of each.

    DeltaError
    ├── LocationError                 the place itself
    │   ├── LocationNotFoundError     nothing is there
    │   ├── LocationDeniedError       the server may not read it
    │   ├── LocationNotAllowedError   outside the roots that an administrator allowed
    │   ├── CredentialsNeededError    the store wants credentials, or others
    │   ├── LocationUnreachableError  the store does not answer
    │   ├── LocationUnsupportedError  no driver for this kind of location
    │   ├── LocationNotWritableError  the store does not take what is written
    │   └── StorageFullError          no room for what is written
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
    │   └── CommitTimesError          times that are in the commits
    ├── UnsupportedWriterError        a writer version above ours
    ├── UnsupportedWriterFeatureError features whose rules for writers we do not keep
    ├── CheckpointCancelledError      nobody wants the checkpoint any more
    ├── CheckpointPartsError          another writer has made as many parts
    ├── SchemaError                   a schema that does not parse
    │   ├── ColumnTypeError           a column of a type that we do not read
    │   ├── SchemaMissingError        metaData without a schema
    │   └── SchemaTooWideError        more columns than a page builds
    ├── PropertyError                 a table property that does not parse
    ├── PartitionValueError           a partition value that is not of its type
    ├── PredicateError                a filter that does not parse or fit the schema
    ├── ColumnNotFoundError           a column that the schema lacks
    ├── DataFileError                 a data file that does not read
    │   ├── DataFileMissingError      it is not there
    │   │   └── VersionFilesMissingError  several of a version are not there
    │   └── PathEscapesTableError     it lies outside the table
    ├── RowDiffTooLargeError          more rows differ than can be compared
    └── RowDiffKeyError               a column that cannot match rows

An error takes facts and writes its own sentence, so a `raise` stays one line and
the same fault always reads the same. `hint` says what the reader can do next.
"""

from deltaweb.delta.errors.base import (
    DeltaError,
)
from deltaweb.delta.errors.data_file import (
    DataFileError,
    DataFileMissingError,
    PathEscapesTableError,
)
from deltaweb.delta.errors.location import (
    CredentialsNeededError,
    LocationDeniedError,
    LocationError,
    LocationInvalidError,
    LocationNotAllowedError,
    LocationNotFoundError,
    LocationNotWritableError,
    LocationUnreachableError,
    LocationUnsupportedError,
    StorageFullError,
)
from deltaweb.delta.errors.log import (
    CheckpointCancelledError,
    CheckpointPartsError,
    CommitConflictError,
    LogCorruptError,
    LogGapError,
    MissingActionError,
    MissingMetadataError,
    MissingProtocolError,
    TableNotFoundError,
    TimestampInvalidError,
    TimestampNotFoundError,
    VersionNotFoundError,
)
from deltaweb.delta.errors.protocol import (
    CommitTimesError,
    UnsupportedFeatureError,
    UnsupportedProtocolError,
    UnsupportedWriterError,
    UnsupportedWriterFeatureError,
)
from deltaweb.delta.errors.table_changes import (
    RowDiffKeyError,
    RowDiffTooLargeError,
    VersionFilesMissingError,
)
from deltaweb.delta.errors.value import (
    ColumnNotFoundError,
    ColumnTypeError,
    PartitionValueError,
    PredicateError,
    PropertyError,
    SchemaError,
    SchemaMissingError,
    SchemaTooWideError,
    column_hint,
    shortened_name,
)

__all__ = [
    "CheckpointCancelledError",
    "CheckpointPartsError",
    "ColumnNotFoundError",
    "ColumnTypeError",
    "CommitConflictError",
    "CommitTimesError",
    "CredentialsNeededError",
    "DataFileError",
    "DataFileMissingError",
    "DeltaError",
    "LocationDeniedError",
    "LocationError",
    "LocationInvalidError",
    "LocationNotAllowedError",
    "LocationNotFoundError",
    "LocationNotWritableError",
    "LocationUnreachableError",
    "LocationUnsupportedError",
    "LogCorruptError",
    "LogGapError",
    "MissingActionError",
    "MissingMetadataError",
    "MissingProtocolError",
    "PartitionValueError",
    "PathEscapesTableError",
    "PredicateError",
    "PropertyError",
    "RowDiffKeyError",
    "RowDiffTooLargeError",
    "SchemaError",
    "SchemaMissingError",
    "SchemaTooWideError",
    "StorageFullError",
    "TableNotFoundError",
    "TimestampInvalidError",
    "TimestampNotFoundError",
    "UnsupportedFeatureError",
    "UnsupportedProtocolError",
    "UnsupportedWriterError",
    "UnsupportedWriterFeatureError",
    "VersionFilesMissingError",
    "VersionNotFoundError",
    "column_hint",
    "shortened_name",
]
