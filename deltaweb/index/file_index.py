"""The folder of a table's index: columnar files that pages memory-map.

    files.arrow      a row a file of the newest snapshot, with its statistics
    source.json      the commit that files.arrow was made of; see `index_source`
    commits.arrow    a row a commit, oldest first
    metadata.arrow   a row a version that sets the metadata
    protocols.arrow  a row a version that sets the protocol
    summary.json     what pages draw at once
    seal.json        sizes and checksums of the others; see `index_seal`

An index is written beside and renamed into place, so a reader sees a whole one or
none. `files.arrow` is missing where the newest snapshot may not be read.
"""

import json
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from deltaweb.delta.errors import StorageFullError
from deltaweb.index.index_seal import carry_mark, write_seal
from deltaweb.storage.write_faults import write_fault

FILES: Final = "files.arrow"
COMMITS: Final = "commits.arrow"
METADATA: Final = "metadata.arrow"
PROTOCOLS: Final = "protocols.arrow"
SUMMARY: Final = "summary.json"
ROWS_A_BATCH: Final = 16_384

COMMIT_SCHEMA: Final = pa.schema(
    {
        "version": pa.int64(),
        "timestamp_ms": pa.int64(),
        "operation": pa.string(),
        "parameters": pa.string(),  # JSON
        "metrics": pa.string(),  # JSON
        "user_name": pa.string(),
        "engine_info": pa.string(),
        "sentence": pa.string(),
        "num_added_files": pa.int64(),
        "num_removed_files": pa.int64(),
        "added_bytes": pa.int64(),
        "removed_bytes": pa.int64(),
        "added_rows": pa.int64(),
        "removed_rows": pa.int64(),
        "num_files": pa.int64(),
        "size_bytes": pa.int64(),
        "num_records": pa.int64(),
        "data_change": pa.bool_(),
        "changes_metadata": pa.bool_(),
        "changes_schema": pa.bool_(),
        "changes_protocol": pa.bool_(),
        "vacuumed_by": pa.int64(),
        "num_missing_files": pa.int64(),
        "readability": pa.string(),
        "readability_reason": pa.string(),
    }
)
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


class IndexMissingError(Exception):
    """The index folder is not there, not whole, or not readable."""


@dataclass(frozen=True, slots=True, eq=False)
class FileIndex:
    """An opened index; its tables are views of the memory-mapped files.

    Attributes:
        folder: Where it is.
        files: A row a file: `path`, `size`, `modification_time`, `partition_values`,
            `partition` (typed struct), `num_records`, `min`, `max`, `null_count`
            (structs of columns), `stats` (the JSON text). No row where the snapshot
            may not be read.
        summary: As `summary.json` holds it.
    """

    folder: Path
    files: pa.Table
    summary: dict[str, Any]


def open_index(folder: Path | str) -> FileIndex:
    """Memory-map an index; the mapping stays valid when the folder is removed.

    Raises:
        IndexMissingError: If there is no whole index.
    """
    place = Path(folder)
    try:
        summary = json.loads((place / SUMMARY).read_text(encoding="utf-8"))
        has_files = (place / FILES).exists()
        files = map_table(place / FILES) if has_files else pa.table({})
    except (OSError, ValueError, pa.ArrowException) as error:
        raise IndexMissingError(str(place)) from error
    return FileIndex(place, files, summary)


def read_batches(folder: Path, name: str) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows of `commits.arrow` or its like, a batch at a time.

    Raises:
        IndexMissingError: If the file is not there or not whole.
    """
    try:
        with pa.memory_map(str(folder / name)) as source:
            reader = pa.ipc.open_file(source)
            for index in range(reader.num_record_batches):
                yield reader.get_batch(index).to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise IndexMissingError(str(folder / name)) from error


def map_batches(folder: Path, name: str, schema: pa.Schema) -> list[pa.RecordBatch]:
    """Memory-map one file of an index; the mapping outlives the folder.

    Raises:
        IndexMissingError: If the file is not there, not whole, or of another schema.
    """
    try:
        reader = pa.ipc.open_file(pa.memory_map(str(folder / name)))
        batches = [reader.get_batch(at) for at in range(reader.num_record_batches)]
        for batch in batches:
            batch.validate()
    except (OSError, pa.ArrowException) as error:
        raise IndexMissingError(str(folder / name)) from error
    if not reader.schema.equals(schema):
        raise IndexMissingError(str(folder / name))
    return [batch for batch in batches if batch.num_rows]


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


def write_batches(
    folder: Path, name: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch]
) -> None:
    """Write one file of an index, uncompressed so that it can be mapped."""
    path = folder / name
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


def write_summary(folder: Path, summary: dict[str, Any]) -> None:
    """Write `summary.json`."""
    (folder / SUMMARY).write_text(json.dumps(summary), encoding="utf-8")


def link_file(folder: Path, name: str, source: Path) -> None:
    """Give an index a file of another one, which nobody changes; a copy if need be."""
    try:
        (folder / name).hardlink_to(source / name)
    except OSError:  # not every file system has links
        shutil.copyfile(source / name, folder / name)
    carry_mark(folder, name, source)


@contextmanager
def written_beside(folder: Path) -> Iterator[Path]:
    """Give a folder to write in; seal it and rename it when the block succeeds.

    What a killed process left half written is removed by the next writer's cleaning
    (`remove_other_indexes`); an error in the block removes it at once.

    Raises:
        StorageFullError: If the disk has no room for what the block writes.
    """
    beside = folder.parent / f".{folder.name}.{os.getpid()}.{secrets.token_hex(4)}"
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        beside.mkdir()
        yield beside
        write_seal(beside)
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


def map_table(path: Path) -> pa.Table:
    """Memory-map one file of an index; raise `pyarrow.ArrowException` or `OSError`."""
    source = pa.memory_map(str(path))
    return pa.ipc.open_file(source).read_all()
