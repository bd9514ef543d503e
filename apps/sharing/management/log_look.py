"""What recipients could not read of a table, from its log as it is now.

The pages ask what is indexed; a command answers before the first index, too.
"""

from apps.tables.index.folders import indexes_folder
from apps.tables.models import Table
from apps.tables.storage.opening import open_table, roots_of_server
from deltaweb.delta.errors import DeltaError
from deltaweb.index.query.shared_table import SharedTableReader
from deltaweb.sharing.compatibility import misreadings


def unreadable_because(table: Table) -> list[str]:
    """Return why queries of the newest version are refused; empty when they are not."""
    folder = (
        indexes_folder() / str(table.id) / table.index_name
        if table.index_name
        else None
    )
    try:
        reader = open_table(table, roots=roots_of_server())
        newest = SharedTableReader().open_version(reader, index_folder=folder)
        found = misreadings(
            newest.protocol,
            newest.metadata,
            newest.schema,
            has_deletion_vectors=newest.has_deletion_vectors,
        )
    except DeltaError as error:
        return [error.message]
    return [misreading.reason for misreading in found]
