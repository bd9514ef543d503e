"""What a footer holds, as it is stored: nothing is corrected, unknown numbers are kept.

Source: parquet.thrift of the Parquet format, "FileMetaData" and what it names.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from deltaweb.parquet.compact.layouts import LateListOf, Layout, ListOf, NamedListOf
from deltaweb.parquet.compact.reader import CompactReader, Named

PHYSICAL_TYPES: Final = (
    *("BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY"),
    "FIXED_LEN_BYTE_ARRAY",
)
CONVERTED_TYPES: Final = (
    *("UTF8", "MAP", "MAP_KEY_VALUE", "LIST", "ENUM", "DECIMAL", "DATE"),
    *("TIME_MILLIS", "TIME_MICROS", "TIMESTAMP_MILLIS", "TIMESTAMP_MICROS"),
    *("UINT_8", "UINT_16", "UINT_32", "UINT_64", "INT_8", "INT_16", "INT_32"),
    *("INT_64", "JSON", "BSON", "INTERVAL"),
)
REPETITIONS: Final = ("required", "optional", "repeated")
ENCODINGS: Final = (
    *("PLAIN", "UNKNOWN(1)", "PLAIN_DICTIONARY", "RLE", "BIT_PACKED"),
    *("DELTA_BINARY_PACKED", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"),
    *("RLE_DICTIONARY", "BYTE_STREAM_SPLIT", "ALP"),
)
CODECS: Final = (
    *("UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW"),
)
COLUMN_ORDERS: Final = (
    *("UNKNOWN(0)", "TYPE_ORDER", "IEEE_754_TOTAL_ORDER", "INT96_TIMESTAMP_ORDER"),
)
_STRUCTS: Final = (dict, MappingProxyType)

ELEMENT: Final = Layout(
    "name",
    type=(1, "int"),
    type_length=(2, "int"),
    repetition=(3, "int"),
    name=(4, "binary"),
    num_children=(5, "int"),
    converted_type=(6, "int"),
    scale=(7, "int"),
    precision=(8, "int"),
    field_id=(9, "int"),
    logical_type=(10, "fields"),
)
_STATISTICS: Final = Layout(
    max=(1, "binary"),
    min=(2, "binary"),
    null_count=(3, "int"),
    distinct_count=(4, "int"),
    max_value=(5, "binary"),
    min_value=(6, "binary"),
    is_max_exact=(7, "bool"),
    is_min_exact=(8, "bool"),
    nan_count=(9, "int"),
)
_BOUNDING_BOX: Final = Layout(
    xmin=(1, "double"),
    xmax=(2, "double"),
    ymin=(3, "double"),
    ymax=(4, "double"),
    zmin=(5, "double"),
    zmax=(6, "double"),
    mmin=(7, "double"),
    mmax=(8, "double"),
)
_KEY_VALUE: Final = Layout("key", key=(1, "binary"), value=(2, "binary"))
_COLUMN: Final = Layout(
    type=(1, "int"),
    encodings=(2, ListOf("int")),
    path=(3, ListOf("binary")),
    codec=(4, "int"),
    num_values=(5, "int"),
    total_uncompressed_size=(6, "int"),
    total_compressed_size=(7, "int"),
    key_values=(8, ListOf(_KEY_VALUE)),
    data_page_offset=(9, "int"),
    index_page_offset=(10, "int"),
    dictionary_page_offset=(11, "int"),
    statistics=(12, _STATISTICS),
    encoding_stats=(
        13,
        ListOf(
            Layout("count", page_type=(1, "int"), encoding=(2, "int"), count=(3, "int"))
        ),
    ),
    bloom_filter_offset=(14, "int"),
    bloom_filter_length=(15, "int"),
    size_statistics=(
        16,
        Layout(
            unencoded_bytes=(1, "int"),
            repetition_levels=(2, ListOf("int")),
            definition_levels=(3, ListOf("int")),
        ),
    ),
    geospatial_statistics=(
        17,
        Layout(bbox=(1, _BOUNDING_BOX), geospatial_types=(2, ListOf("int"))),
    ),
)
_CHUNK: Final = Layout(
    "file_offset",
    file_path=(1, "binary"),
    file_offset=(2, "int"),
    metadata=(3, _COLUMN),
    offset_index_offset=(4, "int"),
    column_index_offset=(6, "int"),
    crypto_metadata=(8, "fields"),
    encrypted_metadata=(9, "binary"),
)
_ROW_GROUP: Final = Layout(
    "num_rows",
    columns=(1, LateListOf(_CHUNK)),
    total_byte_size=(2, "int"),
    num_rows=(3, "int"),
    sorting_columns=(
        4,
        ListOf(
            Layout(
                "column_idx",
                column_idx=(1, "int"),
                descending=(2, "bool"),
                nulls_first=(3, "bool"),
            )
        ),
    ),
    file_offset=(5, "int"),
    total_compressed_size=(6, "int"),
    ordinal=(7, "int"),
)
_FILE: Final = Layout(
    *("version", "schema", "num_rows"),
    version=(1, "int"),
    schema=(2, NamedListOf(ELEMENT, "name")),
    num_rows=(3, "int"),
    row_groups=(4, ListOf(_ROW_GROUP)),
    key_values=(5, ListOf(_KEY_VALUE)),
    created_by=(6, "binary"),
    column_orders=(7, ListOf("fields")),
    encryption_algorithm=(8, "fields"),
)


# An element is read some thousand times where a name of a codec is read once.
_REPETITION_NAMES: Final = dict[int | None, str](enumerate(REPETITIONS))
_PHYSICAL_NAMES: Final = dict[int | None, str](enumerate(PHYSICAL_TYPES))
_CONVERTED_NAMES: Final = dict[int | None, str](enumerate(CONVERTED_TYPES))


def _unknown_name(number: int | None) -> str | None:
    return None if number is None else f"UNKNOWN({number})"


def name_of(names: Sequence[str], number: int, unknown: str = "UNKNOWN") -> str:
    """Return the name of a number of an enumeration, or `UNKNOWN(number)`."""
    return names[number] if 0 <= number < len(names) else f"{unknown}({number})"


def text_of(raw: bytes) -> str:
    """Return bytes that should be UTF-8 as text, with what is not escaped."""
    return raw.decode("utf-8", "backslashreplace")


class SchemaElement(NamedTuple):
    """One element of the flat schema, as stored.

    Attributes:
        name: Its name; bytes that are no UTF-8 are escaped.
        repetition: `required`, `optional`, `repeated`, or `UNKNOWN(n)`; None if absent.
        logical_type: The member of the union, and its fields; None if absent. A member
            of 0 is a union without one.
    """

    name: str
    repetition: str | None
    physical_type: str | None
    type_length: int | None
    converted_type: str | None
    precision: int | None
    scale: int | None
    field_id: int | None
    logical_type: tuple[int, Mapping[int, Any]] | None
    num_children: int | None


@dataclass(frozen=True)
class ColumnChunk:
    """What a footer holds of one leaf column in one row group.

    Attributes:
        values: The fields of ColumnMetaData by name, as stored.
        chunk: The fields of ColumnChunk by name, without the metadata.
    """

    values: Mapping[str, Any]
    chunk: Mapping[str, Any]

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(text_of(name) for name in self.values.get("path", ()))

    @property
    def physical_type(self) -> str | None:
        """The name of the physical type; None where the footer has none."""
        number = self.values.get("type")
        return None if number is None else name_of(PHYSICAL_TYPES, number)

    @property
    def encodings(self) -> list[str]:
        return [name_of(ENCODINGS, e) for e in self.values.get("encodings", ())]

    @property
    def codec(self) -> str | None:
        number = self.values.get("codec")
        return None if number is None else name_of(CODECS, number)

    @property
    def statistics(self) -> Mapping[str, Any] | None:
        """The fields of its statistics, as stored; None if it has none."""
        found: Mapping[str, Any] | None = self.values.get("statistics")
        return found

    @property
    def is_encrypted(self) -> bool:
        return "crypto_metadata" in self.chunk


@dataclass(frozen=True)
class RowGroup:
    """What a footer holds of one row group."""

    num_rows: int
    total_byte_size: int
    total_compressed_size: int | None
    sorting_columns: Sequence[Mapping[str, Any]] | None
    raw_columns: Sequence[Mapping[str, Any]]

    @cached_property
    def columns(self) -> list[ColumnChunk]:
        return list(self.chunks())

    def chunks(self) -> Iterator[ColumnChunk]:
        """Yield its column chunks, and keep none."""
        for raw in self.raw_columns:
            yield ColumnChunk(raw.get("metadata", {}), raw)


@dataclass(frozen=True)
class FileMetadata:
    """A footer.

    Attributes:
        elements: The schema, depth first, the root at its head.
        key_values: Keys and values in the order of the footer; keys may repeat.
        column_orders: Names, an order a leaf column; None if absent.
    """

    version: int
    elements: tuple[SchemaElement, ...]
    num_rows: int
    row_groups: tuple[RowGroup, ...]
    key_values: tuple[tuple[str, str | None], ...]
    created_by: str | None
    column_orders: tuple[str, ...] | None
    encryption: str | None
    footer_length: int


def parse_metadata(footer: bytes) -> FileMetadata:
    """Parse the bytes of a footer.

    Source: parquet.thrift, "FileMetaData".
    """
    raw = CompactReader(footer).read_struct(_FILE)
    orders = raw.get("column_orders")
    encryption = raw.get("encryption_algorithm")
    return FileMetadata(
        version=raw["version"],
        elements=elements_of(raw["schema"]),
        num_rows=raw["num_rows"],
        row_groups=tuple(_row_group(group) for group in raw.get("row_groups", ())),
        key_values=tuple(_key_value(pair) for pair in raw.get("key_values", ())),
        created_by=text_of(raw["created_by"]) if "created_by" in raw else None,
        column_orders=None
        if orders is None
        else tuple(name_of(COLUMN_ORDERS, member_of(order)) for order in orders),
        encryption=None if encryption is None else _algorithm(member_of(encryption)),
        footer_length=len(footer),
    )


def member_of(union: Mapping[int, Any]) -> int:
    """Return the number of a union's first member, 0 where it has none."""
    return next(iter(union), 0)


