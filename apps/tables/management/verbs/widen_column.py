"""`deltaweb table widen-column`: give a column a wider type."""

from typing import ClassVar

from deltaweb.web.tables.management.operation_verb import OperationVerb
from deltaweb.web.tables.operations.definition.change_columns import (
    CHANGE_COLUMNS,
    WIDEN,
    ChangeColumns,
)


class Verb(OperationVerb[ChangeColumns]):
    """Give a column a wider type, where the table lets types change."""

    operation = CHANGE_COLUMNS
    takes = ("name", "type")
    fixed: ClassVar = {"way": WIDEN}
