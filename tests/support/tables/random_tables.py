"""Random tables of every type, and what plain Python counts in them."""

import math
from collections import Counter
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from deltaweb.delta.protocol.schema import PrimitiveType, StructField, StructType
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from deltaweb.delta.values.python_values import python_values
from tests.support.tables.versioned_table import Row, VersionedTable

LONG, STRING = PrimitiveType("long"), PrimitiveType("string")
DOUBLE, BINARY = PrimitiveType("double"), PrimitiveType("binary")
POINT = StructType((StructField("x", LONG), StructField("y", STRING)))
SCHEMA = StructType(
    parse_columns_ddl(
        "id BIGINT, name STRING, price DOUBLE, amount DECIMAL(10, 2), raw BINARY, "
        "day DATE, at TIMESTAMP, flag BOOLEAN, point STRUCT<x: BIGINT, y: STRING>, "
        "tags ARRAY<STRING>, points ARRAY<STRUCT<x: BIGINT, y: STRING>>, "
        "counts MAP<STRING, BIGINT>"
    )
)
WIDER = StructType((*SCHEMA.fields, StructField("extra", STRING)))

points = st.none() | st.fixed_dictionaries(
    {"x": st.none() | st.integers(0, 1), "y": st.none() | st.sampled_from(["", "a"])}
)
texts = st.none() | st.sampled_from(["", "a", "ä", "NULL"])
rows = st.fixed_dictionaries(
    {
        "id": st.none() | st.integers(0, 3),
        "name": texts,
        "price": st.none() | st.sampled_from([0.0, -0.0, math.nan, 1.5, math.inf]),
        "amount": st.none() | st.sampled_from([Decimal("1.00"), Decimal("-0.01")]),
        "raw": st.none() | st.sampled_from([b"", b"\x00", b"a"]),
        "day": st.none() | st.sampled_from([date(1969, 12, 31), date(2026, 1, 1)]),
        "at": st.none() | st.sampled_from([datetime(2026, 1, 1, tzinfo=UTC)]),
        "flag": st.none() | st.booleans(),
        "point": points,
        "tags": st.none() | st.lists(texts, max_size=2),
        "points": st.none() | st.lists(points, max_size=2),
        "counts": st.none()
        | st.lists(
            st.tuples(st.sampled_from("ab"), st.none() | st.integers(0, 1)),
            max_size=2,
            unique_by=lambda pair: pair[0],
        ),
    }
)
simple_rows = st.fixed_dictionaries(
    {"id": st.integers(0, 2), "name": st.sampled_from(["a", None])}
).map(lambda few: dict.fromkeys(SCHEMA.names) | few)
files = st.lists(rows | simple_rows, max_size=6)
versions = st.lists(
    st.dictionaries(st.sampled_from("abcd"), files, max_size=3), min_size=2, max_size=4
)


def canonical(value: Any) -> Any:  # noqa: ANN401 (any cell)
    """Return a value that Python compares as SQL groups."""
    match value:
        case float() if math.isnan(value):
            return "NaN"
        case dict():
            return tuple((key, canonical(item)) for key, item in value.items())
        case list() if value and isinstance(value[0], tuple):
            return frozenset((key, canonical(item)) for key, item in value)
        case list():
            return tuple(canonical(item) for item in value)
        case _:
            return value


def counted(table: pa.Table, names: tuple[str, ...]) -> Counter[tuple[Any, ...]]:
    columns = [
        [canonical(value) for value in python_values(table[name])]
        if name in table.column_names
        else [None] * table.num_rows
        for name in names
    ]
    return Counter(zip(*columns, strict=True))


def build(
    changes: list[dict[str, list[Row]]],
    store: Any = None,  # noqa: ANN401 (any table store)
) -> VersionedTable:
    """Write a version a dictionary: its files replace those of the same name."""
    table = VersionedTable(store)
    for number, change in enumerate(changes):
        metadata = table.define(SCHEMA) if number == 0 else None
        if number == 2:  # a column more
            metadata = table.define(WIDER)
        table.commit(
            remove=[name for name in change if name in table.files],
            add=change,
            metadata=metadata,
        )
    return table