def _algorithm(member: int) -> str:
    return name_of(("UNKNOWN(0)", "AES_GCM_V1", "AES_GCM_CTR_V1"), member)


def _key_value(pair: Mapping[str, bytes]) -> tuple[str, str | None]:
    value = pair.get("value")
    return text_of(pair.get("key", b"")), None if value is None else text_of(value)


def elements_of(named: Sequence[Named]) -> tuple[SchemaElement, ...]:
    """Return the elements of a schema; what equal ones store is worked out once."""
    known: dict[int, tuple[Any, ...]] = {}
    made = []
    for name, raw in named:
        stored = known.get(id(raw))
        if stored is None:
            stored = known[id(raw)] = _stored(raw)
        made.append(SchemaElement(text_of(name), *stored))
    return tuple(made)


def _stored(raw: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the fields of an element that come after its name."""
    get = raw.get
    repetition, physical = get("repetition"), get("type")
    converted = get("converted_type")
    logical = None
    if (union := get("logical_type")) is not None:
        fields = union.get(member := member_of(union), {})
        logical = member, fields if isinstance(fields, _STRUCTS) else {}
    return (
        _REPETITION_NAMES.get(repetition) or _unknown_name(repetition),
        _PHYSICAL_NAMES.get(physical) or _unknown_name(physical),
        get("type_length"),
        _CONVERTED_NAMES.get(converted) or _unknown_name(converted),
        get("precision"),
        get("scale"),
        get("field_id"),
        logical,
        get("num_children"),
    )


def _row_group(raw: Mapping[str, Any]) -> RowGroup:
    return RowGroup(
        num_rows=raw.get("num_rows", 0),
        total_byte_size=raw.get("total_byte_size", 0),
        total_compressed_size=raw.get("total_compressed_size"),
        sorting_columns=raw.get("sorting_columns"),
        raw_columns=raw.get("columns", ()),
    )
