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
import pyarrow.json as pj

from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.statistics_object import statistics_as_text

MIN_BLOCK_BYTES: Final = 1 << 20
MAX_BLOCK_BYTES: Final = 2**31 - 1
MIN_LINES_TOGETHER: Final = 2
SURE_DIGITS: Final = 19  # a shorter number is a long
INT64: Final = range(-(2**63), 2**63)
NEWLINE: Final = 0x0A
BRACE: Final = 0x7B
BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
# A column of this type asks only whether a line has the action at all.
PRESENCE: Final = pa.struct([])
FREE_FORM: Final = "commitInfo"  # may hold anything; what is no object tells nothing

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
        lines: The raw line of each row.
        row_ends: For each commit, the count of rows up to its end.
    """

    table: pa.Table
    lines: "Lines"
    row_ends: Longs


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
        """Cut the lines of some rows."""
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
        """The lines of each batch."""
        return self._batches

    def __getitem__(self, row: int) -> bytes:
        batch = int(np.searchsorted(self._starts, row, side="right")) - 1
        return self._batches[batch][row - int(self._starts[batch])]

    def take(self, rows: Longs) -> list[bytes]:
        """Cut the lines of some rows."""
        return [self[row] for row in rows.tolist()]


def parse_actions(commits: Sequence[CommitData], schema: pa.Schema) -> ActionBatch:
    """Parse commits by an explicit schema; keys that it does not name are ignored.

    Args:
        commits: Commits in ascending order of version; one may be empty.
        schema: A struct a kind of action; fields of int64, bool, string, or struct.

    Returns:
        All lines of all commits, in order.

    Raises:
        LogCorruptError: If a line is not a JSON object, or a value is not of its
            type; names the commit.
    """
    batch = parse_certain(commits, schema)
    if batch is not None:
        return batch
    if len(commits) == 1:
        return _parse_one(commits[0], schema)
    middle = len(commits) // 2  # one odd commit costs the others little so
    halves = [commits[:middle], commits[middle:]]
    return _concat([parse_actions(half, schema) for half in halves], schema)


def load_rows(
    batch: ActionBatch, rows: Longs, commits: Sequence[CommitData]
) -> list[dict[str, Any]]:
    """Parse the raw lines of some rows to the JSON objects that they must be.

    Args:
        batch: The lines of `commits`.
        rows: Which of them.
        commits: The commits, for errors.

    Raises:
        LogCorruptError: If a line does not read; names the commit.
    """
    lines = batch.lines.take(rows)
    together = _load_together(lines)
    if together is not None:
        return together
    owners = np.searchsorted(batch.row_ends, rows, side="right").tolist()
    return [
        load_line(line, name=commits[owner].name)
        for line, owner in zip(lines, owners, strict=True)
    ]


def _load_together(lines: Sequence[bytes]) -> list[dict[str, Any]] | None:
    """Parse lines as one array; None where each has to be looked at by itself."""
    if len(lines) < MIN_LINES_TOGETHER:
        return None
    try:
        values = load_json(b"[" + b",".join(lines) + b"]")
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
        raise LogCorruptError(path=name, reason="a line nests too deeply") from None
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
    if not data:
        return _empty_batch(len(commits), schema)
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
    return ActionBatch(table, Lines(data, ends), row_ends.astype(np.int64))


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


def _empty_batch(num_commits: int, schema: pa.Schema) -> ActionBatch:
    no_lines = Lines(b"", np.empty(0, dtype=np.int64))
    return ActionBatch(
        schema.empty_table(), no_lines, np.zeros(num_commits, dtype=np.int64)
    )


def _concat(batches: Sequence[ActionBatch], schema: pa.Schema) -> ActionBatch:
    table = pa.concat_tables([schema.empty_table(), *(b.table for b in batches)])
    starts = np.cumsum([0, *(batch.table.num_rows for batch in batches)])
    row_ends = np.concatenate(
        [
            batch.row_ends + start
            for batch, start in zip(batches, starts[:-1], strict=True)
        ]
    )
    return ActionBatch(table, JoinedLines([b.lines for b in batches]), row_ends)


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
    columns = [
        _column(actions, column, name=commit.name) for column in schema
    ]  # fmt: skip
    table = pa.Table.from_arrays(columns, schema=schema)
    ends = np.cumsum([len(line) + 1 for line in lines], dtype=np.int64) - 1
    row_ends = np.array([len(lines)], dtype=np.int64)
    return ActionBatch(table, Lines(cleaned, ends), row_ends)


def _load_action(line: bytes, *, name: str) -> dict[str, Any]:
    try:
        return statistics_as_text(load_line(line, name=name), line)
    except RecursionError:
        raise LogCorruptError(path=name, reason="a line nests too deeply") from None


def _column(
    actions: Sequence[Mapping[str, Any]], column: pa.Field, *, name: str
) -> pa.Array:
    given = [action.get(column.name) for action in actions]
    if column.name == FREE_FORM:
        given = [value if isinstance(value, dict) else None for value in given]
    values = [
        _conform(value, column.type, path=column.name, name=name) for value in given
    ]
    try:
        return pa.array(values, type=column.type)
    except (pa.ArrowException, UnicodeError, OverflowError):
        reason = f"a value of {column.name} cannot be held"
        raise LogCorruptError(path=name, reason=reason) from None


def _conform(value: object, data_type: pa.DataType, *, path: str, name: str) -> object:
    """Return the value as its type, or refuse it."""
    if value is None:
        return None
    if pa.types.is_struct(data_type):
        return _conform_struct(value, data_type, path=path, name=name)
    if pa.types.is_boolean(data_type) and isinstance(value, bool):
        return value
    if pa.types.is_int64(data_type):
        number = _as_integer(value)
        if number is not None:
            return number
    elif pa.types.is_string(data_type):
        text = _as_text(value, is_partition_value=".partitionValues." in path)
        if text is not None:
            return text
    raise LogCorruptError(path=name, reason=f"{path} is not a {data_type}")


def _conform_struct(
    value: object, data_type: pa.StructType, *, path: str, name: str
) -> dict[str, object]:
    if not isinstance(value, dict):
        raise LogCorruptError(path=name, reason=f"{path} is not an object")
    return {
        part.name: _conform(
            value.get(part.name), part.type, path=f"{path}.{part.name}", name=name
        )
        for part in data_type
    }


def _as_integer(value: object) -> int | None:
    """Return a JSON number without a fraction as the long that it is."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value in INT64:
        return value
    return None


def _as_text(value: object, *, is_partition_value: bool) -> str | None:
    """Return text; a partition value that is a bare number or truth is its text."""
    if isinstance(value, str):
        return None if _has_lone_surrogate(value) else value
    if is_partition_value and isinstance(value, int | float):
        return json.dumps(value)
    return None


def _has_lone_surrogate(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text)


def load_json(text: bytes) -> Any:  # noqa: ANN401 (any JSON)
    """Parse JSON; an integer beyond a long is a float.

    Raises:
        ValueError: If it is no JSON.
        RecursionError: If it nests too deeply.
    """
    return json.loads(text, parse_int=_parse_int)


def _parse_int(text: str) -> int | float:
    """Take integers of any length: those beyond a long are no number we use."""
    if len(text) < SURE_DIGITS:
        return int(text)
    return int(text) if _INTEGER.fullmatch(text) else float(text)
