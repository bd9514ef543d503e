"""Values of a data file, or of rows, brought to the types of the table's schema.

At every level a column of a data file is found as `stored_columns` says. One that the
file lacks is null, one that the schema lacks is dropped. Rows that do not come from a
data file have the names of the schema, never those that columns are stored under: a
column that is not found, or that the schema lacks, is an error. Only casts that keep
every value are made, those of type widening among them; all else is an error naming the
column.

Source: delta_protocol.md, "Reader Requirements for Type Widening".
"""

from collections.abc import Sequence
from enum import Enum, auto
from typing import Any, Final, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.protocol.schema import (
    ArrayType,
    DataType,
    MapType,
    PrimitiveType,
    StructType,
    arrow_type,
    type_text,
)
from deltaweb.delta.values.stored_columns import MismatchError, StoredColumns
from deltaweb.delta.values.value_text import MICROS_PER_DAY, rescaled, whole_decimals
from deltaweb.delta.values.variants import variant_texts
from deltaweb.delta.values.whole import as_lists
from deltaweb.parquet.values.variant import VariantError

TYPED_VARIANT: Final = PrimitiveType("variant", "variant with types")
"""The type of variants that are read with the types of their values."""
_TINY_TO_INT = frozenset({pa.int8(), pa.int16(), pa.int32()})
_UNSIGNED = frozenset({pa.uint8(), pa.uint16(), pa.uint32()})
_HALF_FLOATS = frozenset({pa.float16()})
_NARROW_FLOATS = _HALF_FLOATS | {pa.float32()}
_UNSIGNED_LONG = pa.uint64()
_LOCAL_TIME = pa.timestamp("us")
_INTEGERS = _TINY_TO_INT | _UNSIGNED | {pa.int64(), _UNSIGNED_LONG}

Rows = TypeVar("Rows", pa.RecordBatch, pa.Table)


class Origin(Enum):
    """Where values come from, which decides how the fields of structs are found."""

    DATA_FILE = auto()
    """A file of the table: by ids or stored names; a field that is missing is null."""
    ROWS = auto()
    """Rows by the names of the schema: a field that is missing is an error."""
    PARTIAL_ROWS = auto()
    """Rows by the names of the schema; a field that may be null may be missing."""


def conform(
    array: pa.Array, data_type: DataType, column: str, *, origin: Origin
) -> pa.Array:
    """Bring `array` to the Arrow type of `data_type`."""
    while isinstance(array, pa.ExtensionArray):
        array = array.storage
    if pa.types.is_dictionary(array.type) or pa.types.is_run_end_encoded(array.type):
        values, places = _looked_up(array, column)
        # pyarrow cannot look up values that are views or encoded themselves.
        if not values.type.equals(arrow_type(data_type)):
            values = conform(values, data_type, column, origin=origin)
        try:
            return values.take(places)
        except pa.ArrowException as error:
            raise MismatchError(column=column, reason=_first_line(error)) from None
    return _conform_values(_plain(array), data_type, column, origin)


def _conform_values(
    array: pa.Array, data_type: DataType, column: str, origin: Origin
) -> pa.Array:
    target = arrow_type(data_type)
    if pa.types.is_null(target) or pa.types.is_null(array.type):
        return pa.nulls(len(array), target)
    match data_type:
        case PrimitiveType("variant"):
            tells_types = data_type == TYPED_VARIANT
            return _conform_variant(array, column, tells_types=tells_types)
        case StructType():
            return _conform_struct(array, data_type, column, origin)
        case ArrayType():
            return _conform_list(array, data_type, column, origin)
        case MapType():
            return _conform_map(array, data_type, column, origin)
        case _:
            return _conform_leaf(array, data_type, target, column)


def _plain(array: pa.Array) -> pa.Array:
    """The values without encodings, and what is Arrow's alone."""
    if pa.types.is_duration(array.type):
        return array.cast(pa.int64())  # a plain INT64 of Parquet
    return array


