"""A footer as pyarrow takes it, from bytes that are read already.

Nothing but its schema and counts of the whole file should be asked of what it gives:
pyarrow ends the process where the metadata of a column chunk contradicts itself.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.parquet.annotations import UNIT_DIGITS
from deltaweb.parquet.compact.layouts import (
    LateListOf,
    Layout,
    ListOf,
    NamedListOf,
)
from deltaweb.parquet.compact.reader import CompactReader
from deltaweb.parquet.compact.writer import CompactWriter
from deltaweb.parquet.errors import (
    ParquetError,
    ParquetUnsupportedError,
    ValuesUnreadableError,
)
from deltaweb.parquet.metadata import ELEMENT, elements_of
from deltaweb.parquet.nesting import faults
from deltaweb.parquet.schema import Node, build_schema
from deltaweb.parquet.tail import MAGIC

MAX_REWRITTEN_BYTES: Final = 4 << 20
"""Looking through the schema of a larger footer takes too long."""
ARROW_SCHEMA: Final = b"ARROW:schema"
NO_SCHEMA: Final = b"ARROW:ignore"  # as long: the footer stays what it is

# The names of a map and of a list: in the old enumeration, and in the union of types.
_CONVERTED_MAPS: Final = (1 << 1, 2 << 1)  # MAP, MAP_KEY_VALUE: zigzag-encoded
_CONVERTED_LIST: Final = 3 << 1
_REQUIRED, _REPEATED = 0 << 1, 2 << 1
_STRUCT: Final = 12
_LOGICAL_MAP, _LOGICAL_LIST = 2 << 4 | _STRUCT, 3 << 4 | _STRUCT
_I32, _I64 = 5, 6
_NARROW_BYTES: Final = 16
"""Decimals of more bytes are read as 256 bits, which pyarrow does from 39 digits on."""
_WIDE_DIGITS, _MOST_DIGITS = 39, 76

_ELEMENTS: Final = Layout(schema=(2, NamedListOf(ELEMENT, "name")))
_FILE: Final = Layout(
    schema=(2, "place"),
    # Its column chunks are gone past quickly.
    row_groups=(4, ListOf(Layout(columns=(1, LateListOf(Layout()))))),
)
_ELEMENT: Final = Layout(
    repetition=(3, "place"),
    num_children=(5, "int"),
    converted=(6, "place"),
    precision=(8, "place"),
    logical=(10, "place"),
)
_DECIMAL: Final = Layout(decimal=(5, Layout(precision=(2, "place"))))

CHECKSUM_FAULT: Final = "CRC checksum verification failed"
"""What pyarrow says of a page that differs from its checksum."""
UNSUPPORTED_FAULTS: Final = (
    *("not supported", "unsupported", "not implemented", "not yet implemented"),
    *("unknown encoding", "delta bit width larger"),
    *(DECIMAL_FAULTS := ("passed to decimal", "byte_array length for decimal")),
)
"""What it says of files that may be healthy, in lower case."""
MAX_REASON_LENGTH: Final = 300


def open_parquet(
    source: pa.NativeFile,
    metadata: pq.FileMetaData | None = None,
    *,
    coded: Iterable[str] = (),
    **options: Any,  # noqa: ANN401  # of pyarrow's reader
) -> pq.ParquetFile:
    """Return a reader of a file, which checks every page that has a checksum (CRC).

    Args:
        metadata: Its footer; None to read it here.
        coded: Paths of leaf columns whose texts are read as codes.
    """
    return pq.ParquetFile(
        source,
        metadata=metadata,
        read_dictionary=list(coded),
        # The old 96-bit timestamps reach further than nanoseconds can.
        coerce_int96_timestamp_unit="us",
        arrow_extensions_enabled=False,
        page_checksum_verification=True,
        **options,
    )


def fault_reason(error: Exception) -> str:
    """Return why pyarrow cannot read a file, as half a sentence."""
    text = str(error).strip()
    if CHECKSUM_FAULT in text:
        return "the bytes of a page differ from its checksum (CRC)"
    if any(mark in text.lower() for mark in DECIMAL_FAULTS):
        return "a decimal has no bytes or more than 32"
    return text.partition("\n")[0][:MAX_REASON_LENGTH].rstrip(".")


def read_fault(error: Exception) -> ParquetError:
    """Return what pyarrow says of a file that it cannot read, as an error of ours."""
    reason = fault_reason(error)
    text = str(error).lower()
    if isinstance(error, pa.ArrowNotImplementedError) or any(
        mark in text for mark in UNSUPPORTED_FAULTS
    ):
        return ParquetUnsupportedError(reason=reason)
    return ValuesUnreadableError(reason=reason)


def parse_arrow_footer(footer: bytes) -> pq.FileMetaData:
    length = len(footer).to_bytes(4, "little")
    return pq.read_metadata(pa.BufferReader(MAGIC + footer + length + MAGIC))


def has_misread(root: Node) -> bool:
    """Whether pyarrow opens a schema, and reads a column of it wrongly or not at all.

    It takes an unknown annotation for nulls, and reads decimals of up to 38 digits from
    16 bytes at most.
    """
    return any(map(_is_misread, root.walk()))


def plain_footer(footer: bytes) -> bytes | None:
    """Return the bytes of a footer without what pyarrow refuses or misreads of it.

    Maps are told to be lists of their entries, which say the same: pyarrow refuses
    the whole file where the key of one is optional, as Presto has written them. A list
    or a map that is the repeated group of a list gets the group between that lists of
    three levels have: pyarrow refuses most of them. It is required, so that the levels
    stay as they are. Annotations that are unknown, or do not fit their column, are left
    out, because other columns of such a file are readable. Decimals in many bytes get
    more digits. And the schema that Arrow's writers leave beside Parquet's is left out:
    it is text that nothing in Parquet vouches for.

    Returns:
        The bytes; None where nothing is to be told otherwise, and of a footer so large
        that looking through it takes too long.
    """
    if len(footer) > MAX_REWRITTEN_BYTES:
        return None
    before, key, after = _plain_schema(footer).rpartition(ARROW_SCHEMA)
    plain = before + NO_SCHEMA + after if key else after
    return None if plain == footer else plain


def _plain_schema(footer: bytes) -> bytes:
    """Return a footer whose schema pyarrow takes."""
    start = CompactReader(footer).read_struct(_FILE).get("schema")
    if start is None:
        return footer
    reader = CompactReader(footer, start)
    elements = reader.read_placed(_ELEMENT)
    raw = CompactReader(footer).read_struct(_ELEMENTS)
    root = build_schema(elements_of(raw["schema"]))
    changed = bytearray(footer)
    inserted: dict[int, bytes] = {}
    cut: dict[int, int] = {}
    is_in_list = False
    ends = [*(begin for begin, _ in elements[1:]), reader.position]
    unread = {id(node) for node, _ in faults(root)}
    for (begin, element), end, node in zip(elements, ends, root.walk(), strict=True):
        was_list = _is_list(changed, element)
        _name_a_list(changed, element)
        place = element.get("repetition")
        is_inner = is_in_list and _is_list(changed, element)
        if is_inner and place is not None and changed[place] == _REPEATED:
            changed[place] = _REQUIRED
            inserted[begin] = _between()
        is_unread = id(node) in unread or _is_unknown(node)
        is_in_list = was_list and not is_unread and element.get("num_children") == 1
        if is_unread:
            _hide_converted(changed, element)
            logical = element.get("logical", 0)
            if changed[logical - 1] & 0x0F == _STRUCT:
                cut[logical - 1] = end - 1  # it is the last field of an element
        elif _is_misread(node):
            _widen(changed, element)
    if not inserted and not cut:
        return bytes(changed)
    head = CompactWriter()
    head.head(len(elements) + len(inserted), _STRUCT)
    parts, at = [bytes(changed[:start] + head.parts)], elements[0][0]
    for edge in sorted({*inserted, *cut}):
        parts += [bytes(changed[at:edge]), inserted.get(edge, b"")]
        at = cut.get(edge, edge)
    return b"".join([*parts, bytes(changed[at:])])


def _is_misread(node: Node) -> bool:
    if node.kind == "UNRECOGNIZED_CONVERTED":
        return True
    if node.kind != "DECIMAL" or node.annotation is None:
        return False
    physical, length = node.element.physical_type, node.element.type_length or 0
    is_long = physical == "BYTE_ARRAY" or length > _NARROW_BYTES
    return is_long and (node.annotation.precision or 0) < _WIDE_DIGITS


def _is_unknown(node: Node) -> bool:
    """Whether pyarrow does not know an annotation; then its values are as stored."""
    annotation = node.annotation
    if annotation is None:
        return False
    if annotation.kind in {"TIME", "TIMESTAMP"}:
        return annotation.unit not in UNIT_DIGITS
    if annotation.kind == "DECIMAL":
        return (annotation.precision or 0) > _MOST_DIGITS
    return annotation.kind.startswith("UNRECOGNIZED")


def _hide_converted(footer: bytearray, element: Mapping[str, int]) -> None:
    """Give an annotation another type on its way, so that readers skip it."""
    place = element.get("converted")
    if place is not None and footer[place - 1] & 0x0F == _I32:
        footer[place - 1] += _I64 - _I32


def _widen(footer: bytearray, element: Mapping[str, int]) -> None:
    """Give a decimal so many digits that pyarrow reads it as 256 bits."""
    places = [element.get("precision")]
    if (logical := element.get("logical")) is not None:
        decimal = CompactReader(bytes(footer), logical).read_struct(_DECIMAL)
        places.append(decimal.get("decimal", {}).get("precision"))
    for place in places:
        if place is not None and footer[place] < _WIDE_DIGITS << 1:
            footer[place] = _WIDE_DIGITS << 1


def _is_list(footer: bytearray, element: Mapping[str, int]) -> bool:
    place = element.get("logical")
    if place is not None:  # it decides where an element has both
        return footer[place] == _LOGICAL_LIST
    place = element.get("converted")
    return place is not None and footer[place] == _CONVERTED_LIST


def _name_a_list(footer: bytearray, element: Mapping[str, int]) -> None:
    """Change the annotation of a map into that of a list, which is as long."""
    place = element.get("converted")
    if place is not None and footer[place] in _CONVERTED_MAPS:
        footer[place] = _CONVERTED_LIST
    place = element.get("logical")
    if place is not None and footer[place] == _LOGICAL_MAP:
        footer[place] = _LOGICAL_LIST


def _between() -> bytes:
    """Return the repeated group between a list of three levels and its element."""
    writer = CompactWriter()
    writer.struct([(3, "i32", 2), (4, "binary", b"list"), (5, "i32", 1)])
    return bytes(writer.parts)
