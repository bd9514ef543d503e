"""A schema as code that someone can paste: SQL, PySpark, pyarrow.

Each text makes the same schema again when it is run; tests run them.
"""

import json
import re
from collections.abc import Sequence

from deltaweb.delta.protocol.schema import (
    OPAQUE,
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
    type_text,
    unread_type,
)

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_INDENT = "    "
_SPARK_TYPES = {
    "string": "StringType",
    "long": "LongType",
    "integer": "IntegerType",
    "short": "ShortType",
    "byte": "ByteType",
    "float": "FloatType",
    "double": "DoubleType",
    "boolean": "BooleanType",
    "binary": "BinaryType",
    "date": "DateType",
    "timestamp": "TimestampType",
    "timestamp_ntz": "TimestampNTZType",
    "void": "NullType",
    "variant": "VariantType",
}
_SPARK_INTERVALS = {
    "DayTimeIntervalType": ("day", "hour", "minute", "second"),
    "YearMonthIntervalType": ("year", "month"),
}
_PYARROW_TYPES = {
    "string": "pa.string()",
    "long": "pa.int64()",
    "integer": "pa.int32()",
    "short": "pa.int16()",
    "byte": "pa.int8()",
    "float": "pa.float32()",
    "double": "pa.float64()",
    "boolean": "pa.bool_()",
    "binary": "pa.binary()",
    "date": "pa.date32()",
    "timestamp": 'pa.timestamp("us", tz="UTC")',
    "timestamp_ntz": 'pa.timestamp("us")',
    "void": "pa.null()",
    "variant": "pa.string()",
}


# === SQL ===


def ddl(schema: StructType, table_name: str, partition_columns: Sequence[str]) -> str:
    """The CREATE TABLE statement of Spark SQL."""
    name = ".".join(_quoted(part) for part in table_name.split("."))
    columns = ",\n".join(f"  {_ddl_column(column)}" for column in schema.fields)
    text = f"CREATE TABLE {name} (\n{columns}\n)\nUSING DELTA"
    if partition_columns:
        names = ", ".join(_quoted(column) for column in partition_columns)
        text += f"\nPARTITIONED BY ({names})"
    return f"{text};"


def _ddl_column(column: StructField) -> str:
    return f"{_quoted(column.name)} {_ddl_type(column.data_type)}{_ddl_rest(column)}"


def _ddl_rest(column: StructField) -> str:
    comment = column.metadata.get("comment")
    text = "" if column.nullable else " NOT NULL"
    if isinstance(comment, str):
        escaped = comment.replace("\\", "\\\\").replace("'", "\\'")
        text += f" COMMENT '{escaped}'"
    return text


def _ddl_type(data_type: DataType) -> str:
    match data_type:
        case StructType(fields):
            parts = (
                f"{_quoted(column.name)}: {_ddl_type(column.data_type)}"
                f"{_ddl_rest(column)}"
                for column in fields
            )
            return f"STRUCT<{', '.join(parts)}>"
        case ArrayType(element_type):
            return f"ARRAY<{_ddl_type(element_type)}>"
        case MapType(key_type, value_type):
            return f"MAP<{_ddl_type(key_type)}, {_ddl_type(value_type)}>"
        case _:
            return type_text(data_type).upper()


def _quoted(name: str) -> str:
    return (
        name if _PLAIN_NAME.fullmatch(name) else "`{}`".format(name.replace("`", "``"))
    )


# === PySpark ===


def spark(schema: StructType) -> str:
    """Python code of PySpark's StructType, with the fields' metadata."""
    return f"from pyspark.sql.types import *\n\nschema = {_spark_type(schema, '')}"


def _spark_type(data_type: DataType, indent: str) -> str:
    inner = indent + _INDENT
    match data_type:
        case PrimitiveType(name, spelling) if name == OPAQUE:
            return _spark_opaque(spelling)
        case PrimitiveType(name):
            return f"{_SPARK_TYPES[name]}()"
        case DecimalType(precision, scale):
            return f"DecimalType({precision}, {scale})"
        case ArrayType(element_type, contains_null):
            return f"ArrayType({_spark_type(element_type, indent)}, {contains_null})"
        case MapType(key_type, value_type, contains_null):
            key, value = (_spark_type(part, indent) for part in (key_type, value_type))
            return f"MapType({key}, {value}, {contains_null})"
        case _:
            fields = data_type.fields
            lines = (f"{inner}{_spark_field(column, inner)},\n" for column in fields)
            return f"StructType([\n{''.join(lines)}{indent}])"


def _spark_opaque(spelling: str) -> str:
    """A type that is only known by its spelling; Spark's own intervals have classes."""
    words = spelling.removeprefix("interval ").split(" to ")
    for kind, units in _SPARK_INTERVALS.items():
        if spelling.startswith("interval ") and set(words) <= set(units):
            bounds = ", ".join(str(units.index(word)) for word in words)
            return f"{kind}({bounds})"
    return f"DataType.fromDDL({_text(spelling)})"


def _spark_field(column: StructField, indent: str) -> str:
    name, kind = _text(column.name), _spark_type(column.data_type, indent)
    metadata = f", {dict(column.metadata)!r}" if column.metadata else ""
    return f"StructField({name}, {kind}, {column.nullable}{metadata})"


# === pyarrow ===


def pyarrow(schema: StructType) -> str:
    """Python code of the pyarrow schema of the table's rows.

    A column of a type that is not known has no type in Arrow, and is a comment.
    """
    fields = _pyarrow_fields(schema, "")
    return f"import pyarrow as pa\n\nschema = pa.schema([{fields}])"


def _pyarrow_type(data_type: DataType, indent: str) -> str:
    match data_type:
        case PrimitiveType(name):
            return _PYARROW_TYPES[name]
        case DecimalType(precision, scale):
            return f"pa.decimal128({precision}, {scale})"
        case ArrayType(element_type, contains_null):
            element = _pyarrow_type(element_type, indent)
            return f'pa.list_(pa.field("element", {element}, nullable={contains_null}))'
        case MapType(key_type, value_type, contains_null):
            key, value = (
                _pyarrow_type(part, indent) for part in (key_type, value_type)
            )
            field = f'pa.field("value", {value}, nullable={contains_null})'
            return f"pa.map_({key}, {field})"
        case _:
            return f"pa.struct([{_pyarrow_fields(data_type, indent)}])"


def _pyarrow_fields(struct: StructType, indent: str) -> str:
    inner = indent + _INDENT
    lines = (f"{inner}{_pyarrow_line(column, inner)}\n" for column in struct.fields)
    return f"\n{''.join(lines)}{indent}" if struct.fields else ""


def _pyarrow_line(column: StructField, indent: str) -> str:
    unread = unread_type(column.data_type)
    if unread:
        return f"# {_text(column.name)} is or has a value of type {unread}"
    return f"{_pyarrow_field(column, indent)},"


def _pyarrow_field(column: StructField, indent: str) -> str:
    kind = _pyarrow_type(column.data_type, indent)
    nullable = "" if column.nullable else ", nullable=False"
    return f"pa.field({_text(column.name)}, {kind}{nullable})"


def _text(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)
