"""The folder of a table's index: columnar files that pages memory-map.

    files.arrow      a row a file of the newest snapshot, with its statistics
    source.json      the commit that files.arrow was made of; see `files.source`
    commits.arrow    a row a commit, oldest first
    metadata.arrow   a row a version that sets the metadata
    protocols.arrow  a row a version that sets the protocol
    summary.json     what pages draw at once
    seal.json        the sizes and checksums of the others; see `manifest`

A columnar file may have parts, `files.1.arrow` and so on; see `parts`. An index is
written beside and renamed into place, so a reader sees a whole one or none.
`files.arrow` is missing where the newest snapshot may not be read.
"""

import json
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa

from deltaweb.delta.errors import StorageFullError
from deltaweb.delta.log.commits.partition_keys import with_partition_names
from deltaweb.delta.log.file_actions import VECTOR
from deltaweb.delta.values.statistics.record_counts import deleted_records, live_records
from deltaweb.index.folder.manifest import write_manifest
from deltaweb.index.folder.parts import IndexMissingError, map_table
from deltaweb.storage.write_faults import write_fault

FILES: Final = "files.arrow"
DELETED_ROWS: Final = "deleted_rows"
COMMITS: Final = "commits.arrow"
METADATA: Final = "metadata.arrow"
PROTOCOLS: Final = "protocols.arrow"
SUMMARY: Final = "summary.json"
PARTITION_VALUES: Final = "partition_values"
PARTITION_NAMES: Final = b"partition_names"
"""Of the schema of `files.arrow`, where the log calls partition columns otherwise: JSON
of their names, and of what partition values there call them, in the same order."""
ROWS_A_BATCH: Final = 16_384


class CommitColumn(NamedTuple):
    """A fact of a commit, by its names.

    Attributes:
        name: In `commits.arrow`.
        field: What the row of the database calls it; "" where that has it otherwise.
    """

    name: str
    type: pa.DataType
    field: str


def _column(
    name: str, data_type: pa.DataType, field: str | None = None
) -> CommitColumn:
    return CommitColumn(name, data_type, name if field is None else field)


COMMIT_COLUMNS: Final = (
    _column("version", pa.int64()),
    _column("timestamp_ms", pa.int64(), "committed_at"),
    _column("operation", pa.string()),
    _column("parameters", pa.string()),  # JSON
    _column("metrics", pa.string()),  # JSON
    _column("user_name", pa.string()),
    _column("engine_info", pa.string()),
    _column("sentence", pa.string()),
    _column("num_added_files", pa.int64()),
    _column("num_removed_files", pa.int64()),
    _column("added_bytes", pa.int64()),
    _column("removed_bytes", pa.int64()),
    _column("added_rows", pa.int64()),
    _column("removed_rows", pa.int64()),
    _column("num_files", pa.int64()),
    _column("size_bytes", pa.int64()),
    _column("num_records", pa.int64()),
    _column("data_change", pa.bool_()),
    _column("changes_metadata", pa.bool_()),
    _column("changes_schema", pa.bool_()),
    _column("changes_protocol", pa.bool_()),
    _column("vacuumed_by", pa.int64(), ""),
    _column("num_missing_files", pa.int64(), ""),
    _column("readability", pa.string()),
    _column("readability_reason", pa.string()),
)
"""What is held of a commit, in one order everywhere."""
COMMIT_SCHEMA: Final = pa.schema([(one.name, one.type) for one in COMMIT_COLUMNS])
METADATA_SCHEMA: Final = pa.schema(
    {
        "version": pa.int64(),
        "metadata_id": pa.string(),
        "metadata_name": pa.string(),
        "description": pa.string(),
        "format_provider": pa.string(),
        "schema_string": pa.string(),
        "partition_columns": pa.string(),  # JSON
        "configuration": pa.string(),  # JSON
        "created_time": pa.int64(),
    }
)
PROTOCOL_SCHEMA: Final = pa.schema(
    {
        "version": pa.int64(),
        "min_reader_version": pa.int64(),
        "min_writer_version": pa.int64(),
        "reader_features": pa.string(),  # JSON
        "writer_features": pa.string(),  # JSON
        "unsupported_reason": pa.string(),
    }
)
HISTORY_SCHEMAS: Final = {
    COMMITS: COMMIT_SCHEMA,
    METADATA: METADATA_SCHEMA,
    PROTOCOLS: PROTOCOL_SCHEMA,
}


