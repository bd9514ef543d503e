"""Columns of a table: `add-column`, `drop-column`, `rename-column`, `widen-column`."""

from typing import ClassVar

from apps.tables.management.operation_verb import OperationVerb
from apps.tables.operations.definition.change_columns import (
    ADD,
    CHANGE_COLUMNS,
    DROP,
    RENAME,
    WIDEN,
    ChangeColumns,
)


class AddColumnVerb(OperationVerb[ChangeColumns]):
    """Add columns to a table."""

    operation = CHANGE_COLUMNS
    takes = ("columns", "upgrade")
    fixed: ClassVar = {"way": ADD}


class DropColumnVerb(OperationVerb[ChangeColumns]):
    """Drop a column; the table needs column mapping."""

    operation = CHANGE_COLUMNS
    takes = ("name",)
    fixed: ClassVar = {"way": DROP}


class RenameColumnVerb(OperationVerb[ChangeColumns]):
    """Rename a column; the table needs column mapping."""

    operation = CHANGE_COLUMNS
    takes = ("name", "new_name")
    fixed: ClassVar = {"way": RENAME}


class WidenColumnVerb(OperationVerb[ChangeColumns]):
    """Give a column a wider type; the table needs type widening."""

    operation = CHANGE_COLUMNS
    takes = ("name", "type")
    fixed: ClassVar = {"way": WIDEN}
