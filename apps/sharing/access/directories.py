"""Which shared tables may be read as folders, by credentials of their store.

Who has these reads every file below the table's root: all versions, deleted rows that
no vacuum has erased, and the log. So a table says that it may, is shared whole and with
all its history, and lies where credentials can be made.
"""

from django.db.models import QuerySet

from apps.sharing.models import SharedTable
from apps.tables.storage.connections import options_for
from deltaweb.delta.errors import DeltaError
from deltaweb.storage.objects.vending.vendors import open_vendor


def narrowed(shared: SharedTable) -> str:
    """Return why what is shared of a table is less than its folder, or ""."""
    if not shared.is_whole or shared.rules.exists():
        return "only some of its rows or columns are shared"
    if shared.history_start is None:
        return "its history is not shared"
    if shared.history_start:
        return f"its history is shared from version {shared.history_start} on"
    return ""


def obstacle(shared: SharedTable) -> str:
    """Return why a table is not offered as a folder, as half a sentence, or ""."""
    if not shared.with_directory:
        return "its provider offers only file URLs"
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


def directory_of(shared: SharedTable) -> str | None:
    """Return the location of a table that may be read as a folder; None for others."""
    if not shared.with_directory or obstacle(shared):
        return None
    return _location_of(shared)


def _location_of(shared: SharedTable) -> str:
    location = shared.table.location
    return open_vendor(location, options_for(location)).location
