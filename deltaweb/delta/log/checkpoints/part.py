"""One file of a checkpoint: its row groups, and their columns as far as asked.

Of a large file only the leaf columns that are needed are read, row group by row
group, and none of those whose values are all null by the footer's own counts. Of a
small file the counts are not worth a look, and many row groups, or tiny ones, are one
read.

Source: delta_protocol.md, "Checkpoint Format".
"""

from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.delta.errors import LogCorruptError, LogFileGoneError
from deltaweb.delta.log.checkpoints.json_file import ACTIONS, read_as_parquet
from deltaweb.delta.log.paths import JSON_SUFFIX
from deltaweb.delta.log.store import LogStore
from deltaweb.delta.values.old_calendar.calendar import old_calendar
from deltaweb.delta.values.stored_columns import MismatchError
from deltaweb.parquet.arrow_footer import (
    CHECKSUM_FAULT,
    fault_reason,
    open_parquet,
    parse_arrow_footer,
    plain_footer,
)
from deltaweb.parquet.counts import parse_row_group_counts
from deltaweb.parquet.errors import FooterCorruptError, ParquetError
from deltaweb.parquet.tail import RangeSource, read_footer
from deltaweb.parquet.values.dictionaries import (
    StoredChunk,
    chunk_of_arrow,
    longest_values,
)

PARTITION_LEAVES: Final = "add.partitionValues."
READ_FAULTS: Final = (
    *(pa.ArrowException, ParquetError),
    *(OSError, ValueError, KeyError, TypeError),
)
UNREADABLE: Final = "it is not a readable checkpoint"
GONE: Final = "the file does not exist"
ONE_OF: Final = frozenset(ACTIONS)  # a column of every file
SMALL_ROWS: Final = 20_000
FEW_ROWS: Final = 2_500  # each read costs as much as some hundred rows
FEW_ROW_GROUPS: Final = 4
STREAM_BYTES: Final = 4 << 20  # a request each, where storage is far away


@dataclass(frozen=True, slots=True, eq=False)
class CheckpointPart:
    """One file of a checkpoint, with its footer.

    Attributes:
        footer: Its Parquet footer, read once and shared by all threads.
        below: The leaves at or below each path of the file.
        data: The whole file, where it is JSON: as the Parquet that it could be.
    """

    store: LogStore
    name: str
    footer: pq.FileMetaData
    leaves: Sequence[str] = field(repr=False)
    below: Mapping[str, Collection[str]] = field(repr=False)
    data: pa.Buffer | None = field(default=None, repr=False)

    @property
    def path(self) -> str:
        return f"{self.store.root}/_delta_log/{self.name}"

    @property
    def is_small(self) -> bool:
        """Whether reading more than was asked for costs less than a second read."""
        return bool(self.footer.num_rows <= SMALL_ROWS)

    def open(self) -> pa.NativeFile:
        """Open the file for random access; raise `FileNotFoundError`."""
        if self.data is not None:
            return pa.BufferReader(self.data)
        return self.store.open_input(self.name)

    def read(self, row_groups: Collection[int], leaves: Collection[str]) -> pa.Table:
        """Read leaf columns of some row groups."""
        try:
            with self.open() as source:
                if (rows := self._rows_at_once(source, row_groups, leaves)) is not None:
                    return self._read_in_parts(source, row_groups, leaves, rows)
                file = open_parquet(
                    source,
                    self.footer,
                    coded=self._encoded_leaves(row_groups),
                    pre_buffer=False,
                )
                table = file.read_row_groups(
                    list(row_groups), columns=list(leaves), use_threads=False
                )
                places = self._places(leaves)
                if old_calendar(self.footer, [*table.schema], places) is None:
                    return table
                batches = [self._dated(batch, leaves) for batch in table.to_batches()]
                return pa.Table.from_batches(batches, table.schema)
        except READ_FAULTS as fault:
            raise _read_fault(self.path, fault) from None

    def stream(
        self, row_groups: Collection[int], leaves: Collection[str], *, max_rows: int
    ) -> Generator[pa.RecordBatch, None, None]:
        """Read leaf columns batch by batch, holding little more than one."""
        try:
            with self.open() as source:
                rows = self._rows_at_once(source, row_groups, leaves) or max_rows
                yield from self._batches(
                    source, row_groups, leaves, min(rows, max_rows)
                )
        except READ_FAULTS as fault:
            raise _read_fault(self.path, fault) from None

    def _batches(
        self,
        source: pa.NativeFile,
        row_groups: Collection[int],
        leaves: Collection[str],
        rows: int,
    ) -> Iterator[pa.RecordBatch]:
        file = open_parquet(
            source, self.footer, buffer_size=STREAM_BYTES, pre_buffer=False
        )
        for batch in file.iter_batches(
            rows, row_groups=list(row_groups), columns=list(leaves), use_threads=False
        ):
            yield self._dated(batch, leaves)

    def _dated(self, batch: pa.RecordBatch, leaves: Collection[str]) -> pa.RecordBatch:
        """Bring the bounds of statistics to the calendar of tables."""
        calendar = old_calendar(self.footer, list(batch.schema), self._places(leaves))
        try:
            return batch if calendar is None else calendar.batch(batch)
        except MismatchError as error:
            reason = f"{error.column}: {error.reason}"
            raise LogCorruptError(path=self.path, reason=reason) from None

    def _places(self, leaves: Collection[str]) -> list[int]:
        wanted = set(leaves)
        return [i for i, leaf in enumerate(self.leaves) if leaf in wanted]

    def _rows_at_once(
        self,
        source: pa.NativeFile,
        row_groups: Collection[int],
        leaves: Collection[str],
    ) -> int | None:
        return rows_at_once(self.footer, source, row_groups, self._places(leaves))

    def _read_in_parts(
        self,
        source: pa.NativeFile,
        row_groups: Collection[int],
        leaves: Collection[str],
        rows: int,
    ) -> pa.Table:
        """Read columns that may become much, until they have."""
        batches, held_bytes = [], 0
        for batch in self._batches(source, row_groups, leaves, rows):
            batches.append(batch)
            held_bytes += batch.nbytes
            if held_bytes > UNFOLDED_BYTES:
                reason = (
                    f"some of its rows take {held_bytes:,} bytes in memory; the limit"
                    f" is {UNFOLDED_BYTES:,}"
                )
                raise LogCorruptError(path=self.path, reason=reason)
        return pa.Table.from_batches(batches)

    def _encoded_leaves(self, row_groups: Collection[int]) -> list[str]:
        """Return the leaves to keep dictionary-encoded: few values, often repeated.

        pyarrow cannot join the dictionaries of several row groups.
        """
        if len(row_groups) > 1:
            return []
        return [leaf for leaf in self.leaves if leaf.startswith(PARTITION_LEAVES)]


