"""Parts of variants as columns of rows: `payload:$.user.id::bigint`.

The name of such a column says all of it: the column of variants, the path of the part
as `variant_get` takes it, and the type that its values are cast to; a part that is of
another type is null. Of type `variant` it is JSON text. So the name can stand wherever
that of a column does: among the columns of a scan, in its condition, in an address.

No statistics tell of parts, so they never leave out a file.

Source: Databricks SQL, "Colon (:) operator"; Spark SQL, "try_variant_get".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

import pyarrow as pa

from deltaweb.delta.errors import ColumnNotFoundError, DeltaError, SchemaError
from deltaweb.delta.protocol.schema import (
    ArrayType,
    DataType,
    MapType,
    StructField,
    StructType,
    short_type_text,
)
from deltaweb.delta.values.variant_get import (
    VARIANT,
    VariantPathError,
    parse_path,
    part_type,
    variant_get,
)

PATH: Final = ":$"
TYPE: Final = "::"
MAX_TYPE_LENGTH: Final = 80


class VariantPartError(DeltaError, code="variant-part"):
    """A name asks for a part of a variant that is not read so."""

    name: str
    reason: str
    advice: str = (
        "Give a column of variants, a path and a type, as in "
        "payload:$.user.id::bigint; ::variant is JSON text."
    )
    message = "{name:q} is not a valid path into a variant: {reason}."
    hint = "{advice}"


@dataclass(frozen=True, kw_only=True)
class VariantPart(StructField):
    """A part of each variant of a column, as a column of its own.

    It is stored where the column is: its stored name and its id are that one's.

    Attributes:
        path: Where the part is: `$.user.id`.
        type_text: Its type as SQL spells it: `bigint`.
    """

    column: str
    path: str
    type_text: str

    def values_of(self, variants: pa.Array) -> pa.Array:
        """Return the part of each variant, null where it is of another type."""
        return variant_get(
            variants, self.path, self.data_type, or_null=True, typed_variants=True
        )


def part_name(column: str, path: str, type_text: str) -> str:
    return f"{column}:{path}{TYPE}{type_text}"


class SchemaWithParts(StructType):
    """A schema in which the parts of its variants are found by their names, too."""

    @classmethod
    def of(cls, schema: StructType) -> Self:
        return cls(schema.fields, schema.extras)

    def find(self, name: str) -> StructField | None:
        """Return the field or the part called `name`, or None."""
        return super().find(name) or variant_part(self, name)

    def select(self, names: Mapping[str, Any] | tuple[str, ...]) -> StructType:
        """Return the struct of the fields called so, then of the parts."""
        fields = super().select(names).fields
        found = {field.name for field in fields}
        parts = (variant_part(self, name) for name in names if name not in found)
        return StructType((*fields, *filter(None, parts)))


def variant_part(schema: StructType, name: str) -> VariantPart | None:
    """Return the part that a name asks for; None for a name of another form."""
    column_name, sign, rest = name.partition(PATH)
    if not (column_name and sign):
        return None
    column = StructType.find(schema, column_name)
    if column is None:
        raise ColumnNotFoundError(column=column_name, columns=schema.names)
    if getattr(column.data_type, "name", "") != VARIANT.name:
        kind = short_type_text(column.data_type, MAX_TYPE_LENGTH)
        reason = f"the column {column.name!r} is of type {kind}"
        raise VariantPartError(name=name, reason=reason)
    path, sign, type_text = rest.rpartition(TYPE)
    if not sign:
        raise VariantPartError(name=name, reason="it names no type")
    _check_path(name, f"${path}")
    return VariantPart(
        name=name,
        data_type=_type_of(name, type_text),
        physical_name=column.stored_name,
        field_id=column.field_id,
        column=column.name,
        path=f"${path}",
        type_text=type_text,
    )


def _check_path(name: str, path: str) -> None:
    try:
        parse_path(path)
    except VariantPathError as error:
        reason = error.message.rstrip(".")
        raise VariantPartError(name=name, reason=reason, advice=error.hint) from None


def _type_of(name: str, type_text: str) -> DataType:
    try:
        found = part_type(type_text)
    except SchemaError:
        reason = f"{type_text[:MAX_TYPE_LENGTH]!r} is not a type"
        raise VariantPartError(name=name, reason=reason) from None
    if isinstance(found, StructType | ArrayType | MapType):
        raise VariantPartError(name=name, reason="its type is nested")
    return found
