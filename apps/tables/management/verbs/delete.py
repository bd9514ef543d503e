"""`deltaweb table delete`: remove the rows of a condition."""

from deltaweb.web.tables.management.operation_verb import OperationVerb
from deltaweb.web.tables.operations.rows.changed_rows import DELETE_ROWS, DeleteRows


class Verb(OperationVerb[DeleteRows]):
    """Remove the rows of a condition, or all."""

    operation = DELETE_ROWS
