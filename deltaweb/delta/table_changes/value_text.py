"""Values of any type as text, for columns whose types have nothing in common."""

import json

import pyarrow as pa

from deltaweb.delta.python_values import python_values


def as_text(values: pa.Array) -> pa.StringArray:
    """Return each value as text; bytes are hexadecimal, nested values JSON."""
    kind = values.type
    if not pa.types.is_nested(kind) and not pa.types.is_binary(kind):
        return values.cast(pa.string())
    return pa.array([_text(value) for value in python_values(values)], pa.string())


def _text(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, bytes):
        return value.hex()
    return json.dumps(value, default=_plain, ensure_ascii=False)


def _plain(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)
