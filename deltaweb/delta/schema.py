"""The schema of a table: JSON text to types, and back without loss.

Read in this order: the types (`PrimitiveType`, `DecimalType`, `StructType`,
`ArrayType`, `MapType`), `parse_schema` and `format_schema` (the log's JSON),
`type_text` (what people read), `arrow_type` (what rows are made of).

Source: PROTOCOL.md, "Schema Serialization Format".
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa

from deltaweb.delta.errors import SchemaError

MAX_NESTING_DEPTH = 100
"""Levels of struct, array and map that a schema may nest; more is refused."""

MAX_DECIMAL_PRECISION = 38

_SQL_NAMES = {
    "byte": "tinyint",
    "short": "smallint",
    "integer": "int",
    "long": "bigint",
}
_ARROW_TYPES: dict[str, pa.DataType] = {
    "string": pa.string(),
    "long": pa.int64(),
    "integer": pa.int32(),
    "short": pa.int16(),
    "byte": pa.int8(),
    "float": pa.float32(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "void": pa.null(),
}
_SHOWN_ONLY = frozenset({"variant"})  # a type of later protocols: named, never read
_DECIMAL = re.compile(r"decimal\(\s*(\d{1,9})\s*,\s*(-?\d{1,9})\s*\)")
# Spark writes strings of a fixed or largest length, and collated ones, as a name
# with an argument; all of them are strings to a reader.
_STRING_SPELLING = re.compile(r"(?:var)?char\(\s*\d+\s*\)|string collate \S+")


@dataclass(frozen=True)
class PrimitiveType:
    """A type without parts.

    Attributes:
        name: The specification's name, such as `long`.
        spelling: How the log spells it where that differs from `name`, such as
            `varchar(10)` for `string` or `null` for `void`; else empty.
    """

    name: str
    spelling: str = ""


@dataclass(frozen=True)
class DecimalType:
    """A decimal number of `precision` digits, `scale` of them after the point."""

    precision: int
    scale: int


@dataclass(frozen=True)
class ArrayType:
    """A list of items of one type.

    Attributes:
        element_type: The type of an item.
        contains_null: Whether an item may be null.
        extras: Keys of the JSON object that the specification does not name.
    """

    element_type: "DataType"
    contains_null: bool = True
    extras: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class MapType:
    """A list of key and value pairs.

    Attributes:
        key_type: The type of a key, which is never null.
        value_type: The type of a value.
        value_contains_null: Whether a value may be null.
        extras: Keys of the JSON object that the specification does not name.
    """

    key_type: "DataType"
    value_type: "DataType"
    value_contains_null: bool = True
    extras: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class StructField:
    """A column, top-level or nested.

    Attributes:
        name: The logical name.
        data_type: The type of its values.
        nullable: Whether a value may be null.
        metadata: What the log keeps about the column, in the log's order.
        extras: Keys of the JSON object that the specification does not name.
    """

    name: str
    data_type: "DataType"
    nullable: bool = True
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)
    extras: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class StructType:
    """An ordered set of fields; the type of a whole row as well.

    Attributes:
        fields: The columns in order; no two names are equal ignoring case.
        extras: Keys of the JSON object that the specification does not name.
    """

    fields: tuple[StructField, ...]
    extras: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The logical names of the fields, in order."""
        return tuple(column.name for column in self.fields)

    @cached_property
    def _fields_by_lower_name(self) -> dict[str, StructField]:
        return {column.name.lower(): column for column in self.fields}

    def find(self, name: str) -> StructField | None:
        """The field called `name`, ignoring case, or None."""
        return self._fields_by_lower_name.get(name.lower())

    def select(self, names: Mapping[str, Any] | tuple[str, ...]) -> "StructType":
        """The struct of the fields called exactly `names`, in this struct's order."""
        return StructType(tuple(f for f in self.fields if f.name in names))


DataType: TypeAlias = PrimitiveType | DecimalType | StructType | ArrayType | MapType


class LeafField(NamedTuple):
    """A column without fields of its own, and the names that lead to it."""

    path: tuple[str, ...]
    data_type: DataType


# === JSON to types ===


