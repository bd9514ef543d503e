"""The file index of a table's newest version, memory-mapped."""

from pathlib import Path
from typing import Final

import pyarrow as pa
from django.conf import settings

from apps.tables.models import Table
from deltaweb.index.file_index import IndexMissingError, open_index

LISTED: Final = ("path", "size", "modification_time", "partition_values", "num_records")


def index_folder(table: Table) -> Path | None:
    """Return where the index of a table is; None when it has none."""
    if not table.index_name:
        return None
    return Path(settings.HOME) / "index" / str(table.id) / table.index_name


def indexed_files(table: Table) -> pa.Table | None:
    """Return the files of the newest indexed version; None when there is no index.

    A missing or broken index is not an error: a job lists the files instead.
    """
    folder = index_folder(table)
    if folder is None:
        return None
    try:
        files = open_index(folder).files
    except IndexMissingError:
        return None
    if "path" not in files.column_names:
        return None
    # What pages do not list would be copied with every filter and every page.
    return files.select([name for name in LISTED if name in files.column_names])
