"""Values in the types of a table's columns, as Spark stores them.

A value is stored by the rules of ANSI in every session: one that has no place in the
type of the column is an error, and never null or another number. The same holds for
values in structs, arrays and maps. The fields of a struct are matched by name, ignoring
case. A time becomes one of another kind in the session's zone.

This is the only module that casts a value to the type of a column: a cast of Spark
matches the fields of a struct by position.

Source: Spark SQL Reference, "ANSI Compliance", "Store assignment".
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 (the name that all Spark code has)
from pyspark.sql import types as T  # noqa: N812 (as above)
from pyspark.sql.pandas.types import from_arrow_schema

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.protocol.schema import (
    ArrayType,
    DataType,
    MapType,
    StructType,
    arrow_type,
)
from deltaweb.delta.writing.errors import SchemaMismatchError
from deltaweb.expressions.errors import ExpressionError, ExpressionValueError
from deltaweb.expressions.session.joined_types import is_time
from deltaweb.spark.arrow_frames import column_of
from deltaweb.spark.task_faults import carried
from deltaweb.spark.writing.spark_types import frame_schema

_FAMILIES: Final = (
    (T.NumericType, T.BooleanType, T.TimestampType),
    (T.DateType, T.TimestampType, T.TimestampNTZType),
    (T.StringType,),
)
"""Types whose values are stored in columns of each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfit:
    """A part of a value that has no place in a column.

    Attributes:
        found: Its type; None where the value lacks it.
        wanted: The type of the column; None where the column lacks it.
    """

    path: str
    found: T.DataType | None
    wanted: T.DataType | None


class ValueOrigin(Protocol):
    """Where a value comes from: what an error about it says."""

    @property
    def may_lack(self) -> bool:
        """Whether a field that may be null may be missing."""

    def misfit(self, misfits: list[Misfit]) -> DeltaError:
        """Return the error of a value whose type does not fit."""

    def bad_value(self, path: str, wanted: T.DataType) -> DeltaError:
        """Return the error of a value that does not fit the type of its column."""


@dataclass(frozen=True, slots=True)
class OfExpression:
    """A value of SQL."""

    sql: str
    may_lack: bool = False

    def misfit(self, misfits: list[Misfit]) -> ExpressionError:
        return ExpressionError(sql=self.sql, reason="; ".join(map(_reason, misfits)))

    def bad_value(self, path: str, wanted: T.DataType) -> ExpressionValueError:
        kind = wanted.simpleString()
        reason = f"a value is not a valid {kind}, which {path!r} is"
        return ExpressionValueError(sql=self.sql, reason=reason)


@dataclass(frozen=True, slots=True)
class OfRows:
    """A value of rows that are written."""

    may_lack: bool = True

    def misfit(self, misfits: list[Misfit]) -> SchemaMismatchError:
        return SchemaMismatchError(
            misfits={misfit.path: _row_reason(misfit) for misfit in misfits}
        )

    def bad_value(self, path: str, wanted: T.DataType) -> SchemaMismatchError:
        reason = f"does not fit: a value is not a valid {wanted.simpleString()}"
        return SchemaMismatchError(misfits={path: reason})


def type_of(rows: DataFrame, value: Column) -> T.DataType:
    """Return the type of a value of rows."""
    return rows.select(value.alias("value")).schema["value"].dataType


def check_type(found: T.DataType, column: T.StructField, origin: ValueOrigin) -> None:
    """Refuse a value whose type has no place in a column."""
    misfits = [*_misfits(found, column.dataType, column.name, origin)]
    if misfits:
        raise origin.misfit(misfits)


def store_as(
    value: Column, found: T.DataType, column: T.StructField, origin: ValueOrigin
) -> Column:
    """Return a value as a column takes it.

    Args:
        found: The type of the value.

    Raises:
        DeltaError: If the type does not fit, as the origin says it.
    """
    check_type(found, column, origin)
    wanted, name = column.dataType, column.name
    if not isinstance(found, T.StructType) or _are_alike(found, wanted):
        return _stored(value, found, wanted, name, origin)
    # Each field is taken of the value: in a list of its own, it is evaluated once.
    made = F.transform(
        F.array(value), lambda one: _stored(one, found, wanted, name, origin)
    )
    return made.getItem(0)


