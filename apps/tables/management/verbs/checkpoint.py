"""`deltaweb table checkpoint`: write a checkpoint of a version."""

from deltaweb.web.tables.management.operation_verb import OperationVerb
from deltaweb.web.tables.operations.checkpoint.operation import (
    CHECKPOINT,
    WriteCheckpoint,
)


class Verb(OperationVerb[WriteCheckpoint]):
    """Write a checkpoint of a version, the newest by default."""

    operation = CHECKPOINT
