"""Values of Arrow as Python has them and as text, whatever a table holds."""

from collections.abc import Callable
from typing import Any, TypeAlias

import pyarrow as pa

from deltaweb.delta.values.cell_text import cell_text, plain_value

ToJSON: TypeAlias = Callable[[Any], Any]
"""Returns the JSON of a value of one type."""


def python_values(column: pa.ChunkedArray | pa.Array) -> list[object]:
    """Return the values of a column; what Python cannot hold becomes text.

    Dates and times beyond the year 9999 are the case in point. A float of 32 bits has
    the fewest digits that mean it, 0.1 and not 0.10000000149011612.
    """
    column = _short_floats(column)
    try:
        values: list[object] = column.to_pylist()
    except (ValueError, OverflowError):
        return [_python_value(scalar) for scalar in column]
    return values


def _short_floats(column: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
    texts = _without_floats(column.type, pa.string())
    if texts == _without_floats(column.type, pa.float32()):
        return column
    return column.cast(texts).cast(_without_floats(column.type, pa.float64()))


def _without_floats(kind: pa.DataType, other: pa.DataType) -> pa.DataType:
    """Return a type with another one in place of its floats of 32 bits.

    Any part of it may be null: a cast refuses a null struct with fields that may not.
    """
    if pa.types.is_float32(kind):
        return other
    if pa.types.is_struct(kind):
        return pa.struct(
            [pa.field(part.name, _without_floats(part.type, other)) for part in kind]
        )
    if pa.types.is_map(kind):
        return pa.map_(
            _without_floats(kind.key_type, other),
            _without_floats(kind.item_type, other),
        )
    if pa.types.is_list(kind):
        return pa.list_(_without_floats(kind.value_type, other))
    return kind


def _python_value(scalar: pa.Scalar) -> object:
    try:
        return scalar.as_py()
    except (ValueError, OverflowError):
        try:
            return scalar.cast(pa.string()).as_py()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return "not a time that can be shown"


def to_json_of(kind: pa.DataType, *, maps_are_pairs: bool = False) -> ToJSON:
    """Return what makes JSON of the values of a type, as `python_values` has them.

    A whole number of 64 bits is text at any depth: many readers of JSON round it. A map
    is an object where its keys are texts, each once, and else pairs of `key` and
    `value`.

    Args:
        maps_are_pairs: Whether every map is pairs.
    """
    write = _writer(kind, maps_are_pairs=maps_are_pairs)
    # What Python cannot hold is text already, with all that is around it.
    return lambda value: (
        value if value is None or isinstance(value, str) else write(value)
    )


def _writer(kind: pa.DataType, *, maps_are_pairs: bool) -> ToJSON:
    def within(inner: pa.DataType) -> ToJSON:
        return to_json_of(inner, maps_are_pairs=maps_are_pairs)

    types = pa.types
    if types.is_int64(kind):
        return str
    if types.is_struct(kind):
        parts = {field.name: within(field.type) for field in kind}
        return lambda value: {name: part(value[name]) for name, part in parts.items()}
    if types.is_map(kind):
        of_key, of_item = within(kind.key_type), within(kind.item_type)
        are_pairs = maps_are_pairs or not types.is_string(kind.key_type)
        return lambda entries: _map(
            [(of_key(key), of_item(item)) for key, item in entries], are_pairs=are_pairs
        )
    if types.is_list(kind) or types.is_large_list(kind):
        of_item = within(kind.value_type)
        return lambda items: [of_item(item) for item in items]
    return plain_value


def _map(entries: list[tuple[Any, Any]], *, are_pairs: bool) -> object:
    found = {} if are_pairs else dict(entries)
    if are_pairs or len(found) < len(entries):
        return [{"key": key, "value": item} for key, item in entries]
    return found


def as_text(values: pa.Array) -> pa.StringArray:
    """Return each value as `cell_text` does; dates and times as Arrow writes them."""
    kind = values.type
    written_here = (
        *(pa.types.is_nested, pa.types.is_binary, pa.types.is_decimal),
        pa.types.is_floating,
    )
    if not any(is_kind(kind) for is_kind in written_here):
        return values.cast(pa.string())
    texts = [
        None if value is None else cell_text(value) for value in python_values(values)
    ]
    return pa.array(texts, pa.string())
