"""What holds of the newest version of a table, as the database knows it."""

from typing import TYPE_CHECKING

from apps.tables.models import Table
from deltaweb import delta
from deltaweb.delta.errors import SchemaError

if TYPE_CHECKING:
    from deltaweb.delta.protocol.schema import StructType
    from deltaweb.delta.snapshot.state import Definition


def newest_definition(table: Table) -> "Definition | None":
    """Return the definition of the newest version; None where it is not known.

    A schema that is too wide for a page is not read for one.
    """
    protocol = table.protocol_versions.first()
    metadata = table.metadata_versions.first()
    if protocol is None or metadata is None or metadata.wide_schema_digest:
        return None
    actions = protocol.as_action(), metadata.as_action()
    return delta.snapshot.state.Definition(table.version or 0, *actions)


def newest_schema(table: Table) -> "StructType | None":
    """Return the columns of the newest version; None where they are not known."""
    metadata = table.metadata_versions.first()
    if metadata is None:
        return None
    try:
        return metadata.mapped_schema(table.protocol_versions.first())
    except SchemaError:
        return None
