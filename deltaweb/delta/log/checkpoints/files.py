"""The file actions of a checkpoint, row group by row group.

Source: delta_protocol.md, "Checkpoint Format" and "Checkpoint Schema".
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.log.blocks import FileBlock, RawStatistics, StatisticsPart
from deltaweb.delta.log.checkpoints.part import READ_FAULTS, CheckpointRowGroup
from deltaweb.delta.log.file_actions import (
    DELETION_VECTOR,
    PARTITION_VALUES,
    TOMBSTONES_SCHEMA,
    as_text_map,
    dv_ids,
    file_vectors,
    files_batch,
    filled_map,
    no_dv_ids,
    partition_map,
)
from deltaweb.delta.values.partition_values import partition_texts

DV_LEAVES: Final = tuple(part.name for part in DELETION_VECTOR)
ADD_LEAVES: Final = (
    "add.path",
    "add.size",
    "add.modificationTime",
    "add.dataChange",
    "add.partitionValues",
    *(f"add.deletionVector.{leaf}" for leaf in DV_LEAVES),
)
REMOVE_LEAVES: Final = (
    "remove.path",
    "remove.deletionTimestamp",
    "remove.dataChange",
    "remove.size",
    *(f"remove.deletionVector.{leaf}" for leaf in DV_LEAVES),
)

TYPED: Final = "add.stats_parsed"
TYPED_COUNTS: Final = f"{TYPED}.numRecords"
TEXT: Final = "add.stats"
HELD_BYTES: Final = 1 << 20
"""numRecords that cannot become more are held: to read them again takes longer."""
STATISTICS: Final = ("stats", "stats_parsed")  # in the order of `RawStatistics`
UNREADABLE = "its statistics cannot be read"
_NOT_FINITE: Final[Mapping[str, Callable[[pa.Array], pa.Array]]] = {
    "NaN": pc.is_nan,
    "Infinity": lambda column: pc.equal(column, math.inf),
    "-Infinity": lambda column: pc.equal(column, -math.inf),
}


def read_blocks(group: CheckpointRowGroup) -> list[FileBlock]:
    blocks = []
    first = 0
    convert = partial(_files, has_values=_has_partition_values(group))
    for rows, adds, files in _read_rows(group, "add", add_leaves(group), convert):
        if files.num_rows:
            load = partial(_load_statistics, group, first, rows)
            block = FileBlock(
                files,
                load_statistics=load,
                load_text=partial(_load_text, group, first, rows),
                stream_statistics=partial(_stream_statistics, group, first, rows),
                load_counts=partial(load, typed=TYPED_COUNTS),
            )
            held = _held_counts(group, adds)
            if held is not None:
                load_held = partial(RawStatistics, *held)
                block = replace(block, load_counts=load_held, held_bytes=held.nbytes)
            blocks.append(block)
        first += rows
    return blocks


def read_tombstones(group: CheckpointRowGroup) -> list[pa.RecordBatch]:
    """Read the tombstones of a row group, by `TOMBSTONES_SCHEMA`."""
    leaves = _remove_leaves(group)
    found = _read_rows(group, "remove", leaves, _tombstone_rows)
    return [batch for *_, batch in found]


def add_leaves(group: CheckpointRowGroup) -> list[str]:
    """Return the leaves that the live files of a row group are read from."""
    leaves = [leaf for prefix in ADD_LEAVES for leaf in group.find_leaves(prefix)]
    leaves += _held_leaves(group)
    if not group.find_leaves("add.partitionValues"):
        leaves += group.find_leaves("add.partitionValues_parsed")
    return leaves


def _remove_leaves(group: CheckpointRowGroup) -> list[str]:
    return [leaf for prefix in REMOVE_LEAVES for leaf in group.find_leaves(prefix)]


def _read_rows(
    group: CheckpointRowGroup,
    action: str,
    leaves: list[str],
    convert: Callable[[pa.StructArray], pa.RecordBatch],
) -> list[tuple[int, pa.StructArray, pa.RecordBatch]]:
    """Read one kind of file action from a row group.

    Returns:
        For each chunk its count of rows, of any action, and its actions and rows of
        this one.
    """
    try:
        chunks = group.read(leaves)[action].chunks
        actions = [with_path(chunk) for chunk in chunks]
        return [
            (len(chunk), some, convert(some))
            for chunk, some in zip(chunks, actions, strict=True)
        ]
    except READ_FAULTS:
        reason = f"its {action} column has the wrong types"
        raise LogCorruptError(path=group.part.path, reason=reason) from None


def with_path(actions: pa.StructArray) -> pa.StructArray:
    """Return the rows that name a file; a slice where they stand together.

    A file action is there where it has a path: some writers fill the other rows with
    structs of nulls.
    """
    return _take_rows(actions, _rows_with_path(actions))


def _rows_with_path(actions: pa.StructArray) -> "np.ndarray[Any, np.dtype[np.int64]]":
    paths = pc.struct_field(actions, ["path"])
    if not paths.null_count:
        return np.arange(len(paths), dtype=np.int64)
    return np.flatnonzero(paths.is_valid().to_numpy(zero_copy_only=False))


def _take_rows(
    array: pa.Array, rows: "np.ndarray[Any, np.dtype[np.int64]]"
) -> pa.Array:
    if len(rows) == len(array):
        return array
    if len(rows) and rows[-1] - rows[0] + 1 == len(rows):
        return array.slice(rows[0], len(rows))
    return array.take(pa.array(rows))


def _has_partition_values(group: CheckpointRowGroup) -> bool:
    """Tell whether the checkpoint has a column of them, whatever it holds here."""
    return any(leaf.startswith("add.partitionValues") for leaf in group.part.leaves)


def _files(adds: pa.StructArray, *, has_values: bool) -> pa.RecordBatch:
    # Maps without an entry may be nulls alone to Parquet, and are not read then.
    values = partition_values(adds)
    columns = [
        typed_column(adds, "path", pa.string()),
        typed_column(adds, "size", pa.int64()),
        typed_column(adds, "modificationTime", pa.int64()),
        typed_column(adds, "dataChange", pa.bool_()),
        filled_map(values) if has_values else values,
        *dv_columns(adds),
    ]
    batch = files_batch(columns)
    batch.validate(full=True)  # Parquet's text may not be UTF-8
    return batch


def _tombstone_rows(removes: pa.StructArray) -> pa.RecordBatch:
    columns = [
        typed_column(removes, "path", pa.string()),
        pc.fill_null(typed_column(removes, "deletionTimestamp", pa.int64()), 0),
        typed_column(removes, "dataChange", pa.bool_()),
        typed_column(removes, "size", pa.int64()),
        dv_columns(removes)[0],
    ]
    return _valid_batch(columns, TOMBSTONES_SCHEMA)


def _valid_batch(columns: list[pa.Array], schema: pa.Schema) -> pa.RecordBatch:
    batch = pa.RecordBatch.from_arrays(columns, schema=schema)
    batch["path"].validate(
        full=True
    )  # Parquet's text may hold bytes that are not UTF-8
    return batch


def typed_column(
    actions: pa.StructArray, name: str, data_type: pa.DataType
) -> pa.Array:
    """Return a field as its type, nulls where the checkpoint lacks the column."""
    if actions.type.get_field_index(name) < 0:
        return pa.nulls(len(actions), data_type)
    column = pc.struct_field(actions, [name])
    return column if column.type == data_type else column.cast(data_type)


def dv_columns(actions: pa.StructArray) -> tuple[pa.Array, pa.Array]:
    """Return the ids of deletion vectors, and their descriptors."""
    if actions.type.get_field_index("deletionVector") < 0:
        return no_dv_ids(len(actions)), pa.nulls(len(actions))
    vectors = pc.struct_field(actions, ["deletionVector"])
    parts = [typed_column(vectors, part.name, part.type) for part in DELETION_VECTOR]
    typed = pa.StructArray.from_arrays(parts, fields=list(DELETION_VECTOR))
    return dv_ids(typed), file_vectors(typed)


def partition_values(adds: pa.StructArray) -> pa.MapArray:
    """Return partition values as the log's text, from whichever column has them."""
    if adds.type.get_field_index("partitionValues") >= 0:
        return as_text_map(pc.struct_field(adds, ["partitionValues"]))
    if adds.type.get_field_index("partitionValues_parsed") < 0:
        return pa.nulls(len(adds), PARTITION_VALUES)
    return _format_parsed_values(pc.struct_field(adds, ["partitionValues_parsed"]))


