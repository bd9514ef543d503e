"""What statistics tell of a column, and what they do not."""

import json
from typing import Any

import numpy as np
import pyarrow as pa

from deltaweb.delta.protocol.column_path import ColumnPath
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from deltaweb.delta.scan.column_ranges import statistics_ranges
from deltaweb.delta.scan.predicate import Comparison, IsNull, Not, Or
from deltaweb.delta.scan.skipping import ColumnRange, may_match
from deltaweb.delta.values.statistics.columns import parse_statistics

SCHEMA = StructType(
    parse_columns_ddl(
        "i BIGINT, x DOUBLE, y BINARY, list ARRAY<BIGINT>, st STRUCT<x: BIGINT>"
    )
)


def ranges(stats: dict[str, Any], *paths: ColumnPath) -> dict[ColumnPath, ColumnRange]:
    texts = pa.chunked_array([[json.dumps(stats)]])
    return statistics_ranges(parse_statistics(texts, SCHEMA), paths)


class TestStatisticsRanges:
    def test_a_column_that_is_not_there_is_left_out(self) -> None:
        assert not ranges({}, ("zz",), ("i", "x"), ("st",))

    def test_nulls_are_counted_of_a_column_without_bounds(self) -> None:
        stats = {"numRecords": 2, "nullCount": {"y": 2}}
        path = ("y",)
        value = pa.scalar(b"x")

        known = ranges(stats, path)

        assert known[path].all_null.all()
        assert not may_match(Comparison(path, "=", value), known, 1).any()
        assert not may_match(Not(IsNull(path)), known, 1).any()
        other = Or((Not(Comparison(path, "=", value)), IsNull(path)))
        assert may_match(other, known, 1).all()

    def test_bounds_of_a_double_may_be_those_of_the_float_that_it_was(self) -> None:
        bounds = {"minValues": {"x": 0.7}, "maxValues": {"x": 0.1}}
        stats = {"numRecords": 1, "nullCount": {"x": 0}, **bounds}

        known = ranges(stats, ("x",))

        # The floats that are written so.
        assert known[("x",)].low.to_pylist() == [0.699999988079071]
        assert known[("x",)].high.to_pylist() == [0.10000000149011612]

    def test_a_column_without_bounds_may_hold_any_value(self) -> None:
        known = ranges({"numRecords": 2, "nullCount": {"y": 1}}, ("y",))

        for operator in ("=", "!=", "<"):
            predicate = Comparison(("y",), operator, pa.scalar(b"x"))
            assert may_match(predicate, known, 1).all()
            assert may_match(Not(predicate), known, 1).all()

    def test_no_nulls_are_believed_of_a_top_level_column_alone(self) -> None:
        stats = {"numRecords": 2, "nullCount": {"i": 0, "st": {"x": 0}}}

        known = ranges(stats, ("i",), ("st", "x"))

        assert np.array_equal(known[("i",)].some_null, [False])
        assert np.array_equal(known[("st", "x")].some_null, [True])

    def test_a_struct_itself_has_no_range(self) -> None:
        stats = {"numRecords": 2, "nullCount": {"i": 0, "st": {"x": 0}}}

        known = ranges(stats, ("i",), ("st", "x"), ("st",))

        assert set(known) == {("i",), ("st", "x")}

    def test_columns_without_an_order_tell_of_nulls(self) -> None:
        stats = {"numRecords": 2, "nullCount": {"list": 2, "y": 0}}

        known = ranges(stats, ("list",), ("y",))

        assert known[("list",)].all_null[0]
        assert not known[("y",)].some_null[0]

    def test_a_column_that_was_not_parsed_is_left_out(self) -> None:
        table = parse_statistics(pa.chunked_array([["{}"]]), SCHEMA, ["i"])

        known = statistics_ranges(table, [("i",), ("y",), ("i", "x")])

        assert set(known) == {("i",)}
