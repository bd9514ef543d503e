"""JSON files as batches: a row a line, or one array of rows.

Arrow reads a block of lines where every value of it has the type of its column; of any
other block each line is looked at by itself.

Source: RFC 8259; newline-delimited JSON.
"""

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO, Final

import numpy as np
import pyarrow as pa
import pyarrow.json as pa_json

from deltaweb.delta.protocol.schema import (
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    PrimitiveType,
    StructType,
    arrow_type,
    type_text,
)
from deltaweb.delta.values.exact_json import ExactNumber
from deltaweb.environment.bounded_json import parse_json
from deltaweb.writer.importing.batches import BadValue, SourceBatch
from deltaweb.writer.importing.json_values import json_fault, json_text, misfit
from deltaweb.writer.importing.options import ImportFileError
from deltaweb.writer.importing.source_file import SourceFile

BLOCK_BYTES: Final = 4 << 20
MAX_ROW_BYTES: Final = 32 << 20
MAX_SHOWN: Final = 200
_SIMPLE: Final = frozenset({"long", "double", "boolean", "string"})
_NO_VALUES: Final = (pa.ArrowException, TypeError, ValueError, OverflowError)
_MARK: Final = b"\xef\xbb\xbf"
_SPACE: Final = b" \t\r\n"
_MARKS: Final = re.compile(rb'\\.|["{}\[\],]', re.DOTALL)

Piece = tuple[int, bytes]
"""A row's line in its file, and its text."""


def json_pieces(file: SourceFile) -> Iterator[list[Piece]]:
    """Yield the texts of rows, some at a time."""
    shown = file.shown
    with file.buffered() as opened:
        start = opened.read(len(_MARK))
        opened.seek(len(_MARK) if start == _MARK else 0)
        is_array = _first_byte(opened) == b"["
        yield from _array_pieces(opened, shown) if is_array else _lines(opened, shown)


def _first_byte(file: BinaryIO) -> bytes:
    """Return the first byte that is no space, and leave the file where it was."""
    place = file.tell()
    while byte := file.read(1):
        if byte not in _SPACE:
            break
    file.seek(place)
    return byte


def _lines(file: BinaryIO, shown: str) -> Iterator[list[Piece]]:
    pieces: list[Piece] = []
    size = number = 0
    while line := file.readline(MAX_ROW_BYTES + 1):
        number += 1
        if len(line) > MAX_ROW_BYTES:
            reason = f"line {number:,} has more than {MAX_ROW_BYTES:,} bytes"
            raise ImportFileError(path=shown, reason=reason)
        if not line.strip():
            continue
        pieces.append((number, line))
        size += len(line)
        if size >= BLOCK_BYTES:
            yield pieces
            pieces, size = [], 0
    if pieces:
        yield pieces


def _array_pieces(file: BinaryIO, shown: str) -> Iterator[list[Piece]]:
    """Yield the rows of one array: each is found by what closes it."""
    scanner = _ArrayScanner(shown)
    while data := file.read(BLOCK_BYTES):
        pieces = scanner.feed(data)
        if pieces:
            yield pieces
    scanner.check_end()


class _ArrayScanner:
    """Finds the elements of an array in its bytes, as they come."""

    def __init__(self, shown: str) -> None:
        self.shown = shown
        self.data = b""
        self.line = 1
        self.is_open = False
        self.is_done = False

    def feed(self, data: bytes) -> list[Piece]:
        self.data += data
        pieces: list[Piece] = []
        at = 0
        while True:
            at = self._skip(at)
            if at >= len(self.data) or self.is_done:
                break
            end = _element_end(self.data, at)
            if end is None:
                break
            piece = self.data[at:end]
            pieces.append((self.line, b" ".join(piece.split(b"\n")) + b"\n"))
            self.line += piece.count(b"\n")
            at = end
        self.data = self.data[at:]
        if len(self.data) > MAX_ROW_BYTES:
            reason = f"the row at line {self.line:,} is too large, or never ends"
            raise ImportFileError(path=self.shown, reason=reason)
        return pieces

    def _skip(self, at: int) -> int:
        """Skip what is between two elements."""
        while at < len(self.data):
            byte = self.data[at : at + 1]
            if byte == b"\n":
                self.line += 1
            elif byte == b"]":
                self.is_done = True
            elif byte == b"[" and not self.is_open:
                self.is_open = True
            elif byte not in b" \t\r,":
                return at
            at += 1
        return at

    def check_end(self) -> None:
        if not self.is_done:
            reason = f"its array does not end (line {self.line:,})"
            raise ImportFileError(path=self.shown, reason=reason)


def _element_end(data: bytes, at: int) -> int | None:
    """Return where an element ends: an object or array, or any other value."""
    depth, in_text, position = 0, False, at
    for found in _MARKS.finditer(data, at):
        mark, position = found[0], found.end()
        if mark == b'"':
            in_text = not in_text
        elif in_text:
            continue
        elif mark in b"{[":
            depth += 1
        elif mark in b"}]" and depth:
            depth -= 1
            if not depth:
                return position
        elif not depth:
            return found.start()
    return None


def read_json(
    file: SourceFile,
    types: Mapping[str, DataType],
    left_out: frozenset[str] = frozenset(),
) -> Iterator[SourceBatch]:
    """Yield the rows of a file, some at a time.

    Args:
        types: The types that columns are to have, by the file's names.
        left_out: Columns that nobody wants.
    """
    for pieces in json_pieces(file):
        found = _fast(pieces, types, left_out)
        yield found or _slow(pieces, file.shown, types, left_out)


