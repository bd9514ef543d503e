"""The statistics of a data file, collected for the log while the file is written.

Source: PROTOCOL.md, "Per-file Statistics".
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

type_checks = pa.types

STRING_PREFIX_LENGTH: Final = 32  # characters kept of a string's minimum and maximum
INDEXED_COLUMNS: Final = 32  # leaf columns with statistics, counted from the left
EXACT_DOUBLE_DIGITS: Final = 15  # decimal digits that every double holds exactly
MILLISECOND_US: Final = 1000
ASCII_MAXIMUM: Final = "\x7f"
UNICODE_MAXIMUM: Final = chr(0x10FFFF)

Statistics = dict[str, object]
_Path = tuple[str, ...]


def collect_statistics(data: pa.Table) -> Statistics:
    """Return `numRecords`, `minValues`, `maxValues` and `nullCount` of some rows.

    Bounds are never tighter than the data: a string maximum that is cut gets a
    tie-breaker, a timestamp maximum is rounded up to the millisecond. A column whose
    bounds JSON cannot say (NaN, long decimals, binary) has its null count alone.

    Args:
        data: The rows of the file, without its partition columns.

    Returns:
        The statistics as they are written into `add.stats`, nested as the columns are.
    """
    minimums: Statistics = {}
    maximums: Statistics = {}
    null_counts: Statistics = {}
    for index, (path, column) in enumerate(_leaves(data)):
        if index == INDEXED_COLUMNS:
            break
        _put(null_counts, path, column.null_count)
        bounds = _bounds(column)
        if bounds is not None:
            _put(minimums, path, bounds[0])
            _put(maximums, path, bounds[1])
    return {
        "numRecords": data.num_rows,
        "minValues": minimums,
        "maxValues": maximums,
        "nullCount": null_counts,
    }


def _leaves(data: pa.Table) -> Iterator[tuple[_Path, pa.ChunkedArray]]:
    for name in data.column_names:
        yield from _leaves_of((name,), data[name])


def _leaves_of(
    path: _Path, column: pa.ChunkedArray
) -> Iterator[tuple[_Path, pa.ChunkedArray]]:
    if not type_checks.is_struct(column.type):
        yield path, column
        return
    for index in range(column.type.num_fields):
        field = column.type.field(index)
        yield from _leaves_of((*path, field.name), pc.struct_field(column, [index]))


def _put(target: Statistics, path: _Path, value: object) -> None:
    for name in path[:-1]:
        target = target.setdefault(name, {})  # type: ignore[assignment]  # dicts above leaves
    target[path[-1]] = value


def _bounds(column: pa.ChunkedArray) -> tuple[object, object] | None:
    if (
        column.null_count == len(column)
        or _has_no_bounds(column.type)
        or not _all_finite(column)
    ):
        return None
    extremes = pc.min_max(column)
    smallest, largest = extremes["min"].as_py(), extremes["max"].as_py()
    if isinstance(smallest, str):
        return smallest[:STRING_PREFIX_LENGTH], _cut_maximum(largest)
    if isinstance(smallest, datetime):
        return _format_timestamp(smallest), _format_timestamp(_up_to_ms(largest))
    if isinstance(smallest, date):
        return smallest.isoformat(), largest.isoformat()
    if isinstance(smallest, Decimal):
        return float(smallest), float(largest)
    return smallest, largest


def _has_no_bounds(data_type: pa.DataType) -> bool:
    if type_checks.is_decimal(data_type):
        return bool(data_type.precision > EXACT_DOUBLE_DIGITS)
    return bool(
        type_checks.is_nested(data_type)
        or type_checks.is_binary(data_type)
        or type_checks.is_boolean(data_type)
        or type_checks.is_null(data_type)
    )


def _all_finite(column: pa.ChunkedArray) -> bool:
    if not type_checks.is_floating(column.type):
        return True
    return bool(pc.all(pc.is_finite(column)).as_py())


def _cut_maximum(text: str) -> str:
    prefix, rest = text[:STRING_PREFIX_LENGTH], text[STRING_PREFIX_LENGTH:]
    if not rest:
        return prefix
    return prefix + (ASCII_MAXIMUM if rest[0] < ASCII_MAXIMUM else UNICODE_MAXIMUM)


def _up_to_ms(moment: datetime) -> datetime:
    return moment + timedelta(microseconds=-moment.microsecond % MILLISECOND_US)


def _format_timestamp(moment: datetime) -> str:
    text = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    return text.removesuffix("+00:00") + "Z"
