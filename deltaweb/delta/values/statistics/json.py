"""Statistics that are not as they should be: JSON parsed text by text.

Slow and tolerant, where `deltaweb.delta.values.statistics.columns` is fast and strict:
each value that is of its column's type is kept, every other is unknown.
"""

import json
from collections.abc import Sequence
from decimal import Decimal
from math import isinf
from typing import Any

import pyarrow as pa

from deltaweb.delta.protocol.schema import (
    DataType,
    DecimalType,
    PrimitiveType,
    StructType,
    arrow_type,
)
from deltaweb.delta.values.value_text import (
    INTEGER_BITS,
    Value,
    arrow_array,
    parse_value,
)

MAX_STATS_BYTES = 1 << 24
"""Statistics of one file longer than this are not looked at."""

_LONG = PrimitiveType("long")
_FLOATS = frozenset({"float", "double"})


def parse_each(
    texts: Sequence[str | None],
    bounds: StructType,
    counts: StructType,
    schema: pa.Schema,
) -> pa.RecordBatch:
    """Parse each text of statistics by itself.

    Args:
        texts: The JSON texts; one that is not a JSON object gives a row of nulls.
        bounds: The columns with a smallest and a largest value.
    """
    rows = [_object(text) for text in texts]
    columns = [
        _column([row.get("numRecords") for row in rows], _LONG),
        _column([row.get("minValues") for row in rows], bounds),
        _column([row.get("maxValues") for row in rows], bounds),
        _column([row.get("nullCount") for row in rows], counts),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _object(text: str | None) -> dict[str, Any]:
    if text is not None and len(text) > MAX_STATS_BYTES:
        return {}
    try:
        value = json.loads(text or "{}", parse_float=Decimal)
    except (ValueError, RecursionError, ArithmeticError):
        return {}
    return value if isinstance(value, dict) else {}


def _column(values: Sequence[object], data_type: DataType) -> pa.Array:
    if not isinstance(data_type, StructType):
        return arrow_array([_exact(value, data_type) for value in values], data_type)
    structs = [value if isinstance(value, dict) else {} for value in values]
    columns = [
        _column([struct.get(field.name) for struct in structs], field.data_type)
        for field in data_type.fields
    ]
    if not columns:
        return pa.array(structs, pa.struct([]))
    fields = list(arrow_type(data_type))
    mask = pa.array([not isinstance(value, dict) for value in values])
    return pa.StructArray.from_arrays(columns, fields=fields, mask=mask)


def _exact(value: object, data_type: DataType) -> Value | None:
    """The value as its column holds it, or None where that would change it."""
    name = data_type.name if isinstance(data_type, PrimitiveType) else ""
    if isinstance(value, bool):
        return value if name == "boolean" else None
    if not isinstance(value, _json_types(data_type, name)):
        return None
    try:
        text = str(value)
        text.encode()  # who cuts text by UTF-16 may leave half a character
        exact = parse_value(text, data_type)
    except ValueError:
        return None
    # A number too large for a double says nothing about the values of its column.
    is_overflow = (
        isinstance(exact, float) and isinf(exact) and not isinstance(value, str)
    )
    return None if is_overflow else exact


def _json_types(data_type: DataType, name: str) -> tuple[type, ...]:
    if name in INTEGER_BITS:
        return (int,)
    if isinstance(data_type, DecimalType) or name in _FLOATS:
        # What JSON cannot write as a number, such as NaN, is a text.
        return (int, Decimal, str)
    return (str,)
