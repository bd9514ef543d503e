"""Which columns files seem to have: by the first rows of texts, else by their footers.

A column of texts gets the narrowest type that all of its first values have: what the
rows behind them have is found out when they are checked.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.protocol.schema import (
    PrimitiveType,
    StructType,
    type_text,
)
from deltaweb.writer.importing.csv_rows import read_csv
from deltaweb.writer.importing.json_rows import NumberText, json_pieces, parse_row
from deltaweb.writer.importing.options import (
    ImportColumn,
    ImportFileError,
    TextForm,
    format_of,
)
from deltaweb.writer.importing.parquet_rows import parquet_schema
from deltaweb.writer.importing.source_file import SourceFile, SourceFiles
from deltaweb.writer.importing.text_values import parse_texts

SAMPLE_ROWS: Final = 20_000
SHOWN_VALUES: Final = 3
MAX_JSON_COLUMNS: Final = 2_000
MAX_JSON_DEPTH: Final = 20
LONG_DIGITS: Final = 19
_CANDIDATES: Final = (
    PrimitiveType("long"),
    PrimitiveType("double"),
    PrimitiveType("boolean"),
    PrimitiveType("date"),
    PrimitiveType("timestamp"),
)
_LEADING_ZERO: Final = r"^[+-]?0[0-9]"


@dataclass(frozen=True, slots=True)
class ProposedColumn:
    """A column that files seem to have.

    Attributes:
        column: What it is to become, unless somebody says otherwise.
        examples: Its first values, as the file has them.
    """

    column: ImportColumn
    examples: tuple[str, ...]


def propose_columns(files: SourceFiles) -> list[ProposedColumn]:
    """Return the columns of files, in the order of the first.

    Raises:
        ImportFileError: If a file does not read, or two do not fit together.
    """
    found: dict[str, ProposedColumn] = {}
    for file in files.each():
        for proposed in _of_file(file, files):
            name = proposed.column.source
            known = found.get(name)
            found[name] = proposed if known is None else _both(known, proposed)
    if not found:
        shown = ", ".join(files.names[:3])
        raise ImportFileError(path=shown, reason="no column is there")
    return list(found.values())


def _both(one: ProposedColumn, other: ProposedColumn) -> ProposedColumn:
    """Return a column of two files; text where they do not agree."""
    types = {one.column.type_name, other.column.type_name}
    if len(types) == 1:
        return one
    wider = "double" if types == {"bigint", "double"} else "string"
    return ProposedColumn(_column(one.column.source, wider), one.examples)


def _column(name: str, type_name: str) -> ImportColumn:
    return ImportColumn(source=name, name=name, type_name=type_name)


def _of_file(file: SourceFile, files: SourceFiles) -> list[ProposedColumn]:
    match format_of(file.shown, files.file_format):
        case "csv":
            return _of_texts(_first_texts(file, files.form), files.form)
        case "json":
            return _of_json(file)
        case _:
            schema = parquet_schema(file)
            return [
                ProposedColumn(_column(c.name, type_text(c.data_type)), ())
                for c in schema.fields
            ]


# === CSV ===


def _first_texts(file: SourceFile, form: TextForm) -> Mapping[str, pa.Array]:
    parts: dict[str, list[pa.Array]] = {}
    count = 0
    for batch in read_csv(file, form):
        for name, array in batch.columns.items():
            parts.setdefault(name, []).append(array)
        count += len(batch.lines)
        if count >= SAMPLE_ROWS:
            break
    return {
        name: pa.concat_arrays(arrays).slice(0, SAMPLE_ROWS)
        for name, arrays in parts.items()
    }


def _of_texts(columns: Mapping[str, pa.Array], form: TextForm) -> list[ProposedColumn]:
    made = []
    for name, texts in columns.items():
        known = pc.drop_null(pc.if_else(pc.equal(texts, form.null_text), None, texts))
        examples = tuple(pc.unique(known)[:SHOWN_VALUES].to_pylist())
        type_name = _text_type(known, form)
        made.append(ProposedColumn(_column(name, type_name), examples))
    return made


def _text_type(texts: pa.Array, form: TextForm) -> str:
    """Return the narrowest type of all texts; a zero before a number makes it text."""
    if not len(texts):
        return "string"
    if pc.any(pc.match_substring_regex(texts, _LEADING_ZERO)).as_py():
        candidates: Sequence[PrimitiveType] = _CANDIDATES[3:]
    else:
        candidates = _CANDIDATES
    for data_type in candidates:
        _, bad = parse_texts(texts, data_type, form)
        if not pc.any(bad).as_py():
            return type_text(data_type)
    return "string"


# === JSON ===


@dataclass
class _Seen:
    """What was seen of the values of one JSON column."""

    kinds: set[str] = field(default_factory=set)
    fields: dict[str, "_Seen"] = field(default_factory=dict)
    element: "_Seen | None" = None
    texts: list[str] = field(default_factory=list)

    def take(self, value: Any, depth: int = 0) -> None:  # noqa: ANN401  # any JSON
        """Take a value into account."""
        match value:
            case None:
                return
            case bool():
                self.kinds.add("boolean")
            case NumberText():
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

    def type_name(self, *, is_nested: bool = False) -> str:
        """Return a type for all that was seen; text where nothing else holds it."""
        match sorted(self.kinds):
            case ["boolean" | "bigint" | "double" as only]:
                return only
            case ["bigint", "double"]:
                return "double"
            case ["struct"]:
                inside = (
                    f"{_quoted(name)}: {seen.type_name(is_nested=True)}"
                    for name, seen in self.fields.items()
                )
                return f"struct<{', '.join(inside)}>"
            case ["array"]:
                element = self.element or _Seen()
                return f"array<{element.type_name(is_nested=True)}>"
            case ["string"] if self.texts and not is_nested:
                texts = pa.array(self.texts, pa.string())
                for data_type in _CANDIDATES[3:]:
                    if not pc.any(parse_texts(texts, data_type, TextForm())[1]).as_py():
                        return type_text(data_type)
        return "string"


def _quoted(name: str) -> str:
    return name if name.isidentifier() else f"`{name.replace('`', '``')}`"


def _of_json(file: SourceFile) -> list[ProposedColumn]:
    seen: dict[str, _Seen] = {}
    examples: dict[str, list[str]] = {}
    for row in _first_rows(file):
        for name, value in row.items():
            if len(seen) >= MAX_JSON_COLUMNS and name not in seen:
                reason = f"it has more than {MAX_JSON_COLUMNS:,} columns"
                raise ImportFileError(path=file.shown, reason=reason)
            seen.setdefault(name, _Seen()).take(value)
            shown_values = examples.setdefault(name, [])
            if len(shown_values) < SHOWN_VALUES and value is not None:
                shown_values.append(str(value)[:60])
    return [
        ProposedColumn(_column(name, one.type_name()), tuple(examples[name]))
        for name, one in seen.items()
    ]


def _first_rows(file: SourceFile) -> Iterator[dict[str, Any]]:
    count = 0
    for pieces in json_pieces(file):
        for _, text in pieces:
            row, _ = parse_row(text)
            if row is not None:
                yield row
            count += 1
            if count >= SAMPLE_ROWS:
                return


def table_columns(
    proposed: Sequence[ProposedColumn], schema: StructType
) -> list[ProposedColumn]:
    """Give proposed columns the names and types that a table has for them."""
    made = []
    for one in proposed:
        known = schema.find(one.column.source)
        if known is None:
            made.append(one)
            continue
        column = ImportColumn(
            source=one.column.source,
            name=known.name,
            type_name=type_text(known.data_type),
            is_nullable=known.nullable,
        )
        made.append(ProposedColumn(column, one.examples))
    return made
