"""`deltaweb table comment`: describe a table, or a column of it, in its log."""

from deltaweb.web.tables.management.operation_verb import OperationVerb
from deltaweb.web.tables.operations.definition.describe import DESCRIBE, Describe


class Verb(OperationVerb[Describe]):
    """Describe a table, or a column of it, in its log."""

    operation = DESCRIBE
