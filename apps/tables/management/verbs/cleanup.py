"""`deltaweb table cleanup`: delete history that has expired."""

from deltaweb.web.tables.management.operation_verb import OperationVerb
from deltaweb.web.tables.operations.clean_up.operation import CLEAN_UP, CleanUp


class Verb(OperationVerb[CleanUp]):
    """Delete history that has expired."""

    operation = CLEAN_UP