def _fast(
    pieces: Sequence[Piece], types: Mapping[str, DataType], left_out: frozenset[str]
) -> SourceBatch | None:
    """Let Arrow read a block; None where some value of it is of another type."""
    if left_out or not all(_is_simple(data_type) for data_type in types.values()):
        return None
    schema = pa.schema([(name, arrow_type(kind)) for name, kind in types.items()])
    data = b"".join(text for _, text in pieces)
    try:
        rows = pa_json.read_json(
            io.BytesIO(data),
            read_options=pa_json.ReadOptions(
                use_threads=False, block_size=len(data) + 1
            ),
            parse_options=pa_json.ParseOptions(
                explicit_schema=schema, unexpected_field_behavior="error"
            ),
        )
    except pa.ArrowException:
        return None
    if rows.num_rows != len(pieces):
        return None  # several rows were on one line
    lines = np.array([line for line, _ in pieces], np.int64)
    columns = {name: rows[name].combine_chunks() for name in types}
    return SourceBatch(columns, lines)


def _is_simple(data_type: DataType) -> bool:
    match data_type:
        case PrimitiveType(name):
            return name in _SIMPLE
        case ArrayType(element):
            return _is_simple(element)
        case StructType(fields):
            return all(_is_simple(field.data_type) for field in fields)
    return False


def _slow(
    pieces: Sequence[Piece],
    shown: str,
    types: Mapping[str, DataType],
    left_out: frozenset[str],
) -> SourceBatch:
    """Look at each line by itself."""
    rows, lines, broken = [], [], []
    for line, text in pieces:
        row, fault = parse_row(text)
        if row is not None:
            more = [name for name in row if name not in types and name not in left_out]
            if more:
                value = _shown(row[more[0]])
                reason = "no such column is imported"
                broken.append(BadValue(shown, line, more[0], value, reason))
                continue
            rows.append(row)
            lines.append(line)
            continue
        value = text[:MAX_SHOWN].decode(errors="replace").strip()
        broken.append(BadValue(shown, line, "", value, fault))
    columns: dict[str, pa.Array] = {}
    bad = np.zeros(len(rows), bool)
    for name, data_type in types.items():
        values = [row.get(name) for row in rows]
        columns[name], faults = _column(values, data_type)
        for position, reason in faults.items():
            if not bad[position]:
                value = _shown(values[position])
                broken.append(BadValue(shown, lines[position], name, value, reason))
            bad[position] = True
    kept = pa.array(~bad)
    return SourceBatch(
        {name: column.filter(kept) for name, column in columns.items()},
        np.array(lines, np.int64)[~bad],
        tuple(broken),
    )


def parse_row(text: bytes) -> tuple[dict[str, Any] | None, str]:
    """Return the object of a line, or why it is not one."""
    try:
        row = parse_json(
            text, parse_float=ExactNumber, parse_int=ExactNumber, parse_constant=str
        )
    except (ValueError, RecursionError) as error:
        return None, json_fault(error)
    if not isinstance(row, dict):
        return None, "it is not a JSON object"
    return row, ""


def _column(
    values: Sequence[Any], data_type: DataType
) -> tuple[pa.Array, dict[int, str]]:
    if isinstance(data_type, PrimitiveType | DecimalType):
        is_text = data_type == PrimitiveType("string")
        faults = {
            position: "it holds several values"
            for position, value in enumerate(values)
            if isinstance(value, dict | list) and not is_text
        }
        return pa.array([value_text(value) for value in values], pa.string()), faults
    target = arrow_type(data_type)
    try:
        plain = [_plain(value, data_type) for value in values]
        return pa.array(plain, target), {}
    except _NO_VALUES:
        return _nested_one_by_one(values, data_type)


def _nested_one_by_one(
    values: Sequence[Any], data_type: DataType
) -> tuple[pa.Array, dict[int, str]]:
    target = arrow_type(data_type)
    made: list[Any] = []
    faults: dict[int, str] = {}
    for position, value in enumerate(values):
        try:
            plain = _plain(value, data_type)
            pa.array([plain], target)
            made.append(plain)
        except _NO_VALUES:
            made.append(None)
            faults[position] = misfit(value, data_type) or _other_type(data_type)
    return pa.array(made, target), faults


def _other_type(data_type: DataType) -> str:
    return f"not of type {type_text(data_type)}"


def _plain(value: Any, data_type: DataType) -> Any:  # noqa: ANN401  # any JSON
    """Return a value of JSON as Arrow takes it, numbers read by their types."""
    match value, data_type:
        case dict(), StructType(fields):
            known = {field.name: field.data_type for field in fields}
            if more := value.keys() - known.keys():
                raise ValueError(min(more))
            return {name: _plain(value.get(name), kind) for name, kind in known.items()}
        case dict(), MapType(_, inside):
            return [(key, _plain(one, inside)) for key, one in value.items()]
        case list(), ArrayType(element):
            return [_plain(one, element) for one in value]
        case ExactNumber(), PrimitiveType("float" | "double"):
            return float(value)
        case ExactNumber(), PrimitiveType("byte" | "short" | "integer" | "long"):
            return int(value)
    return value


def value_text(value: Any) -> str | None:  # noqa: ANN401  # any JSON
    """Return the text of a value as a column of texts holds it; nested ones as JSON."""
    match value:
        case None:
            return None
        case bool():
            return "true" if value else "false"
        case str():
            return str(value)
    return json_text(value)


def _shown(value: Any) -> str:  # noqa: ANN401  # any JSON
    text = value_text(value)
    return ("null" if text is None else text)[:MAX_SHOWN]
