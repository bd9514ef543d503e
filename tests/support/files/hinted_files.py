"""Random files that hints select from, and what some writer says of them in a log."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from hypothesis import strategies as st

from deltaweb.delta.protocol.schema import StructType, arrow_schema
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from deltaweb.delta.values.partition_values import partition_schema
from tests.support.conditions.hint_conditions import Row, single, value_at
from tests.support.files.written_bounds import written_bound

SCHEMA = StructType(
    parse_columns_ddl(
        "i BIGINT, n INT, f FLOAT, x DOUBLE, m DECIMAL(20, 2), c DECIMAL(10, 2), "
        "s STRING, t TIMESTAMP, z TIMESTAMP_NTZ, d DATE, b BOOLEAN, "
        "st STRUCT<x: INT, t: TIMESTAMP>, ps STRING, pi INT, pd DATE, pt TIMESTAMP, "
        "px DOUBLE, pm DECIMAL(10, 2), pb BOOLEAN"
    )
)
ROWS = arrow_schema(SCHEMA)
PARTITIONS = ("ps", "pi", "pd", "pt", "px", "pm", "pb")
PARTITION_SCHEMA = partition_schema(SCHEMA, PARTITIONS)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ZONES = [
    ZoneInfo(name)
    for name in (
        "UTC",
        "America/New_York",
        "Asia/Kolkata",
        "Pacific/Kiritimati",
        "Etc/GMT+12",
    )
]
"""Of clients, and of writers who leave the zone out."""
zones = st.sampled_from(ZONES)
zones_said = st.none() | zones
"""Of the text of an instant; None says that it is UTC."""
LONG_TEXT = "x" * 31

# === Values ===

whole = st.sampled_from([-(2**31), -1, 0, 1, 2, 5, 2**31 - 1])
long_whole = whole | st.sampled_from([-(2**63), 2**53, 2**53 + 1, 2**63 - 1])
numbers = st.sampled_from(
    [-math.inf, -1.5, -0.0, 0.0, 0.1, 1.0, 5.5, math.inf, math.nan]
)
plain_texts = ["a", "ab", "b", "é", "\U0010ffff", LONG_TEXT, LONG_TEXT + "ya"]
texts = st.sampled_from(
    [*plain_texts, "it's", "C:\\dir", "C:dir", "a\\\\b", "a\\b", "a\\'b", "%", '"', "5"]
)
moments = (
    st.integers(-3000, 3000)
    | st.sampled_from([1_588_381_323_000_000, 1_588_381_323_654_321, -(10**15)])
    | st.integers(-30, 30).map(lambda hours: hours * 3_600_000_000)
).map(lambda micros: EPOCH + timedelta(microseconds=micros))
naive_moments = moments.map(lambda moment: moment.replace(tzinfo=None))
days = st.sampled_from([date(1969, 12, 31), date(2020, 2, 29), date(2021, 4, 27)])
decimals = st.sampled_from(
    [Decimal("-0.01"), Decimal("0.00"), Decimal("0.10"), Decimal("12345678.91")]
)
long_decimals = decimals | st.sampled_from(
    [Decimal("123456789012345678.91"), Decimal("123456789012345678.92")]
)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "i": long_whole,
    "n": whole,
    "f": numbers | st.sampled_from([0.1, 0.3, 16777217.0, 1e-7]),
    "x": numbers,
    "m": long_decimals,
    "c": decimals,
    "s": texts | st.just(""),
    "t": moments,
    "z": naive_moments,
    "d": days,
    "b": st.booleans(),
    "st.x": whole,
    "st.t": moments,
    "ps": texts,
    "pi": whole,
    "pd": days,
    "pt": moments,
    "px": numbers,
    "pm": decimals,
    "pb": st.booleans(),
}
LEAVES = [column for column in VALUES if column not in PARTITIONS]

# === Tables ===


@dataclass(frozen=True)
class File:
    """The rows of a file, and what the log says of them."""

    rows: list[dict[str, Any]]
    partition_values: dict[str, str | None]
    stats: str | None


@st.composite
def table_rows(draw: st.DrawFn) -> dict[str, Any]:
    """A row without its partition."""
    row: dict[str, Any] = {
        column: draw(st.none() | VALUES[column])
        for column in LEAVES
        if "." not in column
    }
    row["f"] = None if row["f"] is None else single(row["f"])
    nested = {"x": draw(st.none() | whole), "t": draw(st.none() | moments)}
    row["st"] = draw(st.sampled_from([None, nested, nested]))
    return row


@st.composite
def files(draw: st.DrawFn) -> File:
    """A file of a few rows, with statistics of any quality."""
    rows = draw(st.lists(table_rows(), max_size=3))
    if draw(st.booleans()):
        # Files of one value, or of nulls alone, are where denials can go wrong.
        rows = rows[:1] * 2
    partition = {column: draw(st.none() | VALUES[column]) for column in PARTITIONS}
    texts = {
        column: log_text(value, zone=draw(zones_said))
        for column, value in partition.items()
    }
    if draw(st.booleans()):
        texts = {name: "" if text is None else text for name, text in texts.items()}
    stats = draw(statistics(rows))
    return File([{**row, **partition} for row in rows], texts, stats)


def log_text(value: object, *, zone: tzinfo | None) -> str | None:
    """Return the value of a partition as the log has it.

    Args:
        value: The value.
        zone: In which a time is written that does not say its zone; None where it does.
    """
    match value:
        case None:
            return None
        case bool():
            return str(value).lower()
        case datetime():
            if zone is None:
                return value.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            text = value.astimezone(zone).strftime("%Y-%m-%d %H:%M:%S.%f")
            return text.removesuffix(".000000")
        case float():
            return {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}.get(
                repr(value), repr(value)
            )
        case _:
            return str(value)


# === Statistics ===

BROKEN = [None, "", "{}", "[]", "nonsense", '{"minValues":1}']
WRONG = ["zz", {}, [1], True]
WRONG_FOR = {"s": [7, {}, [1], True], "b": ["zz", {}, [1], 7]}


@st.composite
def statistics(draw: st.DrawFn, rows: Sequence[Row]) -> str | None:
    """What some writer says of the rows, with parts missing or wrong."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from(BROKEN))
    cut = draw(st.sampled_from([1, 2, 32]))
    nan_is_largest = draw(st.booleans())
    written: dict[str, Any] = {
        "numRecords": len(rows),
        "minValues": {},
        "maxValues": {},
        "nullCount": {},
    }
    missing = draw(st.sets(st.sampled_from(LEAVES), max_size=4))
    wrong = draw(st.sets(st.sampled_from(LEAVES), max_size=1))
    for column in LEAVES:
        values = [value_at(row, column) for row in rows]
        if column not in missing:
            _put(written["nullCount"], column, sum(value is None for value in values))
        low, high = _bounds(values, cut, nan_is_largest=nan_is_largest)
        for name, bound in (("minValues", low), ("maxValues", high)):
            if column in wrong:
                _put(
                    written[name],
                    column,
                    draw(st.sampled_from(WRONG_FOR.get(column, WRONG))),
                )
            elif bound is not None and draw(st.integers(0, 9)):
                _put(written[name], column, bound)
    for name in draw(st.sets(st.sampled_from(sorted(written)), max_size=1)):
        if draw(st.booleans()):
            del written[name]
    return json.dumps(written)


def _put(target: dict[str, Any], column: str, value: object) -> None:
    *above, name = column.split(".")
    for part in above:
        target = target.setdefault(part, {})
    target[name] = value


def _bounds(
    values: Sequence[Any], cut: int, *, nan_is_largest: bool
) -> tuple[object, object]:
    known = [value for value in values if value is not None]
    if any(isinstance(value, float) and math.isnan(value) for value in known):
        known = [value for value in known if not math.isnan(value)]
        if nan_is_largest:
            return (min(known) if known else "NaN"), "NaN"
    if not known:
        return None, None
    if isinstance(known[0], str):
        return min(known, key=str.encode)[:cut], max(known, key=str.encode)[:cut]
    low, high = min(known), max(known)
    if isinstance(low, bool):
        return None, None
    return written_bound(low), written_bound(high)
