"""What changed between two versions of a table: as values, by pure functions.

Read the modules in this order:

    schema          fields by name, however deep
    column_history  fields through all definitions of a table's columns
    settings        properties, protocol, the rest of the metaData
    files           files by identity, and in `rewrites` those that only moved rows
    row_changes     what comparing rows is asked for, and what it answers
    rows            rows of the files that differ, as multisets or by a key
    snapshots       all of it for two snapshots: `SnapshotDiff`

Rows are brought to one schema (`common_type`), spread over buckets that fit in memory
(`buckets`), made whole numbers (`row_codes`), matched (`bucket_diff`) and counted
(`tally`). The same pieces compare the rows of large changes on Spark.
"""

from deltaweb.delta.changes.buckets import RowLimits
from deltaweb.delta.changes.files import FileChanges, diff_files
from deltaweb.delta.changes.row_changes import (
    ChangeType,
    RowChanges,
    RowDiffRequest,
    RowSample,
    change_schema,
)
from deltaweb.delta.changes.rows import diff_rows
from deltaweb.delta.changes.schema import (
    FieldChange,
    FieldState,
    SchemaChanges,
    diff_schemas,
)
from deltaweb.delta.changes.settings import (
    ValueChange,
    ValueChanges,
    diff_details,
    diff_properties,
    diff_protocol,
)
from deltaweb.delta.changes.snapshots import RowEstimate, SnapshotDiff

__all__ = [
    "ChangeType",
    "FieldChange",
    "FieldState",
    "FileChanges",
    "RowChanges",
    "RowDiffRequest",
    "RowEstimate",
    "RowLimits",
    "RowSample",
    "SchemaChanges",
    "SnapshotDiff",
    "ValueChange",
    "ValueChanges",
    "change_schema",
    "diff_details",
    "diff_files",
    "diff_properties",
    "diff_protocol",
    "diff_rows",
    "diff_schemas",
]
