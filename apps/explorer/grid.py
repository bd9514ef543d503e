"""The values of a table as a page, a JSON document and a CSV file show them.

Longs and decimals stay exact: text on pages and in JSON, never a JavaScript number.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.values.cell_text import number_text, plain_value
from deltaweb.delta.values.python_values import ToJSON, to_json_of
from deltaweb.delta.values.python_values import python_values as python_values  # noqa: PLC0414 (the grid's values come from here)
from deltaweb.words import cut

MAX_TEXT_LENGTH = 120
MAX_PREVIEW_LENGTH = 60
MAX_DETAIL_LENGTH = 2_000  # inside a page; the page of a row has more
HEX_PREVIEW_BYTES = 8
MAX_SHOWN_BYTES = 65_536  # of a value within another
MAX_SAFE_INTEGER = 2**53


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A value ready to render.

    Attributes:
        kind: "null", "empty", "text", "number", "binary", "nested" or "unread".
        detail: The whole value where the line cuts it; else empty.
    """

    kind: str
    text: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedCell:
    """A cell of a changed row; `before` is there where an update changed it."""

    after: Cell
    before: Cell | None
    is_key: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedColumn:
    """A column of changed rows; `note` is what holds of it, in a word or two."""

    name: str
    type_text: str
    is_number: bool
    note: str


def changed_column(
    field: pa.Field, types: Mapping[str, object], *notes: str
) -> ChangedColumn:
    """Return a column of changed rows.

    Args:
        types: The types of the table's columns as people read them, by name.
        notes: What holds of it; "" is nothing.
    """
    return ChangedColumn(
        name=field.name,
        type_text=str(types.get(field.name, "")).partition("<")[0],
        is_number=is_number(field.type),
        note=", ".join(filter(None, notes)),
    )


NULL = Cell(kind="null")
EMPTY = Cell(kind="empty")
UNREAD = Cell(kind="unread")


def cell(value: object, zone: tzinfo) -> Cell:  # noqa: PLR0911 (a line a kind)
    """Return a value of Arrow's `as_py` as a page shows it, times in `zone`."""
    match value:
        case None:
            return NULL
        case "":
            return EMPTY
        case bool():
            return Cell(kind="text", text="true" if value else "false")
        case int() | float() | Decimal():
            return Cell(kind="number", text=number_text(value))
        case bytes():
            return Cell(kind="binary", text=_hex_text(value), detail=_hex_detail(value))
        case datetime() | date():
            return Cell(kind="text", text=time_text(value, zone))
        case str():
            return _text_cell(value)
    detail = json.dumps(json_value(value), ensure_ascii=False, indent=2)
    return Cell(
        kind="nested",
        text=cut(preview_text(value, zone), MAX_PREVIEW_LENGTH),
        detail=cut(detail, MAX_DETAIL_LENGTH),
    )


def is_number(kind: pa.DataType) -> bool:
    """Whether values of a type stand at the right."""
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
    )


def time_text(moment: date, zone: tzinfo) -> str:
    """Return a date or time as a page shows it; a time without a zone keeps none."""
    if not isinstance(moment, datetime):
        return moment.isoformat()
    local = moment
    if moment.tzinfo is not None:
        try:
            local = moment.astimezone(zone)
        except (OverflowError, ValueError):
            local = moment
    whole = local.replace(tzinfo=None, microsecond=0).isoformat(sep=" ")
    if not local.microsecond:
        return whole
    fraction = f"{local.microsecond:06d}".removesuffix("000")
    return f"{whole}.{fraction}"


def json_value(value: object, *, is_long: bool = False) -> Any:  # noqa: ANN401 (JSON of any shape)
    """Return a value of Arrow's `as_py` as people read its JSON.

    Args:
        is_long: Whether whole numbers are text, as they are of 64 bits for programs.
    """
    match value:
        case int() if not isinstance(value, bool):
            unsafe = is_long or abs(value) >= MAX_SAFE_INTEGER
            return str(value) if unsafe else value
        case Mapping():
            return {str(key): json_value(entry) for key, entry in value.items()}
        case list():
            if value and all(isinstance(entry, tuple) for entry in value):
                return _json_map(value)
            return [json_value(entry) for entry in value]
    found = plain_value(value[:MAX_SHOWN_BYTES] if isinstance(value, bytes) else value)
    return found if isinstance(found, str | int | float | None) else str(found)


