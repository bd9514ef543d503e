"""JSON statistics parsed as lines: fast, and strict about every line.

Many texts are cut into slices for a pool of threads, each slice joined by line ends in
Arrow's own memory and read with an explicit schema, so that no Python object is made.
Of a few texts objects are made: that takes less time than a thread's.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from math import isinf
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from deltaweb.delta.protocol.schema import (
    DataType,
    DecimalType,
    PrimitiveType,
    StructType,
    arrow_type,
)
from deltaweb.delta.values.statistics.shape import StatisticsShape
from deltaweb.delta.values.statistics.typed_lines import read_typed_lines
from deltaweb.delta.values.value_text import (
    INTEGER_BITS,
    Value,
    arrow_array,
    parse_value,
)
from deltaweb.environment.bounded_json import parse_json

FEW_ROWS = 16_384
SLICE_ROWS = 16_384
SLICE_BYTES = 1 << 25
MIN_SLICE_ROWS = 1_024
# Arrow scales a decimal without noticing that it overflows. In 256 bits only a number
# written like these can, so lines that hold one are parsed by themselves.
_HUGE_NUMBER = (
    r":\s*-?(?:[0-9]{39}|[0-9.]{20,}[eE]|[0-9.]+[eE]\+?(?:[2-9][0-9]|0|1[0-9]{2}))"
)
_WIDE_DIGITS = 76

RETRY_ROWS = 256
"""Below this many rows a slice that Arrow refuses is parsed row by row."""

ReadLines = Callable[[pa.Buffer, pa.Schema], pa.Table | None]
"""Reads fields of JSON objects, one after the other; None where one is odd."""


def parse_lines(stats: pa.ChunkedArray, shape: StatisticsShape) -> pa.Table:
    """Parse JSON statistics, a text a row; null and malformed ones give nulls."""
    if len(stats) <= FEW_ROWS:
        slices = _slices(stats, FEW_ROWS)
        batches = [_parse_few(texts, shape) for texts in slices]
    else:
        per_thread = -(-len(stats) // (os.cpu_count() or 1))
        num_rows = min(SLICE_ROWS, max(MIN_SLICE_ROWS, per_thread))
        slices = _slices(stats, num_rows)
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            batches = list(pool.map(lambda texts: _parse_slice(texts, shape), slices))
    return pa.Table.from_batches(batches, shape.arrow)


def _slices(stats: pa.ChunkedArray, num_rows: int) -> Iterator[pa.Array]:
    """Cut the texts into slices of so many rows at most, none of them large."""
    for chunk in stats.chunks:
        texts = chunk.cast(pa.string())
        for start in range(0, len(texts), num_rows):
            yield from _halved(texts.slice(start, num_rows))


def _halved(texts: pa.Array) -> Iterator[pa.Array]:
    if len(texts) > 1 and (pc.sum(pc.binary_length(texts)).as_py() or 0) > SLICE_BYTES:
        middle = len(texts) // 2
        yield from _halved(texts.slice(0, middle))
        yield from _halved(texts.slice(middle))
    else:
        yield texts


def _parse_few(texts: pa.Array, shape: StatisticsShape) -> pa.RecordBatch:
    """Parse one slice as objects; where one is odd, as those of many are."""
    batch = _parse_lines(texts, shape, read_typed_lines)
    return _parse_slice(texts, shape) if batch is None else batch


def _parse_slice(texts: pa.Array, shape: StatisticsShape) -> pa.RecordBatch:
    """Parse one slice at once; where Arrow refuses it, the halves, then each row."""
    batch = _parse_lines(texts, shape, _read_columns)
    if batch is not None:
        return batch
    if len(texts) <= RETRY_ROWS:
        return parse_each(_decoded(texts), shape.bounds, shape.counts, shape.arrow)
    middle = len(texts) // 2
    halves = [texts.slice(0, middle), texts.slice(middle)]
    table = pa.Table.from_batches([_parse_slice(half, shape) for half in halves])
    return table.combine_chunks().to_batches()[0]


def _decoded(texts: pa.Array) -> list[str | None]:
    """Return the texts, null for one that is not UTF-8."""
    decoded: list[str | None] = []
    for data in texts.cast(pa.binary()).to_pylist():
        try:
            decoded.append(data and data.decode())
        except UnicodeDecodeError:
            decoded.append(None)
    return decoded


def _parse_lines(
    texts: pa.Array, shape: StatisticsShape, read: ReadLines
) -> pa.RecordBatch | None:
    """Parse the texts as lines of JSON; None when any line is not as it should be.

    Every line starts and ends as an object and no JSON string holds a raw line end,
    so lines cannot run into each other: as many rows as texts means row for row.
    """
    is_object = pc.and_(pc.starts_with(texts, "{"), pc.ends_with(texts, "}"))
    is_short = pc.less_equal(pc.binary_length(texts), MAX_STATS_BYTES)
    usable = pc.fill_null(pc.and_(is_object, is_short), fill_value=False)
    lines = texts
    if not pc.all(usable).as_py():
        if not pc.all(pc.or_(usable, _is_blank(texts))).as_py():
            return None
        lines = pc.if_else(usable, texts, "{}")
    schema = _line_schema(shape)
    if _has_decimal(schema.field("minValues").type) and _has_huge_number(texts):
        return None
    offsets = pa.array([0, len(lines)], pa.int32())
    joined = pc.binary_join(pa.ListArray.from_arrays(offsets, lines), "\n")
    buffer = pa.py_buffer(b"") if not len(lines) else joined.buffers()[2]
    if buffer.size == 0:
        return pa.RecordBatch.from_pylist([], shape.arrow)
    try:
        table = read(buffer, schema)
        if table is None or table.num_rows != len(texts):
            return None
        batch = _named(table, shape)
        batch.validate(full=True)  # Arrow takes bytes that are not UTF-8 as text
    except pa.ArrowInvalid:
        return None
    return batch


def _read_columns(lines: pa.Buffer, schema: pa.Schema) -> pa.Table:
    """Read JSON objects, one after the other; raise `ArrowInvalid` if one is odd."""
    return pj.read_json(
        pa.BufferReader(lines),
        parse_options=pj.ParseOptions(
            explicit_schema=schema, unexpected_field_behavior="ignore"
        ),
        read_options=pj.ReadOptions(use_threads=False, block_size=lines.size + 1),
    )


def _is_blank(texts: pa.Array) -> pa.Array:
    return pc.fill_null(pc.equal(texts, ""), fill_value=True)


def _line_schema(shape: StatisticsShape) -> pa.Schema:
    bounds = _as_written(arrow_type(shape.bounds))
    return pa.schema(
        [
            ("numRecords", pa.int64()),
            ("minValues", bounds),
            ("maxValues", bounds),
            ("nullCount", arrow_type(shape.counts)),
        ]
    )


def _as_written(target: pa.DataType) -> pa.DataType:
    """The type that Arrow's JSON reader takes for a column.

    Dates are text there, and decimals wide enough to scale.
    """
    if pa.types.is_date32(target):
        return pa.string()
    if pa.types.is_decimal(target):
        return pa.decimal256(_WIDE_DIGITS, target.scale)
    if pa.types.is_struct(target):
        fields = [target.field(i) for i in range(target.num_fields)]
        return pa.struct([pa.field(f.name, _as_written(f.type)) for f in fields])
    return target


def _has_decimal(target: pa.DataType) -> bool:
    if pa.types.is_struct(target):
        fields = (target.field(i) for i in range(target.num_fields))
        return any(_has_decimal(field.type) for field in fields)
    return bool(pa.types.is_decimal(target))


def _has_huge_number(texts: pa.Array) -> bool:
    return bool(pc.any(pc.match_substring_regex(texts, _HUGE_NUMBER)).as_py())


def _named(table: pa.Table, shape: StatisticsShape) -> pa.RecordBatch:
    columns = [table.column(name).combine_chunks() for name in table.column_names[:4]]
    arrays = [
        _as_typed(column, field.type)
        for column, field in zip(columns, shape.arrow, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=shape.arrow)


def _as_typed(array: pa.Array, target: pa.DataType) -> pa.Array:
    if array.type.equals(target):
        return array
    if not pa.types.is_struct(target):
        return array.cast(target)
    fields = [target.field(i) for i in range(target.num_fields)]
    parts = dict(zip([f.name for f in array.type], array.flatten(), strict=True))
    columns = [_as_typed(parts[f.name], f.type) for f in fields]
    return pa.StructArray.from_arrays(columns, fields=fields, mask=array.is_null())


# === Objects one by one ===


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
        value = parse_json(text or "{}", parse_float=Decimal)
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