@dataclass(frozen=True, slots=True, eq=False)
class CheckpointRowGroup:
    """What is read at once: a row group, or all those of a file with few rows.

    Attributes:
        null_leaves: Leaf columns that are known to hold nothing but nulls.
    """

    part: CheckpointPart
    indices: Collection[int]
    num_rows: int
    null_leaves: Collection[str] = frozenset()
    _ahead: list[pa.Table] = field(default_factory=list, repr=False)

    def find_leaves(self, prefix: str) -> list[str]:
        """Return the leaves at or below `prefix`, none where all hold only nulls.

        They come together: a map without the leaf of its values is no map.
        """
        found = self.part.below.get(prefix, ())
        if all(leaf in self.null_leaves for leaf in found):
            return []
        return [*found]

    def most_bytes(self, position: int) -> int:
        """Return what a leaf column may become: each value may be all of its pages."""
        groups = [self.part.footer.row_group(index) for index in self.indices]
        pages = [
            int(group.column(position).total_uncompressed_size) for group in groups
        ]
        return self.num_rows * sum(pages)

    def read(self, leaves: Collection[str], ahead: Collection[str] = ()) -> pa.Table:
        """Read leaf columns.

        Args:
            ahead: Columns that the next call asks for: both calls are one read then.
        """
        if self._ahead:
            return self._ahead.pop()
        table = self.part.read(self.indices, [*leaves, *ahead])
        if ahead:
            self._ahead.append(table)
        return table


def open_part(store: LogStore, name: str) -> list[CheckpointRowGroup]:
    """Read the footer of a checkpoint's file."""
    path = f"{store.root}/_delta_log/{name}"
    try:
        data = read_as_parquet(store, name) if name.endswith(JSON_SUFFIX) else None
        with (
            store.open_input(name) if data is None else pa.BufferReader(data) as source
        ):
            stored = read_footer(source)
        footer = _parse_footer(stored)
        leaves = [
            footer.schema.column(position).path
            for position in range(footer.num_columns)
        ]
        part = CheckpointPart(store, name, footer, leaves, _by_path(leaves), data)
        groups = _row_groups(part, stored)
    except READ_FAULTS as fault:
        raise _read_fault(path, fault) from None
    if not any(leaf.split(".", 1)[0] in ONE_OF for leaf in leaves):
        reason = "it has none of the columns of a checkpoint"
        raise LogCorruptError(path=path, reason=reason)
    return groups


