"""`deltaweb table drop-column`: take a column out of the rows of a table."""

from typing import ClassVar

from deltaweb.web.tables.management.operation_verb import OperationVerb
from deltaweb.web.tables.operations.definition.change_columns import (
    CHANGE_COLUMNS,
    DROP,
    ChangeColumns,
)


class Verb(OperationVerb[ChangeColumns]):
    """Take a column out of the rows, where files know columns by other names."""

    operation = CHANGE_COLUMNS
    takes = ("name",)
    fixed: ClassVar = {"way": DROP}
