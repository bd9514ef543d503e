"""Statistics as the JSON text that the log has of them, from typed ones where need be.

Some writers put an object into the log: the specification's table calls it a
"Statistics Struct". All readers want the text, so they get it: with every number as its
digits stand in the log, since a decimal or a long does not survive as a double.

Source: delta_protocol.md, "Per-file Statistics", "Add File and Remove File".
"""

import json
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.protocol.schema import (
    DataType,
    PrimitiveType,
    StructType,
    arrow_type,
)
from deltaweb.delta.values.exact_json import exact_json, parse_exact

NULL_COUNTS: Final = "nullCounts"  # as the appendix of the specification spells it
NULL_COUNT: Final = "nullCount"
TIGHT_BOUNDS: Final = "tightBounds"
BOUNDS: Final = frozenset({"minValues", "maxValues"})
_KINDS: Final = (
    *(pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal),
    *(pa.types.is_boolean, pa.types.is_binary, pa.types.is_null),
)


def texts_of_each(
    text: pa.StringArray | None,
    parsed: pa.StructArray | None,
    is_marked: pa.BooleanArray,
    schema: StructType,
) -> pa.StringArray:
    """Return the statistics of files as JSON, null where there are none.

    The log's own text stays as it is; where there is none, typed statistics of a
    checkpoint are written as text.

    Args:
        schema: The table's columns, by the names that the log has for them.
    """
    if text is None:
        text = pa.nulls(len(is_marked), pa.string())
    if parsed is None or not text.null_count:
        return text
    wanted = pc.and_(text.is_null(), parsed.is_valid())
    if not wanted.true_count:
        return text
    rows = np.flatnonzero(wanted.to_numpy(zero_copy_only=False))
    made = _texts(parsed.take(rows), is_marked.take(rows), schema)
    return pc.replace_with_mask(text, wanted, made)


def _texts(
    parsed: pa.StructArray, is_marked: pa.BooleanArray, schema: StructType
) -> pa.StringArray:
    parts = [
        _writable(
            pc.struct_field(parsed, [position]),
            schema if field.name in BOUNDS else None,
        )
        for position, field in enumerate(parsed.type)
    ]
    rows = pa.StructArray.from_arrays(parts, names=[f.name for f in parsed.type])
    pairs = zip(rows.to_pylist(), is_marked.to_pylist(), strict=True)
    return pa.array([_text(row, is_marked=mark) for row, mark in pairs], pa.string())


def _text(row: dict[str, Any], *, is_marked: bool) -> str | None:
    known = _without_nulls(row)
    if NULL_COUNTS in known:
        known[NULL_COUNT] = known.pop(NULL_COUNTS)
    if known and is_marked:  # whose bounds are those of its deleted rows, too
        known.setdefault(TIGHT_BOUNDS, False)
    return _json(known) if known else None


def _writable(array: pa.Array, known: DataType | None) -> pa.Array:
    """Return an array whose dates and times are the text that JSON has of them.

    Args:
        known: The type that the table has for them; None where it has none.
    """
    if pa.types.is_struct(array.type):
        names = [field.name for field in array.type]
        if not names:
            return array
        fields = known.fields if isinstance(known, StructType) else ()
        types = {field.name: field.data_type for field in fields}
        children = [
            _writable(part, types.get(name))
            for name, part in zip(names, array.flatten(), strict=True)
        ]
        return pa.StructArray.from_arrays(children, names=names, mask=array.is_null())
    try:
        return _leaf(array, known)
    except (pa.ArrowException, ValueError):
        return pa.nulls(len(array), pa.string())


def _leaf(array: pa.Array, known: DataType | None) -> pa.Array:
    """Return values as JSON takes them; what it does not is unknown."""
    if pa.types.is_timestamp(array.type):
        zone = "Z" if _has_zone(array.type, known) else ""
        moments = array.cast(pa.timestamp("us", array.type.tz)).cast(pa.int64())
        texts = pc.strftime(moments.cast(pa.timestamp("us")), "%Y-%m-%dT%H:%M:%S")
        texts = pc.replace_substring_regex(texts, r"(\.[0-9]{3})000$", r"\1")
        return _of_four_digits(pc.binary_join_element_wise(texts, zone, ""))
    if pa.types.is_date(array.type):
        return _of_four_digits(array.cast(pa.string()))
    if pa.types.is_string(array.type):
        array.validate(full=True)  # Parquet's text may not be UTF-8
    elif not any(is_kind(array.type) for is_kind in _KINDS):
        raise pa.ArrowNotImplementedError(str(array.type))
    return array


def _of_four_digits(texts: pa.StringArray) -> pa.StringArray:
    """Return dates and times, those alone whose years readers understand."""
    fits = pc.match_substring_regex(texts, r"^[0-9]{4}-")
    return pc.if_else(fits, texts, pa.scalar(None, pa.string()))


def _has_zone(kind: pa.TimestampType, known: DataType | None) -> bool:
    if isinstance(known, PrimitiveType):
        target = arrow_type(known)
        return pa.types.is_timestamp(target) and target.tz is not None
    return kind.tz is not None


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


# === What a writer put into the log as an object ===


_FILE_ACTIONS: Final = ("add", "remove")
_STATISTICS: Final = "stats"


def statistics_as_text(action: dict[str, Any], line: bytes) -> dict[str, Any]:
    """Return an action whose statistics, where they are an object, are its text."""
    given = [name for name in _FILE_ACTIONS if _has_object(action.get(name))]
    if not given:
        return action
    written = parse_exact(line)
    return action | {
        name: action[name]
        | {_STATISTICS: exact_json(written[name][_STATISTICS], is_ascii=True)}
        for name in given
    }


def _has_object(file: object) -> bool:
    return isinstance(file, Mapping) and isinstance(file.get(_STATISTICS), Mapping)
