"""What holds of a table as the database knows it, to check what is asked by it.

A page tells at once what a worker would refuse; the worker looks at the log itself.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from deltaweb.delta.errors import SchemaError
from deltaweb.web.tables.models import Table

if TYPE_CHECKING:
    from deltaweb.delta.protocol.schema import StructType
    from deltaweb.delta.snapshot.state import Definition
    from deltaweb.web.tables.operations.definition.definition_change import Change

P = TypeVar("P")


def newest_definition(table: Table) -> "Definition | None":
    """Return the definition of the newest version; None where it is not known.

    A schema that is too wide for a page is not read for one.
    """
    from deltaweb.delta.snapshot.state import Definition  # noqa: PLC0415 (for this)

    protocol = table.protocol_versions.first()
    metadata = table.metadata_versions.first()
    if protocol is None or metadata is None or metadata.wide_schema_digest:
        return None
    return Definition(table.version or 0, protocol.as_action(), metadata.as_action())


def newest_schema(table: Table) -> "StructType | None":
    """Return the columns of the newest version; None where they are not known."""
    metadata = table.metadata_versions.first()
    if metadata is None:
        return None
    try:
        return metadata.mapped_schema(table.protocol_versions.first())
    except SchemaError:
        return None


def check_by(change: "Change[P]") -> Callable[[Table, P], None]:
    """Return the check of a page whose operation makes a change.

    It raises what the change would, of the definition that the database knows.
    """

    def check(table: Table, asked: P) -> None:
        from deltaweb.delta.writing.operations.definition_plan import (  # noqa: PLC0415
            plan_definition,
        )

        definition = newest_definition(table)
        if definition is not None:
            transaction = change(definition, asked, table.location)
            plan_definition(transaction, root=table.location)

    return check