def _looked_up(array: pa.Array, column: str) -> tuple[pa.Array, pa.Array]:
    """Return the different values of an encoded array, and the place of each row's.

    A code beyond its dictionary is an error. What is checked here need not be checked
    value by value.
    """
    try:
        array.validate(full=True)
    except pa.ArrowInvalid as error:
        reason = f"its dictionary is invalid ({_first_line(error)})"
        raise MismatchError(column=column, reason=reason) from None
    if pa.types.is_dictionary(array.type):
        return array.dictionary, array.indices
    numbers = pa.array(np.arange(len(array.values)))
    runs = pa.RunEndEncodedArray.from_arrays(array.run_ends, numbers)
    return array.values, pc.run_end_decode(runs.slice(array.offset, len(array)))


def _conform_struct(
    array: pa.Array, struct: StructType, column: str, origin: Origin
) -> pa.Array:
    if not pa.types.is_struct(array.type):
        raise _mismatch(array, struct, column)
    target = arrow_type(struct)
    fields = [target.field(i) for i in range(target.num_fields)]
    columns = []
    parts = array.flatten()
    positions = _positions(list(array.type), struct, column, origin)
    for field, position in zip(struct.fields, positions, strict=True):
        if position is None:
            columns.append(pa.nulls(len(array), arrow_type(field.data_type)))
        else:
            path, part = f"{column}.{field.name}", parts[position]
            columns.append(conform(part, field.data_type, path, origin=origin))
    if not columns:
        return pa.array(
            [{} if ok else None for ok in array.is_valid().to_pylist()], target
        )
    return pa.StructArray.from_arrays(columns, fields=fields, mask=array.is_null())


def _positions(
    found: Sequence[pa.Field], struct: StructType, column: str, origin: Origin
) -> list[int | None]:
    """Return where the fields of a struct are; None for one that is null."""
    if origin is Origin.DATA_FILE:
        stored = StoredColumns(found)
        return [stored.find(one, f"{column}.{one.name}") for one in struct.fields]
    positions: list[int | None] = []
    named = StoredColumns(found)
    for field in struct.fields:
        path = f"{column}.{field.name}"
        position = named.named(field.name, path)
        is_optional = origin is Origin.PARTIAL_ROWS and field.nullable
        if position is None and not is_optional:
            raise MismatchError(column=path, reason="it is missing")
        positions.append(position)
    for position, one in enumerate(found):
        if position not in positions:
            reason = "it is not a column of the table"
            raise MismatchError(column=f"{column}.{one.name}", reason=reason)
    return positions


def _conform_variant(
    array: pa.Array, column: str, *, tells_types: bool = False
) -> pa.Array:
    plain = _without_codes(array.type)
    array = array if array.type == plain else array.cast(plain)
    try:
        return variant_texts(array, tells_types=tells_types)
    except VariantError as error:
        reason = f"one of its variants is invalid ({error})"
        raise MismatchError(column=column, reason=reason) from None


def _without_codes(kind: pa.DataType) -> pa.DataType:
    """Return a type in which the bytes of structs and lists are not coded."""
    if pa.types.is_dictionary(kind):
        return kind.value_type
    if pa.types.is_struct(kind):
        return pa.struct([part.with_type(_without_codes(part.type)) for part in kind])
    if pa.types.is_list(kind):
        element = kind.value_field
        return pa.list_(element.with_type(_without_codes(element.type)))
    return kind


def _conform_list(
    array: pa.Array, data_type: ArrayType, column: str, origin: Origin
) -> pa.Array:
    kinds = (
        pa.types.is_list,
        pa.types.is_large_list,
        pa.types.is_fixed_size_list,
        pa.types.is_list_view,
        pa.types.is_large_list_view,
    )
    if not any(kind(array.type) for kind in kinds):
        raise _mismatch(array, data_type, column)
    element = f"{column}.element"
    values = conform(array.flatten(), data_type.element_type, element, origin=origin)
    return pa.ListArray.from_arrays(
        _offsets(array), values, type=arrow_type(data_type), mask=array.is_null()
    )


