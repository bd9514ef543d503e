"""`deltaweb table upgrade`: raise the versions of a table's protocol."""

from deltaweb.web.tables.management.operation_verb import OperationVerb
from deltaweb.web.tables.operations.definition.upgrade_protocol import (
    UPGRADE_PROTOCOL,
    UpgradeProtocol,
)


class Verb(OperationVerb[UpgradeProtocol]):
    """Raise the versions of a table's protocol; this cannot be undone."""

    operation = UPGRADE_PROTOCOL
