"""A file that holds a matching row is never left out, however stats were written."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltaweb.delta.column_path import ColumnPath
from deltaweb.delta.file_pruning import files_for_expression, files_for_predicate
from deltaweb.delta.predicate import (
    And,
    ColumnComparison,
    Comparison,
    Constant,
    In,
    IsNull,
    Like,
    Not,
    NullSafeEqual,
    Or,
    Predicate,
    to_expression,
)
from deltaweb.delta.schema import (
    DecimalType,
    PrimitiveType,
    StructField,
    StructType,
    arrow_schema,
)
from deltaweb.delta.statistics import parse_statistics

SCHEMA = StructType(
    (
        StructField("i", PrimitiveType("long")),
        StructField("f", PrimitiveType("double")),
        StructField("s", PrimitiveType("string")),
        StructField("t", PrimitiveType("timestamp")),
        StructField("d", PrimitiveType("date")),
        StructField("b", PrimitiveType("boolean")),
        StructField("m", DecimalType(20, 2)),
        StructField("st", StructType((StructField("x", PrimitiveType("integer")),))),
        StructField("p", PrimitiveType("string")),
        StructField("q", PrimitiveType("double")),
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


@dataclass(frozen=True)
class File:
    """Rows of one file and what the log says of them."""

    rows: pa.Table
    partition: dict[str, Any]
    stats: str | None


# === Statistics as writers write them ===


def _bound(  # noqa: PLR0911 # a kind of value each
    values: Sequence[Any], pick: Callable[..., Any], cut: int
) -> Any:  # noqa: ANN401 # JSON
    known = [value for value in values if value is not None and value == value]  # noqa: PLR0124 # NaN
    if not known:
        return None
    value = pick(known, key=lambda v: v.encode() if isinstance(v, str) else v)
    match value:
        case str():
            return value[:cut]
        case datetime():
            micros = (value - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(
                microseconds=1
            )
            at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(
                milliseconds=micros // 1000
            )
            return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        case date():
            return value.isoformat()
        case Decimal():
            return float(value)
        case float() if math.isinf(value):
            return None
        case _:
            return value


def _stats(table: list[dict[str, Any]], cut: int, missing: set[str]) -> str:
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
    table = draw(st.lists(rows, min_size=1, max_size=4))
    partition = {"p": draw(st.none() | texts), "q": draw(st.none() | floats)}
    written = _stats(table, draw(st.sampled_from([1, 2, 32])), draw(pieces))
    stats = draw(st.just(written) | st.just(written) | broken)
    whole = [{**row, **partition} for row in table]
    return File(pa.Table.from_pylist(whole, ROWS), partition, stats)


# === Conditions ===


def _scalar(path: ColumnPath, value: object) -> pa.Scalar:
    arrow = ROWS.field(path[0]).type
    for name in path[1:]:
        arrow = arrow.field(name).type
    return pa.scalar(value, arrow)


operators = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])


@st.composite
def leaves(draw: st.DrawFn) -> Predicate:
    path = draw(st.sampled_from(list(VALUES)))
    value = _scalar(path, draw(VALUES[path]))
    choices: list[Callable[[], Predicate]] = [
        lambda: Comparison(path, draw(operators), value),
        lambda: NullSafeEqual(path, value),
        lambda: In(
            path,
            tuple(_scalar(path, v) for v in draw(st.lists(VALUES[path], max_size=3))),
            has_null=draw(st.booleans()),
        ),
        lambda: IsNull(path),
        lambda: IsNull(("st",)),
        lambda: Constant(draw(st.sampled_from([True, False, None]))),
        lambda: Like(
            ("s",),
            draw(
                st.sampled_from(["a%", "%b", "a_", "a\\%\\_%", LONG_TEXT + "%", "é%"])
            ),
            ignore_case=draw(st.booleans()),
        ),
        lambda: ColumnComparison(("s",), draw(operators), ("p",)),
    ]
    return draw(st.sampled_from(choices))()


predicates = st.recursive(
    leaves(),
    lambda inner: (
        inner.map(Not)
        | st.lists(inner, min_size=1, max_size=3).map(lambda p: And(tuple(p)))
        | st.lists(inner, min_size=1, max_size=3).map(lambda p: Or(tuple(p)))
    ),
    max_leaves=6,
)


def _partitions(table: Sequence[File]) -> pa.StructArray:
    fields = [ROWS.field(name) for name in PARTITIONS]
    return pa.array([file.partition for file in table], pa.struct(fields))


def _matching(table: Sequence[File], predicate: Predicate) -> list[bool]:
    expression = to_expression(predicate)
    return [file.rows.filter(expression).num_rows > 0 for file in table]


NO_VALUES = dict.fromkeys(ROWS.names)


@st.composite
def one_column(draw: st.DrawFn) -> tuple[File, Predicate]:
    """A file with values in one column, and a comparison of that column."""
    data = [path for path in VALUES if path[0] not in PARTITIONS]
    path = draw(st.sampled_from(data))
    values = draw(st.lists(VALUES[path], min_size=1, max_size=2))
    table = [
        {**NO_VALUES, path[0]: {path[1]: value} if path[1:] else value}
        for value in values
    ]
    partition = {"p": None, "q": None}
    stats = _stats(table, draw(st.sampled_from([1, 2, 32])), set())
    literal = _scalar(path, draw(VALUES[path]))
    predicate: Predicate = Comparison(path, draw(operators), literal)
    if draw(st.booleans()):
        predicate = Not(predicate)
    return File(pa.Table.from_pylist(table, ROWS), partition, stats), predicate


class TestSkippingFiles:
    @settings(max_examples=800)
    @given(case=one_column())
    def test_reads_each_bound_as_loosely_as_it_was_written(
        self, case: tuple[File, Predicate]
    ) -> None:
        file, predicate = case
        stats = pa.chunked_array([pa.array([file.stats])])

        selected = files_for_predicate(
            predicate,
            _partitions([file]),
            lambda columns: parse_statistics(stats, SCHEMA, columns),
        )

        assert selected[0] or not _matching([file], predicate)[0]

    @settings(max_examples=250)
    @given(table=st.lists(files(), min_size=1, max_size=4), predicate=predicates)
    def test_never_leaves_out_a_file_with_a_matching_row(
        self, table: list[File], predicate: Predicate
    ) -> None:
        stats = pa.chunked_array(
            [pa.array([file.stats for file in table], pa.string())]
        )

        selected = files_for_predicate(
            predicate,
            _partitions(table),
            lambda columns: parse_statistics(stats, SCHEMA, columns),
        )

        for matches, is_selected in zip(
            _matching(table, predicate), selected, strict=True
        ):
            assert is_selected or not matches

    @settings(max_examples=100)
    @given(table=st.lists(files(), min_size=1, max_size=4), predicate=predicates)
    def test_never_leaves_out_such_a_file_for_an_arrow_expression(
        self, table: list[File], predicate: Predicate
    ) -> None:
        expression = to_expression(predicate)

        selected = files_for_expression(expression, _partitions(table), ROWS)

        for matches, is_selected in zip(
            _matching(table, predicate), selected, strict=True
        ):
            assert is_selected or not matches


INTEGER = ("i",)


def _select(predicate: Predicate, *stats: dict[str, Any]) -> list[bool]:
    texts = pa.chunked_array([pa.array([json.dumps(item) for item in stats])])
    selected = files_for_predicate(
        predicate,
        pa.array([{}] * len(stats), pa.struct([])),
        lambda columns: parse_statistics(texts, SCHEMA, columns),
    )
    return [bool(item) for item in selected]


class TestBounds:
    @pytest.mark.parametrize(
        ("operator", "value", "expected"),
        [
            pytest.param("=", 4, [False, True, True], id="equal"),
            pytest.param("<", 1, [False, False, True], id="below the smallest"),
            pytest.param("<=", 1, [True, False, True], id="the smallest itself"),
            pytest.param(">", 5, [False, False, True], id="above the largest"),
            pytest.param(">=", 5, [False, True, True], id="the largest itself"),
            pytest.param("!=", 2, [True, True, True], id="unequal"),
        ],
    )
    def test_a_comparison_selects_by_them(
        self, operator: str, value: int, expected: list[bool]
    ) -> None:
        predicate = Comparison(INTEGER, operator, pa.scalar(value, pa.int64()))

        selected = _select(
            predicate,
            {"minValues": {"i": 1}, "maxValues": {"i": 3}},
            {"minValues": {"i": 4}, "maxValues": {"i": 5}},
            {},
        )

        assert selected == expected

    def test_one_value_alone_is_never_unequal_to_itself(self) -> None:
        predicate = Comparison(INTEGER, "!=", pa.scalar(4, pa.int64()))

        assert _select(predicate, {"minValues": {"i": 4}, "maxValues": {"i": 4}}) == [
            False
        ]

    def test_a_file_of_nulls_matches_no_comparison_and_no_opposite(self) -> None:
        predicate = Comparison(INTEGER, "=", pa.scalar(4, pa.int64()))
        stats = {"numRecords": 2, "nullCount": {"i": 2}}

        assert _select(predicate, stats) == [False]
        assert _select(Not(predicate), stats) == [False]
        assert _select(IsNull(INTEGER), stats) == [True]
        assert _select(Not(IsNull(INTEGER)), stats) == [False]

    def test_a_long_list_is_judged_by_its_ends(self) -> None:
        values = tuple(pa.scalar(value, pa.int64()) for value in range(100, 300))

        selected = _select(
            In(INTEGER, values),
            {"minValues": {"i": 1}, "maxValues": {"i": 99}},
            {"minValues": {"i": 1}, "maxValues": {"i": 100}},
        )

        assert selected == [False, True]

    def test_a_time_cut_to_the_millisecond_is_widened(self) -> None:
        at = datetime(2024, 1, 1, 0, 0, 0, 999, tzinfo=UTC)
        stats = {
            "minValues": {"t": "2024-01-01T00:00:00.000Z"},
            "maxValues": {"t": "2024-01-01T00:00:00.000Z"},
        }

        exact = Comparison(("t",), "=", _scalar(("t",), at))
        later = Comparison(("t",), "=", _scalar(("t",), at + timedelta(microseconds=1)))

        assert _select(exact, stats) == [True]
        assert _select(later, stats) == [False]

    def test_a_prefix_selects_by_both_ends(self) -> None:
        selected = _select(
            Like(("s",), "b%"),
            {"minValues": {"s": "a"}, "maxValues": {"s": "az"}},
            {"minValues": {"s": "bx"}, "maxValues": {"s": "by"}},
            {"minValues": {"s": "c"}, "maxValues": {"s": "d"}},
        )

        assert selected == [False, True, False]

    def test_bounds_say_nothing_of_what_is_not_a_number(self) -> None:
        stats = {"numRecords": 2, "minValues": {"f": 5.0}, "maxValues": {"f": 5.0}}
        five = _scalar(("f",), 5.0)

        assert _select(Comparison(("f",), "!=", five), stats) == [True]
        assert _select(Not(Comparison(("f",), "=", five)), stats) == [True]
        assert _select(Comparison(("f",), ">", five), stats) == [False]

    def test_a_literal_at_the_end_of_time_selects_everything(self) -> None:
        first = pa.scalar(-(2**63), pa.int64()).cast(pa.timestamp("us", "UTC"))
        stats = {
            "minValues": {"t": "2024-01-01T00:00:00.000Z"},
            "maxValues": {"t": "2024-01-01T00:00:00.000Z"},
        }

        assert _select(Comparison(("t",), ">=", first), stats) == [True]

    def test_too_many_partitions_are_not_tried(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("deltaweb.delta.file_pruning.MAX_PARTITIONS_TRIED", 1)
        partitions = pa.array([{"p": "a"}, {"p": "b"}])

        selected = files_for_expression(pc.field("p") == "a", partitions, ROWS)

        assert selected.tolist() == [True, True]
