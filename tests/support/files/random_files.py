"""Random files of a table of every type, with statistics as writers write them."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from deltaweb.delta.protocol.column_path import ColumnPath
from deltaweb.delta.protocol.schema import StructType, arrow_schema
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from tests.support.files.written_bounds import written_bound

SCHEMA = StructType(
    parse_columns_ddl(
        "i BIGINT, f DOUBLE, s STRING, t TIMESTAMP, d DATE, b BOOLEAN, "
        "m DECIMAL(20, 2), st STRUCT<x: INT>, p STRING, q DOUBLE"
    )
)
ROWS = arrow_schema(SCHEMA)
PARTITIONS = ("p", "q")
LONG_TEXT = "x" * 31
integers = st.sampled_from([-(2**63), -1, 0, 1, 2, 2**53, 2**53 + 1, 2**63 - 1])
small_integers = st.integers(-2, 2)
floats = st.sampled_from([-math.inf, -1.5, -0.0, 0.0, 0.1, 1.0, math.inf, math.nan])
texts = st.sampled_from(
    ["", "a", "ab", "abc", "b", "é", "\U0010ffff", LONG_TEXT, LONG_TEXT + "ya", "a%_\\"]
)
times = st.integers(-3000, 3000).map(
    lambda micros: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)
)
dates = st.sampled_from([date(1, 1, 1), date(1969, 12, 31), date(2020, 2, 29)])
decimals = st.sampled_from(
    [
        Decimal("-123456789012345678.91"),
        Decimal("-0.01"),
        Decimal("0.00"),
        Decimal("0.10"),
        Decimal("123456789012345678.91"),
        Decimal("123456789012345678.92"),
        Decimal("123456789012345679.00"),
    ]
)
VALUES: dict[ColumnPath, st.SearchStrategy[Any]] = {
    ("i",): integers,
    ("f",): floats,
    ("s",): texts,
    ("t",): times,
    ("d",): dates,
    ("b",): st.booleans(),
    ("m",): decimals,
    ("st", "x"): small_integers,
    ("p",): texts,
    ("q",): floats,
}
rows = st.fixed_dictionaries(
    {
        **{
            path[0]: st.none() | values
            for path, values in VALUES.items()
            if len(path) == 1 and path[0] not in PARTITIONS
        },
        "st": st.none() | st.fixed_dictionaries({"x": st.none() | small_integers}),
    }
)


def scalar(path: ColumnPath, value: object) -> pa.Scalar:
    """Return a value with the type of its column."""
    arrow = ROWS.field(path[0]).type
    for name in path[1:]:
        arrow = arrow.field(name).type
    return pa.scalar(value, arrow)


@dataclass(frozen=True)
class File:
    """Rows of one file and what the log says of them."""

    rows: pa.Table
    partition: dict[str, Any]
    stats: str | None


# === Statistics as writers write them ===


def written_stats(table: list[dict[str, Any]], cut: int, missing: set[str]) -> str:
    """Return the statistics of rows, without some parts and with texts cut short."""

    def kept(name: str, values: dict[str, Any]) -> dict[str, Any]:
        return {
            column: value
            for column, value in values.items()
            if value is not None and f"{name}.{column}" not in missing
        }

    names = [name for name in ROWS.names if name not in {"st", *PARTITIONS}]
    inner = [None if row["st"] is None else row["st"]["x"] for row in table]
    columns = {name: [row[name] for row in table] for name in names}
    nulls = sum(value is None for value in inner)
    if "count parents" in missing:
        nulls = sum(row["st"] is not None and row["st"]["x"] is None for row in table)
    stats = {
        "numRecords": len(table),
        "minValues": kept("min", {n: _bound(v, min, cut) for n, v in columns.items()})
        | {"st": {"x": _bound(inner, min, cut)}},
        "maxValues": kept("max", {n: _bound(v, max, cut) for n, v in columns.items()})
        | {"st": {"x": _bound(inner, max, cut)}},
        "nullCount": kept(
            "null", {n: sum(v is None for v in vs) for n, vs in columns.items()}
        )
        | {"st": {"x": nulls}},
    }
    return json.dumps(
        {key: value for key, value in stats.items() if key not in missing}
    )


def _bound(values: Sequence[Any], pick: Callable[..., Any], cut: int) -> object:
    known = [value for value in values if value is not None and value == value]  # noqa: PLR0124 # NaN
    if not known:
        return None
    value = pick(known, key=lambda v: v.encode() if isinstance(v, str) else v)
    return value[:cut] if isinstance(value, str) else written_bound(value)


pieces = st.sets(
    st.sampled_from(
        [
            "numRecords",
            "minValues",
            "maxValues",
            "nullCount",
            "count parents",
            *(
                f"{kind}.{n}"
                for kind in ("min", "max", "null")
                for n in ("i", "s", "f")
            ),
        ]
    ),
    max_size=3,
)
broken = st.sampled_from([None, "", "{}", "nonsense", '{"minValues":{"i":"x"}}'])


@st.composite
def files(draw: st.DrawFn) -> File:
    """A file of some rows, with statistics that may be missing or broken."""
    table = draw(st.lists(rows, min_size=1, max_size=4))
    partition = {"p": draw(st.none() | texts), "q": draw(st.none() | floats)}
    written = written_stats(table, draw(st.sampled_from([1, 2, 32])), draw(pieces))
    stats = draw(st.just(written) | st.just(written) | broken)
    whole = [{**row, **partition} for row in table]
    return File(pa.Table.from_pylist(whole, ROWS), partition, stats)