def parse_schema(text: str) -> StructType:
    """Parse the `schemaString` of a table.

    Args:
        text: The JSON of a struct type.

    Returns:
        The struct of the table's columns.

    Raises:
        SchemaError: The text is no JSON of a struct, a type is unknown, two
            columns have one name, or the nesting is too deep.
    """
    try:
        value = json.loads(text)
    except RecursionError:
        raise SchemaError(column="", reason=_too_deep()) from None
    except (ValueError, TypeError) as error:
        raise SchemaError(
            column="", reason=f"it is not JSON ({str(error)[:60]})"
        ) from None
    if not isinstance(value, dict) or value.get("type") != "struct":
        raise SchemaError(column="", reason="it is not the JSON of a struct")
    return _struct(value, ())


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
    if name in _ARROW_TYPES or name in _SHOWN_ONLY:
        return PrimitiveType(name)
    if name == "null":
        return PrimitiveType("void", spelling=name)
    if name == "decimal":
        return DecimalType(10, 0)
    if match := _DECIMAL.fullmatch(name):
        return _decimal(int(match[1]), int(match[2]), path)
    if _STRING_SPELLING.fullmatch(name):
        return PrimitiveType("string", spelling=name)
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
        reason = f"a field without a name: {_shortened(value)}"
        raise SchemaError(column=".".join(path), reason=reason)
    if not _is_text(name):
        reason = f"the name of a field is no Unicode text: {_shortened(name)}"
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


# === Types to text and Arrow ===


def type_text(data_type: DataType) -> str:
    """The type as SQL spells it: `bigint`, `decimal(18,2)`, `array<string>`."""
    match data_type:
        case PrimitiveType(name, spelling):
            return _SQL_NAMES.get(name, spelling or name)
        case DecimalType(precision, scale):
            return f"decimal({precision},{scale})"
        case ArrayType(element_type):
            return f"array<{type_text(element_type)}>"
        case MapType(key_type, value_type):
            return f"map<{type_text(key_type)}, {type_text(value_type)}>"
        case _:
            parts = (
                f"{column.name}: {type_text(column.data_type)}"
                for column in data_type.fields
            )
            return f"struct<{', '.join(parts)}>"


def arrow_type(data_type: DataType) -> pa.DataType:
    """The Arrow type of the values of `data_type`.

    Raises:
        SchemaError: The type can be shown but not read, such as `variant`.
    """
    match data_type:
        case PrimitiveType(name):
            if name in _SHOWN_ONLY:
                reason = f"values of type {name} cannot be read yet"
                raise SchemaError(column="", reason=reason)
            return _ARROW_TYPES[name]
        case DecimalType(precision, scale):
            return pa.decimal128(precision, scale)
        case ArrayType(element_type, contains_null):
            element = arrow_type(element_type)
            return pa.list_(pa.field("element", element, nullable=contains_null))
        case MapType(key_type, value_type, value_contains_null):
            value = pa.field(
                "value", arrow_type(value_type), nullable=value_contains_null
            )
            key = pa.field("key", arrow_type(key_type), nullable=False)
            return pa.map_(key, value)
        case _:
            return pa.struct([_arrow_field(column) for column in data_type.fields])


def arrow_schema(schema: StructType) -> pa.Schema:
    """The Arrow schema of the rows of `schema`.

    Raises:
        SchemaError: A column can be shown but not read; the error names it.
    """
    fields = []
    for column in schema.fields:
        try:
            fields.append(_arrow_field(column))
        except SchemaError as error:
            raise SchemaError(column=column.name, reason=error.reason) from None
    return pa.schema(fields)


def _arrow_field(column: StructField) -> pa.Field:
    # A column of nulls alone cannot forbid them, whatever the log says.
    arrow = arrow_type(column.data_type)
    return pa.field(
        column.name, arrow, nullable=column.nullable or pa.types.is_null(arrow)
    )


def leaf_fields(schema: StructType) -> list[LeafField]:
    """The columns without fields of their own, in the order of the schema.

    Arrays and maps are leaves: statistics never look into them.
    """
    return list(_leaves(schema, ()))


def _leaves(struct: StructType, prefix: tuple[str, ...]) -> Iterator[LeafField]:
    for column in struct.fields:
        path = (*prefix, column.name)
        if isinstance(column.data_type, StructType):
            yield from _leaves(column.data_type, path)
        else:
            yield LeafField(path, column.data_type)
