"""Values of Arrow as Python has them, whatever a table holds."""

import pyarrow as pa


def python_values(column: pa.ChunkedArray | pa.Array) -> list[object]:
    """Return the values of a column; what Python cannot hold becomes text.

    Dates and times beyond the year 9999 are the case in point.
    """
    try:
        values: list[object] = column.to_pylist()
    except (ValueError, OverflowError):
        return [_python_value(scalar) for scalar in column]
    return values


def _python_value(scalar: pa.Scalar) -> object:
    try:
        return scalar.as_py()
    except (ValueError, OverflowError):
        try:
            return scalar.cast(pa.string()).as_py()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return "not a time that can be shown"
