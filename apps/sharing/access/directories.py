"""Which shared tables may be read as folders, by credentials of their store.

Such credentials open every file below the table's root: all versions, deleted rows
that no vacuum has erased, and the log. So the provider must allow it for the table, the
table must be shared whole, as stored and with all its history, and we must be able to
make credentials for its store.
"""

from typing import Final

from django.db.models import QuerySet

from apps.sharing.models import Recipient, SharedTable
from apps.tables.storage.connections import options_for
from deltaweb.delta.errors import DeltaError
from deltaweb.storage.objects.vending.vendors import open_vendor

PLAIN: Final = "it is offered as plain files"


def narrowed(shared: SharedTable) -> str:
    """Return why what is shared of a table is less than its folder, or ""."""
    if shared.is_plain:
        return PLAIN
    if not shared.is_whole or shared.rules.exists():
        return "only some of its rows or columns are shared"
    if shared.history_start is None:
        return "its history is not shared"
    if shared.history_start:
        return f"its history is shared from version {shared.history_start} on"
    return ""


def obstacle(shared: SharedTable, recipient: Recipient | None = None) -> str:
    """Return why a table is not offered as a folder, as half a sentence, or "".

    Args:
        recipient: The recipient that asks; None for any.
    """
    if not shared.with_directory:
        return "its provider offers only file URLs"
    if recipient is not None and recipient.plain:
        return PLAIN
    if reason := narrowed(shared):
        return reason
    try:
        _location_of(shared)
    except DeltaError as error:
        return error.reason or "its storage cannot issue temporary credentials"
    return ""


def with_folders(tables: QuerySet[SharedTable]) -> QuerySet[SharedTable]:
    """Return the tables whose folders may be read."""
    return tables.filter(with_directory=True)


def directory_of(shared: SharedTable, recipient: Recipient | None = None) -> str | None:
    """Return the location of a table that may be read as a folder; None for others.

    Args:
        recipient: As in `obstacle`.
    """
    if not shared.with_directory or obstacle(shared, recipient):
        return None
    return _location_of(shared)


def _location_of(shared: SharedTable) -> str:
    location = shared.table.location
    return open_vendor(location, options_for(location)).location
