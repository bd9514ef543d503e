"""CSV files as batches of texts; a row that has other fields than the header is told.

Source: RFC 4180, "Definition of the CSV Format".
"""

import csv
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from deltaweb.writer.importing.batches import BadValue, Lines, SourceBatch
from deltaweb.writer.importing.options import (
    AS_UTF_8,
    DELIMITERS,
    ImportFileError,
    TextForm,
)
from deltaweb.writer.importing.source_file import SourceFile

BLOCK_BYTES: Final = 8 << 20
HEAD_BYTES: Final = 1 << 20
MAX_COLUMNS: Final = 5_000
MAX_SHOWN: Final = 200
_MARK: Final = b"\xef\xbb\xbf"


def read_csv(file: SourceFile, form: TextForm) -> Iterator[SourceBatch]:
    """Yield the rows of a file; its head says what they are, and it is opened once."""
    try:
        with file.open() as opened:
            head = _text_of(opened.read(HEAD_BYTES), file.shown)
            names, delimiter, header_lines = _names(head, file.shown, form)
            opened.seek(0)
            rows = _Rows(file.shown, names, delimiter, header_lines)
            yield from rows.batches(opened)
    except (pa.ArrowException, OSError) as error:
        reason = str(error).partition("\n")[0][:300].rstrip(".")
        raise ImportFileError(path=file.shown, reason=reason) from None


def _names(head: str, shown: str, form: TextForm) -> tuple[list[str], str, int]:
    """Return the names of columns, the delimiter, and the lines of the header.

    A quoted name may have line breaks.
    """
    delimiter = form.delimiter or _delimiter(head)
    reader = csv.reader(StringIO(head, newline=""), delimiter=delimiter)
    try:
        first = next(reader)
    except (StopIteration, csv.Error):
        raise ImportFileError(path=shown, reason="it has no first row") from None
    names = [name.strip() for name in first]
    if len(names) > MAX_COLUMNS:
        reason = f"it has {len(names):,} columns; the limit is {MAX_COLUMNS:,}"
        raise ImportFileError(path=shown, reason=reason)
    if not form.has_header:
        numbered = [f"column_{number}" for number in range(1, len(names) + 1)]
        return numbered, delimiter, 0
    if "" in names:
        position = names.index("") + 1
        reason = f"its column {position} has no name in the first row"
        raise ImportFileError(path=shown, reason=reason)
    known: set[str] = set()
    for name in names:
        if name.lower() in known:
            raise ImportFileError(path=shown, reason=f"the column {name!r} is twice")
        known.add(name.lower())
    return names, delimiter, reader.line_num


def _text_of(head: bytes, shown: str) -> str:
    whole = head if len(head) < HEAD_BYTES else head.rpartition(b"\n")[0]
    try:
        return whole.removeprefix(_MARK).decode()
    except UnicodeDecodeError:
        reason = "it is not UTF-8 text"
        raise ImportFileError(path=shown, reason=reason, hint=AS_UTF_8) from None


def _delimiter(head: str) -> str:
    """Return what is between the fields of the first line: what it has most of."""
    line = head.partition("\n")[0]
    outside = "".join(line.split('"')[::2])
    return max(DELIMITERS, key=outside.count)


