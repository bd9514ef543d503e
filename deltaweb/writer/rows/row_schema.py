"""Rows held to a table's schema: cast where no value changes, refused otherwise.

Columns, and the fields of structs at any depth, are found by name, ignoring case, and
never by the names that they are stored under. One that the rows of a source lack is
null; rows that come from the table itself have to be whole. Every column that does not
fit is named at once.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import pyarrow as pa

from deltaweb.delta.protocol.schema import (
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
    arrow_schema,
    arrow_type,
    logical_schema,
    schema_of_arrow,
    type_text,
)
from deltaweb.delta.values.data_values import Origin, conform
from deltaweb.delta.values.stored_columns import MismatchError
from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.delta.writing.errors import SchemaMismatchError
from deltaweb.writer.rows.identity_numbers import IdentityNumbers
from deltaweb.writer.rows.row_completion import RowCompletion

_LISTS: Final = (
    pa.types.is_list,
    pa.types.is_large_list,
    pa.types.is_fixed_size_list,
    pa.types.is_list_view,
    pa.types.is_large_list_view,
)
TWICE: Final = "is there twice (upper and lower case are one)"
MISSING: Final = "is missing"
MISSING_NOT_NULL: Final = "is missing, and may not be null"
UNKNOWN: Final = "is not a column of the table"
_ANY_INTEGER: Final = pa.decimal128(20, 0)


class RowSchema:
    """How rows of one Arrow schema become rows of a table.

    Args:
        schema: Of the table; how its columns are stored is left out of it.
        numbers: Of the identity columns of new rows; None for rows that were there.
        is_whole: Whether a column or field that the rows lack is an error. Otherwise
            it is null where it may be.
    """

    def __init__(
        self,
        schema: StructType,
        incoming: pa.Schema,
        numbers: IdentityNumbers | None = None,
        time_zone: str = UTC_ZONE,
        *,
        is_whole: bool = False,
    ) -> None:
        self.schema = schema = logical_schema(schema)
        self._origin = Origin.ROWS if is_whole else Origin.PARTIAL_ROWS
        self.arrow = arrow_schema(schema)
        self._positions: list[int | None] = []
        self._steps: list[pa.DataType | None] = []
        misfits = dict(_twice(incoming))
        said = {name.lower() for name in incoming.names}
        given = {name for name in schema.names if name.lower() in said}
        self._completion = RowCompletion(
            schema, given, takes_defaults=True, numbers=numbers, time_zone=time_zone
        )
        by_name = {name.lower(): i for i, name in enumerate(incoming.names)}
        for column in schema.fields:
            position = by_name.pop(column.name.lower(), None)
            self._positions.append(position)
            self._steps.append(None)
            if position is None:
                is_filled = column.name in self._completion.filled
                if is_whole:
                    misfits[column.name] = MISSING
                elif not column.nullable and not is_filled:
                    misfits[column.name] = MISSING_NOT_NULL
                continue
            found = incoming.field(position).type
            kind = column.data_type
            faults = dict(_misfits(found, kind, column.name, is_whole=is_whole))
            misfits |= faults
            if not faults:
                self._steps[-1] = _step(found, column.data_type)
        for position in by_name.values():
            misfits[incoming.names[position]] = UNKNOWN
        if misfits:
            raise SchemaMismatchError(misfits=misfits)

    def fit(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows in the table's columns, typed as they are."""
        columns = []
        misfits = {}
        for column, position, step in zip(
            self.schema.fields, self._positions, self._steps, strict=True
        ):
            try:
                columns.append(_values(batch, column, position, step, self._origin))
            except MismatchError as error:
                misfits[error.column] = f"does not fit: {error.reason}"
        if misfits:
            raise SchemaMismatchError(misfits=misfits)
        nullable = [field.with_nullable(True) for field in self.arrow]  # noqa: FBT003  # pyarrow's own
        rows = pa.RecordBatch.from_arrays(columns, schema=pa.schema(nullable))
        return self._completion.complete(rows)


def _values(
    batch: pa.RecordBatch,
    column: StructField,
    position: int | None,
    step: pa.DataType | None,
    origin: Origin,
) -> pa.Array:
    if position is None:
        return pa.nulls(batch.num_rows, arrow_type(column.data_type))
    array = batch.column(position)
    if step is not None and array.type != step:
        try:
            array = _without_encodings(array, column.name).cast(step)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            text = str(error).partition("\n")[0][:200]
            path, kind = _unfit(array, step, column.data_type, column.name)
            reason = f"a value is not a valid {type_text(kind)} ({text})"
            raise MismatchError(column=path, reason=reason) from None
    return conform(array, column.data_type, column.name, origin=origin)


