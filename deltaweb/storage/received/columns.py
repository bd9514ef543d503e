"""The files of an answer in columns, which take little more than the text of its lines.

A provider may share millions of files: a dict for each takes four times its text.
"""

import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Self

import pyarrow as pa
import pyarrow.compute as pc

ROWS: Final = 8_192  # that are Python's own before they become columns
_FILES: Final = pa.schema(
    [
        ("kind", pa.string()),
        ("version", pa.int64()),
        ("timestamp_ms", pa.int64()),
        ("line", pa.large_binary()),
    ]
)
_URLS: Final = pa.schema(
    [
        ("path", pa.large_string()),
        ("url", pa.large_string()),
        ("expires_ms", pa.int64()),
        ("size_bytes", pa.int64()),
    ]
)

Action = dict[str, Any]


class RowsToColumns:
    """Takes rows one by one, and keeps columns."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._batches: list[pa.RecordBatch] = []
        self._rows: list[tuple[object, ...]] = []

    def append(self, *values: object) -> None:
        """Add a row, in the order of the schema."""
        self._rows.append(values)
        if len(self._rows) == ROWS:
            self._close()

    def table(self) -> pa.Table:
        """Return all rows."""
        self._close()
        return pa.Table.from_batches(self._batches, self._schema)

    def _close(self) -> None:
        if self._rows:
            columns = [
                pa.array(values, field.type)
                for values, field in zip(
                    zip(*self._rows, strict=True), self._schema, strict=True
                )
            ]
            batch = pa.RecordBatch.from_arrays(columns, schema=self._schema)
            self._batches.append(batch)
            self._rows = []


@dataclass(frozen=True, slots=True)
class FileAction:
    """One action of a log on a file.

    Attributes:
        kind: `add`, `remove` or `cdc`.
        version: Of the table; None in the answer of one version.
        line: The action as a line of a log, without its end.
    """

    kind: str
    version: int | None
    timestamp_ms: int | None
    line: bytes

    @classmethod
    def of(
        cls,
        kind: str,
        action: Action,
        *,
        version: int | None = None,
        timestamp_ms: int | None = None,
    ) -> Self:
        """Return the action of these fields."""
        return cls(kind, version, timestamp_ms, json.dumps({kind: action}).encode())

    @property
    def action(self) -> Action:
        """The fields of the action, parsed each time."""
        found: Action = json.loads(self.line)[self.kind]
        return found


class ReceivedFiles:
    """Actions on files, in the order of an answer."""

    def __init__(self, table: pa.Table | None = None) -> None:
        self._table = _FILES.empty_table() if table is None else table

    @staticmethod
    def builder() -> RowsToColumns:
        """Take `FileAction`s, each as its fields."""
        return RowsToColumns(_FILES)

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def __iter__(self) -> Iterator[FileAction]:
        for batch in self._table.to_batches(max_chunksize=ROWS):
            columns = [column.to_pylist() for column in batch.columns]
            yield from map(FileAction, *columns[:1], *columns[1:])

    def __add__(self, other: "ReceivedFiles") -> "ReceivedFiles":
        return ReceivedFiles(pa.concat_tables([self._table, other._table]))

    def of_kind(self, kind: str) -> "ReceivedFiles":
        """Return the actions of one kind."""
        return ReceivedFiles(self._table.filter(pc.equal(self._table["kind"], kind)))

    def by_version(self) -> "dict[int, ReceivedFiles]":
        """Return the actions of each version, ascending; those of none are left."""
        table = self._table.filter(pc.is_valid(self._table["version"]))
        table = table.take(pc.sort_indices(table["version"]))
        found: dict[int, ReceivedFiles] = {}
        first = 0
        for run in pc.value_counts(table["version"]).to_pylist():
            found[run["values"]] = ReceivedFiles(table.slice(first, run["counts"]))
            first += run["counts"]
        return found


@dataclass(frozen=True, slots=True)
class SignedURL:
    """Where a file is for a while.

    Attributes:
        url: Whoever has it may read the file.
        expires_ms: When it ends, in milliseconds since the epoch; None where the
            provider does not say.
    """

    url: str = field(repr=False)
    expires_ms: int | None
    size_bytes: int | None


class SignedURLs(Mapping[str, SignedURL]):
    """URLs by the path that the log has of a file, and of a deletion vector.

    Of two for a path the later one counts.
    """

    def __init__(self, table: pa.Table | None = None) -> None:
        self._table = _URLS.empty_table() if table is None else table

    @staticmethod
    def builder() -> RowsToColumns:
        """Take the path of each URL, and the fields of a `SignedURL`."""
        return RowsToColumns(_URLS)

    def __or__(self, other: "SignedURLs") -> "SignedURLs":
        return SignedURLs(pa.concat_tables([self._table, other._sorted]))

    def __getitem__(self, path: str) -> SignedURL:
        paths = self._sorted["path"].chunk(0)
        place = bisect_right(range(len(paths)), path, key=lambda at: paths[at].as_py())
        if not place or paths[place - 1].as_py() != path:
            raise KeyError(path)
        _, *values = (
            column[place - 1].as_py() for column in self._sorted.itercolumns()
        )
        return SignedURL(*values)

    def __iter__(self) -> Iterator[str]:
        yield from self._sorted["path"].to_pylist()

    def __len__(self) -> int:
        return int(self._sorted.num_rows)

    @cached_property
    def _sorted(self) -> pa.Table:
        """The rows by path, each path once, in one chunk a column."""
        table = self._table.take(pc.sort_indices(self._table["path"]))
        table = table.combine_chunks()
        if table.num_rows > 1:
            paths = table["path"]
            is_last = pc.not_equal(paths.slice(0, len(paths) - 1), paths.slice(1))
            is_kept = pa.chunked_array([*is_last.chunks, pa.array([True])])
            table = table.filter(is_kept).combine_chunks()
        return table if table.num_rows else _one_chunk(table)


def _one_chunk(table: pa.Table) -> pa.Table:
    """Return a table without rows that has a chunk in each column."""
    return pa.Table.from_arrays(
        [pa.array([], field.type) for field in table.schema], schema=table.schema
    )
