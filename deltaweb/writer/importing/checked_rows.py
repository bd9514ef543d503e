"""The rows of files in the types that were chosen, and what others lack."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.conditions.named import names_column
from deltaweb.delta.errors import DeltaError, SchemaError
from deltaweb.delta.protocol.schema import (
    ArrayType,
    DataType,
    MapType,
    StructField,
    StructType,
    arrow_schema,
    arrow_type,
)
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from deltaweb.delta.values.cell_text import cell_text
from deltaweb.delta.values.data_values import Origin, conform
from deltaweb.delta.values.python_values import as_text, python_values
from deltaweb.delta.values.stored_columns import MismatchError
from deltaweb.delta.writing.requirements import RowConstraint
from deltaweb.writer.importing.batches import BadValue, Lines, SourceBatch
from deltaweb.writer.importing.csv_rows import read_csv
from deltaweb.writer.importing.json_rows import read_json
from deltaweb.writer.importing.local_times import TimesTaken, instants_of
from deltaweb.writer.importing.options import BadRows, ImportColumn, TextForm, format_of
from deltaweb.writer.importing.parquet_rows import read_parquet
from deltaweb.writer.importing.source_file import SourceFile, SourceFiles
from deltaweb.writer.importing.text_values import ParsedTexts, parse_texts, why_none

MAX_BAD_SHOWN: Final = 100
MAX_VALUE_SHOWN: Final = 100
MAX_NAMED: Final = 5

Rules = Callable[[pa.RecordBatch], Iterable[tuple[RowConstraint, pa.BooleanArray]]]
"""Yields which rows of some break a rule of the table, for each rule that some do."""


class RowsNotImportedError(DeltaError, code="rows-not-imported"):
    """Rows of files have values that do not fit."""

    bad: Sequence[BadValue]
    message = "Rows do not fit, and nothing was imported: {_named}."
    hint = "Correct the file, choose other types, or leave such rows out."

    @property
    def _named(self) -> str:
        return "; ".join(bad_text(one) for one in self.bad[:MAX_NAMED])


def bad_text(one: BadValue) -> str:
    """Say in half a sentence what does not fit, and where."""
    column = f", column {one.column!r}" if one.column else ""
    return f"{one.file}, line {one.line:,}{column}: {one.value!r} ({one.reason})"


def schema_of(columns: Sequence[ImportColumn]) -> StructType:
    fields: dict[str, StructField] = {}
    for column in columns:
        if not column.type_name:
            continue
        if column.name.lower() in fields:
            raise SchemaError(column=column.name, reason="two columns have that name")
        quoted = column.name.replace("`", "``")
        if not column.name.strip():
            raise SchemaError(column=column.source, reason="it has no name")
        found = parse_columns_ddl(f"`{quoted}` {column.type_name}")
        if len(found) != 1:
            raise SchemaError(column=column.name, reason="its type is several")
        metadata = {"comment": column.comment} if column.comment else {}
        fields[column.name.lower()] = StructField(
            column.name,
            found[0].data_type,
            nullable=column.is_nullable,
            metadata=metadata,
        )
    return StructType(tuple(fields.values()))


@dataclass(frozen=True, slots=True)
class LookLimit:
    """How much of an import is looked at, at least; the batch at hand is finished.

    Attributes:
        num_bytes: Of decoded values: a file of 2 kB may hold gigabytes.
    """

    num_bytes: int
    seconds: float


@dataclass(eq=False)
class ImportedRows:
    """The rows of an import, as they are to be stored.

    Attributes:
        bad: The first of their values.
        bad_by_column: How many values of each column do not fit.
        rules: What must be true of the rows beside their types; None for nothing.
        is_look: Whether the rows are only looked at: none is refused.
        limit: How much is read; None for all rows.
        is_partial: Whether the limit left rows out.
    """

    files: SourceFiles
    columns: Sequence[ImportColumn]
    bad_rows: BadRows = BadRows.REFUSE
    num_rows: int = 0
    num_bad: int = 0
    bad: list[BadValue] = field(default_factory=list)
    bad_by_column: Counter[str] = field(default_factory=Counter)
    rules: Rules | None = None
    bad_by_rule: Counter[RowConstraint] = field(default_factory=Counter)
    is_look: bool = False
    limit: LookLimit | None = None
    is_partial: bool = False
    on_rows: Callable[[int], None] = lambda _count: None

    def __post_init__(self) -> None:
        self.schema = schema_of(self.columns)
        self.wanted = [column for column in self.columns if column.type_name]
        nullable = [f.with_nullable(True) for f in arrow_schema(self.schema)]  # noqa: FBT003  # pyarrow's own
        self.arrow = pa.schema(nullable)
        self.times = TimesTaken(self.files.form.time_zone)

    def reader(self) -> pa.RecordBatchReader:
        return pa.RecordBatchReader.from_batches(self.arrow, self.batches())

    def batches(self) -> Iterator[pa.RecordBatch]:
        num_bytes, began_s = 0, time.monotonic()
        for file in self.files.each():
            for batch in self._read(file):
                if self.limit is not None and (
                    num_bytes >= self.limit.num_bytes
                    or time.monotonic() - began_s >= self.limit.seconds
                ):
                    self.is_partial = True
                    return
                num_bytes += sum(column.nbytes for column in batch.columns.values())
                made = self._checked(batch, file.shown)
                self.num_rows += made.num_rows
                self.on_rows(self.num_rows + self.num_bad)
                yield made

    def _read(self, file: SourceFile) -> Iterator[SourceBatch]:
        match format_of(file.shown, self.files.file_format):
            case "csv":
                return read_csv(file, self.files.form)
            case "json":
                types = {
                    column.source: field.data_type
                    for column, field in zip(
                        self.wanted, self.schema.fields, strict=True
                    )
                }
                left_out = frozenset(c.source for c in self.columns if not c.type_name)
                return read_json(file, types, left_out)
            case _:
                sources = [column.source for column in self.wanted]
                return read_parquet(file, sources)

    def _checked(self, batch: SourceBatch, shown: str) -> pa.RecordBatch:
        form = self.files.form
        if format_of(shown, self.files.file_format) != "csv":
            form = TextForm(time_zone=form.time_zone, null_text=_NEVER)
        count = len(batch.lines)
        bad = np.zeros(count, bool)
        found = list(batch.broken)
        self.bad_by_column.update(one.column for one in found if one.column)
        arrays: list[pa.Array] = []
        moved: list[Lines] = []
        for column, of_table in zip(self.wanted, self.schema.fields, strict=True):
            kind = of_table.data_type
            given = batch.columns.get(column.source)
            if given is None:
                given = pa.nulls(count, arrow_type(kind))
            of_column = column.form(form)
            values, is_bad, moved_us = _as_type(given, kind, of_column, column.source)
            if moved_us is not None:
                moved.append(moved_us)
                self.times.note_typed(column.source, given)
            reasons = np.asarray(is_bad)
            missing = np.zeros(count, bool)
            if not of_table.nullable:
                missing = np.asarray(values.is_null()) & ~reasons
            if reasons.any() or missing.any():
                self.bad_by_column[column.source] += int((reasons | missing).sum())
                room = max(0, MAX_BAD_SHOWN - len(found))
                for position in np.flatnonzero(reasons | missing)[:room]:
                    value = _value_text(given, int(position))
                    reason = (
                        "null, and may not be"
                        if missing[position]
                        else why_none(value, kind)
                    )
                    line = int(batch.lines[position])
                    found.append(BadValue(shown, line, column.source, value, reason))
                is_kept = self.bad_rows is BadRows.STORE_NULL and of_table.nullable
                bad |= missing if is_kept else reasons | missing
                self.num_bad += int((reasons & ~bad).sum()) if is_kept else 0
            arrays.append(values)
        rows = pa.RecordBatch.from_arrays(arrays, schema=self.arrow)
        lines, num_bad = batch.lines, len(batch.broken) + int(bad.sum())
        if bad.any():
            rows, lines = rows.filter(pa.array(~bad)), lines[~bad]
        breaking = self._breaking(rows, lines, shown, found)
        self.times.note_moved(moved_us[~bad][~breaking] for moved_us in moved)
        self._note(found, num_bad + int(breaking.sum()))
        return rows.filter(pa.array(~breaking)) if breaking.any() else rows

    def _breaking(
        self, rows: pa.RecordBatch, lines: Lines, shown: str, found: list[BadValue]
    ) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
        """Return which rows break a rule of the table; the first of each are told."""
        breaking = np.zeros(rows.num_rows, bool)
        for rule, broken in self.rules(rows) if self.rules is not None else ():
            is_bad = np.asarray(broken)
            self.bad_by_rule[rule] += int(is_bad.sum())
            reason = f"breaks the constraint {rule.name!r}: {rule.sql}"
            for position in np.flatnonzero(is_bad & ~breaking)[:MAX_BAD_SHOWN]:
                row = rows.slice(int(position), 1)
                line = int(lines[position])
                found.append(BadValue(shown, line, "", _row_text(row, rule), reason))
            breaking |= is_bad
        return breaking

    def _note(self, found: list[BadValue], count: int) -> None:
        """Keep what does not fit; refuse it where nobody only looks."""
        self.num_bad += count
        room = MAX_BAD_SHOWN - len(self.bad)
        self.bad.extend(sorted(found, key=lambda one: one.line)[: max(0, room)])
        if found and self.bad_rows is BadRows.REFUSE and not self.is_look:
            raise RowsNotImportedError(bad=self.bad)


_NEVER: Final = "\0"  # no value of JSON or Parquet stands for null


def _as_type(
    given: pa.Array, kind: DataType, form: TextForm, column: str
) -> ParsedTexts:
    """Return values in the type of a column, and a mask of those that do not fit."""
    target = arrow_type(kind)
    if isinstance(given, pa.ChunkedArray):
        given = given.combine_chunks()
    is_text = pa.types.is_string(given.type)
    if given.type == target and not is_text:
        return _all_fit(given)
    if pa.types.is_timestamp(given.type) and pa.types.is_timestamp(target):
        return _as_time(given, kind, form)
    is_nested = isinstance(kind, StructType | ArrayType | MapType)
    if is_nested and is_text:
        is_some = pc.and_(given.is_valid(), pc.not_equal(given, form.null_text))
        return ParsedTexts(pa.nulls(len(given), target), is_some)
    if not is_text:
        try:
            return _all_fit(conform(given, kind, column, origin=Origin.PARTIAL_ROWS))
        except (MismatchError, pa.ArrowException):
            if is_nested:
                return ParsedTexts(pa.nulls(len(given), target), given.is_valid())
            given = _texts_of(given, target)
    return parse_texts(given, kind, form)


def _all_fit(values: pa.Array) -> ParsedTexts:
    return ParsedTexts(values, pa.array(np.zeros(len(values), bool)))


def _as_time(given: pa.TimestampArray, kind: DataType, form: TextForm) -> ParsedTexts:
    """Return times that have a zone as ones that have none, or the other way round.

    What is without one is of the form's; an instant is no time of some clock.
    """
    target = arrow_type(kind)
    if target.tz is None:
        return ParsedTexts(pa.nulls(len(given), target), given.is_valid())
    try:
        values, moved_us = instants_of(given, form.time_zone)
    except (pa.ArrowInvalid, OverflowError):  # one is beyond those of the zone
        return parse_texts(_texts_of(given, target), kind, form)
    return _all_fit(values)._replace(moved_us=moved_us)


def _texts_of(given: pa.Array, target: pa.DataType) -> pa.Array:
    """Return values as texts: those that are stored as what they are shown as."""
    if not pa.types.is_string(target):
        try:
            return given.cast(pa.string())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            pass
    return as_text(given)


def _value_text(given: pa.Array, position: int) -> str:
    (value,) = python_values(given.slice(position, 1))
    return "" if value is None else cell_text(value)[:MAX_VALUE_SHOWN]


def _row_text(row: pa.RecordBatch, rule: RowConstraint) -> str:
    """Return the values of a row that a rule names; all where it names none."""
    named = [name for name in row.schema.names if names_column(rule.sql, (name,))]
    values = {
        name: python_values(row.column(name))[0] for name in named or row.schema.names
    }
    text = ", ".join(
        f"{name}={'NULL' if value is None else cell_text(value)}"
        for name, value in values.items()
    )
    return text[:MAX_VALUE_SHOWN]
