"""Warnings about a table that is put into a share."""

from typing import Final

from apps.tables.index.folders import index_folder
from apps.tables.models import Table
from apps.tables.storage.opening import open_table, roots_of_server
from deltaweb.delta.errors import DeltaError
from deltaweb.index.query.shared_table import SharedTableReader
from deltaweb.sharing.compatibility import misreadings

IN_PARQUET: Final = (
    "Clients that accept the delta format can read the table if they support these "
    "features. Queries in the parquet format are refused."
)
IN_ANY_FORMAT: Final = "Recipients see the table, but their queries are refused."


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


def warnings_of(table: Table) -> list[str]:
    """Return what an administrator should know of a table that is shared."""
    warnings = [f"{table.full_name}: {sentence}" for sentence in refusals(table)]
    if table.is_hidden:
        warnings.append(
            f"{table.full_name} is hidden from viewers, but recipients can read it."
        )
    return warnings
