"""The files of an index as blocks of a snapshot, memory-mapped.

A snapshot is refreshed from these blocks as from those of a checkpoint: commits
that came since mask their rows. Pages of the mapping that were read count as memory
of the process, so the reader of a whole column gives them back by `release`.
"""

import mmap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

import pyarrow as pa
import pyarrow.types as pt

from deltaweb.delta.log.blocks import FileBlock, RawStatistics, SelectedBlock
from deltaweb.delta.log.file_actions import (
    DELETION_VECTOR,
    PARTITION_VALUES,
    VECTOR,
    file_keys,
    files_batch,
    vector_ids,
)
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.snapshot.state import SnapshotState
from deltaweb.index.files.source import IndexSource, commit_digest, load_source
from deltaweb.index.folder.file_index import FILES
from deltaweb.index.folder.parts import IndexMissingError, part_names

PLAIN_COLUMNS: Final = {
    "path": pa.string(),
    "size": pa.int64(),
    "modification_time": pa.int64(),
    "partition_values": PARTITION_VALUES,
    "num_records": pa.int64(),
    "stats": pa.string(),
}
STRUCT_COLUMNS: Final = ("partition", "min", "max", "null_count")


@dataclass(frozen=True, slots=True, eq=False)
class MappedRange:
    """A range of a mapped file."""

    mapping: mmap.mmap
    start: int
    length: int

    def release(self) -> None:
        """Give the memory of the range back; it is read again when it is needed."""
        self.mapping.madvise(mmap.MADV_DONTNEED, self.start, self.length)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class IndexedBlock(FileBlock):
    """Some files of an index.

    Attributes:
        rows: Their rows in `files.arrow`.
        index: The name of the index, under which no other one ever is.
        first_row: How many files the index has before them.
        has_typed_partitions: Whether the column `partition` is typed by the schema.
    """

    rows: pa.RecordBatch
    part: str
    index: str
    first_row: int
    mapped: MappedRange
    has_typed_partitions: bool

    def keys(self) -> pa.Array:
        """What identifies each file, in memory of its own."""
        paths = self.files["path"]
        middle = len(paths) // 2
        copied = pa.concat_arrays([paths.slice(0, middle), paths.slice(middle)])
        self.mapped.release()
        return file_keys(copied, self.files["dv_id"])


def indexed_block(selected: SelectedBlock) -> IndexedBlock:
    return cast("IndexedBlock", selected.block)


def restore_snapshot(folder: Path, store: TableStore) -> Snapshot:
    """Return the table at the version of its index, without reading its log.

    The snapshot can be brought up to date by `DeltaTable.refresh`, which finds out
    whether the log still has the commit; transactions and tombstones are not in it.
    """
    source = load_source(folder)
    if commit_digest(store, source.version) != source.commit_digest:
        raise IndexMissingError(str(folder))
    state = SnapshotState(
        version=source.version,
        protocol=source.protocol,
        metadata=source.metadata,
        blocks=tuple(SelectedBlock(block) for block in map_blocks(folder, source)),
        layers=(),
        checkpoint=None,
        new_transactions={},
        commit_status=source.commit_status,
    )
    return Snapshot(store, state)


def map_blocks(folder: Path, source: IndexSource) -> list[IndexedBlock]:
    """Map the files of an index; the mapping outlives the folder."""
    try:
        parts = {name: _map(folder / name) for name in part_names(folder, FILES)}
        blocks: list[IndexedBlock] = []
        num_files = 0
        for name, mapping in parts.items():
            for rows, mapped in _batches_of(mapping):
                place = {"part": name, "index": folder.name, "first_row": num_files}
                blocks.append(_block(rows, source, mapped=mapped, **place))
                num_files += rows.num_rows
    except (OSError, ValueError, pa.ArrowException) as error:
        raise IndexMissingError(str(folder)) from error
    files_bytes = sum(map(len, parts.values()))
    if (num_files, files_bytes) != (source.num_files, source.files_bytes):
        raise IndexMissingError(str(folder))
    return blocks


def _map(path: Path) -> mmap.mmap:
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _batches_of(mapping: mmap.mmap) -> Iterator[tuple[pa.RecordBatch, MappedRange]]:
    whole = pa.py_buffer(mapping)
    reader = pa.ipc.open_file(pa.BufferReader(whole))
    _check_schema(reader.schema)
    for rows in map(reader.get_batch, range(reader.num_record_batches)):
        if rows.num_rows:
            yield rows, _range(rows, mapping, whole.address)


def _check_schema(schema: pa.Schema) -> None:
    for name, data_type in PLAIN_COLUMNS.items():
        if name not in schema.names or schema.field(name).type != data_type:
            raise ValueError(name)
    place = schema.get_field_index(VECTOR)
    if place < 0 or schema.field(place).type not in {pa.null(), DELETION_VECTOR}:
        raise ValueError(VECTOR)
    for name in STRUCT_COLUMNS:
        if name not in schema.names or not pt.is_struct(schema.field(name).type):
            raise ValueError(name)


def _block(
    rows: pa.RecordBatch,
    source: IndexSource,
    **place: Any,  # noqa: ANN401 (attributes of the block)
) -> IndexedBlock:
    rows.validate()
    stats = pa.chunked_array([rows["stats"]])
    columns = [
        rows["path"],
        rows["size"],
        rows["modification_time"],
        pa.nulls(rows.num_rows, pa.bool_()),
        rows["partition_values"],
        vector_ids(rows[VECTOR]),
        rows[VECTOR],
    ]
    return IndexedBlock(
        files=files_batch(columns),
        load_statistics=lambda: RawStatistics(stats, None),
        rows=rows,
        **place,
        has_typed_partitions=source.has_typed_partitions,
    )


def _range(rows: pa.RecordBatch, mapping: mmap.mmap, address: int) -> MappedRange:
    """Return the pages that hold the buffers of some rows, which are in their order."""
    columns = rows.columns
    ends = next(_buffers(columns), None), next(_buffers(columns[::-1], -1), None)
    first, last = (
        (one.address - address, one.address + one.size - address) if one else (0, 0)
        for one in ends
    )
    if not 0 <= first[0] <= last[1] <= len(mapping):  # not as the index is written
        return MappedRange(mapping, 0, 0)
    start = first[0] - first[0] % mmap.PAGESIZE
    end = min(last[1] + mmap.PAGESIZE, len(mapping))
    return MappedRange(mapping, start, end - start)


def _buffers(columns: Iterable[pa.Array], step: int = 1) -> Iterator[pa.Buffer]:
    for column in columns:
        yield from (one for one in column.buffers()[::step] if one is not None)