def null_of(column: T.StructField) -> Column:
    """Return the null of a column's type."""
    return F.lit(None).cast(column.dataType)


def _stored(
    value: Column,
    found: T.DataType,
    wanted: T.DataType,
    path: str,
    origin: ValueOrigin,
) -> Column:
    """Return a value of a type that fits.

    A struct that is null stays null, and does not become a struct of nulls.
    """
    if isinstance(found, T.NullType) or _are_alike(found, wanted):
        return value.cast(wanted)
    match found, wanted:
        case T.StructType(), T.StructType():
            parts = {part.name.lower(): part for part in found.fields}
            fields = [
                _field(value, parts.get(field.name.lower()), field, path, origin)
                for field in wanted.fields
            ]
            return F.when(value.isNotNull(), F.struct(*fields)).cast(wanted)
        case T.ArrayType(), T.ArrayType():
            inside = f"{path}.element"
            kinds = found.elementType, wanted.elementType
            return F.transform(
                value, lambda one: _stored(one, *kinds, inside, origin)
            ).cast(wanted)
        case T.MapType(), T.MapType():
            return _stored_map(value, found, wanted, path, origin).cast(wanted)
    fitted = value.try_cast(wanted)
    error = carried(origin.bad_value(path, wanted))
    refused = F.raise_error(F.lit(error)).cast(wanted)
    return F.when(value.isNotNull() & fitted.isNull(), refused).otherwise(fitted)


def _field(
    value: Column,
    part: T.StructField | None,
    field: T.StructField,
    path: str,
    origin: ValueOrigin,
) -> Column:
    if part is None:
        return null_of(field).alias(field.name)
    inside = value.getField(part.name)
    kinds = part.dataType, field.dataType
    stored = _stored(inside, *kinds, f"{path}.{field.name}", origin)
    return stored.alias(field.name)


def _stored_map(
    value: Column, found: T.MapType, wanted: T.MapType, path: str, origin: ValueOrigin
) -> Column:
    if not _are_alike(found.valueType, wanted.valueType):
        inside = f"{path}.value"
        values = found.valueType, wanted.valueType
        value = F.transform_values(
            value, lambda _, one: _stored(one, *values, inside, origin)
        )
    if not _are_alike(found.keyType, wanted.keyType):
        place = f"{path}.key"
        keys = found.keyType, wanted.keyType
        value = F.transform_keys(
            value, lambda one, _: _stored(one, *keys, place, origin)
        )
    return value


# === What fits ===


def _are_alike(found: T.DataType, wanted: T.DataType) -> bool:
    """Tell whether a cast by position changes no value: only names and nulls differ."""
    match found, wanted:
        case T.StructType(), T.StructType():
            return len(found.fields) == len(wanted.fields) and all(
                one.name.lower() == other.name.lower()
                and _are_alike(one.dataType, other.dataType)
                for one, other in zip(found.fields, wanted.fields, strict=True)
            )
        case T.ArrayType(), T.ArrayType():
            return _are_alike(found.elementType, wanted.elementType)
        case T.MapType(), T.MapType():
            return _are_alike(found.keyType, wanted.keyType) and _are_alike(
                found.valueType, wanted.valueType
            )
    return found == wanted


