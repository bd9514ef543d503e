"""Which columns files seem to have: by the first rows of texts, else by their footers.

A column of texts gets the narrowest type that all of its first values have: what the
rows behind them have is found out when they are checked. One that is text by few of
them says so.
"""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import ColumnNotFoundError
from deltaweb.delta.protocol.schema import (
    DataType,
    PrimitiveType,
    StructField,
    StructType,
    parts_of,
    quoted_name,
    type_text,
)
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from deltaweb.delta.values.exact_json import ExactNumber
from deltaweb.writer.importing.csv_rows import read_csv
from deltaweb.writer.importing.json_rows import json_pieces, parse_row, value_text
from deltaweb.writer.importing.narrower import (
    NUMBERS,
    ColumnTexts,
    NarrowerType,
    known_texts,
    narrower_of_both,
    of_all,
)
from deltaweb.writer.importing.options import (
    ImportColumn,
    ImportFileError,
    TextForm,
    format_of,
)
from deltaweb.writer.importing.parquet_rows import parquet_schema
from deltaweb.writer.importing.readings import (
    TextReading,
    UnclearReadingError,
    is_day,
    is_number,
    readings_of_both,
    widest_of,
)
from deltaweb.writer.importing.source_file import SourceFile, SourceFiles
from deltaweb.writer.importing.text_values import parse_texts

if TYPE_CHECKING:
    from deltaweb.writer.importing.batches import Lines

NO_COLUMNS: Final = StructType(())
SAMPLE_ROWS: Final = 20_000
SHOWN_VALUES: Final = 3
MAX_JSON_COLUMNS: Final = 2_000
MAX_JSON_DEPTH: Final = 20
_PLAIN: Final = TextForm(null_text="\0")  # no value of JSON stands for null
_SCALARS: Final = frozenset({"boolean", "bigint", "double", "string"})
LONG_DIGITS: Final = 19
_CANDIDATES: Final = (
    PrimitiveType("long"),
    PrimitiveType("double"),
    PrimitiveType("boolean"),
    PrimitiveType("date"),
    PrimitiveType("timestamp"),
)
_DAYS: Final = _CANDIDATES[3:]
_LEADING_ZERO: Final = r"^[+-]?0[0-9]"


@dataclass(frozen=True, slots=True)
class ProposedColumn:
    """A column that files seem to have.

    Attributes:
        column: What it is to become, unless somebody says otherwise.
        examples: Its first values, as the file has them.
        num_values: How many values were looked at, without nulls.
        narrower: What most values are, where it is text by the others.
        readings: How its texts can be read; more than one if a person has to choose.
    """

    column: ImportColumn
    examples: tuple[str, ...]
    num_values: int = 0
    narrower: NarrowerType | None = None
    readings: tuple[TextReading, ...] = ()

    def fitted(self, column: ImportColumn) -> ImportColumn:
        """Return a column with how its texts are written, if only one way is known."""
        if column.decimal_sign or column.day_order or len(self.readings) != 1:
            return column
        (reading,) = self.readings
        return replace(
            column, decimal_sign=reading.decimal_sign, day_order=reading.day_order
        )

    @property
    def question(self) -> str:
        """The ways to read its texts, as a sentence."""
        first = self.readings[0]
        ways = " or ".join(f"{one.value} ({one.option})" for one in self.readings)
        return f"{first.text!r} in column {self.column.source!r} is {ways}."

    @property
    def hint(self) -> str | None:
        """How it is taken for what most of its values are, where few keep it text."""
        if self.narrower is None:
            return None
        name, narrower = self.column.source, self.narrower
        types = shlex.quote(f"{quoted_name(name)} {narrower.type_name.upper()}")
        return f"{name}: {narrower.sentence}. --types {types} takes it so."


class TypedColumnMissingError(ColumnNotFoundError, code="import-column-unknown"):
    """Somebody says the type of a column that files do not have."""

    message = "--types: the file has no column {column:q}."