def _read_fault(path: str, fault: Exception) -> LogCorruptError:
    if isinstance(fault, FileNotFoundError):
        return LogFileGoneError(path=path, reason=GONE)
    is_checksum = CHECKSUM_FAULT in str(fault)
    reason = fault_reason(fault) if is_checksum else UNREADABLE
    return LogCorruptError(path=path, reason=reason)


def _by_path(leaves: Collection[str]) -> Mapping[str, Collection[str]]:
    found: dict[str, list[str]] = {}
    for leaf in leaves:
        path = leaf
        while path:
            found.setdefault(path, []).append(leaf)
            path = path.rpartition(".")[0]
    return found


def _parse_footer(stored: bytes) -> pq.FileMetaData:
    """Parse a footer; a plainer one where pyarrow does not take it as it is."""
    footer = parse_arrow_footer(stored)
    try:
        footer.schema.to_arrow_schema()
    except (pa.ArrowException, OSError):
        plain = plain_footer(stored)
        return footer if plain is None else parse_arrow_footer(plain)
    return footer


def _row_groups(part: CheckpointPart, stored: bytes) -> list[CheckpointRowGroup]:
    if part.is_small:
        indices = range(part.footer.num_row_groups)
        reads = [[index] for index in indices]
        if part.footer.num_rows <= FEW_ROWS or len(indices) > FEW_ROW_GROUPS:
            reads = [list(indices)]
        return [CheckpointRowGroup(part, read, part.footer.num_rows) for read in reads]
    return [
        CheckpointRowGroup(part, [index], counts.num_rows, counts.null_leaves())
        for index, counts in enumerate(parse_row_group_counts(stored))
    ]


def raw_actions(
    part: CheckpointPart, column: pa.ChunkedArray, kind: str
) -> list[dict[str, Any]]:
    """Return the rows that hold an action: some writers fill others with nulls."""
    try:
        rows = column.drop_null().to_pylist()
    except (*READ_FAULTS, UnicodeDecodeError):
        reason = f"its {kind} cannot be read"
        raise LogCorruptError(path=part.path, reason=reason) from None
    return [
        row
        for row in rows
        if isinstance(row, dict) and any(value is not None for value in row.values())
    ]


# === Columns that become much more in memory ===


UNFOLDED_BYTES: Final = 4 << 30
"""What a read may become."""
PART_BYTES: Final = 256 << 20
"""What rows that are decoded at once become, unless it is one."""
LEVELS_BYTES: Final = 12
"""Of a value, or of a list without any, at the least."""


def rows_at_once(
    footer: pq.FileMetaData,
    source: RangeSource,
    row_groups: Collection[int],
    positions: Sequence[int],
) -> int | None:
    """Return how many rows can be decoded at once; None where all of them can.

    Args:
        positions: Of the leaf columns to read.
    """
    groups = [footer.row_group(position) for position in row_groups]
    columns = [group.column(position) for group in groups for position in positions]
    if LEVELS_BYTES * sum(column.num_values for column in columns) > UNFOLDED_BYTES:
        reason = "it says that it has more values than memory can hold"
        raise FooterCorruptError(reason=reason)
    found = [
        chunk
        for column in columns
        if column.num_values * column.total_uncompressed_size > UNFOLDED_BYTES
        and (chunk := chunk_of_arrow(column)).may_unfold
    ]
    if not found:
        return None
    longest = _longest(source, found)
    become = sum(
        chunk.size_bytes + chunk.num_values * length
        for chunk, length in zip(found, longest, strict=True)
    )
    if become <= UNFOLDED_BYTES:
        return None
    return max(1, PART_BYTES // max(1, sum(longest)))


def _longest(source: RangeSource, chunks: Sequence[StoredChunk]) -> list[int]:
    """Return what no value of each chunk is longer than."""
    looked_at = longest_values(source, chunks)
    return [
        chunk.size_bytes if chunk.is_prefixed else length
        for chunk, length in zip(chunks, looked_at, strict=True)
    ]
