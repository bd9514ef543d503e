"""Random tables: what we say changed is what plain Python counts."""

import math
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from deltaweb.delta.python_values import python_values
from deltaweb.delta.schema import (
    ArrayType,
    DecimalType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
)
from deltaweb.delta.table_changes import RowDiffRequest, RowLimits
from tests.versioned_table import Row, VersionedTable

LONG, STRING = PrimitiveType("long"), PrimitiveType("string")
DOUBLE, BINARY = PrimitiveType("double"), PrimitiveType("binary")
POINT = StructType((StructField("x", LONG), StructField("y", STRING)))
SCHEMA = StructType(
    (
        StructField("id", LONG),
        StructField("name", STRING),
        StructField("price", DOUBLE),
        StructField("amount", DecimalType(10, 2)),
        StructField("raw", BINARY),
        StructField("day", PrimitiveType("date")),
        StructField("at", PrimitiveType("timestamp")),
        StructField("flag", PrimitiveType("boolean")),
        StructField("point", POINT),
        StructField("tags", ArrayType(STRING)),
        StructField("points", ArrayType(POINT)),
        StructField("counts", MapType(STRING, LONG)),
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
LIMITS = {
    "in memory": RowLimits(),
    "spread over files": RowLimits(memory_bytes=1_000),
}


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


def build(changes: list[dict[str, list[Row]]]) -> VersionedTable:
    """Write a version a dictionary: its files replace those of the same name."""
    table = VersionedTable()
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


class TestRowsOfTwoVersions:
    @settings(max_examples=60)
    @given(changes=versions, limits=st.sampled_from(sorted(LIMITS)), data=st.data())
    def test_the_difference_is_that_of_two_counters(
        self,
        changes: list[dict[str, list[Row]]],
        limits: str,
        data: st.DataObject,
    ) -> None:
        table = build(changes)
        some_version = st.integers(0, table.version)
        first, second = data.draw(some_version), data.draw(some_version)
        delta = table.table
        written: list[pa.Table] = []

        diff = delta.compare(first, second)
        found = diff.rows(
            RowDiffRequest(
                limits=LIMITS[limits], sample_rows=1_000, write=written.append
            )
        )

        names = found.columns.schema.names
        old = counted(delta.snapshot(first).read(), names)
        new = counted(delta.snapshot(second).read(), names)
        assert counted(found.sample.inserted, names) == new - old
        assert counted(found.sample.deleted, names) == old - new
        assert found.inserted == (new - old).total()
        assert found.deleted == (old - new).total()
        assert sum(part.num_rows for part in written) == found.inserted + found.deleted

    @settings(max_examples=60)
    @given(
        old=st.dictionaries(st.integers(0, 8), rows),
        new=st.dictionaries(st.integers(0, 8), rows),
        limits=st.sampled_from(sorted(LIMITS)),
        as_text=st.booleans(),
    )
    def test_with_a_key_it_is_that_of_two_dictionaries(
        self,
        old: Mapping[int, Row],
        new: Mapping[int, Row],
        limits: str,
        as_text: bool,  # noqa: FBT001 (drawn)
    ) -> None:
        table = VersionedTable()
        key = "name" if as_text else "id"
        olds, news = (
            [{**row, key: str(number) if as_text else number} for number, row in side]
            for side in (old.items(), new.items())
        )
        table.commit(metadata=table.define(SCHEMA), add={"a": olds[:3], "b": olds[3:]})
        table.commit(remove=["a", "b"], add={"a": news[:4], "b": news[4:]})

        found = table.table.compare(0, 1).rows(
            RowDiffRequest(key=[key], limits=LIMITS[limits])
        )

        before, after = (
            {
                row[SCHEMA.names.index(key)]: row
                for row in counted(table.table.snapshot(version).read(), SCHEMA.names)
            }
            for version in (0, 1)
        )
        both = before.keys() & after.keys()
        updated = {name for name in both if before[name] != after[name]}
        cells = Counter(
            column
            for name in updated
            for column, was, now in zip(
                SCHEMA.names, before[name], after[name], strict=True
            )
            if was != now
        )
        assert found.inserted == len(after.keys() - before.keys())
        assert found.deleted == len(before.keys() - after.keys())
        assert found.updated == len(updated)
        assert found.changed_cells == cells
        assert Counter(n for names in found.sample.changed for n in names) == cells
        assert found.unmatched_keys == found.null_key_rows == 0
