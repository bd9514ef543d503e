"""The file index of a table's newest version, memory-mapped."""

from pathlib import Path

import pyarrow as pa
from django.conf import settings

from apps.tables.models import Table
from deltaweb.index.file_index import IndexMissingError, open_index


def indexed_files(table: Table) -> pa.Table | None:
    """Return the files of the newest indexed version; None when there is no index.

    A missing or broken index is not an error: a job lists the files instead.
    """
    if not table.index_name:
        return None
    folder = Path(settings.HOME) / "index" / str(table.id) / table.index_name
    try:
        files = open_index(folder).files
    except IndexMissingError:
        return None
    return files if "path" in files.column_names else None
