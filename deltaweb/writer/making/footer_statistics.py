"""Statistics for the log, of a file's footer: only bounds that hold for every reader.

What a footer says is taken where the rules of Parquet let it be believed. Left out are
bounds of booleans and bytes, as of any file written here; of floating numbers, unless
the footer says that none is NaN, which engines order differently; and of days and times
before 1900, which old writers counted by another calendar.

Source: delta_protocol.md, "Per-file Statistics"; parquet.thrift, "Statistics".
"""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from deltaweb.delta.protocol.column_path import ColumnPath
from deltaweb.delta.protocol.schema import (
    DataType,
    DecimalType,
    PrimitiveType,
    StructType,
    leaf_fields,
)
from deltaweb.delta.protocol.table_properties import DEFAULT_STRING_PREFIX
from deltaweb.parquet.loading import ParquetFooter
from deltaweb.parquet.metadata import ColumnChunk
from deltaweb.parquet.schema import Node
from deltaweb.parquet.statistics import read_statistics
from deltaweb.writer.files.statistics import (
    cut_maximum,
    object_text,
    put_text,
)

FIRST_YEAR: Final = "1900"
_WHOLE: Final = frozenset({"byte", "short", "integer", "long"})
_FLOATING: Final = frozenset({"float", "double"})
_TIMES: Final = frozenset({"timestamp", "timestamp_ntz"})


class FooterStatistics:
    """Writes the statistics of files, whose columns are those of a table."""

    def __init__(
        self,
        schema: StructType,
        columns: tuple[ColumnPath, ...],
        prefix_length: int = DEFAULT_STRING_PREFIX,
    ) -> None:
        self._prefix_length = prefix_length
        types = {leaf.path: leaf.data_type for leaf in leaf_fields(schema)}
        self._columns = [(path, types[path]) for path in columns]

    def to_json(self, footer: ParquetFooter) -> str:
        """Return the statistics of a file as the `stats` of an `add` action."""
        num_rows = footer.metadata.num_rows
        low: dict[str, Any] = {}
        high: dict[str, Any] = {}
        nulls: dict[str, Any] = {}
        for path, data_type in self._columns:
            node = _find(footer.root, path)
            if node is None:
                put_text(nulls, path, str(num_rows))
                continue
            if node.leaf is None:
                continue  # a list, or a map: its own nulls are not counted
            chunks = list(_chunks(footer, node))
            counts = [_null_count(chunk) for chunk in chunks]
            if len(chunks) < len(footer.metadata.row_groups) or None in counts:
                continue
            put_text(nulls, path, str(sum(count or 0 for count in counts)))
            texts = _bounds(footer, node, chunks, data_type, self._prefix_length)
            if texts is not None:
                put_text(low, path, texts[0])
                put_text(high, path, texts[1])
        return object_text(
            {
                "numRecords": str(num_rows),
                "minValues": low,
                "maxValues": high,
                "nullCount": nulls,
            }
        )


def _find(root: Node, path: ColumnPath) -> Node | None:
    """Return the node of a column, ignoring case; None where the file lacks it."""
    node = root
    for name in path:
        children = {child.name.lower(): child for child in node.children or ()}
        found = children.get(name.lower())
        if found is None:
            return None
        node = found
    return node


def _chunks(footer: ParquetFooter, node: Node) -> Iterator[ColumnChunk]:
    """Yield the column's chunk of each row group that has one in its place."""
    for group in footer.metadata.row_groups:
        if node.leaf is None or node.is_repeated or node.leaf >= len(group.raw_columns):
            return
        raw = group.raw_columns[node.leaf]
        chunk = ColumnChunk(raw.get("metadata", {}), {**raw, "metadata": None})
        if chunk.path == node.path:
            yield chunk


def _null_count(chunk: ColumnChunk) -> int | None:
    count: int | None = (chunk.statistics or {}).get("null_count")
    num_values = chunk.values.get("num_values", -1)
    return count if count is not None and 0 <= count <= num_values else None


def _bounds(
    footer: ParquetFooter,
    node: Node,
    chunks: list[ColumnChunk],
    data_type: DataType,
    prefix_length: int,
) -> tuple[str | None, str | None] | None:
    """Return the texts of the lower and the upper bound of a column."""
    assert node.leaf is not None  # noqa: S101  # of a leaf alone
    order = footer.order(node.leaf)
    lows, highs = [], []
    for chunk in chunks:
        raw: Mapping[str, Any] = chunk.statistics or {}
        if raw.get("null_count") == chunk.values.get("num_values"):
            continue  # nulls alone: there is nothing to bound
        found = read_statistics(raw, node, order)
        if found.ignored_because or not found.has_bounds:
            return None
        if found.min is None or found.max is None:
            return None
        if _is_float(data_type) and raw.get("nan_count") != 0:
            return None
        lows.append(found.min)
        highs.append(found.max)
    if not lows or node.element.physical_type == "INT96":
        return None
    try:
        return _texts(lows, highs, data_type, prefix_length)
    except (ValueError, TypeError, ArithmeticError):
        return None  # a bound that is shown, and that the log cannot say


def _is_float(data_type: DataType) -> bool:
    return isinstance(data_type, PrimitiveType) and data_type.name in _FLOATING


def _texts(  # noqa: PLR0911  # a return for each type
    lows: list[Any], highs: list[Any], data_type: DataType, prefix_length: int
) -> tuple[str | None, str | None] | None:
    name = data_type.name if isinstance(data_type, PrimitiveType) else ""
    if isinstance(data_type, DecimalType):
        return f"{min(map(Decimal, lows)):f}", f"{max(map(Decimal, highs)):f}"
    if name in _WHOLE:
        return str(int(min(lows))), str(int(max(highs)))
    if name in _FLOATING:
        low, high = float(min(lows)) or -0.0, float(max(highs)) or 0.0
        return _finite(low), _finite(high)
    if name == "string":
        least, greatest = min(lows, key=str.encode), max(highs, key=str.encode)
        prefix = json.dumps(least[:prefix_length])
        return prefix, cut_maximum(greatest, prefix_length)
    if name == "date" and min(lows) >= FIRST_YEAR:
        return json.dumps(min(lows)), json.dumps(max(highs))
    if name in _TIMES:
        return _times(lows, highs, zone="Z" if name == "timestamp" else "")
    return None


def _finite(number: float) -> str | None:
    return None if number in {float("inf"), float("-inf")} else json.dumps(number)


def _times(lows: list[str], highs: list[str], zone: str) -> tuple[str, str] | None:
    """Round times to the millisecond, so that they still bound.

    The texts are of one form: `2026-01-31T08:00:00.123456Z`.
    """
    if min(lows) < FIRST_YEAR:
        return None
    low = min(map(_moment, lows))
    high = max(map(_moment, highs))
    step = timedelta(milliseconds=1)
    if high.microsecond % 1000:
        high += step
    return _time_text(low, zone), _time_text(high, zone)


def _time_text(moment: datetime, zone: str) -> str:
    return json.dumps(moment.isoformat(timespec="milliseconds") + zone)


def _moment(text: str) -> datetime:
    whole, _, fraction = text.removesuffix("Z").partition(".")
    micros = int(fraction.ljust(6, "0")[:6] or 0)
    return datetime.fromisoformat(whole) + timedelta(microseconds=micros)
