"""What decides who reads a version: its protocol, metaData, schema and vectors.

Nothing is asked of storage: the database and the index tell it all.
"""

import pyarrow.compute as pc

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.features.known.usage import VersionFacts
from deltaweb.index.folder.file_index import DELETED_ROWS
from deltaweb.web.explorer.version.indexed import indexed_files, known_files
from deltaweb.web.explorer.version.table_version import TableVersion


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
