"""What changed between two versions of a table: as values, by pure functions.

Read the modules in this order:

    schema       fields by name, however deep
    settings     properties, protocol, the rest of the metaData
    files        files by identity, and in `rewrites` those that only moved rows
    rows         rows of the files that differ, as multisets or by a key
    snapshots    all of it for two snapshots: `SnapshotDiff`

Rows are brought to one schema (`common_type`), spread over buckets that fit in memory
(`buckets`), made whole numbers (`row_codes`) and counted (`bucket_diff`).
"""

from deltaweb.delta.table_changes.buckets import RowLimits
from deltaweb.delta.table_changes.files import FileChanges, diff_files
from deltaweb.delta.table_changes.rows import (
    ChangeType,
    RowChanges,
    RowDiffRequest,
    change_schema,
    diff_rows,
)
from deltaweb.delta.table_changes.schema import (
    FieldChange,
    FieldState,
    SchemaChanges,
    diff_schemas,
)
from deltaweb.delta.table_changes.settings import (
    ValueChange,
    ValueChanges,
    diff_details,
    diff_properties,
    diff_protocol,
)
from deltaweb.delta.table_changes.snapshots import RowEstimate, SnapshotDiff

__all__ = [
    "ChangeType",
    "FieldChange",
    "FieldState",
    "FileChanges",
    "RowChanges",
    "RowDiffRequest",
    "RowEstimate",
    "RowLimits",
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