def _format_parsed_values(parsed: pa.StructArray) -> pa.MapArray:
    """Return typed partition values in the text that the log would hold.

    Source: delta_protocol.md, "Partition Value Serialization".
    """
    names = [parsed.type.field(index).name for index in range(parsed.type.num_fields)]
    texts = [_partition_text(column) for column in parsed.flatten()]
    return partition_map(
        pa.StructArray.from_arrays(texts, names=names), frozenset(names)
    )


def _partition_text(column: pa.Array) -> pa.Array:
    if pa.types.is_timestamp(column.type):
        micros = column.cast(pa.timestamp("us", column.type.tz))
        return pa.array(partition_texts(micros), pa.string())
    if pa.types.is_binary(column.type):
        return pa.array(map(_binary_text, column.to_pylist()), pa.string())
    texts = column.cast(pa.string())
    if pa.types.is_floating(column.type):
        # The names that writers have for them, where Arrow has its own.
        for name, is_named in _NOT_FINITE.items():
            texts = pc.if_else(is_named(column), name, texts)
    return texts


def _binary_text(value: bytes | None) -> str | None:
    """Return bytes as text, escaped one by one where they are none."""
    try:
        return value if value is None else value.decode()
    except UnicodeDecodeError:
        return "".join(f"\\u{byte:04x}" for byte in value or b"")


