"""Values of Arrow as Python has them and as text, whatever a table holds."""

import pyarrow as pa

from deltaweb.delta.values.cell_text import cell_text


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
    if texts == column.type:
        return column
    return column.cast(texts).cast(_without_floats(column.type, pa.float64()))


def _without_floats(kind: pa.DataType, other: pa.DataType) -> pa.DataType:
    """Return a type with another one in place of its floats of 32 bits."""
    if pa.types.is_float32(kind):
        return other
    if pa.types.is_struct(kind):
        return pa.struct(
            [field.with_type(_without_floats(field.type, other)) for field in kind]
        )
    if pa.types.is_map(kind):
        return pa.map_(
            _without_floats(kind.key_type, other),
            _without_floats(kind.item_type, other),
        )
    if pa.types.is_list(kind):
        item = kind.value_field
        return pa.list_(item.with_type(_without_floats(item.type, other)))
    return kind


def _python_value(scalar: pa.Scalar) -> object:
    try:
        return scalar.as_py()
    except (ValueError, OverflowError):
        try:
            return scalar.cast(pa.string()).as_py()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return "not a time that can be shown"


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