def propose_columns(
    files: SourceFiles,
    table: StructType = NO_COLUMNS,
    unseen: StructType = NO_COLUMNS,
) -> list[ProposedColumn]:
    """Return the columns of files, in the order of the first.

    Args:
        table: The columns of a table, which keep their types: none is guessed for them.
        unseen: Columns whose types are taken for what has no value in a file.
    """
    found: dict[str, ProposedColumn] = {}
    for file in files.each():
        for proposed in _of_file(file, files, table, unseen):
            name = proposed.column.source
            known = found.get(name)
            if known is None:
                found[name] = proposed
            elif table.find(name) is None:
                found[name] = _both(known, proposed)
            else:
                readings = readings_of_both(known.readings, proposed.readings)
                merged = replace(known, readings=readings or known.readings)
                column = replace(known.column, decimal_sign="", day_order="")
                found[name] = replace(merged, column=merged.fitted(column))
    if not found:
        shown = ", ".join(files.names[:3])
        reason, hint = "it has no row", "Choose a file with rows below its header."
        raise ImportFileError(path=shown, reason=reason, hint=hint)
    return list(found.values())


def _both(one: ProposedColumn, other: ProposedColumn) -> ProposedColumn:
    """Return a column of two files; text where they do not agree."""
    types = {one.column.type_name, other.column.type_name}
    readings = readings_of_both(one.readings, other.readings)
    num_values = one.num_values + other.num_values
    if len(types) == 1 and types != {"string"} and readings is not None:
        proposed = replace(one, num_values=num_values, readings=readings)
        column = replace(one.column, decimal_sign="", day_order="")
        return replace(proposed, column=proposed.fitted(column))
    wider = "double" if types == NUMBERS and readings is not None else "string"
    narrower = None
    if wider == "string":
        readings = ()
        parts = (
            part.narrower
            or of_all(part.column.type_name, part.num_values, part.readings)
            for part in (one, other)
        )
        narrower = narrower_of_both(*parts)
    proposed = ProposedColumn(
        _column(one.column.source, wider),
        one.examples or other.examples,
        num_values,
        narrower,
        readings or (),
    )
    return replace(proposed, column=proposed.fitted(proposed.column))


def _column(name: str, type_name: str) -> ImportColumn:
    return ImportColumn(source=name, name=name, type_name=type_name)


def _of_table(source: str, field: StructField) -> ImportColumn:
    return ImportColumn(
        source=source,
        name=field.name,
        type_name=type_text(field.data_type),
        is_nullable=field.nullable,
    )


def _of_file(
    file: SourceFile, files: SourceFiles, table: StructType, unseen: StructType
) -> list[ProposedColumn]:
    match format_of(file.shown, files.file_format):
        case "csv":
            return _of_texts(file, files.form, table, unseen)
        case "json":
            return _of_json(file, table, unseen)
        case _:
            return [
                ProposedColumn(
                    _of_table(column.name, known)
                    if (known := table.find(column.name))
                    else _column(column.name, type_text(column.data_type)),
                    (),
                )
                for column in parquet_schema(file).fields
            ]


# === CSV ===


def _of_texts(
    file: SourceFile, form: TextForm, table: StructType, unseen: StructType
) -> list[ProposedColumn]:
    parts: dict[str, list[pa.Array]] = {}
    lines: list[Lines] = []
    count = 0
    delimiter = ""
    for batch in read_csv(file, form):
        delimiter = batch.delimiter or delimiter
        for name, array in batch.columns.items():
            parts.setdefault(name, []).append(array)
        lines.append(batch.lines)
        count += len(batch.lines)
        if count >= SAMPLE_ROWS:
            break
    first = np.concatenate(lines)[:SAMPLE_ROWS] if lines else np.array([], np.int64)
    made = []
    for name, arrays in parts.items():
        texts = pa.concat_arrays(arrays).slice(0, SAMPLE_ROWS)
        is_known = known_texts(texts, form)
        known = ColumnTexts(
            *(file.shown, name, texts.filter(is_known)),
            first[np.asarray(is_known)],
            has_more=count >= SAMPLE_ROWS,
            delimiter=delimiter,
        )
        made.append(_proposed(known, form, table.find(name), unseen.find(name)))
    return made