def _conform_map(
    array: pa.Array, data_type: MapType, column: str, origin: Origin
) -> pa.Array:
    if pa.types.is_map(array.type):
        array = as_lists(array)
    stored_keys, stored_items = _keys_and_items(array, data_type, column)
    key, value = f"{column}.key", f"{column}.value"
    keys = conform(stored_keys, data_type.key_type, key, origin=origin)
    items = conform(stored_items, data_type.value_type, value, origin=origin)
    if keys.null_count:
        raise MismatchError(column=column, reason="a key of the map is null")
    lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy()
    lengths, keys, items = _last_values(lengths, keys, items)
    return pa.MapArray.from_arrays(
        pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32()),
        keys,
        items,
        type=arrow_type(data_type),
        mask=array.is_null(),
    )


def _keys_and_items(
    array: pa.Array, data_type: MapType, column: str
) -> tuple[pa.Array, pa.Array]:
    """The keys and values of all maps.

    A map of Parquet may leave its values out: that is a list of keys to Arrow, which
    by its name alone is told from other lists.
    """
    if pa.types.is_list(array.type):
        entries = array.flatten()
        if pa.types.is_struct(entries.type) and entries.type.num_fields == 2:  # noqa: PLR2004 # key and value
            return pc.struct_field(entries, [0]), pc.struct_field(entries, [1])
        if array.type.value_field.name == "key":
            return entries, pa.nulls(len(entries))
    raise _mismatch(array, data_type, column)


def _last_values(
    lengths: "np.ndarray[Any, Any]", keys: pa.Array, items: pa.Array
) -> tuple["np.ndarray[Any, Any]", pa.Array, pa.Array]:
    """Leave each map the last value of a key that it holds more than once.

    Source: parquet_logical_types.md, "Maps".
    """
    if not len(keys) or lengths.max() <= 1:
        return lengths, keys, items
    codes = _codes(keys)
    owners = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    entries = owners * (int(codes.max()) + 1) + codes
    if pc.count_distinct(pa.array(entries)).as_py() == len(entries):
        return lengths, keys, items
    _, first, number = np.unique(entries, return_index=True, return_inverse=True)
    last = np.empty_like(first)
    last[number] = np.arange(len(entries))
    order = np.argsort(first)
    kept = np.bincount(owners[first], minlength=len(lengths))
    return kept, keys.take(pa.array(first[order])), items.take(pa.array(last[order]))


def _codes(values: pa.Array) -> "np.ndarray[Any, Any]":
    """Return a number for each value, the same for equal ones; null equals null."""
    if pa.types.is_struct(values.type):
        parts = [values.is_valid().to_numpy(zero_copy_only=False).astype(np.int64)]
        parts += map(_codes, values.flatten())
        _, found = np.unique(np.stack(parts, axis=1), axis=0, return_inverse=True)
        return np.asarray(found, np.int64).reshape(-1)
    if not pa.types.is_nested(values.type):
        coded = values.dictionary_encode(null_encoding="encode")
        return np.asarray(coded.indices, np.int64)
    lists = as_lists(values) if pa.types.is_map(values.type) else values
    inner = _codes(lists.flatten()).tolist()
    known: dict[tuple[int, ...], int] = {}
    made, end = [], 0
    for length in pc.fill_null(pc.list_value_length(lists), -1).to_pylist():
        start, end = end, end + max(0, length)
        made.append(known.setdefault((length, *inner[start:end]), len(known)))
    return np.array(made, np.int64)


def _offsets(array: pa.Array) -> pa.Array:
    lengths = pc.fill_null(pc.list_value_length(array), 0).cast(pa.int32())
    return pa.concat_arrays([pa.array([0], pa.int32()), pc.cumulative_sum(lengths)])


