"""Lines of JSON to typed Arrow columns: vectorised, with an exact fallback.

pyarrow parses a whole batch of commits in one pass by an explicit schema. It is asked
only where its answer can be checked: every line begins with `{`, and it returns as
many rows as there are lines. All else (blank lines, odd numbers, keys given twice,
values of another type) is parsed line by line with the standard library, which takes
what has one clear meaning and refuses the rest. Statistics that are an object become
the text that they should be.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.log.commits.conform import conform
from deltaweb.delta.log.commits.fields import COMMIT_INFO
from deltaweb.delta.values.statistics.text import statistics_as_text
from deltaweb.delta.values.whole import one_array
from deltaweb.environment.bounded_json import nests_too_deeply, parse_json

MIN_BLOCK_BYTES: Final = 1 << 20
MAX_BLOCK_BYTES: Final = 2**31 - 1
MIN_LINES_TOGETHER: Final = 2
SURE_DIGITS: Final = 19  # a shorter number is a long
NEWLINE: Final = 0x0A
BRACE: Final = 0x7B
BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"

_INTEGER = re.compile(r"-?[0-9]{1,19}", re.ASCII)


Longs = np.ndarray[Any, np.dtype[np.int64]]


class CommitData(NamedTuple):
    """A commit file as it came: its name, for errors, its bytes, and its time.

    `time_ms` is milliseconds since the epoch; None where reading does not tell it.
    """

    name: str
    data: bytes
    time_ms: int | None = None


@dataclass(frozen=True, slots=True)
class ActionBatch:
    """The actions of some commits, one row a line that is not blank.

    Attributes:
        table: One struct column an action that was asked for, null where the line
            holds another action.
    """

    table: pa.Table
    lines: "Lines"
    row_ends: Longs
    paths: Sequence[str]

    def column(self, action: str) -> pa.StructArray:
        """Return the actions of a kind, null where a line holds another."""
        return one_array(self.table[action])

    def rows(self, action: str) -> Longs:
        """Return the rows that hold an action of a kind."""
        column = self.table[action]
        if column.null_count == len(column):
            return np.empty(0, dtype=np.int64)
        rows: Longs = pc.indices_nonzero(column.is_valid()).to_numpy()
        return rows.astype(np.int64)

    def owners(self, rows: Longs) -> Longs:
        found = np.searchsorted(self.row_ends, rows, side="right")
        return found.astype(np.int64)

    def objects(self, action: str) -> list[tuple[int, dict[str, Any]]]:
        rows = self.rows(action)
        values = [line.get(action) for line in self.load(rows)]
        return [
            (owner, raw)
            for owner, raw in zip(self.owners(rows).tolist(), values, strict=True)
            if isinstance(raw, dict)
        ]

    def load(self, rows: Longs) -> list[dict[str, Any]]:
        """Parse the raw lines of some rows to the JSON objects that they must be."""
        lines = self.lines.take(rows)
        together = _load_together(lines)
        if together is not None:
            return together
        return [
            load_line(line, name=self.paths[owner])
            for line, owner in zip(lines, self.owners(rows).tolist(), strict=True)
        ]


class Lines:
    """Raw lines by row, cut from their buffer when asked for."""

    def __init__(self, data: bytes, ends: Longs) -> None:
        self._data = data
        self._ends = ends

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, row: int) -> bytes:
        start = int(self._ends[row - 1]) + 1 if row else 0
        return self._data[start : int(self._ends[row])]

    def take(self, rows: Longs) -> list[bytes]:
        ends = self._ends[rows].tolist()
        starts = (np.where(rows > 0, self._ends[rows - 1], -1) + 1).tolist()
        data = self._data
        return [data[start:end] for start, end in zip(starts, ends, strict=True)]


class JoinedLines(Lines):
    """Lines of several batches, one after the other."""

    def __init__(self, batches: Sequence[Lines]) -> None:
        self._batches = [
            part
            for batch in batches
            for part in (batch.parts if isinstance(batch, JoinedLines) else [batch])
        ]
        self._starts = np.cumsum([0, *(len(batch) for batch in self._batches)])

    def __len__(self) -> int:
        return int(self._starts[-1])

    @property
    def parts(self) -> Sequence[Lines]:
        return self._batches

    def __getitem__(self, row: int) -> bytes:
        batch = int(np.searchsorted(self._starts, row, side="right")) - 1
        return self._batches[batch][row - int(self._starts[batch])]

    def take(self, rows: Longs) -> list[bytes]:
        return [self[row] for row in rows.tolist()]


def parse_actions(commits: Sequence[CommitData], schema: pa.Schema) -> ActionBatch:
    """Parse commits by an explicit schema; keys that it does not name are ignored.

    Args:
        commits: Commits in ascending order of version; one may be empty.
        schema: A struct a kind of action; fields of int64, bool, string, or struct.

    Returns:
        All lines of all commits, in order.
    """
    batch = parse_certain(commits, schema)
    if batch is not None:
        return batch
    if len(commits) == 1:
        return _parse_one(commits[0], schema)
    middle = len(commits) // 2  # one odd commit costs the others little so
    halves = [commits[:middle], commits[middle:]]
    return _concat([parse_actions(half, schema) for half in halves], schema)


def _load_together(lines: Sequence[bytes]) -> list[dict[str, Any]] | None:
    """Parse lines as one array; None where each has to be looked at by itself."""
    if len(lines) < MIN_LINES_TOGETHER:
        return None
    if any(map(nests_too_deeply, lines)):
        return None
    try:
        values = json.loads(b"[" + b",".join(lines) + b"]", parse_int=_parse_int)
    except (ValueError, RecursionError):
        return None
    if len(values) != len(lines) or not all(type(v) is dict for v in values):
        return None
    return list(values)


def load_line(line: bytes, *, name: str) -> dict[str, Any]:
    """Parse one line to the JSON object that it must be."""
    try:
        value = load_json(line)
    except RecursionError:
        raise LogCorruptError(path=name, reason="a line is nested too deeply") from None
    except UnicodeDecodeError:
        raise LogCorruptError(path=name, reason="a line is not UTF-8") from None
    except ValueError:
        raise LogCorruptError(path=name, reason="a line is not JSON") from None
    if not isinstance(value, dict):
        raise LogCorruptError(path=name, reason="a line is not a JSON object")
    return value


# === The fast way ===


def parse_certain(
    commits: Sequence[CommitData], schema: pa.Schema
) -> ActionBatch | None:
    """Parse all commits at once; None where the answer would not be certain."""
    parts = _whole_lines(commits)
    data = b"".join(parts)
    paths = [commit.name for commit in commits]
    if not data:
        nothing = np.empty(0, dtype=np.int64)
        no_rows = np.zeros(len(commits), dtype=np.int64)
        return ActionBatch(schema.empty_table(), Lines(b"", nothing), no_rows, paths)
    ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == NEWLINE)
    if not _lines_begin_with_brace(data, ends):
        return None
    longest = int(np.diff(ends, prepend=-1).max())
    if longest + 2 > MAX_BLOCK_BYTES:
        return None
    table = _read_json(data, max(MIN_BLOCK_BYTES, longest + 2), schema)
    if table is None or table.num_rows != len(ends):
        return None
    sizes = [*map(len, parts)]
    row_ends = np.searchsorted(ends, np.cumsum(sizes, dtype=np.int64), side="left")
    return ActionBatch(table, Lines(data, ends), row_ends.astype(np.int64), paths)


def _whole_lines(commits: Sequence[CommitData]) -> list[bytes]:
    """Return what commits hold so that each line ends, also where one does not."""
    parts = [commit.data for commit in commits]
    if all(part[-1:] == b"\n" for part in parts):
        return parts
    return [part if part[-1:] in {b"\n", b""} else part + b"\n" for part in parts]


def _lines_begin_with_brace(data: bytes, ends: Longs) -> bool:
    """Tell whether every line opens an object: pyarrow cannot be given others.

    It ends the process on a block that begins with `null`.
    """
    if data[0] != BRACE:
        return False
    starts = np.frombuffer(data, dtype=np.uint8)[ends[:-1] + 1]
    return bool((starts == BRACE).all())


def _read_json(data: bytes, block_bytes: int, schema: pa.Schema) -> pa.Table | None:
    try:
        table = pj.read_json(
            pa.BufferReader(data),
            read_options=pj.ReadOptions(
                block_size=block_bytes, use_threads=len(data) > block_bytes
            ),
            parse_options=pj.ParseOptions(
                explicit_schema=schema, unexpected_field_behavior="ignore"
            ),
        )
        table = table.select(schema.names)
        table.validate(full=True)  # pyarrow takes bytes that are not UTF-8 as text
    except (pa.ArrowException, KeyError, ValueError):
        return None
    return table


def _concat(batches: Sequence[ActionBatch], schema: pa.Schema) -> ActionBatch:
    table = pa.concat_tables([schema.empty_table(), *(b.table for b in batches)])
    starts = np.cumsum([0, *(batch.table.num_rows for batch in batches)])
    row_ends = np.concatenate(
        [
            batch.row_ends + start
            for batch, start in zip(batches, starts[:-1], strict=True)
        ]
    )
    paths = [path for batch in batches for path in batch.paths]
    lines = JoinedLines([batch.lines for batch in batches])
    return ActionBatch(table, lines, row_ends, paths)


# === The exact way ===


def _parse_one(commit: CommitData, schema: pa.Schema) -> ActionBatch:
    """Parse one commit that the fast way does not take as it stands."""
    text = commit.data.removeprefix(BYTE_ORDER_MARK)
    lines = [line for line in (raw.strip() for raw in text.split(b"\n")) if line]
    cleaned = b"".join(line + b"\n" for line in lines)
    if cleaned != commit.data:
        batch = parse_certain([CommitData(commit.name, cleaned)], schema)
        if batch is not None:
            return batch
    actions = [_load_action(line, name=commit.name) for line in lines]
    columns = [_column(actions, column, name=commit.name) for column in schema]
    table = pa.Table.from_arrays(columns, schema=schema)
    ends = np.cumsum([len(line) + 1 for line in lines], dtype=np.int64) - 1
    row_ends = np.array([len(lines)], dtype=np.int64)
    return ActionBatch(table, Lines(cleaned, ends), row_ends, [commit.name])


def _load_action(line: bytes, *, name: str) -> dict[str, Any]:
    try:
        return statistics_as_text(load_line(line, name=name), line)
    except RecursionError:
        raise LogCorruptError(path=name, reason="a line is nested too deeply") from None


def _column(
    actions: Sequence[Mapping[str, Any]], column: pa.Field, *, name: str
) -> pa.Array:
    given = [action.get(column.name) for action in actions]
    if column.name == COMMIT_INFO:  # may hold anything; what is no object is nothing
        given = [value if isinstance(value, dict) else None for value in given]
    values = [
        conform(value, column.type, path=column.name, name=name) for value in given
    ]
    try:
        return pa.array(values, type=column.type)
    except (pa.ArrowException, UnicodeError, OverflowError):
        reason = f"a value of {column.name} does not fit its type"
        raise LogCorruptError(path=name, reason=reason) from None


def load_json(text: bytes) -> Any:  # noqa: ANN401 (any JSON)
    """Parse JSON; an integer beyond a long is a float."""
    return parse_json(text, parse_int=_parse_int)


def _parse_int(text: str) -> int | float:
    """Take integers of any length: those beyond a long are no number we use."""
    if len(text) < SURE_DIGITS:
        return int(text)
    return int(text) if _INTEGER.fullmatch(text) else float(text)
