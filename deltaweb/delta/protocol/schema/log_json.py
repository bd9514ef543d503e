"""The JSON that the log keeps a schema in: to types, and back without loss.

Source: PROTOCOL.md, "Schema Serialization Format".
"""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from deltaweb.delta.errors import SchemaError
from deltaweb.delta.protocol.schema.arrow import ARROW_TYPES, SHOWN_ONLY
from deltaweb.delta.protocol.schema.types import (
    OPAQUE,
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
)
from deltaweb.environment.bounded_json import parse_json

MAX_NESTING_DEPTH = 100
"""Levels of struct, array and map that a schema may nest; more is refused."""

MAX_DECIMAL_PRECISION = 38

_DECIMAL = re.compile(r"decimal\(\s*(\d{1,9})\s*,\s*(-?\d{1,9})\s*\)")
# Spark writes strings of a fixed or largest length, and collated ones, as a name
# with an argument; all of them are strings to a reader.
_STRING_SPELLING = re.compile(r"(?:var)?char\(\s*\d+\s*\)|string collate \S+")

# What may be the name of a type, and is none of those that must have parts.
_TYPE_NAME = re.compile(r"(?!(?:decimal|struct|array|map)\b)[A-Za-z][ -~]{0,199}")


@lru_cache(maxsize=16)
def parse_schema(text: str) -> StructType:
    """Parse the `schemaString` of a table.

    Returns:
        The struct of the table's columns.
    """
    try:
        value = parse_json(text)
    except RecursionError:
        raise SchemaError(column="", reason=_too_deep()) from None
    except (ValueError, TypeError) as error:
        raise SchemaError(
            column="", reason=f"it is not JSON ({str(error)[:60]})"
        ) from None
    if not isinstance(value, dict) or value.get("type") != "struct":
        raise SchemaError(column="", reason="it is not the JSON of a struct")
    return _struct(value, ())


def parse_type(value: object) -> DataType:
    """Parse the JSON value of one type, such as that of a change of a column's."""
    return _data_type(value, ())


def _data_type(value: object, path: tuple[str, ...]) -> DataType:
    if len(path) > MAX_NESTING_DEPTH:
        raise SchemaError(column=path[0], reason=_too_deep())
    if isinstance(value, str):
        return _named_type(value, path)
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(value, dict) or kind not in ("struct", "array", "map"):
        reason = f"its type {_shortened(value)} is unknown"
        raise SchemaError(column=".".join(path), reason=reason)
    if kind == "struct":
        return _struct(value, path)
    if kind == "array":
        return ArrayType(
            element_type=_data_type(value.get("elementType"), (*path, "element")),
            contains_null=_flag(value, "containsNull", path),
            extras=_extras(value, "type", "elementType", "containsNull"),
        )
    return MapType(
        key_type=_data_type(value.get("keyType"), (*path, "key")),
        value_type=_data_type(value.get("valueType"), (*path, "value")),
        value_contains_null=_flag(value, "valueContainsNull", path),
        extras=_extras(value, "type", "keyType", "valueType", "valueContainsNull"),
    )


def _named_type(name: str, path: tuple[str, ...]) -> PrimitiveType | DecimalType:
    if name in ARROW_TYPES or name in SHOWN_ONLY:
        return PrimitiveType(name)
    if name == "null":
        return PrimitiveType("void", spelling=name)
    if name == "decimal":
        return DecimalType(10, 0)
    if match := _DECIMAL.fullmatch(name):
        return _decimal(int(match[1]), int(match[2]), path)
    if _STRING_SPELLING.fullmatch(name):
        return PrimitiveType("string", spelling=name)
    if _TYPE_NAME.fullmatch(name):
        # A protocol of later days, such as `interval day to second`: the schema shows
        # it, and the other columns are read.
        return PrimitiveType(OPAQUE, spelling=name)
    reason = f"its type {_shortened(name)} is unknown"
    raise SchemaError(column=".".join(path), reason=reason)


