"""The types of columns, as plain values."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, TypeAlias, TypeVar, cast

OPAQUE: Final = "opaque"
"""The name of every primitive type that is not known, such as an interval's."""


@dataclass(frozen=True)
class PrimitiveType:
    """A type without parts.

    Attributes:
        name: The specification's name, such as `long`; `OPAQUE` for a type that is
            only known by its spelling.
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
        metadata: What the log keeps about the column, in the log's order.
        extras: Keys of the JSON object that the specification does not name.
        physical_name: What it is called in data files, partition values and
            statistics, where its table maps columns; else empty.
        field_id: What it is found by in data files, where these are read by ids;
            else None.
    """

    name: str
    data_type: "DataType"
    nullable: bool = True
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)
    extras: Mapping[str, Any] = field(default_factory=dict, hash=False)
    physical_name: str = ""
    field_id: int | None = None

    @property
    def stored_name(self) -> str:
        """What it is called in data files, partition values and statistics."""
        return self.physical_name or self.name


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
T = TypeVar("T", bound=DataType)
_PLAIN: Final = (PrimitiveType, DecimalType)


# === What is in a type ===


def parts_of(data_type: DataType) -> tuple[StructField, ...]:
    """Return fields, or what stands for the `element`, or for `key` and `value`."""
    match data_type:
        case StructType(fields):
            return fields
        case ArrayType(element_type, contains_null):
            return (StructField("element", element_type, contains_null),)
        case MapType(key_type, value_type, contains_null):
            key = StructField("key", key_type, nullable=False)
            return key, StructField("value", value_type, contains_null)
        case _:
            return ()


def with_parts(data_type: T, change: Callable[[StructField], StructField]) -> T:
    """Return a type with other parts; the very same where none changes."""
    parts = parts_of(data_type)
    new = tuple(map(change, parts))
    if all(one is other for one, other in zip(parts, new, strict=True)):
        return data_type
    kinds = [part.data_type for part in new]
    made: DataType
    match data_type:
        case StructType():
            made = replace(data_type, fields=new)
        case ArrayType():
            null = new[0].nullable
            made = replace(data_type, element_type=kinds[0], contains_null=null)
        case _:
            made = replace(
                cast("MapType", data_type),
                key_type=kinds[0],
                value_type=kinds[1],
                value_contains_null=new[1].nullable,
            )
    return cast("T", made)


def with_fields(
    data_type: T,
    change: Callable[[StructField, tuple[str, ...]], StructField],
    above: tuple[str, ...] = (),
) -> T:
    """Return a type whose fields are changed, at any depth, the outer ones first.

    Args:
        change: Gets a field and the names that lead to it, its own included.
    """
    is_struct = isinstance(data_type, StructType)

    def changed(part: StructField) -> StructField:
        path = (*above, part.name)
        new = change(part, path) if is_struct else part
        inside = with_fields(new.data_type, change, path)
        return new if inside is new.data_type else replace(new, data_type=inside)

    return with_parts(data_type, changed)


def fields_in(
    struct: StructType, above: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], StructField]]:
    """Yield the fields of a struct, and of structs in it, with the names to each.

    What is in an array or a map is left out.
    """
    for column in struct.fields:
        path = (*above, column.name)
        yield path, column
        if isinstance(column.data_type, StructType):
            yield from fields_in(column.data_type, path)


def types_in(data_type: DataType) -> Iterator[DataType]:
    """Yield a type, and all types in it."""
    yield data_type
    for part in parts_of(data_type):
        if isinstance(part.data_type, _PLAIN):
            yield part.data_type
        else:
            yield from types_in(part.data_type)


def all_fields(data_type: DataType) -> Iterator[StructField]:
    """Yield the fields of all structs in a type."""
    is_struct = isinstance(data_type, StructType)
    for part in parts_of(data_type):
        if is_struct:
            yield part
        if not isinstance(part.data_type, _PLAIN):
            yield from all_fields(part.data_type)


# === The names in data files, partition values and statistics ===


def is_mapped_type(data_type: DataType) -> bool:
    """Whether a field in the type goes by another name where it is stored."""
    return any(column.stored_name != column.name for column in all_fields(data_type))


def logical_schema(schema: StructType) -> StructType:
    """Return a schema without what its columns are stored as, at any depth."""
    return with_fields(
        schema,
        lambda column, _: (
            replace(column, physical_name="", field_id=None)
            if column.physical_name or column.field_id is not None
            else column
        ),
    )


def stored_schema(schema: StructType) -> StructType:
    """The schema by stored names; the very same where no column has another.

    What gives it both names is `deltaweb.delta.features.column_mapping`.
    """
    if not is_mapped_type(schema):
        return schema
    return with_fields(
        schema, lambda f, _: replace(f, name=f.stored_name, physical_name="")
    )
