"""`deltaweb table upgrade`: raise the versions of a table's protocol."""

from deltaweb.web.tables.management.operation_verb import OperationVerb
from deltaweb.web.tables.operations.definition.upgrade_protocol import (
    UPGRADE_PROTOCOL,
    UpgradeProtocol,
)


class Verb(OperationVerb[UpgradeProtocol]):
    """Raise the versions of a table's protocol; there is no way back."""

    operation = UPGRADE_PROTOCOL