def _proposed(
    known: ColumnTexts,
    form: TextForm,
    of_table: StructField | None,
    unseen: StructField | None,
) -> ProposedColumn:
    examples = tuple(pc.unique(known.texts)[:SHOWN_VALUES].to_pylist())
    readings: tuple[TextReading, ...] = ()
    if of_table is not None:
        kind = of_table.data_type
        if len(known.texts) and (is_number(kind) or is_day(kind)):
            readings = known.find_readings([kind], form).readings
        column = _of_table(known.column, of_table)
        proposed = ProposedColumn(column, examples, readings=readings)
        return replace(proposed, column=proposed.fitted(column))
    type_name, narrower = "string", None
    if len(known.texts):
        readings, narrower = known.find_type(_candidates(known.texts), form)
        type_name = type_text(widest_of(readings)) if readings else "string"
    elif unseen is not None:
        type_name = type_text(unseen.data_type)
    column = _column(known.column, type_name)
    proposed = ProposedColumn(column, examples, len(known.texts), narrower, readings)
    return replace(proposed, column=proposed.fitted(column))


def _candidates(texts: pa.Array) -> Sequence[PrimitiveType]:
    """Return the types that texts may be; a zero before a number makes it text."""
    if pc.any(pc.match_substring_regex(texts, _LEADING_ZERO)).as_py():
        return _DAYS
    return _CANDIDATES


# === JSON ===


@dataclass
class _Seen:
    """What was seen of the values of one JSON column."""

    kinds: set[str] = field(default_factory=set)
    fields: dict[str, "_Seen"] = field(default_factory=dict)
    element: "_Seen | None" = None
    texts: list[str] = field(default_factory=list)

    def take(self, value: Any, depth: int = 0) -> None:  # noqa: ANN401  # any JSON
        match value:
            case None:
                return
            case bool():
                self.kinds.add("boolean")
            case ExactNumber():
                is_whole = value.lstrip("-").isdigit() and len(value) < LONG_DIGITS
                self.kinds.add("bigint" if is_whole else "double")
            case str():
                self.kinds.add("string")
                self.texts.append(value)
            case dict() if value and depth < MAX_JSON_DEPTH:
                self.kinds.add("struct")
                for name, inside in value.items():
                    if len(self.fields) < MAX_JSON_COLUMNS:
                        self.fields.setdefault(name, _Seen()).take(inside, depth + 1)
            case list() if depth < MAX_JSON_DEPTH:
                self.kinds.add("array")
                self.element = self.element or _Seen()
                for inside in value:
                    self.element.take(inside, depth + 1)
            case _:
                self.kinds.add("string")

    def type_name(
        self, unseen: DataType | None = None, *, is_nested: bool = False
    ) -> str:
        """Return the type that fits all values.

        Args:
            unseen: The type if there is no value; its parts are those of values.
        """
        if not self.kinds and unseen is not None:
            return type_text(unseen)
        match sorted(self.kinds):
            case ["boolean" | "bigint" | "double" as only]:
                return only
            case ["bigint", "double"]:
                return "double"
            case ["struct"] | ["array"]:
                return self._nested_type(unseen)
            case ["string"] if self.texts and not is_nested:
                texts = pa.array(self.texts, pa.string())
                for data_type in _DAYS:
                    parsed = parse_texts(texts, data_type, _PLAIN)
                    if not pc.any(parsed.is_none).as_py():
                        return type_text(data_type)
        return "string"

    def _nested_type(self, unseen: DataType | None) -> str:
        known = parts_of(unseen) if unseen else ()
        parts = {part.name.lower(): part.data_type for part in known}
        if self.element is not None:
            element = self.element.type_name(parts.get("element"), is_nested=True)
            return f"array<{element}>"
        fields = []
        for name, seen in self.fields.items():
            kind = seen.type_name(parts.get(name.lower()), is_nested=True)
            fields.append(f"{quoted_name(name)}: {kind}")
        return f"struct<{', '.join(fields)}>"