# === Statistics ===


def _held_leaves(group: CheckpointRowGroup) -> list[str]:
    """Return the leaves of numRecords that take little to read with the files."""
    return [
        leaf
        for leaf in (TYPED_COUNTS, TEXT)
        if group.find_leaves(leaf) == [leaf]
        and group.most_bytes(group.part.leaves.index(leaf)) <= HELD_BYTES
    ]


def _held_counts(
    group: CheckpointRowGroup, adds: pa.StructArray
) -> RawStatistics | None:
    """Return the statistics that were read with files; None if they are not enough."""
    text, typed = (
        pa.chunked_array([pc.struct_field(adds, [name])])
        if adds.type.get_field_index(name) >= 0
        else None
        for name in STATISTICS
    )
    if text is None and group.find_leaves(TEXT):
        is_enough = typed is not None and _all_have_records(typed)
        return RawStatistics(None, typed) if is_enough else None
    return None if text is None and typed is None else RawStatistics(text, typed)


def _load_statistics(
    group: CheckpointRowGroup, first: int, count: int, *, typed: str = TYPED
) -> RawStatistics:
    """Read the statistics of some rows of a row group, row for row with their files.

    JSON is read only where typed statistics do not say all.

    Args:
        typed: The path of the typed statistics that are needed.
    """
    parsed = group.find_leaves(typed)
    try:
        if parsed:
            adds = group.read(["add.path", *parsed])["add"].slice(first, count)
            found = _rows_of(adds, "stats_parsed")
            if _all_have_records(found):
                return RawStatistics(json_text=None, parsed=found)
    except READ_FAULTS:
        raise LogCorruptError(path=group.part.path, reason=UNREADABLE) from None
    text = _load_text(group, first, count)
    return RawStatistics(json_text=text, parsed=found if parsed else None)


def _load_text(
    group: CheckpointRowGroup, first: int, count: int
) -> pa.ChunkedArray | None:
    """Read the JSON statistics alike; None without their column."""
    leaves = group.find_leaves(TEXT)
    if not leaves:
        return None
    try:
        adds = group.read(["add.path", *leaves])["add"].slice(first, count)
        return _rows_of(adds, "stats")
    except READ_FAULTS:
        raise LogCorruptError(path=group.part.path, reason=UNREADABLE) from None


def _stream_statistics(
    group: CheckpointRowGroup, first: int, count: int, max_rows: int
) -> Iterator[StatisticsPart]:
    """Read all statistics alike, holding little more than some rows of them."""
    fields = [name for name in STATISTICS if group.find_leaves(f"add.{name}")]
    leaves = [leaf for name in fields for leaf in group.find_leaves(f"add.{name}")]
    batches = group.part.stream(group.indices, ["add.path", *leaves], max_rows=max_rows)
    passed = 0
    with closing(batches):
        for batch in batches:
            start = min(max(first - passed, 0), batch.num_rows)
            rows = batch.slice(start, max(first + count - passed - start, 0))
            passed += batch.num_rows
            if rows.num_rows:
                yield _statistics_part(group, rows, fields)
            if passed >= first + count:
                return


def _statistics_part(
    group: CheckpointRowGroup, rows: pa.RecordBatch, fields: Collection[str]
) -> StatisticsPart:
    adds = pa.chunked_array([rows["add"]])
    try:
        raw = RawStatistics(
            *(_rows_of(adds, name) if name in fields else None for name in STATISTICS)
        )
        return StatisticsPart(raw, len(_rows_of(adds, "path")))
    except READ_FAULTS:
        raise LogCorruptError(path=group.part.path, reason=UNREADABLE) from None


def _all_have_records(typed: pa.ChunkedArray) -> bool:
    """Tell whether typed statistics say something of every file."""
    if typed.type.get_field_index("numRecords") < 0:
        return False
    return bool(pc.struct_field(typed, ["numRecords"]).null_count == 0)


def _rows_of(adds: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    return pa.chunked_array(
        [
            _take_rows(pc.struct_field(chunk, [name]), _rows_with_path(chunk))
            for chunk in adds.chunks
        ],
        type=adds.type.field(name).type,
    )
