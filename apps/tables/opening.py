"""Registered tables are opened here, where their place still is an allowed one.

A table is checked when it is registered, but its folder may since have become a link
that leads out of the allowed roots, or the roots may have changed.
"""

from collections.abc import Sequence

from django.conf import settings

from apps.tables.locations import check_allowed
from apps.tables.models import Table
from apps.tables.services import roots_for
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
    """
    check_allowed(table.location, roots=roots)
    return DeltaTable(table.location, allowed_roots=settings.ALLOWED_ROOTS or ())
