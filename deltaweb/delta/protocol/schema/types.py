"""The types of columns, as plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, TypeAlias

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
