"""A file that holds a row that the client wants is never dropped.

Random tables, random statistics as writers write them, random hints as clients spell
them; what the client wants is worked out in plain Python.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deltaweb.delta.file_pruning import files_for_predicate
from deltaweb.delta.partition_values import partition_schema, type_partition_values
from deltaweb.delta.predicate import And, to_expression
from deltaweb.delta.schema import (
    DecimalType,
    PrimitiveType,
    StructField,
    StructType,
    arrow_schema,
)
from deltaweb.delta.statistics import parse_statistics
from deltaweb.sharing.hints import Hints, parse_hints
from tests.hint_conditions import (
    CLIENTS,
    JSON_TYPES,
    Client,
    Compare,
    Condition,
    Deny,
    IsTrue,
    Join,
    Null,
    OneOf,
    Row,
    Same,
    Speller,
    Starts,
    json_hint,
    single,
    truth,
    value_at,
)
from tests.written_bounds import written_bound

SCHEMA = StructType(
    (
        StructField("i", PrimitiveType("long")),
        StructField("n", PrimitiveType("integer")),
        StructField("f", PrimitiveType("float")),
        StructField("x", PrimitiveType("double")),
        StructField("m", DecimalType(20, 2)),
        StructField("c", DecimalType(10, 2)),
        StructField("s", PrimitiveType("string")),
        StructField("t", PrimitiveType("timestamp")),
        StructField("z", PrimitiveType("timestamp_ntz")),
        StructField("d", PrimitiveType("date")),
        StructField("b", PrimitiveType("boolean")),
        StructField(
            "st",
            StructType(
                (
                    StructField("x", PrimitiveType("integer")),
                    StructField("t", PrimitiveType("timestamp")),
                )
            ),
        ),
        StructField("ps", PrimitiveType("string")),
        StructField("pi", PrimitiveType("integer")),
        StructField("pd", PrimitiveType("date")),
        StructField("pt", PrimitiveType("timestamp")),
        StructField("px", PrimitiveType("double")),
        StructField("pm", DecimalType(10, 2)),
        StructField("pb", PrimitiveType("boolean")),
    )
)
ROWS = arrow_schema(SCHEMA)
PARTITIONS = ("ps", "pi", "pd", "pt", "px", "pm", "pb")
PARTITION_SCHEMA = partition_schema(SCHEMA, PARTITIONS)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LONG_TEXT = "x" * 31

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
    rows = draw(st.lists(table_rows(), max_size=3))
    if draw(st.booleans()):
        # Files of one value, or of nulls alone, are where denials can go wrong.
        rows = rows[:1] * 2
    partition = {column: draw(st.none() | VALUES[column]) for column in PARTITIONS}
    texts = {
        column: _log_text(value, with_zone=draw(st.booleans()))
        for column, value in partition.items()
    }
    if draw(st.booleans()):
        texts = {name: "" if text is None else text for name, text in texts.items()}
    stats = draw(statistics(rows))
    return File([{**row, **partition} for row in rows], texts, stats)


def _log_text(value: object, *, with_zone: bool) -> str | None:
    match value:
        case None:
            return None
        case bool():
            return str(value).lower()
        case datetime():
            if with_zone:
                return value.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            text = value.strftime("%Y-%m-%d %H:%M:%S.%f")
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


# === Conditions ===


operators = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])


@st.composite
def leaves(draw: st.DrawFn, columns: Sequence[str], kinds: Sequence[type]) -> Condition:
    column = draw(st.sampled_from(columns))
    values = VALUES[column]
    kind = draw(st.sampled_from(kinds))
    if kind is Null:
        return Null(column)
    if kind is IsTrue:
        return IsTrue(draw(st.sampled_from(["b", "pb"])))
    if kind is Starts:
        prefixes = st.sampled_from(["a", "x", LONG_TEXT, LONG_TEXT + "y", "é", "C"])
        return Starts(draw(st.sampled_from(["s", "ps"])), draw(prefixes))
    if kind is OneOf:
        several = tuple(draw(st.lists(values, min_size=1, max_size=3)))
        return OneOf(column, several, has_null=draw(st.booleans()))
    if kind is Same:
        return Same(column, draw(values))
    return Compare(column, draw(operators), draw(values))


def conditions(leaf: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    return st.recursive(
        leaf,
        lambda inner: (
            inner.map(Deny)
            | st.builds(
                Join,
                st.sampled_from(["and", "or"]),
                st.lists(inner, min_size=2, max_size=3).map(tuple),
            )
        ),
        max_leaves=5,
    )


COMPARISONS = [Compare] * 4
SQL_CONDITIONS = conditions(
    leaves(list(VALUES), [*COMPARISONS, OneOf, Same, Null, IsTrue, Starts])
)
JSON_CONDITIONS = conditions(
    leaves(list(JSON_TYPES), [*COMPARISONS, OneOf, Null, IsTrue])
)


# === What is kept, and what has to be ===


def kept(table: Sequence[File], hints: Hints) -> list[bool]:
    """The files that the hints leave, from what a log holds of them."""
    maps = pa.chunked_array(
        [
            pa.array(
                [list(file.partition_values.items()) for file in table],
                pa.map_(pa.string(), pa.string()),
            )
        ]
    )
    paths = pa.chunked_array([pa.array([str(k) for k in range(len(table))])])
    typed = type_partition_values(maps, PARTITION_SCHEMA, paths).combine_chunks()
    stats = pa.chunked_array([pa.array([file.stats for file in table], pa.string())])
    mask = files_for_predicate(
        And(hints.predicates),
        typed.chunk(0) if isinstance(typed, pa.ChunkedArray) else typed,
        lambda columns: parse_statistics(stats, SCHEMA, columns),
    )
    return [bool(item) for item in mask]


def assert_nothing_is_lost(
    table: Sequence[File], hints: Hints, condition: Condition, clients: Sequence[Client]
) -> None:
    """Check the files, and each row against the conditions that the hints became."""
    for file, is_kept in zip(table, kept(table, hints), strict=True):
        wanted = [
            row
            for row in file.rows
            if any(truth(condition, row, client) for client in clients)
        ]
        assert is_kept or not wanted
        rows = pa.Table.from_pylist(wanted, ROWS)
        for predicate in hints.predicates:
            assert rows.filter(to_expression(predicate)).num_rows == len(wanted)


tables = st.lists(files(), min_size=1, max_size=3)
SLOW = [
    HealthCheck.too_slow,
    HealthCheck.data_too_large,
    HealthCheck.large_base_example,
]


@st.composite
def one_column(draw: st.DrawFn) -> tuple[File, Condition]:
    """A file with values in one column, and a comparison of that column, or denied."""
    column = draw(st.sampled_from(list(VALUES)))
    values = draw(st.lists(VALUES[column], min_size=1, max_size=2))
    rows: list[dict[str, Any]] = [dict.fromkeys(ROWS.names) for _ in values]
    for row, value in zip(rows, values, strict=True):
        _put_value(row, column, single(value) if column == "f" else value)
    partition = dict.fromkeys(PARTITIONS)
    if column in PARTITIONS:
        partition = {**partition, column: values[0]}
    texts = {
        name: _log_text(value, with_zone=draw(st.booleans()))
        for name, value in partition.items()
    }
    kind = draw(st.sampled_from([Compare, Compare, OneOf, Same]))
    leaf = draw(leaves([column], [kind]))
    file = File([{**row, **partition} for row in rows], texts, draw(statistics(rows)))
    return file, draw(st.sampled_from([leaf, Deny(leaf)]))


def _put_value(row: dict[str, Any], column: str, value: object) -> None:
    if column in PARTITIONS:
        return
    top, *below = column.split(".")
    row[top] = {"x": None, "t": None, below[0]: value} if below else value


class TestNothingIsLost:
    @settings(max_examples=800, suppress_health_check=SLOW)
    @given(case=one_column(), data=st.data())
    def test_by_a_comparison_of_one_column(
        self, case: tuple[File, Condition], data: st.DataObject
    ) -> None:
        file, condition = case
        spell = Speller(lambda choices: data.draw(st.sampled_from(choices)))

        hints = parse_hints(
            predicate_hints=[spell.sql(condition)],
            json_predicate_hints=None,
            schema=SCHEMA,
        )

        assert not hints.skipped
        assert_nothing_is_lost([file], hints, condition, CLIENTS)

    @settings(max_examples=300, suppress_health_check=SLOW)
    @given(table=tables, condition=SQL_CONDITIONS, data=st.data())
    def test_by_a_hint_in_sql(
        self, table: list[File], condition: Condition, data: st.DataObject
    ) -> None:
        spell = Speller(lambda choices: data.draw(st.sampled_from(choices)))

        hints = parse_hints(
            predicate_hints=[spell.sql(condition)],
            json_predicate_hints=None,
            schema=SCHEMA,
        )

        assert not hints.skipped
        assert_nothing_is_lost(table, hints, condition, CLIENTS)

    @settings(max_examples=300, suppress_health_check=SLOW)
    @given(table=tables, condition=JSON_CONDITIONS, swap=st.booleans())
    def test_by_a_hint_in_json(
        self,
        table: list[File],
        condition: Condition,
        swap: bool,  # noqa: FBT001 # hypothesis draws it
    ) -> None:
        hints = parse_hints(
            predicate_hints=None,
            json_predicate_hints=json_hint(condition, swap=swap),
            schema=SCHEMA,
        )

        assert not hints.skipped
        assert_nothing_is_lost(table, hints, condition, CLIENTS)
