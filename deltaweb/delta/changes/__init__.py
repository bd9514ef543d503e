"""The differences between two versions of a table: schema, settings, files and rows.

Rows are brought to one schema (`common_type`), split into buckets that fit in memory
(`buckets`) and matched (`bucket_diff`). Spark compares rows with the same modules.
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