def _without_encodings(values: pa.Array, name: str) -> pa.Array:
    """Return values whose lists are plain, and which are not run-end encoded.

    A cast of pyarrow makes a list with wrong offsets of a view of a list. It decodes
    only some encodings.
    """
    if not _is_encoded(values.type):
        return values
    (found,) = schema_of_arrow(pa.schema([(name, values.type)])).fields
    return conform(values, found.data_type, name, origin=Origin.ROWS)


def _is_encoded(kind: pa.DataType) -> bool:
    if isinstance(kind, pa.BaseExtensionType):
        return _is_encoded(kind.storage_type)
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return True
    if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        return True
    places = range(kind.num_fields) if pa.types.is_nested(kind) else ()
    return any(_is_encoded(kind.field(place).type) for place in places)


def _unfit(
    values: pa.Array, step: pa.DataType, wanted: DataType, path: str
) -> tuple[str, DataType]:
    """Return the innermost part of values that cannot be cast, and its type."""
    for name, part, kind, inside in _parts(values, step, wanted):
        try:
            part.cast(kind)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return _unfit(part, kind, inside, f"{path}.{name}")
    return path, wanted


def _parts(
    values: pa.Array, step: pa.DataType, wanted: DataType
) -> Iterator[tuple[str, pa.Array, pa.DataType, DataType]]:
    """Yield the parts of nested values, with the type that each takes."""
    match wanted:
        case StructType() if pa.types.is_struct(values.type):
            by_name = {part.name.lower(): part for part in wanted.fields}
            for field, part in zip(step, values.flatten(), strict=True):
                found = by_name[field.name.lower()]
                yield found.name, part, field.type, found.data_type
        case ArrayType(element) if any(kind(values.type) for kind in _LISTS):
            yield "element", values.flatten(), step.value_type, element
        case MapType(key, value) if pa.types.is_map(values.type):
            yield "key", values.keys, step.key_type, key
            yield "value", values.items, step.item_type, value


def _twice(incoming: pa.Schema) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for name in incoming.names:
        if name.lower() in seen:
            yield name, TWICE
        seen.add(name.lower())


# === What fits ===


def _misfits(
    found: pa.DataType, wanted: DataType, column: str, *, is_whole: bool
) -> Iterator[tuple[str, str]]:
    """Yield the columns of a type, or in it, that do not fit."""
    found = _plain(found)
    if pa.types.is_null(found):
        return
    match wanted:
        case StructType() if pa.types.is_struct(found):
            yield from _misfits_of_fields(found, wanted, column, is_whole=is_whole)
        case ArrayType(element) if any(kind(found) for kind in _LISTS):
            path = f"{column}.element"
            yield from _misfits(found.value_type, element, path, is_whole=is_whole)
        case MapType(key, value) if pa.types.is_map(found):
            path = f"{column}.key"
            yield from _misfits(found.key_type, key, path, is_whole=is_whole)
            path = f"{column}.value"
            yield from _misfits(found.item_type, value, path, is_whole=is_whole)
        case PrimitiveType() | DecimalType() if _leaf_fits(found, wanted):
            return
        case _:
            said = f"is {found} in the rows and {type_text(wanted)} in the table"
            yield column, f"{said}{_advice(found, wanted)}"


def _misfits_of_fields(
    found: pa.StructType, wanted: StructType, column: str, *, is_whole: bool
) -> Iterator[tuple[str, str]]:
    by_name: dict[str, pa.Field] = {}
    for field in found:
        if by_name.setdefault(field.name.lower(), field) is not field:
            yield f"{column}.{field.name}", TWICE
    for part in wanted.fields:
        inside = by_name.pop(part.name.lower(), None)
        path = f"{column}.{part.name}"
        if inside is not None:
            kind = part.data_type
            yield from _misfits(inside.type, kind, path, is_whole=is_whole)
        elif is_whole:
            yield path, MISSING
        elif not part.nullable:
            yield path, MISSING_NOT_NULL
    for field in by_name.values():
        yield f"{column}.{field.name}", UNKNOWN


