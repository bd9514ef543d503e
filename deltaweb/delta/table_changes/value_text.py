"""Values of any type as text, for columns whose types have nothing in common."""

import json
from decimal import Decimal

import pyarrow as pa

from deltaweb.delta.python_values import python_values


def as_text(values: pa.Array) -> pa.StringArray:
    """Return each value as text; bytes are hexadecimal, nested values JSON.

    A decimal has all its digits, which Arrow writes with an exponent where it is small.
    """
    kind = values.type
    written_here = (pa.types.is_nested, pa.types.is_binary, pa.types.is_decimal)
    if not any(is_kind(kind) for is_kind in written_here):
        return values.cast(pa.string())
    return pa.array([_text(value) for value in python_values(values)], pa.string())


def _text(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, bytes | Decimal):
        return _plain(value)
    return json.dumps(value, default=_plain, ensure_ascii=False)


def _plain(value: object) -> str:
    if isinstance(value, bytes):
        return value.hex()
    return f"{value:f}" if isinstance(value, Decimal) else str(value)
