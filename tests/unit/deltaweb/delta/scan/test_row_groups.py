import io
import math
import struct
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.delta.protocol.schema import (
    DataType,
    DecimalType,
    PrimitiveType,
    StructField,
    StructType,
    arrow_type,
)
from deltaweb.delta.scan.predicate import Comparison, IsNull, Predicate
from deltaweb.delta.scan.row_groups import has_every_chunk, select_row_groups
from deltaweb.parquet.counts import RowGroupCounts
from deltaweb.parquet.tail import read_footer
from tests.support import cases, matrix

pytestmark = pytest.mark.slow


def selected(
    values: list[Any],
    data_type: DataType,
    predicate: Predicate,
    **options: Any,  # noqa: ANN401 # of the writer
) -> list[int]:
    """Positions of the row groups, one a value, that the condition leaves."""
    stored = options.pop("stored", arrow_type(data_type))
    name = options.pop("name", "c")
    buffer = io.BytesIO()
    table = pa.table({name: pa.array(values, stored)})
    pq.write_table(table, buffer, row_group_size=1, **options)
    schema = StructType((StructField("c", data_type),))
    return select_from(buffer.getvalue(), schema, predicate, {"c": name})


def select_from(data, schema, predicate, stored):
    source = pa.BufferReader(data)
    metadata = pq.ParquetFile(source).metadata
    footer = read_footer(source)
    return select_row_groups(footer, metadata, stored, schema, predicate)


def above(value: object, data_type: DataType) -> Comparison:
    return Comparison(("c",), ">", pa.scalar(value, arrow_type(data_type)))


class TestBounds:
    @cases(
        "name, values",
        {
            "long": ("long", [1, 2, 3]),
            "byte": ("byte", [1, 2, 3]),
            "double": ("double", [1.0, 2.0, 3.0]),
            "float": ("float", [1.0, 2.0, 3.0]),
            "string": ("string", ["a", "b", "é"]),
            "date": ("date", [date(1, 1, 1), date(2, 1, 1), date(3, 1, 1)]),
            "time": ("timestamp", [datetime(y, 1, 1, tzinfo=UTC) for y in (1, 2, 3)]),
        },
    )
    def test_leave_row_groups_out(self, name: str, values: list[Any]) -> None:
        data_type = PrimitiveType(name)

        assert selected(values, data_type, above(values[1], data_type)) in ([2], [1, 2])
        assert selected(values, data_type, above(values[2], data_type)) in ([], [2])

    @cases(
        "data_type, values, options",
        {
            "decimal": (DecimalType(5, 2), [Decimal(1), Decimal(2), Decimal(3)], {}),
            "binary": (PrimitiveType("binary"), [b"a", b"b", b"c"], {}),
            "unsigned": (PrimitiveType("long"), [1, 2, 3], {"stored": pa.uint32()}),
            "narrow": (PrimitiveType("double"), [1, 2, 3], {"stored": pa.float32()}),
            "text": (PrimitiveType("long"), [1, 2, 3], {"stored": pa.string()}),
            "none": (PrimitiveType("long"), [1, 2, 3], {"write_statistics": False}),
            "a dot": (PrimitiveType("long"), [1, 2, 3], {"name": "c.d"}),
            "not a number": (PrimitiveType("double"), [math.nan, math.nan, 2.0], {}),
        },
    )
    def test_that_are_in_doubt_leave_none_out(self, data_type, values, options):
        if options.get("stored") == pa.string():
            values = [str(value) for value in values]
        literal = {"binary": b"\xff"}.get(getattr(data_type, "name", ""), 2)

        kept = selected(values, data_type, above(literal, data_type), **options)

        assert kept == ([0, 1] if "nan" in str(values) else [0, 1, 2])

    def test_beside_a_nan_are_what_they_are(self) -> None:
        kind = PrimitiveType("double")
        schema = StructType((StructField("c", kind),))
        buffer = io.BytesIO()
        table = pa.table({"c": pa.array([1.0, 2.0, 9.0])})
        pq.write_table(table, buffer, row_group_size=1)
        source = pa.BufferReader(buffer.getvalue())
        footer, metadata = read_footer(source), pq.ParquetFile(source).metadata
        at = footer.rindex(struct.pack("<d", 1.0))  # the lower bound is stored last
        with_nan = footer[:at] + struct.pack("<d", math.nan) + footer[at + 8 :]

        def kept(predicate: Predicate) -> list[int]:
            return select_row_groups(with_nan, metadata, {"c": "c"}, schema, predicate)

        assert kept(above(5.0, kind)) == [2]
        assert kept(Comparison(("c",), "<", pa.scalar(0.0))) == [0]

    def test_beyond_the_type_leave_none_out(self) -> None:
        kind = PrimitiveType("byte")

        assert selected([1, 300], kind, above(5, kind), stored=pa.int32()) == [0, 1]

    def test_within_a_character_leave_none_out(self) -> None:
        kind = PrimitiveType("string")
        values = [b"a\xc3", b"a\xc3"]

        kept = selected(values, kind, above("b", kind), stored=pa.binary())

        assert kept == [0, 1]

    def test_of_nulls_answer_whether_there_are_any(self) -> None:
        kind = PrimitiveType("long")

        assert selected([1, None], kind, IsNull(("c",))) == [1]
        assert selected([1, None], kind, above(0, kind)) == [0]

    def test_of_nested_columns_are_not_looked_at(self) -> None:
        kind = PrimitiveType("long")
        nested = Comparison(("c", "x"), ">", pa.scalar(5))

        assert selected([1, 2], kind, nested) == [0, 1]

    def test_of_one_row_group_are_not_looked_at(self) -> None:
        kind = PrimitiveType("long")

        assert selected([1], kind, above(5, kind)) == [0]


class TestBrokenFooter:
    """pyarrow ends the process when it is asked for metadata such as these."""

    @matrix("kind", ["long", "double", "string"], often=["long", "string"])
    def test_that_contradicts_itself_leaves_the_process_alive(self, kind: str) -> None:
        values: dict[str, list[Any]] = {
            "long": [1, 2, 3],
            "double": [1.0, 2.0, 3.0],
            "string": ["a", "b", "c"],
        }
        data_type = PrimitiveType(kind)
        buffer = io.BytesIO()
        table = pa.table({"c": pa.array(values[kind], arrow_type(data_type))})
        pq.write_table(table, buffer, row_group_size=1)
        schema = StructType((StructField("c", data_type),))

        survivors = 0
        for data in _changed(buffer.getvalue()):
            try:
                kept = select_from(
                    data, schema, above(values[kind][0], data_type), {"c": "c"}
                )
            except (pa.ArrowException, OSError, ValueError):
                continue
            survivors += 1
            assert set(kept) <= set(range(4))

        assert survivors > 100

    def test_without_the_chunks_of_its_columns_leaves_none_out(self) -> None:
        group = RowGroupCounts(num_rows=1)
        buffer = io.BytesIO()
        pq.write_table(pa.table({"c": [1, 2]}), buffer, row_group_size=1)
        metadata = pq.ParquetFile(buffer).metadata

        assert not has_every_chunk([group, group], metadata)


def _changed(data: bytes) -> Iterator[bytes]:
    """Files whose footer differs from a good one in one byte."""
    length = int.from_bytes(data[-8:-4], "little")
    for position in range(len(data) - 8 - length, len(data) - 8):
        for change in (0x01, 0x02, 0x10):
            changed = bytearray(data)
            changed[position] ^= change
            yield bytes(changed)
