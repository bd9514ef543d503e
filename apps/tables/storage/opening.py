"""Tables are opened here: with their storage's options, and only in an allowed place.

A table is checked when it is registered, but its folder may since have become a link
that leads out of the allowed roots, or the roots may have changed.
"""

from collections.abc import Sequence

from django.conf import settings
from django.db import OperationalError, ProgrammingError

from apps.tables.models import Table
from apps.tables.storage.connections import options_for
from apps.tables.storage.locations import check_allowed
from apps.tables.storage.roots import roots_for
from deltaweb.storage.place import TablePlace
from deltaweb.table import DeltaTable


def roots_of_server() -> Sequence[str] | None:
    """Return the folders that this server may read tables from; None is any."""
    return roots_for(None)


def open_table(table: Table, *, roots: Sequence[str] | None) -> DeltaTable:
    """Return the reader of a registered table.

    Args:
        table: The table.
        roots: From `roots_of_server`, which asks the database.

    Raises:
        LocationNotAllowedError: If its location leads outside of the roots.
        StorageReferenceError: If an option of its storage refers to what is missing.
        StorageSealedError: If the options of its storage cannot be opened.
    """
    return DeltaTable.from_store(table_place(table, roots=roots).open())


def table_place(table: Table, *, roots: Sequence[str] | None) -> TablePlace:
    """Return the place of a registered table, for this process or for executors.

    Args:
        table: The table.
        roots: From `roots_of_server`.

    Raises:
        DeltaError: As `open_table` says.
    """
    check_allowed(table.location, roots=roots)
    return TablePlace(
        table.location,
        options_for(table.location),
        tuple(settings.ALLOWED_ROOTS or ()),
    )


def open_location(location: str) -> DeltaTable:
    """Return the reader of any location, for the command line.

    It needs no database: without one no storage has options.

    Raises:
        StorageReferenceError: If an option of its storage refers to what is missing.
        StorageSealedError: If the options of its storage cannot be opened.
    """
    try:
        options = options_for(location)
    except (OperationalError, ProgrammingError):
        options = {}
    return DeltaTable(location, options)
