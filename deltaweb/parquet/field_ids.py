"""A footer with other field ids; every other byte of it stays, unknown fields too.

Source: parquet.thrift, "FileMetaData" and "SchemaElement"; Thrift's compact protocol,
"Struct encoding".
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple, TypeAlias

from deltaweb.parquet.arrow_footer import ARROW_SCHEMA
from deltaweb.parquet.compact.cursor import CUT, Cursor
from deltaweb.parquet.compact.layouts import (
    STRUCT,
    LateListOf,
    Layout,
    ListOf,
    NamedListOf,
)
from deltaweb.parquet.compact.reader import CompactReader
from deltaweb.parquet.compact.writer import CompactWriter
from deltaweb.parquet.errors import FileEncryptedError, FooterCorruptError
from deltaweb.parquet.metadata import ELEMENT, elements_of
from deltaweb.parquet.schema import Node, build_schema

MAX_REWRITTEN_BYTES: Final = 4 << 20
"""A larger footer is not rewritten: it would hold a web process for too long."""
MAX_ELEMENTS: Final = 50_000
MAX_PARTS: Final = 150_000
"""More row groups, column chunks or pairs are in no footer of that size: one of 3 MiB
could name a million, which took 17 s and 400 MiB."""
MAX_SKIPPED: Final = 500_000
"""More values are skipped in no footer: 4 MiB can have four million, which took 4 s."""
ID_BYTES: Final = 6
"""The most bytes that a field id adds to a footer: its header and 32 bits."""
TYPE_BYTES: Final = 4
"""The bytes that the logical type of a list or a map adds."""

Ids: TypeAlias = Mapping[int, int | None]
"""Field ids by the positions of schema elements, depth first; None removes an id."""

_FIELD_ID, _LOGICAL_TYPE = 9, 10
_I32: Final = 5
_LOGICAL_TYPES: Final = {"MAP": b"\x2c\0\0", "LIST": b"\x3c\0\0"}
_SHORT: Final = 15
_ELEMENTS: Final = Layout("schema", schema=(2, NamedListOf(ELEMENT, "name")))
_FILE: Final = Layout(
    "schema",
    schema=(2, "place"),
    row_groups=(4, ListOf(Layout(columns=(1, LateListOf(Layout()))))),
    key_values=(5, "place"),
    encryption=(8, "place"),
)
_KEY_VALUE: Final = Layout(key=(1, "binary"))


class _Field(NamedTuple):
    """A field of a struct; its value is at `start:end`."""

    number: int
    kind: int
    start: int
    end: int


class _Edit(NamedTuple):
    """Bytes that replace those at `start:end`."""

    start: int
    end: int
    data: bytes


def with_field_ids(footer: bytes, assign: Callable[[Node], Ids]) -> bytes | None:
    """Return a footer with the field ids that `assign` gives to its schema.

    A list or a map that gets an id also gets its logical type, which old writers leave
    out: Daft finds elements by ids only with it. The schema that Arrow's writers keep
    beside Parquet's is left out, because it describes types of other readers, such as
    string views.

    Returns:
        The new footer; None if it has these ids already.

    Raises:
        FileEncryptedError: If columns are encrypted: the footer may be signed.
        FooterCorruptError, SchemaCorruptError: If it cannot be parsed, or is too large.
    """
    if len(footer) > MAX_REWRITTEN_BYTES:
        raise FooterCorruptError(reason=f"it has more than {MAX_REWRITTEN_BYTES} bytes")
    places = _reader(footer).read_struct(_FILE)
    if "encryption" in places:
        raise FileEncryptedError
    elements = _structs(footer, places["schema"])
    raw = _reader(footer).read_struct(_ELEMENTS)
    schema = elements_of(raw["schema"])
    if len(schema) != len(elements):
        raise FooterCorruptError(reason="it has two schemas")
    root = build_schema(schema)
    nodes, ids = [*root.walk()], assign(root)
    edits = [
        _Edit(*_span(elements[at]), _with_id(footer, elements[at], field_id, nodes[at]))
        for at, field_id in sorted(ids.items())
        if schema[at].field_id != field_id
    ]
    if not edits:
        return None
    if "key_values" in places:
        edits += _without_arrow_schema(footer, places["key_values"])
    return _edited(footer, edits)


def _reader(footer: bytes, place: int = 0) -> CompactReader:
    return CompactReader(footer, place, most=MAX_PARTS, most_skipped=MAX_SKIPPED)


def _structs(footer: bytes, place: int) -> list[list[_Field]]:
    """Return the structs of a list, each with the end of it as its last field."""
    cursor = Cursor(footer, place, most_skipped=MAX_SKIPPED)
    try:
        size, kind = cursor.list_header()
        if kind != STRUCT or size > MAX_ELEMENTS:
            raise FooterCorruptError(reason=f"its schema has {size:,} elements")
        return [_fields(cursor) for _ in range(size)]
    except IndexError:
        raise FooterCorruptError(reason=CUT) from None


def _fields(cursor: Cursor) -> list[_Field]:
    number, found = 0, [_Field(0, 0, cursor.position, cursor.position)]
    while header := cursor.byte():
        number = number + (header >> 4) if header >> 4 else cursor.integer()
        start = cursor.position
        cursor.skip(header & 0x0F, 1)
        found.append(_Field(number, header & 0x0F, start, cursor.position))
    found.append(_Field(0, 0, cursor.position, cursor.position))
    return found


def _span(fields: Sequence[_Field]) -> tuple[int, int]:
    return fields[0].start, fields[-1].end


def _with_id(
    footer: bytes, fields: Sequence[_Field], field_id: int | None, node: Node
) -> bytes:
    """Return a schema element with another field id, or without one."""
    others = [one for one in fields[1:-1] if one.number != _FIELD_ID]
    before = [one for one in others if one.number < _FIELD_ID]
    after = [one for one in others if one.number > _FIELD_ID]
    writer, last = CompactWriter(), 0
    for one in before:
        last = _write(writer, last, one, footer[one.start : one.end])
    if field_id is not None:
        value = CompactWriter()
        value.value("i32", field_id)
        last = _write(writer, last, _Field(_FIELD_ID, _I32, 0, 0), bytes(value.parts))
        known = _LOGICAL_TYPES.get(node.kind or "")
        if known and all(one.number != _LOGICAL_TYPE for one in after):
            last = _write(writer, last, _Field(_LOGICAL_TYPE, STRUCT, 0, 0), known)
    for one in after:
        last = _write(writer, last, one, footer[one.start : one.end])
    writer.parts.append(0)
    return bytes(writer.parts)


def _write(writer: CompactWriter, last: int, field: _Field, value: bytes) -> int:
    """Write a field after that of another number, and return its own number."""
    delta = field.number - last
    if 0 < delta <= _SHORT:
        writer.parts.append(delta << 4 | field.kind)
    else:
        writer.parts.append(field.kind)
        writer.value("i32", field.number)
    writer.parts += value
    return field.number


def _without_arrow_schema(footer: bytes, place: int) -> list[_Edit]:
    reader = _reader(footer, place)
    pairs = reader.read_placed(_KEY_VALUE)
    edges = [*(begin for begin, _ in pairs), reader.position]
    kept = [
        footer[begin:end]
        for (begin, end), (_, pair) in zip(pairwise(edges), pairs, strict=True)
        if pair.get("key") != ARROW_SCHEMA
    ]
    if len(kept) == len(pairs):
        return []
    head = CompactWriter()
    head.head(len(kept), STRUCT)
    return [_Edit(place, reader.position, bytes(head.parts) + b"".join(kept))]


def _edited(data: bytes, edits: Sequence[_Edit]) -> bytes:
    at = 0
    parts: list[bytes] = []
    for edit in sorted(edits):
        parts += [data[at : edit.start], edit.data]
        at = edit.end
    return b"".join([*parts, data[at:]])
