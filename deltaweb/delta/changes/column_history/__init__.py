"""The history of each column through all schemas of a table.

With column mapping, a column is identified by its physical name, otherwise by its name.
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