def _misfits(
    found: T.DataType, wanted: T.DataType, path: str, origin: ValueOrigin
) -> Iterator[Misfit]:
    match found, wanted:
        case T.NullType(), _:
            return
        case T.StructType(), T.StructType():
            yield from _misfits_of_fields(found, wanted, path, origin)
        case T.ArrayType(), T.ArrayType():
            kinds = found.elementType, wanted.elementType
            yield from _misfits(*kinds, f"{path}.element", origin)
        case T.MapType(), T.MapType():
            keys = found.keyType, wanted.keyType
            yield from _misfits(*keys, f"{path}.key", origin)
            values = found.valueType, wanted.valueType
            yield from _misfits(*values, f"{path}.value", origin)
        case _ if not _leaf_fits(found, wanted):
            yield Misfit(path=path, found=found, wanted=wanted)


def _misfits_of_fields(
    found: T.StructType, wanted: T.StructType, path: str, origin: ValueOrigin
) -> Iterator[Misfit]:
    parts: dict[str, T.StructField] = {}
    for part in found.fields:
        if parts.setdefault(part.name.lower(), part) is not part:
            # Of two fields of one name none is the one that is meant.
            yield Misfit(path=f"{path}.{part.name}", found=part.dataType, wanted=None)
    for field in wanted.fields:
        given = parts.pop(field.name.lower(), None)
        inside = f"{path}.{field.name}"
        if given is not None:
            yield from _misfits(given.dataType, field.dataType, inside, origin)
        elif not (origin.may_lack and field.nullable):
            yield Misfit(path=inside, found=None, wanted=field.dataType)
    for part in parts.values():
        yield Misfit(path=f"{path}.{part.name}", found=part.dataType, wanted=None)


def _leaf_fits(found: T.DataType, wanted: T.DataType) -> bool:
    return found == wanted or any(
        isinstance(found, family) and isinstance(wanted, family) for family in _FAMILIES
    )


def _reason(misfit: Misfit) -> str:
    path, found, wanted = misfit.path, misfit.found, misfit.wanted
    if wanted is None:
        return f"it has the field {path!r}, which the column lacks"
    if found is None:
        return f"it lacks the field {path!r} of the column"
    return f"{path!r} is {wanted.simpleString()}, and it is {found.simpleString()}"


def _row_reason(misfit: Misfit) -> str:
    found, wanted = misfit.found, misfit.wanted
    if wanted is None:
        return "is not a column of the table"
    if found is None:
        return "is missing"
    kinds = found.simpleString(), wanted.simpleString()
    return f"is {kinds[0]} in the rows and {kinds[1]} in the table"


# === Times ===


def with_stored_times(frame: DataFrame, schema: StructType) -> DataFrame:
    """Return rows whose times are of the kinds that a table has."""
    found = frame_schema(frame.schema)
    wanted = stored_schema(found, schema)
    if wanted == found:
        return frame
    types: Mapping[str, T.DataType] = {
        field.name: field.dataType for field in frame.schema.fields
    }
    return frame.select(
        *(
            store_as(
                column_of(frame, field.name), types[field.name], field, OfRows()
            ).alias(field.name)
            for field in from_arrow_schema(wanted).fields
        )
    )


def stored_schema(incoming: pa.Schema, schema: StructType) -> pa.Schema:
    """Return the schema of rows once their times are of the kinds that a table has."""
    fields = []
    for field in incoming:
        column = schema.find(field.name)
        kind = (
            field.type if column is None else _time_type(field.type, column.data_type)
        )
        fields.append(field.with_type(kind))
    return pa.schema(fields)


def _time_type(found: pa.DataType, wanted: DataType) -> pa.DataType:
    match wanted:
        case StructType() if pa.types.is_struct(found):
            return pa.struct(list(stored_schema(pa.schema(list(found)), wanted)))
        case ArrayType(element) if pa.types.is_list(found):
            inside = found.value_field
            return pa.list_(inside.with_type(_time_type(inside.type, element)))
        case MapType(key, value) if pa.types.is_map(found):
            return pa.map_(
                found.key_field.with_type(_time_type(found.key_type, key)),
                found.item_field.with_type(_time_type(found.item_type, value)),
            )
        case StructType() | ArrayType() | MapType():
            return found
        case _:
            kind = arrow_type(wanted)
            return kind if is_time(found) and is_time(kind) else found