def _decimal(precision: int, scale: int, path: tuple[str, ...]) -> DecimalType:
    if not (1 <= precision <= MAX_DECIMAL_PRECISION and 0 <= scale <= precision):
        reason = f"decimal({precision},{scale}) is outside decimal(38,38)"
        raise SchemaError(column=".".join(path), reason=reason)
    return DecimalType(precision, scale)


def _struct(value: Mapping[str, Any], path: tuple[str, ...]) -> StructType:
    fields = value.get("fields")
    if not isinstance(fields, list):
        raise SchemaError(
            column=".".join(path), reason="its struct has no list of fields"
        )
    columns = tuple(_struct_field(column, path) for column in fields)
    seen: set[str] = set()
    for column in columns:
        lower_name = column.name.lower()
        if lower_name in seen:
            reason = "another column has the same name (upper and lower case are one)"
            raise SchemaError(column=".".join((*path, column.name)), reason=reason)
        seen.add(lower_name)
    return StructType(columns, extras=_extras(value, "type", "fields"))


def _struct_field(value: object, path: tuple[str, ...]) -> StructField:
    name = value.get("name") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(name, str):
        reason = f"a field has no name: {_shortened(value)}"
        raise SchemaError(column=".".join(path), reason=reason)
    if not _is_text(name):
        reason = f"the name of a field is not Unicode text: {_shortened(name)}"
        raise SchemaError(column=".".join(path), reason=reason)
    metadata = value.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        raise SchemaError(
            column=".".join((*path, name)), reason="its metadata is not an object"
        )
    return StructField(
        name=name,
        data_type=_data_type(value.get("type"), (*path, name)),
        nullable=_flag(value, "nullable", (*path, name)),
        metadata=metadata or {},
        extras=_extras(value, "name", "type", "nullable", "metadata"),
    )


def _flag(value: Mapping[str, Any], key: str, path: tuple[str, ...]) -> bool:
    flag = value.get(key, True)
    if not isinstance(flag, bool):
        reason = f"`{key}` is {_shortened(flag)}, not true or false"
        raise SchemaError(column=".".join(path), reason=reason)
    return flag


def _extras(value: Mapping[str, Any], *known: str) -> dict[str, Any]:
    return {key: item for key, item in value.items() if key not in known}


def _is_text(name: str) -> bool:
    """Tell whether a name can be written: JSON may escape half a surrogate pair."""
    return not any("\ud800" <= character <= "\udfff" for character in name)


def _shortened(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."  # noqa: PLR2004 # a line


def _too_deep() -> str:
    return f"it nests deeper than {MAX_NESTING_DEPTH} levels"


# === Types to JSON ===


def format_schema(schema: StructType) -> str:
    """Format `schema` as the log's JSON: what `parse_schema` reads, without loss."""
    return json.dumps(schema_json(schema), ensure_ascii=False, separators=(",", ":"))


def schema_json(data_type: DataType) -> str | dict[str, Any]:
    """The JSON value of a type: a name, or an object for a nested one."""
    match data_type:
        case PrimitiveType(name, spelling):
            return spelling or name
        case DecimalType(precision, scale):
            return f"decimal({precision},{scale})"
        case ArrayType():
            return {
                "type": "array",
                "elementType": schema_json(data_type.element_type),
                "containsNull": data_type.contains_null,
                **data_type.extras,
            }
        case MapType():
            return {
                "type": "map",
                "keyType": schema_json(data_type.key_type),
                "valueType": schema_json(data_type.value_type),
                "valueContainsNull": data_type.value_contains_null,
                **data_type.extras,
            }
        case _:
            fields = [_field_json(column) for column in data_type.fields]
            return {"type": "struct", "fields": fields, **data_type.extras}


def _field_json(column: StructField) -> dict[str, Any]:
    return {
        "name": column.name,
        "type": schema_json(column.data_type),
        "nullable": column.nullable,
        "metadata": dict(column.metadata),
        **column.extras,
    }