def _conform_leaf(
    array: pa.Array, data_type: DataType, target: pa.DataType, column: str
) -> pa.Array:
    if array.type.equals(target):
        return _checked_text(array, column)
    if not _may_hold(array.type, target):
        raise _mismatch(array, data_type, column)
    try:
        if pa.types.is_timestamp(target):
            return _micros(array, target)
        if pa.types.is_decimal(target) and pa.types.is_integer(array.type):
            return whole_decimals(array, target)
        if pa.types.is_decimal(target) and pa.types.is_decimal(array.type):
            return rescaled(array, target)
        return _checked_text(array.cast(target), column)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        reason = f"a value does not fit {type_text(data_type)} ({_first_line(error)})"
        raise MismatchError(column=column, reason=reason) from None


def _checked_text(array: pa.Array, column: str) -> pa.Array:
    """Return the array; a text of it that is no UTF-8 would be found out far later."""
    if pa.types.is_string(array.type):
        try:
            array.validate(full=True)
        except pa.ArrowInvalid as error:
            reason = f"one of its texts is invalid ({_first_line(error)})"
            raise MismatchError(column=column, reason=reason) from None
    return array


def _may_hold(source: pa.DataType, target: pa.DataType) -> bool:
    """Tell whether a file may hold a column of `target` as `source`.

    Parquet stores small integers as 32 bits, a decimal in any of four ways, and
    text or bytes with or without saying which. Wider numbers hold narrower ones, a
    double whole numbers of 32 bits, a decimal whole numbers, and a time without a zone
    days: a column may have been widened since the file was written.
    """
    if pa.types.is_integer(target):
        if target.bit_width <= 32:  # noqa: PLR2004 # Parquet's INT32
            return source in _TINY_TO_INT or source in _UNSIGNED
        return source in _INTEGERS
    if pa.types.is_string(target) or pa.types.is_binary(target):
        return _is_bytes(source)
    if pa.types.is_float32(target):
        return source in _HALF_FLOATS
    if pa.types.is_float64(target):
        return source in _NARROW_FLOATS or source in _TINY_TO_INT
    kinds = (pa.types.is_decimal, pa.types.is_timestamp, pa.types.is_date)
    return (
        any(kind(source) and kind(target) for kind in kinds)
        or (pa.types.is_decimal(target) and source in _INTEGERS)
        # A day has no instant, but a midnight.
        or (pa.types.is_date(source) and target == _LOCAL_TIME)
    )


def _is_bytes(source: pa.DataType) -> bool:
    kinds = (
        pa.types.is_string,
        pa.types.is_large_string,
        pa.types.is_string_view,
        pa.types.is_binary,
        pa.types.is_large_binary,
        pa.types.is_binary_view,
        pa.types.is_fixed_size_binary,
    )
    return any(kind(source) for kind in kinds) and not pa.types.is_decimal(source)


def _micros(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Timestamps of any unit as microseconds; what is finer is cut, never rounded."""
    if pa.types.is_date(array.type):
        days = array.cast(pa.date32()).cast(pa.int32()).cast(pa.int64())
        return pc.multiply_checked(days, MICROS_PER_DAY).cast(target)
    ticks = array.cast(pa.int64())
    if array.type.unit == "ns":
        # Integer division truncates towards zero, and time goes on before 1970.
        cut = pc.divide(ticks, 1_000)
        lost = pc.less(ticks, pc.multiply(cut, 1_000))
        ticks = pc.subtract(cut, lost.cast(pa.int64()))
    else:
        factor = {"s": 1_000_000, "ms": 1_000, "us": 1}[array.type.unit]
        ticks = pc.multiply_checked(ticks, factor)
    return ticks.cast(target)


def _mismatch(array: pa.Array, data_type: DataType, column: str) -> MismatchError:
    reason = f"it is {array.type} in the file, but {type_text(data_type)} in the schema"
    return MismatchError(column=column, reason=reason)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]


# === Rows by another schema ===


def relabelled(rows: Rows, schema: pa.Schema) -> Rows:
    """Return rows by a schema with columns of the same names, in the same order.

    A column that has its type already stays as it is. `pyarrow.Table.cast` would refuse
    one with a struct that is null and has fields which may not be.
    """
    columns = [
        column if column.type == field.type else column.cast(field.type)
        for column, field in zip(rows.columns, schema, strict=True)
    ]
    return type(rows).from_arrays(columns, schema=schema)
