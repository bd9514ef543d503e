"""`deltaweb table add-column`: add columns to a table."""

from typing import ClassVar

from deltaweb.web.tables.management.operation_verb import OperationVerb
from deltaweb.web.tables.operations.definition.change_columns import (
    ADD,
    CHANGE_COLUMNS,
    ChangeColumns,
)


class Verb(OperationVerb[ChangeColumns]):
    """Add columns to a table."""

    operation = CHANGE_COLUMNS
    takes = ("columns", "upgrade")
    fixed: ClassVar = {"way": ADD}
