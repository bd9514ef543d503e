"""Warnings about a table that is put into a share."""

from typing import Final

from apps.tables.index.folders import index_folder
from apps.tables.models import Table
from apps.tables.storage.opening import open_table, roots_of_server
from deltaweb.delta.errors import DeltaError
from deltaweb.index.query.shared_table import SharedTableReader
from deltaweb.sharing.compatibility import misreadings
from deltaweb.sharing.plain import left_in_plain, needs_plain

IN_PARQUET: Final = (
    "Clients that accept the delta format can read the table if they support these "
    "features. Queries in the parquet format are refused."
)
TRY_PLAIN: Final = "Simple clients can read it as plain files (--plain)."
IN_ANY_FORMAT: Final = "Recipients see the table, but their queries are refused."


def refusals(table: Table, *, is_plain: bool = False) -> list[str]:
    """Say why queries of the newest version are refused, and in the end which ones.

    Nothing is said of a table whose queries are answered in every format.

    Args:
        is_plain: Whether it is offered as plain files.
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
    left = left_in_plain(found)
    reasons = [misreading.reason for misreading in (left if is_plain else found)]
    if not reasons:
        return []
    helps_plain = needs_plain(found) and not left and not is_plain
    return [*reasons, IN_PARQUET, *([TRY_PLAIN] if helps_plain else [])]


def warnings_of(table: Table, *, is_plain: bool = False) -> list[str]:
    """Return what an administrator should know of a table that is shared.

    Args:
        is_plain: As in `refusals`.
    """
    found = refusals(table, is_plain=is_plain)
    warnings = [f"{table.full_name}: {sentence}" for sentence in found]
    if table.is_hidden:
        warnings.append(f"{table.full_name} is private, but recipients can read it.")
    return warnings