def open_files(folder: Path | str) -> pa.Table:
    """Memory-map the files of an index; the mapping stays valid when it is removed.

    Returns:
        A row a file: `path`, `size`, `modification_time`, `partition_values`,
        `partition` (typed struct), `num_records` (live rows), `min`, `max`,
        `null_count` (structs of columns, of all rows), `stats` (the JSON text),
        `deletion_vector` (its descriptor, null without one) and, where a file has one,
        `deleted_rows`. No row and no column where the snapshot may not be read.
    """
    place = Path(folder)
    try:
        if not (place / FILES).exists() and (place / SUMMARY).exists():
            return pa.table({})
        return _with_live_rows(map_table(place, FILES))
    except (OSError, pa.ArrowException) as error:
        raise IndexMissingError(str(place)) from error


def _with_live_rows(files: pa.Table) -> pa.Table:
    """Count the rows that pages show: those that no deletion vector deletes."""
    if VECTOR not in files.column_names:
        return files
    vectors = files[VECTOR]
    if vectors.null_count == files.num_rows:
        return files
    place = files.column_names.index("num_records")
    live = live_records(files["num_records"], vectors)
    files = files.set_column(place, "num_records", live)
    return files.append_column(DELETED_ROWS, deleted_records(vectors))


def listed_files(folder: Path | str, columns: Iterable[str]) -> pa.Table:
    """Map some columns of the files; partition values by the names of the columns.

    Columns that the index does not have are left out.
    """
    files = open_files(folder)
    listed = files.select([name for name in columns if name in files.column_names])
    named = (files.schema.metadata or {}).get(PARTITION_NAMES)
    if named is None or PARTITION_VALUES not in listed.column_names:
        return listed
    return with_partition_names(listed, *json.loads(named))


def bounded_batches(
    tables: Iterable[pa.Table], rows_a_batch: int
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of many tables in batches; none is larger, and few are small.

    Rows of a table that make half a batch stay where they are, since a copy of them
    costs more than a batch that is not full.
    """
    waiting: list[pa.Table] = []
    for table in tables:
        for first in range(0, table.num_rows, rows_a_batch):
            rows = table.slice(first, rows_a_batch)
            held = sum(part.num_rows for part in waiting)
            if held + rows.num_rows > rows_a_batch:
                yield from _one_batch(waiting)
                waiting, held = [], 0
            waiting.append(rows)
            if 2 * (held + rows.num_rows) >= rows_a_batch:
                yield from _one_batch(waiting)
                waiting = []
    yield from _one_batch(waiting)


def _one_batch(waiting: Sequence[pa.Table]) -> Iterator[pa.RecordBatch]:
    if waiting:
        yield from pa.concat_tables(waiting).combine_chunks().to_batches()


def write_summary(folder: Path, summary: dict[str, Any]) -> None:
    """Write `summary.json`."""
    (folder / SUMMARY).write_text(json.dumps(summary), encoding="utf-8")


@contextmanager
def written_beside(folder: Path) -> Iterator[Path]:
    """Give a folder to write in; rename it with its manifest when the block succeeds.

    What a killed process left half written is removed by the next writer's cleaning
    (`remove_other_indexes`); an error in the block removes it at once.
    """
    beside = folder.parent / f".{folder.name}.{os.getpid()}.{secrets.token_hex(4)}"
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        beside.mkdir()
        yield beside
        write_manifest(beside)
        if folder.exists():
            shutil.rmtree(folder)
        beside.rename(folder)
    except OSError as error:
        fault = write_fault(error, place=str(folder.parent))
        if isinstance(fault, StorageFullError):
            raise fault from error
        raise
    finally:
        shutil.rmtree(beside, ignore_errors=True)
