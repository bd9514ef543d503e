"""A footer as pyarrow takes it, from bytes that are read already.

Nothing but its schema and counts of the whole file should be asked of what it gives:
pyarrow ends the process where the metadata of a column chunk contradicts itself.
"""

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.parquet.compact.layouts import LateListOf, Layout, ListOf
from deltaweb.parquet.compact.reader import CompactReader
from deltaweb.parquet.compact.writer import CompactWriter
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

_FILE: Final = Layout(
    schema=(2, "place"),
    # Its column chunks are gone past quickly.
    row_groups=(4, ListOf(Layout(columns=(1, LateListOf(Layout()))))),
)
_ELEMENT: Final = Layout(
    repetition=(3, "place"),
    num_children=(5, "int"),
    converted=(6, "place"),
    logical=(10, "place"),
)

CHECKSUM_FAULT: Final = "CRC checksum verification failed"
"""What pyarrow says of a page that differs from its checksum."""
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
    return text.partition("\n")[0][:MAX_REASON_LENGTH].rstrip(".")


def parse_arrow_footer(footer: bytes) -> pq.FileMetaData:
    length = len(footer).to_bytes(4, "little")
    return pq.read_metadata(pa.BufferReader(MAGIC + footer + length + MAGIC))


def plain_footer(footer: bytes) -> bytes | None:
    """Return the bytes of a footer without what pyarrow refuses of it.

    Maps are told to be lists of their entries, which say the same: pyarrow refuses
    the whole file where the key of one is optional, as Presto has written them. A list
    or a map that is the repeated group of a list gets the group between that lists of
    three levels have: pyarrow refuses most of them. It is required, so that the levels
    stay as they are. And the schema that Arrow's writers leave beside Parquet's is left
    out: it is text that nothing in Parquet vouches for.

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
    """Return a footer in which maps are lists, and lists of lists have three levels."""
    start = CompactReader(footer).read_struct(_FILE).get("schema")
    if start is None:
        return footer
    reader = CompactReader(footer, start)
    elements = reader.read_placed(_ELEMENT)
    changed = bytearray(footer)
    wrapped = []
    is_in_list = False
    for begin, element in elements:
        was_list = _is_list(changed, element)
        _name_a_list(changed, element)
        place = element.get("repetition")
        is_inner = is_in_list and _is_list(changed, element)
        if is_inner and place is not None and changed[place] == _REPEATED:
            changed[place] = _REQUIRED
            wrapped.append(begin)
        is_in_list = was_list and element.get("num_children") == 1
    if not wrapped:
        return bytes(changed)
    head = CompactWriter()
    head.head(len(elements) + len(wrapped), _STRUCT)
    first = elements[0][0]
    edges = [first, *wrapped, len(changed)]
    parts = [bytes(changed[low:high]) for low, high in pairwise(edges)]
    return bytes(changed[:start] + head.parts) + _between().join(parts)


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
