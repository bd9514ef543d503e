"""Typed statistics as the JSON text that the log would hold.

Source: delta_protocol.md, "Per-file Statistics".
"""

import json
import math
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

NULL_COUNTS: Final = "nullCounts"  # as the appendix of the specification spells it
NULL_COUNT: Final = "nullCount"


def statistics_texts(parsed: pa.StructArray) -> pa.StringArray:
    """Return the JSON of typed statistics, null where it would say nothing."""
    rows = _writable(parsed).to_pylist()
    return pa.array([_text(row) for row in rows], pa.string())


def _text(row: dict[str, Any] | None) -> str | None:
    known = _without_nulls(row or {})
    if NULL_COUNTS in known:
        known[NULL_COUNT] = known.pop(NULL_COUNTS)
    return _json(known) if known else None


def _writable(array: pa.Array) -> pa.Array:
    """Return an array whose dates and times are the text that JSON has of them."""
    if pa.types.is_struct(array.type):
        names = [field.name for field in array.type]
        children = [_writable(pc.struct_field(array, [name])) for name in names]
        if not names:
            return array
        return pa.StructArray.from_arrays(children, names=names, mask=array.is_null())
    if pa.types.is_timestamp(array.type):
        zone = "" if array.type.tz is None else "Z"
        plain = array.cast(pa.timestamp("us", array.type.tz)).cast(pa.timestamp("us"))
        texts = pc.strftime(plain, format="%Y-%m-%dT%H:%M:%S")
        return pc.binary_join_element_wise(texts, zone, "")
    if pa.types.is_date(array.type):
        return array.cast(pa.string())
    return array


def _without_nulls(values: dict[str, Any]) -> dict[str, Any]:
    known = {}
    for name, value in values.items():
        kept = _without_nulls(value) if isinstance(value, dict) else value
        if kept is not None and kept != {}:
            known[name] = kept
    return known


def _json(value: object) -> str:
    """Return a value as JSON; a decimal keeps its digits, NaN is a text."""
    if isinstance(value, dict):
        parts = (f"{json.dumps(k)}:{_json(v)}" for k, v in value.items())
        return "{" + ",".join(parts) + "}"
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, float) and not math.isfinite(value):
        return json.dumps(_not_finite(value))
    if isinstance(value, bytes):
        return json.dumps(value.decode("utf-8", "replace"))
    return json.dumps(value, ensure_ascii=False)


def _not_finite(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"