@dataclass
class _Values:
    """The first values of one JSON column: what they are, and their texts."""

    seen: _Seen = field(default_factory=_Seen)
    texts: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)

    def take(self, line: int, value: Any) -> None:  # noqa: ANN401  # any JSON
        self.seen.take(value)
        if value is None:
            return
        if len(self.texts) < SHOWN_VALUES or not isinstance(value, dict | list):
            self.texts.append(value_text(value) or "")
            self.lines.append(line)

    def proposed(
        self,
        shown: str,
        name: str,
        of_table: StructField | None,
        unseen: StructField | None,
        *,
        has_more: bool,
    ) -> ProposedColumn:
        """Return the column; of scalars that do not agree, what most of them are."""
        examples = tuple(text[:60] for text in self.texts[:SHOWN_VALUES])
        if of_table is not None:
            return ProposedColumn(_of_table(name, of_table), examples)
        kind = None if unseen is None else unseen.data_type
        type_name, narrower = self.seen.type_name(kind), None
        kinds = self.seen.kinds
        if type_name == "string" and kinds and kinds <= _SCALARS:
            texts = pa.array(self.texts, pa.string())
            lines = np.array(self.lines, np.int64)
            known = ColumnTexts(shown, name, texts, lines, has_more=has_more)
            has_numbers = kinds != {"string"}
            candidates = _candidates(texts) if has_numbers else _DAYS
            narrower = known.find_type(candidates, _PLAIN)[1]
        column = _column(name, type_name)
        return ProposedColumn(column, examples, len(self.texts), narrower)


def _of_json(
    file: SourceFile, table: StructType, unseen: StructType
) -> list[ProposedColumn]:
    columns: dict[str, _Values] = {}
    count = 0
    for count, (line, row) in enumerate(_first_rows(file), 1):  # noqa: B007 (below)
        for name, value in row.items():
            if len(columns) >= MAX_JSON_COLUMNS and name not in columns:
                reason = f"it has more than {MAX_JSON_COLUMNS:,} columns"
                raise ImportFileError(path=file.shown, reason=reason)
            columns.setdefault(name, _Values()).take(line, value)
    has_more = count >= SAMPLE_ROWS
    return [
        values.proposed(
            file.shown, name, table.find(name), unseen.find(name), has_more=has_more
        )
        for name, values in columns.items()
    ]


def _first_rows(file: SourceFile) -> Iterator[tuple[int, dict[str, Any]]]:
    count = 0
    for pieces in json_pieces(file):
        for line, text in pieces:
            row, _ = parse_row(text)
            yield line, row or {}
            count += 1
            if count >= SAMPLE_ROWS:
                return


def with_types(
    proposed: Sequence[ProposedColumn], types: str
) -> Sequence[ProposedColumn]:
    """Return columns with the types that DDL says, found ignoring case."""
    if not types.strip():
        return proposed
    known = {field.name.lower(): field for field in parse_columns_ddl(types)}
    sources = [one.column.source for one in proposed]
    in_file = {source.lower() for source in sources}
    for given in known.values():
        if given.name.lower() not in in_file:
            raise TypedColumnMissingError(column=given.name, columns=sources)
    made = []
    for one in proposed:
        field = known.get(one.column.source.lower())
        if field is None:
            made.append(one)
            continue
        column = replace(
            one.column,
            type_name=type_text(field.data_type),
            is_nullable=field.nullable,
        )
        readings = one.readings or (one.narrower.readings if one.narrower else ())
        typed = replace(one, readings=readings, narrower=None)
        column = replace(column, decimal_sign="", day_order="")
        made.append(replace(typed, column=typed.fitted(column)))
    return made


def unclear_columns(
    proposed: Sequence[ProposedColumn], columns: Sequence[ImportColumn], form: TextForm
) -> list[ProposedColumn]:
    """Return the columns that can be read in two ways of which none is chosen."""
    wanted = {column.source: column for column in columns}
    found = []
    for one in proposed:
        column = wanted.get(one.column.source)
        if column is None or len(one.readings) <= 1:
            continue
        of_column = column.form(form)
        is_days = is_day(one.readings[0].data_type)
        chosen = of_column.day_order if is_days else of_column.decimal_sign
        if not chosen and column.type_name not in ("", "string"):
            found.append(one)
    return found


def check_readings(
    files: SourceFiles,
    proposed: Sequence[ProposedColumn],
    columns: Sequence[ImportColumn],
) -> None:
    """Raise `UnclearReadingError` if a column can be read in two ways."""
    unclear = unclear_columns(proposed, columns, files.form)
    if unclear:
        choices = [one.question for one in unclear]
        raise UnclearReadingError(path=", ".join(files.names[:3]), choices=choices)
