"""Checkpoints, read by column name and only as far as asked.

A checkpoint is read row group by row group, in threads, and of each row group only
the leaf columns that are needed; leaves that are all null by the row group's own
counts are not read at all.

Source: delta_protocol.md, "Checkpoint Format" and "Checkpoint Schema".
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from deltaweb.delta.action_values import parse_metadata, parse_protocol
from deltaweb.delta.actions import Metadata, Protocol, SetTransaction
from deltaweb.delta.errors import (
    LogCorruptError,
    MissingMetadataError,
    MissingProtocolError,
)
from deltaweb.delta.file_actions import (
    DELETION_VECTOR,
    FILES_SCHEMA,
    TOMBSTONES_SCHEMA,
    as_text_map,
    dv_ids,
    partition_map,
)
from deltaweb.delta.log_segment import Checkpoint
from deltaweb.delta.log_store import LogStore
from deltaweb.delta.replay import FileBlock, RawStatistics, run_in_threads

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
READ_FAULTS: Final = (pa.ArrowException, OSError, ValueError, KeyError, TypeError)


class RowGroup(NamedTuple):
    """One row group of one part: the unit of reading."""

    part: "CheckpointPart"
    index: int


@dataclass(frozen=True, slots=True, eq=False)
class CheckpointPart:
    """One file of a checkpoint, with its footer.

    Attributes:
        store: The table's log.
        name: The file's name.
        footer: Its Parquet footer, read once and shared by all threads.
        leaves: Position of each leaf column by its dotted path.
    """

    store: LogStore
    name: str
    footer: pq.FileMetaData
    leaves: Mapping[str, int] = field(repr=False)

    @property
    def path(self) -> str:
        """The file, as errors name it."""
        return f"{self.store.root}/_delta_log/{self.name}"

    def find_leaves(self, row_group: int, prefix: str) -> list[str]:
        """Return the leaves at or below `prefix`, none where all hold only nulls.

        They come together: a map without the leaf of its values is no map.
        """
        below = f"{prefix}."
        found = [
            leaf for leaf in self.leaves if leaf == prefix or leaf.startswith(below)
        ]
        positions = (self.leaves[leaf] for leaf in found)
        if all(self._is_all_null(row_group, position) for position in positions):
            return []
        return found

    def _is_all_null(self, row_group: int, position: int) -> bool:
        """Tell whether the footer counts nothing but nulls in a column chunk."""
        chunk = self.footer.row_group(row_group).column(position)
        statistics = chunk.statistics if chunk.is_stats_set else None
        return (
            statistics is not None
            and statistics.has_null_count
            and statistics.null_count == chunk.num_values
        )

    def read(self, row_group: int, leaves: Collection[str]) -> pa.Table:
        """Read leaf columns of one row group.

        Raises:
            LogCorruptError: If the file does not read.
        """
        try:
            with self.store.open_input(self.name) as source:
                file = pq.ParquetFile(source, metadata=self.footer, pre_buffer=False)
                return file.read_row_group(
                    row_group, columns=list(leaves), use_threads=False
                )
        except READ_FAULTS:
            raise self.corrupt("it is not a readable checkpoint") from None

    def corrupt(self, reason: str) -> LogCorruptError:
        """Return the error of a fault in this file."""
        return LogCorruptError(path=self.path, reason=reason)


class CheckpointReader:
    """What a checkpoint holds, each kind of action read when asked for.

    Args:
        store: The table's log.
        checkpoint: The files of the checkpoint.

    Raises:
        LogCorruptError: If a file is missing or has no readable footer.
    """

    def __init__(self, store: LogStore, checkpoint: Checkpoint) -> None:
        self.store = store
        self.version = checkpoint.version
        self.parts = run_in_threads(partial(_open_part, store), checkpoint.names)

    def protocol_and_metadata(self) -> tuple[Protocol, Metadata]:
        """Return the one protocol and the one metaData.

        Raises:
            MissingProtocolError: If the checkpoint holds none, whatever the commits
                before it say: a broken checkpoint is not mixed with them.
            MissingMetadataError: As above, for the metaData.
        """
        protocol = self._last_action("protocol", ("minReaderVersion",))
        metadata = self._last_action("metaData", ("id", "schemaString", "format"))
        if protocol is None:
            raise MissingProtocolError(root=self.store.root, version=self.version)
        if metadata is None:
            raise MissingMetadataError(root=self.store.root, version=self.version)
        path = self.parts[0].path
        return (
            parse_protocol(protocol, path=path),
            parse_metadata(metadata, path=path),
        )

    def transactions(self) -> dict[str, SetTransaction]:
        """Return the transactions by their application."""
        found: dict[str, SetTransaction] = {}
        for raw in self._actions("txn", ("appId",)):
            app_id, version = raw.get("appId"), raw.get("version")
            if isinstance(app_id, str) and isinstance(version, int):
                found[app_id] = SetTransaction(
                    app_id=app_id,
                    version=version,
                    last_updated=raw.get("lastUpdated"),
                )
        return found

    def blocks(self) -> list[FileBlock]:
        """Return the live files, a block a row group."""
        groups = self._row_groups("add.path")
        found = run_in_threads(_read_blocks, groups)
        return [block for blocks in found for block in blocks]

    def tombstones(self) -> pa.Table:
        """Return the tombstones by `TOMBSTONES_SCHEMA`."""
        groups = self._row_groups("remove.path")
        batches = run_in_threads(_read_tombstones, groups)
        return pa.Table.from_batches(
            [batch for found in batches for batch in found], TOMBSTONES_SCHEMA
        )

    def _row_groups(self, *leaves: str) -> list[RowGroup]:
        """Return the row groups in which one of the leaves holds any value."""
        return [
            RowGroup(part, index)
            for part in self.parts
            for index in range(part.footer.num_row_groups)
            if any(part.find_leaves(index, leaf) for leaf in leaves)
        ]

    def _actions(self, action: str, leaves: tuple[str, ...]) -> list[dict[str, Any]]:
        """Return the actions of a rare kind as they are."""
        paths = [f"{action}.{leaf}" for leaf in leaves]
        found: list[dict[str, Any]] = []
        for part, index in self._row_groups(*paths):
            table = part.read(index, part.find_leaves(index, action))
            try:
                rows = table[action].drop_null().to_pylist()
            except (*READ_FAULTS, UnicodeDecodeError):
                raise part.corrupt(f"its {action} is not readable") from None
            found.extend(row for row in rows if isinstance(row, dict))
        return [row for row in found if any(v is not None for v in row.values())]

    def _last_action(
        self, action: str, leaves: tuple[str, ...]
    ) -> dict[str, Any] | None:
        found = self._actions(action, leaves)
        return found[-1] if found else None


def _open_part(store: LogStore, name: str) -> CheckpointPart:
    path = f"{store.root}/_delta_log/{name}"
    try:
        with store.open_input(name) as source:
            footer = pq.read_metadata(source)
            leaves = {
                footer.schema.column(position).path: position
                for position in range(footer.num_columns)
            }
    except READ_FAULTS:
        raise LogCorruptError(
            path=path, reason="it is not a readable checkpoint"
        ) from None
    if not any(leaf.split(".", 1)[0] in {"add", "metaData"} for leaf in leaves):
        raise LogCorruptError(
            path=path, reason="it holds none of a checkpoint's columns"
        )
    return CheckpointPart(store, name, footer, leaves)


# === Live files ===


def _read_blocks(group: RowGroup) -> list[FileBlock]:
    blocks = []
    first = 0
    for rows, files in _read_rows(group, ADD_LEAVES, _files):
        blocks.append(FileBlock(files, partial(_load_statistics, group, first, rows)))
        first += rows
    return blocks


def _read_tombstones(group: RowGroup) -> list[pa.RecordBatch]:
    found = _read_rows(group, REMOVE_LEAVES, _tombstone_rows)
    return [batch for _, batch in found]


def _read_rows(
    group: RowGroup,
    wanted: tuple[str, ...],
    convert: Callable[[pa.StructArray], pa.RecordBatch],
) -> list[tuple[int, pa.RecordBatch]]:
    """Read one kind of file action from a row group.

    Returns:
        For each chunk its count of rows, of any action, and its rows of this one.
    """
    part, index = group
    action = wanted[0].split(".", 1)[0]
    leaves = [leaf for prefix in wanted for leaf in part.find_leaves(index, prefix)]
    if action == "add" and not part.find_leaves(index, "add.partitionValues"):
        leaves += part.find_leaves(index, "add.partitionValues_parsed")
    try:
        chunks = part.read(index, leaves)[action].chunks
        return [(len(chunk), convert(_with_path(chunk))) for chunk in chunks]
    except READ_FAULTS:
        raise part.corrupt(f"its {action} column is not of its types") from None


def _with_path(actions: pa.StructArray) -> pa.StructArray:
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


def _files(adds: pa.StructArray) -> pa.RecordBatch:
    columns = [
        _column(adds, "path", pa.string()),
        _column(adds, "size", pa.int64()),
        _column(adds, "modificationTime", pa.int64()),
        _column(adds, "dataChange", pa.bool_()),
        _partition_values(adds),
        _dv_column(adds),
    ]
    return _valid_batch(columns, FILES_SCHEMA)


def _tombstone_rows(removes: pa.StructArray) -> pa.RecordBatch:
    columns = [
        _column(removes, "path", pa.string()),
        pc.fill_null(_column(removes, "deletionTimestamp", pa.int64()), 0),
        _column(removes, "dataChange", pa.bool_()),
        _column(removes, "size", pa.int64()),
        _dv_column(removes),
    ]
    return _valid_batch(columns, TOMBSTONES_SCHEMA)


def _valid_batch(columns: list[pa.Array], schema: pa.Schema) -> pa.RecordBatch:
    batch = pa.RecordBatch.from_arrays(columns, schema=schema)
    batch["path"].validate(
        full=True
    )  # Parquet's text may hold bytes that are not UTF-8
    return batch


def _column(actions: pa.StructArray, name: str, data_type: pa.DataType) -> pa.Array:
    """Return a field as its type, nulls where the checkpoint lacks the column."""
    if actions.type.get_field_index(name) < 0:
        return pa.nulls(len(actions), data_type)
    column = pc.struct_field(actions, [name])
    return column if column.type == data_type else column.cast(data_type)


def _dv_column(actions: pa.StructArray) -> pa.Array:
    if actions.type.get_field_index("deletionVector") < 0:
        return pa.nulls(len(actions), pa.string())
    vectors = pc.struct_field(actions, ["deletionVector"])
    parts = [_column(vectors, part.name, part.type) for part in DELETION_VECTOR]
    return dv_ids(pa.StructArray.from_arrays(parts, fields=list(DELETION_VECTOR)))


def _partition_values(adds: pa.StructArray) -> pa.MapArray:
    """Return partition values as the log's text, from whichever column has them."""
    if adds.type.get_field_index("partitionValues") >= 0:
        return as_text_map(pc.struct_field(adds, ["partitionValues"]))
    if adds.type.get_field_index("partitionValues_parsed") < 0:
        return pa.nulls(len(adds), FILES_SCHEMA.field("partition_values").type)
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
        return pc.strftime(column.cast(pa.timestamp("us")), format="%Y-%m-%d %H:%M:%S")
    return column.cast(pa.string())


# === Statistics ===


def _load_statistics(group: RowGroup, first: int, count: int) -> RawStatistics:
    """Read the statistics of some rows of a row group, row for row with their files.

    JSON is read only where typed statistics do not say all.
    """
    part, index = group
    parsed = part.find_leaves(index, "add.stats_parsed")
    try:
        if parsed:
            adds = part.read(index, ["add.path", *parsed])["add"].slice(first, count)
            typed = _rows_of(adds, "stats_parsed")
            if not typed.null_count:
                return RawStatistics(json_text=None, parsed=typed)
        leaves = part.find_leaves(index, "add.stats")
        adds = part.read(index, ["add.path", *leaves])["add"].slice(first, count)
        text = _rows_of(adds, "stats") if leaves else None
        return RawStatistics(json_text=text, parsed=typed if parsed else None)
    except READ_FAULTS:
        raise part.corrupt("its statistics are not readable") from None


def _rows_of(adds: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Return a field of the rows that name a file."""
    return pa.chunked_array(
        [
            _take_rows(pc.struct_field(chunk, [name]), _rows_with_path(chunk))
            for chunk in adds.chunks
        ],
        type=adds.type.field(name).type,
    )
