"""Indexes whose files are gone or cut, as a machine that goes down leaves them.

Pages and recipients read the log instead, which takes them longer, until there is a new
commit; of a table that rests there may be none for long.
"""

from datetime import datetime

from deltaweb.index.folder.file_index import SUMMARY
from deltaweb.index.folder.manifest import load_manifest
from deltaweb.web.tables.index.folders import index_folder
from deltaweb.web.tables.index.refresh import refresh_table
from deltaweb.web.tables.models import Table
from deltaweb.web.tables.models.schedules import ONLY_WHEN_ASKED_S


def refresh_corrupt_indexes(*, now: datetime) -> int:
    """Queue an index of every table whose own is not there as it was written.

    Sizes are compared, and no file is read. Tables that cannot be read, and those that
    are only indexed when somebody asks for it, are left.

    Returns:
        How many were queued.
    """
    indexed = Table.objects.exclude(index_name="").filter(error_code="")
    wanted = indexed.exclude(refresh_interval_s=ONLY_WHEN_ASKED_S)
    names = wanted.only("id", "namespace", "name", "index_name").order_by("id")
    corrupt = [table for table in names.iterator() if _is_corrupt(table)]
    for table in corrupt:
        refresh_table(table, now=now)
    return len(corrupt)


def _is_corrupt(table: Table) -> bool:
    folder = index_folder(table)
    if folder is None:
        return False
    manifest = load_manifest(folder)
    if manifest is None:  # of before there were manifests
        return not (folder / SUMMARY).is_file()
    return not manifest.has_sizes()
