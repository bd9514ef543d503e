"""Values of SQL as a column takes them, nested ones by the names of their fields.

Types that are nested fit as those of rows do that are appended: fields are found by
name, ignoring case, in any order, and numbers may be of another width. So a change of
rows needs Spark for fewer types.
"""

from typing import Final

import pyarrow as pa

from deltaweb.delta.protocol.schema import (
    ArrayType,
    DataType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
    arrow_type,
)
from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.delta.writing.errors import SchemaMismatchError
from deltaweb.expressions.condition import SQLAssignment, SQLValue
from deltaweb.expressions.errors import (
    ExpressionError,
    ExpressionMistakenError,
    ExpressionValueError,
)
from deltaweb.writer.rows.row_schema import (
    MISSING,
    MISSING_NOT_NULL,
    TWICE,
    UNKNOWN,
    RowSchema,
)

_OF_FIELDS: Final = {
    MISSING: "it lacks the field {path!r} of the column",
    MISSING_NOT_NULL: "it lacks the field {path!r} of the column",
    TWICE: "it has the field {path!r} twice",
    UNKNOWN: "it has the field {path!r}, which the column lacks",
}
"""What is wrong with the fields of a value, by what `RowSchema` says of it."""


class AssignedValue:
    """An expression whose value a column takes.

    Args:
        schema: Of the rows that it is evaluated for.
        may_lack: Whether a field that may be null may be missing, as in rows of a
            source. In an expression it is an error.

    Raises:
        ExpressionMistakenError: If its fields are not those of the column.
        ExpressionError: If Spark may store it, and this process does not.
    """

    def __init__(
        self,
        sql: str,
        column: StructField,
        schema: StructType,
        time_zone: str = UTC_ZONE,
        *,
        may_lack: bool = False,
    ) -> None:
        self.sql = sql
        self._fit: RowSchema | None = None
        self._value: SQLAssignment | SQLValue
        if isinstance(column.data_type, StructType | ArrayType | MapType):
            value = SQLValue(sql, schema, time_zone)
            is_alike = value.kind == arrow_type(column.data_type)
            if not is_alike and pa.types.is_nested(value.kind):
                self._value = value
                kind = value.kind
                if may_lack:
                    kind = _with_integers(kind, column.data_type)
                self._fit = _fit(value, kind, column, may_lack=may_lack)
                self._kind = kind
                return
        self._value = SQLAssignment(sql, column, schema, time_zone)

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """Return the value of each row, in the type of the column."""
        found = self._value.values(rows)
        if self._fit is None:
            return found
        (name,) = self._fit.schema.names
        try:
            found = found.cast(self._kind)
            return self._fit.fit(pa.RecordBatch.from_arrays([found], [name])).column(0)
        except SchemaMismatchError as error:
            reason = _listed(error)
        except pa.ArrowInvalid as error:
            reason = f"a number in {name!r} does not fit ({error})"
        raise ExpressionValueError(sql=self.sql, reason=reason)


def _with_integers(kind: pa.DataType, wanted: DataType) -> pa.DataType:
    """Return a type with longs in place of whole decimals, where a column has numbers.

    A source has decimals of 20 digits for uint64, which an append takes for numbers.
    """
    match wanted:
        case StructType() if pa.types.is_struct(kind):
            by_name = {part.name.lower(): part.data_type for part in wanted.fields}
            return pa.struct(
                [
                    (one.name, _with_integers(one.type, by_name[one.name.lower()]))
                    if one.name.lower() in by_name
                    else one
                    for one in kind
                ]
            )
        case ArrayType(element) if pa.types.is_list(kind):
            return pa.list_(_with_integers(kind.value_type, element))
        case MapType(key, value) if pa.types.is_map(kind):
            keys, items = kind.key_type, kind.item_type
            return pa.map_(_with_integers(keys, key), _with_integers(items, value))
        case PrimitiveType() if pa.types.is_decimal(kind) and not kind.scale:
            target = arrow_type(wanted)
            is_number = pa.types.is_integer(target) or pa.types.is_floating(target)
            return pa.int64() if is_number else kind
    return kind


def _fit(
    value: SQLValue, kind: pa.DataType, column: StructField, *, may_lack: bool
) -> RowSchema:
    plain = StructType((StructField(column.name, column.data_type),))
    incoming = pa.schema([(column.name, kind)])
    try:
        return RowSchema(plain, incoming, is_whole=not may_lack)
    except SchemaMismatchError as error:
        wrong = {
            path: _OF_FIELDS[reason].format(path=path)
            for path, reason in error.misfits.items()
            if reason in _OF_FIELDS
        }
        if wrong:
            reason = "; ".join(wrong.values())
            raise ExpressionMistakenError(sql=value.sql, reason=reason) from None
        raise ExpressionError(sql=value.sql, reason=_listed(error)) from None


def _listed(error: SchemaMismatchError) -> str:
    return "; ".join(f"{path!r} {reason}" for path, reason in error.misfits.items())
