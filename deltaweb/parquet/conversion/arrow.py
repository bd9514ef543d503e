"""A Parquet schema as an Arrow schema, of any file whose columns can be held.

Source: Arrow's columnar format, "Data Types"; Parquet logical types.
"""

from typing import Final

import pyarrow as pa

from deltaweb.parquet.annotations import UNIT_DIGITS, Annotation
from deltaweb.parquet.conversion.delta import DeltaConversion
from deltaweb.parquet.loading import ParquetFooter
from deltaweb.parquet.nesting import NestingError, list_shape, map_shape
from deltaweb.parquet.schema import Node

_UNITS: Final = {"MILLIS": "ms", "MICROS": "us", "NANOS": "ns"}
_PHYSICAL: Final = {
    "BOOLEAN": pa.bool_(),
    "INT32": pa.int32(),
    "INT64": pa.int64(),
    "INT96": pa.timestamp("ns"),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    "BYTE_ARRAY": pa.binary(),
}
_ANNOTATED: Final = {
    **dict.fromkeys(("STRING", "ENUM", "JSON"), pa.string()),
    "DATE": pa.date32(),
    "FLOAT16": pa.float16(),
    "UNKNOWN": pa.null(),
}
_INTEGERS: Final = {
    (8, True): pa.int8(),
    (16, True): pa.int16(),
    (32, True): pa.int32(),
    (64, True): pa.int64(),
    (8, False): pa.uint8(),
    (16, False): pa.uint16(),
    (32, False): pa.uint32(),
    (64, False): pa.uint64(),
}
_MOST_DIGITS: Final = 76
_MOST_BYTES: Final = 2**31 - 1


def arrow_schema(root: Node) -> pa.Schema:
    """Return the Arrow schema of a file; a column that is odd has its physical type."""
    return pa.schema([_field(node) for node in root.children or ()])


def convert_file_for_arrow(footer: ParquetFooter) -> DeltaConversion:
    """Return the columns of a file with the names of their Arrow types."""
    fields = [
        {
            "name": column.name,
            "type": str(column.type),
            "nullable": column.nullable,
            "metadata": {},
        }
        for column in arrow_schema(footer.root)
    ]
    return DeltaConversion({"type": "struct", "fields": fields}, (), (), ())


def _field(node: Node) -> pa.Field:
    own = _type(node)
    if node.is_repeated and node.kind != "LIST":
        return _required(node.name, pa.list_(_required("element", own)))
    return _required(node.name, own) if node.is_required else pa.field(node.name, own)


def _required(name: str, own: pa.DataType) -> pa.Field:
    """Return a field that is never null, unless it is nothing but null."""
    return pa.field(name, own, nullable=pa.types.is_null(own))


def _type(node: Node, *, is_in_list: bool = False) -> pa.DataType:
    if node.children is None:
        annotation = None if node.invalid else node.annotation
        return _leaf(node, annotation)
    try:
        if node.kind == "LIST":
            element, is_repeated_element = list_shape(node, is_in_list=is_in_list)
            if not is_repeated_element:
                return pa.list_(_field(element).with_name("element"))
            return pa.list_(_required("element", _type(element, is_in_list=True)))
        if node.kind == "MAP":
            first, second = map_shape(node, is_in_list=is_in_list)
            key = _field(first).type
            if second is not None and not pa.types.is_null(key):
                return pa.map_(key, _field(second).with_name("value"))
    except NestingError:
        pass
    return pa.struct([_field(child) for child in node.children])


def _leaf(node: Node, annotation: Annotation | None) -> pa.DataType:
    physical, length = node.element.physical_type, node.element.type_length
    plain = _PHYSICAL.get(physical or "")
    if plain is None:
        is_held = length is not None and 0 < length <= _MOST_BYTES
        plain = pa.binary(length if is_held else -1)
    if annotation is None:
        return plain
    match annotation.kind:
        case "INT":
            return _INTEGERS[annotation.bit_width, annotation.is_signed]
        case "DECIMAL" if 0 < (annotation.precision or 0) <= _MOST_DIGITS:
            return _decimal(annotation.precision or 0, annotation.scale)
        case "TIME" if annotation.unit in UNIT_DIGITS:
            unit = _UNITS[annotation.unit]
            return pa.time32(unit) if unit == "ms" else pa.time64(unit)
        case "TIMESTAMP" if annotation.unit in UNIT_DIGITS:
            zone = "UTC" if annotation.is_utc else None
            return pa.timestamp(_UNITS[annotation.unit], zone)
    return _ANNOTATED.get(annotation.kind, plain)


def _decimal(precision: int, scale: int) -> pa.DataType:
    is_small = precision <= 38  # noqa: PLR2004 (the digits of 128 bits)
    return (pa.decimal128 if is_small else pa.decimal256)(precision, scale)
