"""`deltaweb table rename-column`: give a column another name."""

from typing import ClassVar

from deltaweb.web.tables.management.operation_verb import OperationVerb
from deltaweb.web.tables.operations.definition.change_columns import (
    CHANGE_COLUMNS,
    RENAME,
    ChangeColumns,
)


class Verb(OperationVerb[ChangeColumns]):
    """Give a column another name, where files know columns by others."""

    operation = CHANGE_COLUMNS
    takes = ("name", "new_name")
    fixed: ClassVar = {"way": RENAME}
