"""What recipients could not read of a table, from its log as it is now.

The pages ask what is indexed; a command answers before the first index, too.
"""

from deltaweb.delta.errors import DeltaError
from deltaweb.index.query.shared_table import SharedTableReader
from deltaweb.sharing.compatibility import misreadings
from deltaweb.web.tables.index.folders import index_folder
from deltaweb.web.tables.models import Table
from deltaweb.web.tables.storage.opening import open_table, roots_of_server

IN_PARQUET = (
    "Clients that accept the delta format are answered in it, if they know what the "
    "table uses; queries in the parquet format are refused for this."
)
IN_ANY_FORMAT = "Recipients see the table, and their queries are refused for this."


def refusals(table: Table) -> list[str]:
    """Say why queries of the newest version are refused, and in the end which ones.

    Nothing is said of a table whose queries are answered in every format.
    """
    try:
        reader = open_table(table, roots=roots_of_server())
        newest = SharedTableReader().open_version(
            reader, index_folder=index_folder(table)
        )
        found = misreadings(
            newest.protocol,
            newest.metadata,
            newest.schema,
            has_deletion_vectors=newest.has_deletion_vectors,
        )
    except DeltaError as error:
        return [error.message, IN_ANY_FORMAT]
    reasons = [misreading.reason for misreading in found]
    return [*reasons, IN_PARQUET] if reasons else []