def _leaf_fits(found: pa.DataType, wanted: DataType) -> bool:
    """Tell whether values of a type may become those of a column, value by value."""
    if pa.types.is_nested(found):
        return False
    target = arrow_type(wanted)
    if found == target:
        return True
    if _is_other_time(found, target):
        return False
    if _step(found, wanted) is not None:
        return True
    try:
        conform(pa.array([], found), wanted, "", origin=Origin.ROWS)
    except (MismatchError, pa.ArrowException):
        return False
    return not (pa.types.is_string(target) and not _is_text(found))


def _is_other_time(found: pa.DataType, target: pa.DataType) -> bool:
    """Tell whether one is an instant, and the other what some clock shows."""
    are_times = pa.types.is_timestamp(found) and pa.types.is_timestamp(target)
    return are_times and (found.tz is None) != (target.tz is None)


def _advice(found: pa.DataType, wanted: DataType) -> str:
    """Return how times become those of another kind, after what is wrong with them."""
    if pa.types.is_nested(found) or not _is_other_time(found, arrow_type(wanted)):
        return ""
    if found.tz is None:
        return ": pyarrow.compute.assume_timezone says which instants are meant"
    return ": pyarrow.compute.local_timestamp says what a clock of its zone shows"


def _is_text(found: pa.DataType) -> bool:
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return any(kind(found) for kind in kinds)


def _plain(found: pa.DataType) -> pa.DataType:
    if isinstance(found, pa.BaseExtensionType):
        return _plain(found.storage_type)
    if pa.types.is_dictionary(found) or pa.types.is_run_end_encoded(found):
        return _plain(found.value_type)
    return found


def _step(found: pa.DataType, wanted: DataType) -> pa.DataType | None:
    """Return the type that values take first, None where they go as they are.

    Numbers of one kind become those of another where each value has its place: what
    has not is an error of that value. All else is left to `conform`.
    """
    found = _plain(found)
    if pa.types.is_null(found):
        return None
    match wanted:
        case StructType():
            by_name = {part.name.lower(): part for part in wanted.fields}
            fields = [
                field.with_type(
                    _step(field.type, by_name[field.name.lower()].data_type)
                    or _decoded(field.type)
                )
                for field in found
            ]
            return _changed(found, pa.struct(fields))
        case ArrayType(element):
            inside = _step(found.value_type, element)
            return None if inside is None else pa.list_(inside)
        case MapType(key, value):
            parts = [_step(found.key_type, key), _step(found.item_type, value)]
            if parts == [None, None]:
                return None
            key_type, item_type = _decoded(found.key_type), _decoded(found.item_type)
            return pa.map_(parts[0] or key_type, parts[1] or item_type)
        case _:
            return _number_step(found, arrow_type(wanted))


def _decoded(kind: pa.DataType) -> pa.DataType:
    if not _is_encoded(kind):
        return kind
    return arrow_schema(schema_of_arrow(pa.schema([("values", kind)]))).field(0).type


def _number_step(found: pa.DataType, target: pa.DataType) -> pa.DataType | None:
    if not pa.types.is_integer(found) or found == target:
        return None
    if pa.types.is_decimal(target):
        return _ANY_INTEGER
    is_number = pa.types.is_integer(target) or pa.types.is_floating(target)
    return target if is_number else None


def _changed(found: pa.DataType, wanted: pa.DataType) -> pa.DataType | None:
    return None if found == wanted else wanted


# === How a schema may grow ===


def merged_schema(schema: StructType, incoming: StructType) -> StructType:
    """Return a schema with the columns that rows have and it lacks, at any depth.

    New columns come last, and may be null. A column that is there keeps its type;
    whether rows fit that is found out where they are written.
    """
    return replace(schema, fields=_merged(schema, incoming))


def _merged(schema: StructType, incoming: StructType) -> tuple[StructField, ...]:
    fields = []
    for column in schema.fields:
        found = incoming.find(column.name)
        data_type = column.data_type
        if found is not None:
            data_type = _merged_type(data_type, found.data_type)
        fields.append(replace(column, data_type=data_type))
    new = (f for f in incoming.fields if schema.find(f.name) is None)
    fields.extend(replace(column, nullable=True) for column in new)
    return tuple(fields)


def _merged_type(one: DataType, other: DataType) -> DataType:
    match one, other:
        case StructType(), StructType():
            return replace(one, fields=_merged(one, other))
        case ArrayType(), ArrayType():
            inside = _merged_type(one.element_type, other.element_type)
            return replace(one, element_type=inside)
        case MapType(), MapType():
            return replace(
                one, value_type=_merged_type(one.value_type, other.value_type)
            )
        case _:
            return one
