"""Indexes whose files are gone or cut, as a machine that goes down leaves them.

Pages and recipients read the log instead, which takes them longer, until there is a new
commit; of a table that rests there may be none for long.
"""

from datetime import datetime

from apps.tables.index_folders import indexes_folder
from apps.tables.models import Table
from apps.tables.schedules import ONLY_WHEN_ASKED_S
from apps.tables.services import refresh_table
from deltaweb.index.file_index import SUMMARY
from deltaweb.index.index_seal import load_seal


def refresh_spoilt_indexes(*, now: datetime) -> int:
    """Queue an index of every table whose own is not there as it was written.

    Sizes are compared, and no file is read. Tables that cannot be read, and those that
    are only indexed when somebody asks for it, are left.

    Returns:
        How many were queued.
    """
    indexed = Table.objects.exclude(index_name="").filter(error_code="")
    wanted = indexed.exclude(refresh_interval_s=ONLY_WHEN_ASKED_S)
    names = wanted.only("id", "namespace", "name", "index_name").order_by("id")
    spoilt = [table for table in names.iterator() if _is_spoilt(table)]
    for table in spoilt:
        refresh_table(table, now=now)
    return len(spoilt)


def _is_spoilt(table: Table) -> bool:
    folder = indexes_folder() / str(table.id) / table.index_name
    seal = load_seal(folder)
    if seal is None:  # of before there were seals
        return not (folder / SUMMARY).is_file()
    return not seal.has_sizes()