class _Rows:
    """One file while it is read; it knows at which line each row begins."""

    def __init__(
        self, shown: str, names: list[str], delimiter: str, header_lines: int
    ) -> None:
        self.shown = shown
        self.names = names
        self.delimiter = delimiter
        self.header_lines = header_lines
        self.broken: list[tuple[int, BadValue]] = []
        self.numbers: list[int] = []
        self.row = header_lines + 1
        self.line_breaks = 0

    def batches(self, opened: pa.NativeFile) -> Iterator[SourceBatch]:
        reader = pa_csv.open_csv(
            opened,
            read_options=pa_csv.ReadOptions(
                use_threads=False,
                block_size=BLOCK_BYTES,
                column_names=self.names,
                skip_rows=self.header_lines,
            ),
            parse_options=pa_csv.ParseOptions(
                delimiter=self.delimiter,
                newlines_in_values=True,
                ignore_empty_lines=False,
                invalid_row_handler=self._take_broken,
            ),
            convert_options=pa_csv.ConvertOptions(
                column_types=dict.fromkeys(self.names, pa.binary()),
                strings_can_be_null=False,
            ),
        )
        for batch in reader:
            yield self._batch(batch)
        if self.numbers:
            yield self._rest()

    def _take_broken(self, row: pa_csv.InvalidRow) -> str:
        number = row.number or 0
        self.numbers.append(number)
        reason = (
            f"it has {row.actual_columns:,} fields, where {row.expected_columns:,} "
            "belong"
        )
        value = BadValue(self.shown, number, "", row.text[:MAX_SHOWN], reason)
        self.broken.append((number, value))
        return "skip"

    def _batch(self, batch: pa.RecordBatch) -> SourceBatch:
        rows = self._row_numbers(batch.num_rows)
        breaks = _line_breaks(batch)
        until = np.concatenate([[0], np.cumsum(breaks)])
        lines = rows + self.line_breaks + until[:-1]
        self._find_lines(rows, until)
        columns, bad, broken = {}, np.zeros(batch.num_rows, bool), []
        for name, array in zip(self.names, batch.columns, strict=True):
            texts, is_none = _as_text(array)
            columns[name] = texts
            for position in np.flatnonzero(is_none & ~bad)[:MAX_SHOWN]:
                shown = repr(array[int(position)].as_py()[:MAX_SHOWN])
                line = int(lines[position])
                reason = "it is not UTF-8 text"
                broken.append(BadValue(self.shown, line, name, shown, reason))
            bad |= is_none
        kept = ~(bad | _blank(batch))
        self.line_breaks += int(breaks.sum())
        mask = pa.array(kept)
        return SourceBatch(
            {name: array.filter(mask) for name, array in columns.items()},
            lines[kept],
            (*self._broken_before(int(rows[-1]) if len(rows) else 0), *broken),
            self.delimiter,
        )

    def _row_numbers(self, count: int) -> Lines:
        """Return the numbers of the rows that a batch has, in the file."""
        numbers = np.array([n for n in self.numbers if n >= self.row], np.int64)
        found = np.arange(self.row, self.row + count + len(numbers), dtype=np.int64)
        rows = np.setdiff1d(found, numbers)[:count]
        if count:
            self.row = int(rows[-1]) + 1
        return rows

    def _find_lines(self, rows: Lines, until: Lines) -> None:
        """Bring rows that were none to their lines: values before have line breaks."""
        last = int(rows[-1]) if len(rows) else 0
        self.broken = [
            (
                number,
                value
                if number > last
                else replace(
                    value,
                    line=number
                    + self.line_breaks
                    + int(until[np.searchsorted(rows, number)]),
                ),
            )
            for number, value in self.broken
        ]

    def _broken_before(self, row: int) -> tuple[BadValue, ...]:
        known = [value for number, value in self.broken if number <= row]
        self.broken = [pair for pair in self.broken if pair[0] > row]
        self.numbers = [number for number in self.numbers if number >= self.row]
        return tuple(known)

    def _rest(self) -> SourceBatch:
        nothing = {name: pa.array([], pa.string()) for name in self.names}
        breaks = self.line_breaks
        broken = tuple(replace(v, line=n + breaks) for n, v in self.broken)
        return SourceBatch(nothing, np.array([], np.int64), broken)


def _line_breaks(batch: pa.RecordBatch) -> Lines:
    """Count the line breaks within the values of each row."""
    counts = np.zeros(batch.num_rows, np.int64)
    for column in batch.columns:
        if pc.any(pc.match_substring(column, b"\n")).as_py():
            counts += np.asarray(pc.count_substring(column, b"\n"))
    return counts


def _blank(batch: pa.RecordBatch) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Tell which rows are empty lines: of several columns none has a text."""
    if batch.num_columns == 1:
        return np.zeros(batch.num_rows, bool)
    blank = np.ones(batch.num_rows, bool)
    for column in batch.columns:
        blank &= np.asarray(pc.equal(pc.binary_length(column), 0))
    return blank


def _as_text(
    array: pa.Array,
) -> tuple[pa.Array, "np.ndarray[tuple[int], np.dtype[np.bool_]]"]:
    try:
        return array.cast(pa.string()), np.zeros(len(array), bool)
    except pa.ArrowInvalid:
        texts = [_text(value) for value in array.to_pylist()]
        return pa.array(texts, pa.string()), np.array([text is None for text in texts])


def _text(value: bytes) -> str | None:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None
