"""Rows by the logical schema, from Parquet files that are as odd as real ones."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltaweb.delta.errors import (
    ColumnNotFoundError,
    ColumnTypeError,
    DataFileError,
    PartitionValueError,
    PredicateError,
)
from deltaweb.delta.protocol.schema import (
    OPAQUE,
    ArrayType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
    arrow_schema,
)
from deltaweb.delta.scan.predicate import Comparison, IsNull
from deltaweb.delta.scan.rows import read_rows
from tests.support import cases
from tests.support.conditions.drawn_examples import examples
from tests.support.tables.row_tables import LONG, STRING, Table, schema_of

if TYPE_CHECKING:
    from collections.abc import Callable


class TestColumns:
    def test_are_found_by_name_in_the_order_of_the_schema(self, tmp_path: Path) -> None:
        table = Table(tmp_path, schema_of(a=LONG, b=STRING))
        table.add(pa.table({"extra": [0], "b": ["x"], "a": [1]}))

        rows = read_rows(table.source)

        assert rows.to_pylist() == [{"a": 1, "b": "x"}]
        assert rows.schema.equals(arrow_schema(table.schema))

    def test_are_found_ignoring_case(self, tmp_path: Path) -> None:
        inner = schema_of(City=STRING)
        table = Table(tmp_path, schema_of(Place=inner))
        table.add(pa.table({"PLACE": [{"city": "Ulm"}]}))

        assert table.read() == [{"Place": {"City": "Ulm"}}]

    def test_that_differ_only_in_case_are_refused_unless_one_is_exact(self, tmp_path):
        table = Table(tmp_path, schema_of(a=LONG))
        table.add(pa.table({"A": [1], "a": [3]}))
        assert table.read() == [{"a": 3}]

        other = Table(tmp_path, schema_of(aB=LONG))
        path = other.add(pa.table({"AB": [1], "ab": [2]}))

        with pytest.raises(DataFileError, match=rf"{path}.*'aB'.*several"):
            other.read()

    def test_with_dots_in_their_names_are_not_nested_ones(self, tmp_path: Path) -> None:
        schema = StructType(
            (StructField("a.b", LONG), StructField("a", schema_of(b=LONG)))
        )
        table = Table(tmp_path, schema)
        table.add(pa.table({"a": [{"b": 1}], "a.b": [2]}))

        assert table.read() == [{"a.b": 2, "a": {"b": 1}}]
        assert table.read(columns=["a.b"]) == [{"a.b": 2}]

    def test_missing_from_a_file_are_null_at_every_level(self, tmp_path: Path) -> None:
        inner = schema_of(x=LONG, y=STRING)
        schema = schema_of(
            st=inner, items=ArrayType(inner), pairs=MapType(STRING, inner), new=LONG
        )
        table = Table(tmp_path, schema)
        stored = pa.struct([("x", pa.int64())])
        table.add(
            pa.table(
                {
                    "st": pa.array([{"x": 1}, None], stored),
                    "items": pa.array([[{"x": 2}, None], None], pa.list_(stored)),
                    "pairs": pa.array(
                        [[("k", {"x": 3})], []], pa.map_("string", stored)
                    ),
                }
            )
        )

        assert table.read() == [
            {
                "st": {"x": 1, "y": None},
                "items": [{"x": 2, "y": None}, None],
                "pairs": [("k", {"x": 3, "y": None})],
                "new": None,
            },
            {"st": None, "items": None, "pairs": [], "new": None},
        ]

    def test_of_a_file_that_has_none_of_them_are_null_rows(self, tmp_path: Path):
        table = Table(tmp_path, schema_of(a=LONG))
        table.add(pa.table({"other": [1, 2]}))

        assert table.read() == [{"a": None}, {"a": None}]

    def test_asked_for_come_in_the_order_asked(self, tmp_path: Path) -> None:
        table = Table(
            tmp_path, schema_of(a=LONG, st=schema_of(x=LONG), p=STRING), ["p"]
        )
        table.add(pa.table({"a": [1], "st": [{"x": 2}]}), {"p": "z"})

        assert list(table.read(columns=["p", "ST.x", "A"])[0].items()) == [
            ("p", "z"),
            ("st.x", 2),
            ("a", 1),
        ]

    @pytest.mark.parametrize(
        ("options", "count"),
        [
            ({}, 5),
            ({"limit": 4}, 4),
            ({"predicate": pc.field("a") > 1}, 3),
            ({"predicate": IsNull(("a",)), "limit": 1}, 1),
        ],
    )
    def test_none_of_which_is_asked_for_leave_the_number_of_rows(
        self, tmp_path: Path, options: dict[str, Any], count: int
    ) -> None:
        table = Table(tmp_path, schema_of(a=LONG))
        table.add(pa.table({"a": [1, 2, 3]}))
        table.add(pa.table({"a": [None, 5]}))

        assert read_rows(table.source, columns=[], **options).num_rows == count

    def test_that_are_unknown_are_named(self, tmp_path: Path) -> None:
        table = Table(tmp_path, schema_of(a=LONG))

        with pytest.raises(ColumnNotFoundError, match="'zz'"):
            table.read(columns=["zz"])

    def test_of_a_type_that_is_only_shown_are_refused_by_name(self, tmp_path: Path):
        span = PrimitiveType(OPAQUE, "interval day to second")
        table = Table(tmp_path, schema_of(a=LONG, v=span, p=span), ["p"])
        table.add(pa.table({"a": [1], "v": [5]}), {"p": "INTERVAL '1' DAY"})

        for options in ({}, {"columns": ["v"]}, {"columns": ["a", "p"]}):
            with pytest.raises(ColumnTypeError, match=r"'[vp]'.*interval day"):
                table.read(**options)
        with pytest.raises(ColumnTypeError, match="'v'"):
            table.read(columns=["a"], predicate=IsNull(("v",)))
        assert table.read(columns=["a"]) == [{"a": 1}]
        assert table.read(columns=["a"], predicate=pc.field("a") == 1) == [{"a": 1}]


class TestPartitionColumns:
    def test_come_from_the_log_even_where_the_file_has_them(self, tmp_path: Path):
        table = Table(tmp_path, schema_of(a=LONG, p=LONG), ["p"])
        table.add(pa.table({"a": [1], "p": [99]}), {"p": "7"})
        table.add(pa.table({"a": [2]}), {})

        assert table.read() == [{"a": 1, "p": 7}, {"a": 2, "p": None}]

    def test_alone_take_the_number_of_rows_from_the_footer(self, tmp_path: Path):
        table = Table(tmp_path, schema_of(a=LONG, p=LONG), ["p"])
        table.add(pa.table({"a": [1, 2, 3]}), {"p": "7"})

        assert table.read(columns=["p"]) == [{"p": 7}] * 3

    def test_with_a_bad_value_are_named_with_the_file(self, tmp_path: Path) -> None:
        table = Table(tmp_path, schema_of(a=LONG, p=LONG), ["p"])
        path = table.add(pa.table({"a": [1]}), {"p": "seven"})

        with pytest.raises(PartitionValueError, match=rf"'seven'.*'p'.*{path}"):
            table.read()

    def test_are_only_looked_at_when_asked_for(self, tmp_path: Path) -> None:
        table = Table(tmp_path, schema_of(a=LONG, p=LONG), ["p"])
        table.add(pa.table({"a": [1]}), {"p": "seven"})

        assert table.read(columns=["a"]) == [{"a": 1}]


class TestLimit:
    def test_opens_no_file_beyond_it(self, tmp_path: Path) -> None:
        table = Table(tmp_path, schema_of(a=LONG))
        for start in (0, 3, 6):
            table.add(pa.table({"a": [start, start + 1, start + 2]}))

        scan = table.scan(limit=4)
        rows = [row["a"] for batch in scan for row in batch.to_pylist()]

        assert rows == [0, 1, 2, 3]
        assert table.opened == ["0.parquet", "1.parquet"]
        assert (scan.files_total, scan.files_selected, scan.files_scanned) == (3, 3, 2)

    def test_of_nothing_opens_nothing(self, tmp_path: Path) -> None:
        table = Table(tmp_path, schema_of(a=LONG))
        table.add(pa.table({"a": [1]}))

        assert table.read(limit=0) == []
        assert table.opened == []

    def test_counts_matching_rows(self, tmp_path: Path) -> None:
        table = Table(tmp_path, schema_of(a=LONG))
        table.add(pa.table({"a": list(range(10))}))

        assert table.read(limit=2, predicate=pc.field("a") > 4) == [{"a": 5}, {"a": 6}]


class TestConditions:
    def test_leave_files_out_by_partition_and_statistics(self, tmp_path: Path) -> None:
        table = Table(tmp_path, schema_of(a=LONG, p=STRING), ["p"])
        low = '{"numRecords":1,"minValues":{"a":1},"maxValues":{"a":1}}'
        table.add(pa.table({"a": [1]}), {"p": "x"}, low)
        table.add(pa.table({"a": [9]}), {"p": "x"})
        table.add(pa.table({"a": [9]}), {"p": "y"})

        by_value = table.scan(predicate=Comparison(("a",), ">", pa.scalar(5)))
        assert [row for batch in by_value for row in batch.to_pylist()] == [
            {"a": 9, "p": "x"},
            {"a": 9, "p": "y"},
        ]
        assert by_value.files_selected == 2

        by_partition = table.scan(predicate=pc.field("p") == "y")
        assert sum(batch.num_rows for batch in by_partition) == 1
        assert (by_partition.files_total, by_partition.files_selected) == (3, 1)

    def test_look_at_columns_that_are_not_asked_for(self, tmp_path: Path) -> None:
        table = Table(tmp_path, schema_of(a=LONG, b=STRING, c=LONG))
        table.add(pa.table({"a": [1, 2], "b": ["x", "y"]}))

        assert table.read(columns=["b"], predicate=pc.field("a") == 2) == [{"b": "y"}]
        assert table.read(columns=["b"], predicate=IsNull(("a",))) == []

    def test_leave_row_groups_out(self, tmp_path: Path) -> None:
        table = Table(tmp_path, schema_of(a=LONG, b=STRING))
        rows = pa.table({"a": list(range(100)), "b": [f"{i:03}" for i in range(100)]})
        path = table.add(rows, row_group_size=10)
        content = bytearray((tmp_path / path).read_bytes())
        # The first row group is damaged, so that reading it would fail.
        content[4:100] = b"\xff" * 96
        (tmp_path / path).write_bytes(content)

        predicate = Comparison(("a",), ">=", pa.scalar(95))

        assert [row["a"] for row in table.read(predicate=predicate)] == [
            95,
            96,
            97,
            98,
            99,
        ]

    @cases(
        "expression",
        {
            "an unknown column": pc.field("zz") > 1,
            "a value of another type": pc.field("a") == "x",
            "no condition": pc.field("a") + 1,
        },
    )
    def test_that_do_not_fit_are_refused_before_a_file_is_opened(
        self, tmp_path: Path, expression: pc.Expression
    ) -> None:
        table = Table(tmp_path, schema_of(a=LONG))
        table.add(pa.table({"a": [1]}))

        with pytest.raises(PredicateError):
            table.read(predicate=expression)
        assert table.opened == []


class TestAgainstAPlainFilter:
    @settings(max_examples=examples(60))
    @given(
        values=st.lists(st.none() | st.integers(-5, 5), min_size=1, max_size=30),
        operator=st.sampled_from(["=", "!=", "<", "<=", ">", ">="]),
        literal=st.integers(-6, 6),
        group=st.integers(1, 7),
    )
    def test_row_groups_lose_no_row(
        self,
        tmp_path_factory: pytest.TempPathFactory,
        values: list[int | None],
        operator: str,
        literal: int,
        group: int,
    ) -> None:
        table = Table(tmp_path_factory.mktemp("rows"), schema_of(a=LONG))
        table.add(pa.table({"a": pa.array(values, pa.int64())}), row_group_size=group)
        compare: Callable[[int], bool] = {
            "=": lambda v: v == literal,
            "!=": lambda v: v != literal,
            "<": lambda v: v < literal,
            "<=": lambda v: v <= literal,
            ">": lambda v: v > literal,
            ">=": lambda v: v >= literal,
        }[operator]

        rows = table.read(predicate=Comparison(("a",), operator, pa.scalar(literal)))

        assert [row["a"] for row in rows] == [
            value for value in values if value is not None and compare(value)
        ]
