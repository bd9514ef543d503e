"""The file index of a table's newest version, memory-mapped."""

from typing import Final

import pyarrow as pa

from deltaweb.index.folder.file_index import DELETED_ROWS, listed_files
from deltaweb.index.folder.parts import IndexMissingError
from deltaweb.web.explorer.version.table_version import TableVersion
from deltaweb.web.tables.index.folders import index_folder
from deltaweb.web.tables.models import Table
from deltaweb.web.tables.work.version_files import VERSION_FILES, VersionFiles

LISTED: Final = (
    *("path", "size", "modification_time", "partition_values", "num_records"),
    DELETED_ROWS,
)


def indexed_files(table: Table) -> pa.Table | None:
    """Return the files of the newest indexed version; None when there is no index.

    A missing or broken index is not an error: a job lists the files instead.
    """
    folder = index_folder(table)
    if folder is None:
        return None
    try:
        # What pages do not list would be copied with every filter and every page.
        files = listed_files(folder, LISTED)
    except IndexMissingError:
        return None
    return files if "path" in files.column_names else None


def known_files(at: TableVersion) -> pa.Table | None:
    """Return files that the index lacks, where a job has listed them already."""
    has_index = at.is_latest and at.table.state != Table.State.UNSUPPORTED
    if at.version is None or has_index:
        return None
    found = VERSION_FILES.known(at.table, VersionFiles(at.version))
    return None if found is None else found.rows
