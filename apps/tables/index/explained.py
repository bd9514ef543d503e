"""Which files of the newest version a condition reads, by the index alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from apps.tables.index.folders import index_folder
from apps.tables.models import Table
from deltaweb.delta.errors import DeltaError
from deltaweb.delta.protocol.actions import Metadata
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.scan.skipping import Mask
from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.environment.kept_values import KeptValues
from deltaweb.index.files.source import load_source
from deltaweb.index.folder.parts import IndexMissingError
from deltaweb.index.query.funnel import Explanation, explain
from deltaweb.index.query.indexed_block import map_blocks
from deltaweb.index.query.indexed_part import IndexedPart
from deltaweb.index.query.questions import Question

MAX_PARSED: Final = 100_000
"""Files whose statistics are read from text in a request, if none are typed."""
KEPT_BYTES: Final = 64 << 20

_kept: KeptValues[tuple[str, int, str, str], Explanation] = KeptValues(KEPT_BYTES)


@dataclass(frozen=True, slots=True, eq=False)
class IndexedFiles:
    """The files of the newest version.

    Attributes:
        key: Identifies the version.
    """

    key: tuple[str, int]
    schema: StructType
    metadata: Metadata
    parts: Sequence[IndexedPart]

    @property
    def live_parts(self) -> Sequence[tuple[IndexedPart, Mask]]:
        """The parts, with marks of their live files: an index has no others."""
        return [(part, np.ones(part.num_rows, np.bool_)) for part in self.parts]

    @property
    def num_files(self) -> int:
        return sum(part.num_rows for part in self.parts)


def explained(
    table: Table, version: int | None, schema: StructType, sql: str, zone_name: str
) -> tuple[Explanation, IndexedFiles] | None:
    """Return which files of a version a condition reads, and these files.

    Args:
        zone_name: Whose clocks show the times without a zone.

    Returns:
        None if the index has not all that is needed: it is not of this version, or a
        table of many files lacks typed statistics of a column.

    Raises:
        ExpressionMistakenError: If it is not a condition over these columns.
    """
    files = indexed_files(table, version, schema)
    if files is None:
        return None
    key = files.key
    question = Question(sql, schema, files.metadata, zone_name)
    known = _kept.find((*key, sql, zone_name))
    if known is not None:
        return known[0], files
    if files.num_files > MAX_PARSED and not _has_statistics(question, files):
        return None
    found = explain(question, files.live_parts)
    held_bytes = sum(codes.nbytes for codes in found.codes)
    return _kept.keep((*key, sql, zone_name), found, held_bytes), files


def indexed_files(
    table: Table, version: int | None, schema: StructType
) -> IndexedFiles | None:
    """Return the files of a version; None if the index is not of this version."""
    folder = index_folder(table)
    if folder is None:
        return None
    try:
        source = load_source(folder)
        if source.version != version:
            return None
        blocks = map_blocks(folder, source)
    except IndexMissingError:
        return None
    return IndexedFiles(
        key=(str(folder), source.version),
        schema=schema,
        metadata=source.metadata,
        parts=[IndexedPart(block) for block in blocks],
    )


@dataclass(frozen=True, slots=True)
class FilesRead:
    """How many files of a version a condition reads."""

    num_read: int
    num_files: int


def files_read(
    table: Table, version: int | None, schema: StructType, sql: str, zone_name: str
) -> FilesRead | None:
    """Return how many files a condition reads; None if it is unknown.

    The arguments are those of `explained`.
    """
    try:
        found = explained(table, version, schema, sql, zone_name)
    except DeltaError:
        return None
    if found is None:
        return None
    funnel = found[0].funnel
    return FilesRead(funnel.after_statistics.num_files, funnel.total.num_files)


def newest_files_read(table: Table, sql: str) -> FilesRead | None:
    """Return how many files of the newest version a condition reads, if it is known."""
    version = table.version
    if not table.index_name:
        return None
    metadata = table.metadata_versions.filter(version__lte=version or 0).first()
    protocol = table.protocol_versions.filter(version__lte=version or 0).first()
    if metadata is None:
        return None
    try:
        schema = metadata.mapped_schema(protocol)
    except DeltaError:
        return None
    return files_read(table, version, schema, sql, UTC_ZONE)


def _has_statistics(question: Question, files: IndexedFiles) -> bool:
    paths = [
        path
        for part in question.parts
        if part.obstacle is None
        for path in part.columns
        if path[0] not in question.partition_columns and files.schema.find(path[0])
    ]
    return all(files.parts[0].has_typed(files.schema, path) for path in paths)