def preview_text(value: object, zone: tzinfo) -> str:
    """Return a nested value on one line, without the quotes of JSON."""
    if isinstance(value, Mapping):
        return _braced(value.items(), zone)
    if isinstance(value, list):
        if value and all(isinstance(entry, tuple) for entry in value):
            return _braced(value, zone)
        return "[" + ", ".join(preview_text(entry, zone) for entry in value[:20]) + "]"
    if value is None:
        return "null"
    if isinstance(value, str):
        shown = cut(value, MAX_PREVIEW_LENGTH)
        return shown if _is_plain(value) else f'"{shown}"'
    return cell(value, zone).text


def named_value(name: str, value: str | None) -> str:
    """Return a value of a partition with its column, in words where there is none."""
    return f"{name} is null" if value is None else f"{name}={value}"


def _is_plain(text: str) -> bool:
    """Tell whether a text needs no quotes to be told from nothing."""
    return bool(text) and text.lower() != "null"


def _text_cell(text: str) -> Cell:
    """Return a text with its blanks and breaks as they are; the grid shows them."""
    if len(text) <= MAX_TEXT_LENGTH and "\n" not in text:
        return Cell(kind="text", text=text)
    return Cell(
        kind="text",
        text=cut(text, MAX_TEXT_LENGTH),
        detail=cut(text, MAX_DETAIL_LENGTH),
    )


def _hex_text(value: bytes) -> str:
    preview = value[:HEX_PREVIEW_BYTES].hex(" ")
    dots = " …" if len(value) > HEX_PREVIEW_BYTES else ""
    return f"{preview}{dots} ({len(value):,} B)".strip()  # "5 B" is two bytes, too


def _hex_detail(value: bytes) -> str:
    return (
        value[: MAX_DETAIL_LENGTH // 3].hex(" ")
        if len(value) > HEX_PREVIEW_BYTES
        else ""
    )


def _braced(items: object, zone: tzinfo) -> str:
    pairs = [(key, entry) for key, entry in items][:20]  # type: ignore[attr-defined]  # pairs of a map or a struct
    inside = ", ".join(
        f"{preview_text(key, zone)}: {preview_text(entry, zone)}"
        for key, entry in pairs
    )
    return "{" + inside + "}"


def _json_map(entries: list[Any]) -> object:
    """Return a map as an object where its keys are distinct text, else as pairs."""
    keys = [key for key, _ in entries]
    if all(isinstance(key, str) for key in keys) and len(set(keys)) == len(keys):
        return {key: json_value(value) for key, value in entries}
    return [
        {"key": json_value(key), "value": json_value(value)} for key, value in entries
    ]


def csv_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[list[object]]:
    """Yield rows as the CSV form shows them: values with parts as their JSON."""
    for batch in batches:
        columns = [map(_of_csv(column.type), python_values(column)) for column in batch]
        yield from map(list, zip(*columns, strict=True))


def _of_csv(kind: pa.DataType) -> ToJSON:
    return to_json_of(kind) if pa.types.is_nested(kind) else lambda value: value


# === Texts of a log: a long one is cut, and says how long it is ===


MAX_LENGTH: Final = 500  # characters that a list shows as they are
MAX_PATH_LENGTH: Final = 1_000  # of a file's path, and of what an address may name
SHOWN_LENGTH: Final = 300  # of a longer text
MAX_CHUNK_BYTES: Final = 8 << 20


def are_long(texts: Any, longest: int = MAX_LENGTH) -> Any:  # noqa: ANN401 (an Arrow array, chunked or not)
    """Mark the texts that a list cuts; null is none."""
    return pc.fill_null(pc.greater(pc.utf8_length(texts), longest), fill_value=False)


def cut_texts(texts: Any, longest: int = MAX_LENGTH) -> Any:  # noqa: ANN401 (an Arrow array, chunked or not)
    """Return texts with the long ones cut: their beginning and their length.

    What is cut is said in the text itself, so that a script cannot mistake it.
    """
    is_long = are_long(texts, longest)
    if not pc.any(is_long).as_py():
        return texts
    starts = pc.utf8_slice_codeunits(texts, 0, SHOWN_LENGTH)
    lengths = pc.cast(pc.utf8_length(texts), pa.string())
    marked = pc.binary_join_element_wise(starts, "… (", lengths, " characters)", "")
    return pc.if_else(is_long, marked, texts)


def chunk_length(rows: pa.Table, most: int) -> int:
    """Return how many rows an export may hold at once: fewer where values are long."""
    num_rows, num_bytes = int(rows.num_rows), int(rows.nbytes)
    average_bytes = num_bytes // max(num_rows, 1)
    return max(min(most, MAX_CHUNK_BYTES // max(average_bytes, 1)), 1)
