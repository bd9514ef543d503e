"""What became of each field of a table, from one definition of its columns to the next.

Where columns are mapped a field is known by what it is stored as, however deep, so that
it stays one when it is renamed, and one that is dropped and added again under its name
is another; elsewhere it is known by its names, and one that comes back is the same. A
table that begins to map columns stores them under the names that they had, so their
histories continue.

A new definition costs the columns that changed: those whose JSON is as it was are
skipped.
"""

from deltaweb.delta.changes.column_history.definitions import SchemaDefinition
from deltaweb.delta.changes.column_history.following import column_histories
from deltaweb.delta.changes.column_history.history import (
    ColumnChange,
    ColumnChangeKind,
    ColumnHistories,
    ColumnHistory,
)

__all__ = [
    "ColumnChange",
    "ColumnChangeKind",
    "ColumnHistories",
    "ColumnHistory",
    "SchemaDefinition",
    "column_histories",
]
