"""Statistics of a data file, gathered from its row groups as they are written.

Bounds are never tighter than the rows: a string's maximum that is cut gets a
tie-breaker, a timestamp's is rounded up to the millisecond. A bound that JSON cannot
say is left out, and so are both bounds of a column with a NaN, which engines order
differently.

Source: delta_protocol.md, "Per-file Statistics".
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import PropertyError
from deltaweb.delta.protocol.column_path import ColumnPath, parse_path, split_paths
from deltaweb.delta.protocol.schema import StructType, arrow_type, leaf_fields
from deltaweb.delta.protocol.table_properties import (
    DEFAULT_STRING_PREFIX,
    INDEXED_COLUMNS,
    STATISTICS_COLUMNS,
)
from deltaweb.writer.files.file_shape import stored_type

DEFAULT_INDEXED: Final = 32
ASCII_MAXIMUM: Final = "\x7f"
UNICODE_MAXIMUM: Final = chr(0x10FFFF)
MILLISECOND_US: Final = 1_000
_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001  # zones are told by the type


def statistics_columns(
    schema: StructType, configuration: Mapping[str, str]
) -> tuple[ColumnPath, ...]:
    """Return the leaf columns that get statistics."""
    leaves = [
        leaf.path
        for leaf in leaf_fields(schema)
        if stored_type(arrow_type(leaf.data_type)) is not None
    ]
    named = configuration.get(STATISTICS_COLUMNS)
    if named is not None:
        wanted = [parse_path(name.lower()) for name in split_paths(named)]
        return tuple(
            path
            for path in leaves
            if any(
                tuple(part.lower() for part in path[: len(name)]) == name
                for name in wanted
            )
        )
    text = configuration.get(INDEXED_COLUMNS, str(DEFAULT_INDEXED)).strip()
    try:
        count = int(text)
    except ValueError:
        count = -2
    if count < -1:
        raise PropertyError(
            name=INDEXED_COLUMNS, value=text, expected="a count of columns, or -1"
        )
    return tuple(leaves if count == -1 else leaves[:count])


@dataclass
class _Leaf:
    """What is known of one column so far; bounds are Arrow scalars."""

    nulls: int = 0
    low: Any = None
    high: Any = None
    is_bounded: bool = True


@dataclass
class FileStatistics:
    """The statistics of one file while its row groups are written.

    Attributes:
        columns: Those that get statistics, as the rows and the log call them.
        prefix_length: How many characters are kept of a text's bounds.
    """

    columns: tuple[ColumnPath, ...]
    prefix_length: int = DEFAULT_STRING_PREFIX
    num_records: int = 0
    _leaves: dict[ColumnPath, _Leaf] = field(default_factory=dict)

    def add(self, rows: pa.Table, *, has_nan: bool = True) -> None:
        """Take the rows of one row group into account.

        Args:
            has_nan: False where it is known that no value is a NaN.
        """
        self.num_records += rows.num_rows
        for path in self.columns:
            column = _column(rows, path)
            leaf = self._leaves.setdefault(path, _Leaf())
            leaf.nulls += column.null_count
            if leaf.is_bounded and column.null_count < len(column):
                _widen(leaf, column, has_nan=has_nan)

    def to_json(self) -> str:
        """Return the statistics as the `stats` of an `add` action."""
        low: dict[str, Any] = {}
        high: dict[str, Any] = {}
        nulls: dict[str, Any] = {}
        for path, leaf in self._leaves.items():
            put_text(nulls, path, str(leaf.nulls))
            if leaf.is_bounded and leaf.low is not None:
                put_text(low, path, _lower_text(leaf.low, self.prefix_length))
                put_text(high, path, _upper_text(leaf.high, self.prefix_length))
        return object_text(
            {
                "numRecords": str(self.num_records),
                "minValues": low,
                "maxValues": high,
                "nullCount": nulls,
            }
        )


def _column(rows: pa.Table, path: ColumnPath) -> pa.ChunkedArray:
    column = rows.column(path[0])
    for name in path[1:]:
        column = pc.struct_field(column, [column.type.get_field_index(name)])
    return column


def _widen(leaf: _Leaf, column: pa.ChunkedArray, *, has_nan: bool) -> None:
    kind = column.type
    if (
        pa.types.is_nested(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_null(kind)
        or (
            has_nan and pa.types.is_floating(kind) and pc.any(pc.is_nan(column)).as_py()
        )
    ):
        leaf.is_bounded = False
        return
    extremes = pc.min_max(column)
    low, high = extremes["min"], extremes["max"]
    leaf.low = low if leaf.low is None else _extreme(leaf.low, low, "min")
    leaf.high = high if leaf.high is None else _extreme(leaf.high, high, "max")


def _extreme(one: pa.Scalar, other: pa.Scalar, name: str) -> pa.Scalar:
    if pa.types.is_string(one.type):  # bytes order texts as code points do
        choose = min if name == "min" else max
        return choose(one, other, key=lambda scalar: scalar.as_buffer().to_pybytes())
    pair = pa.concat_arrays([pa.array([one], one.type), pa.array([other], one.type)])
    return pc.min_max(pair)[name]


# === Text ===


def put_text(target: dict[str, Any], path: ColumnPath, text: str | None) -> None:
    """Put the JSON text of a column where it belongs among others; none for None."""
    if text is None:
        return
    for name in path[:-1]:
        target = target.setdefault(name, {})
    target[path[-1]] = text


def object_text(values: Mapping[str, Any]) -> str:
    """Write objects whose leaves are JSON text already: decimals keep their digits."""
    parts = [
        f"{_quoted(name)}:{object_text(value) if isinstance(value, dict) else value}"
        for name, value in values.items()
    ]
    return f"{{{','.join(parts)}}}"


@lru_cache(maxsize=4096)
def _quoted(name: str) -> str:
    return json.dumps(name)


def _lower_text(value: pa.Scalar, prefix_length: int) -> str | None:
    if pa.types.is_string(value.type):
        return json.dumps(value.as_py()[:prefix_length])
    if pa.types.is_timestamp(value.type):
        return _timestamp_text(value, value.value // MILLISECOND_US)
    if pa.types.is_floating(value.type) and value.as_py() == 0:
        return "-0.0"  # zeros are equal, and some readers order them
    return _number_text(value)


def _upper_text(value: pa.Scalar, prefix_length: int) -> str | None:
    if pa.types.is_string(value.type):
        return cut_maximum(value.as_py(), prefix_length)
    if pa.types.is_timestamp(value.type):
        return _timestamp_text(value, -(-value.value // MILLISECOND_US))
    if pa.types.is_floating(value.type) and value.as_py() == 0:
        return "0.0"
    return _number_text(value)


def _number_text(value: pa.Scalar) -> str | None:
    if pa.types.is_date32(value.type):
        try:
            return json.dumps((date(1970, 1, 1) + timedelta(value.value)).isoformat())
        except OverflowError:
            return None  # a year that readers do not parse
    number = value.as_py()
    if isinstance(number, int):
        return str(number)
    if isinstance(number, Decimal):
        return f"{number:f}"
    if isinstance(number, float) and not math.isfinite(number):
        return None
    return json.dumps(number)


def _timestamp_text(value: pa.Scalar, milliseconds: int) -> str | None:
    try:
        moment = _EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return None
    zone = "Z" if value.type.tz else ""
    return json.dumps(moment.isoformat(timespec="milliseconds") + zone)


def cut_maximum(text: str, prefix_length: int = DEFAULT_STRING_PREFIX) -> str | None:
    """Write a string's upper bound, cut so that it still bounds; None if it cannot.

    A character follows that is larger than what is cut. If more of the largest
    characters stand there than the prefix has characters, the text is not cut.
    """
    prefix, rest = text[:prefix_length], text[prefix_length:]
    if not rest:
        return json.dumps(prefix)
    if not prefix:
        return None
    last = len(rest) - len(rest.lstrip(UNICODE_MAXIMUM))
    if last > prefix_length:
        return None
    if last == len(rest):
        return json.dumps(text)
    tie = ASCII_MAXIMUM if rest[last] < ASCII_MAXIMUM else UNICODE_MAXIMUM
    return json.dumps(prefix + rest[:last] + tie)
