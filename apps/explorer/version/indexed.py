"""What the index tells of a version: its files, and what decides who reads it.

Nothing is asked of storage.
"""

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from apps.explorer.version.table_version import TableVersion
from apps.tables.index.folders import index_folder
from apps.tables.models import Table
from apps.tables.work.version_files import VERSION_FILES, VersionFiles
from deltaweb.delta.errors import DeltaError
from deltaweb.delta.features.known.usage import VersionFacts
from deltaweb.index.folder.file_index import DELETED_ROWS, listed_files
from deltaweb.index.folder.parts import IndexMissingError

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


# === What decides who reads a version ===


def version_facts(at: TableVersion, num_vectors: int | None) -> VersionFacts | None:
    """Return what is known of a version; None while its protocol is not.

    Args:
        num_vectors: How many files have a deletion vector; None if unknown.
    """
    if at.protocol is None or at.metadata is None:
        return None
    try:
        schema = at.metadata.schema()
    except DeltaError:
        schema = None
    return VersionFacts(
        at.protocol.as_action(), at.metadata.as_action(), schema, num_vectors
    )


def vectors_of(at: TableVersion) -> tuple[int | None, int | None]:
    """Return how many files have a vector, and how many rows these delete."""
    files = indexed_files(at.table) if at.is_latest else known_files(at)
    if files is None:
        return None, None
    if DELETED_ROWS not in files.column_names:
        return 0, 0
    deleted = files[DELETED_ROWS]
    return pc.sum(pc.greater(deleted, 0)).as_py() or 0, pc.sum(deleted).as_py()
