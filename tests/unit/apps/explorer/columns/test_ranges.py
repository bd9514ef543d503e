from datetime import date

import numpy as np
import pyarrow as pa

from apps.explorer.columns.ranges import (
    MAX_BARS,
    ColumnRanges,
    RangeStrip,
    range_strip,
    read_ranges,
)
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from tests.support import cases

SCHEMA = StructType(parse_columns_ddl("id BIGINT, name STRING"))
STATS = (
    '{"numRecords":8,"nullCount":{"name":3},'
    '"minValues":{"name":"x"},"maxValues":{"name":"y"}}'
)


def ranges_of(name: str, **columns: list[object]) -> ColumnRanges:
    """What two files tell, of which the second has no statistics."""
    bounds = {"id": pa.array([1, None]), "name": pa.array(["a" * 32, None])}
    highs = {"id": pa.array([9, None]), "name": pa.array(["b", None])}
    counts = {"id": pa.array([2, None]), "name": pa.array([0, None])}
    files = pa.table(
        {
            "path": ["a", "b"],
            "num_records": pa.array([8, None], pa.int64()),
            "min": pa.array(pa.table(bounds).to_struct_array()),
            "max": pa.array(pa.table(highs).to_struct_array()),
            "null_count": pa.array(pa.table(counts).to_struct_array()),
            "partition": pa.array([{"day": date(2026, 1, 1)}, {"day": None}]),
            "stats": pa.array([None, None], pa.string()),
            **columns,
        }
    )
    return read_ranges(files, SCHEMA, (name,), is_partition=name == "day")


class TestReadRanges:
    def test_says_how_many_files_tell(self) -> None:
        found = ranges_of("id")

        assert (found.num_files, found.num_bounds, found.num_counts) == (2, 1, 1)
        assert (found.num_nulls, found.null_percent) == (2, 25.0)
        assert (found.minimum, found.maximum, found.num_cut) == (1, 9, 0)

    def test_a_bound_of_deleted_rows_is_no_answer(self) -> None:
        wide = '{"numRecords":8,"tightBounds":false}'
        told = {
            "num_records": pa.array([8, 8], pa.int64()),
            "min": pa.array([{"id": 3}, {"id": 1}]),
            "max": pa.array([{"id": 9}, {"id": 5}]),
            "null_count": pa.array([{"id": 2}, {"id": 4}]),
            "stats": pa.array([STATS, wide]),
            "deleted_rows": pa.array([0, 1]),
        }

        found = ranges_of("id", **told)

        assert (found.minimum, found.maximum) == (None, 9)
        assert (found.lowest, found.highest) == (1, 9)
        assert (found.num_nulls, found.num_rows) == (2, 8)
        assert found.num_bounds == 2

    def test_text_of_the_length_of_a_cut_is_flagged(self) -> None:
        assert ranges_of("name").num_cut == 1

    def test_a_partition_column_is_told_by_its_values(self) -> None:
        found = ranges_of("day")

        assert (found.num_bounds, found.minimum) == (1, date(2026, 1, 1))

    def test_a_column_without_statistics_is_not_told(self) -> None:
        files = pa.table(
            {
                "path": ["a"],
                "num_records": pa.array([8], pa.int64()),
                "min": pa.array([{"id": 1}]),
                "max": pa.array([{"id": 1}]),
                "null_count": pa.array([{"id": 1}]),
                "stats": [STATS],
            }
        )

        found = read_ranges(files, SCHEMA, ("name",), is_partition=False)

        assert (found.num_nulls, found.minimum, found.maximum) == (3, "x", "y")


class TestRangeStrip:
    @cases(
        "low, high, depth",
        {
            "apart": ([0, 10, 20], [9, 19, 29], 1.0),
            "all alike": ([0, 0, 0], [9, 9, 9], 3.0),
            "texts that overlap": (["a", "b"], ["c", "d"], 1.5),
            "truths": ([False, True], [True, True], 1.5),
        },
    )
    def test_tells_in_how_many_ranges_a_value_is(self, low, high, depth):
        strip = range_strip(pa.chunked_array([low]), pa.chunked_array([high]))

        assert strip is not None
        assert strip.depth == depth
        assert [bar.minimum for bar in strip.bars] == low

    @cases(
        "num_files, sampled, depth, expected",
        {
            "one file": (1, None, 1.0, (1, 100)),
            "half of them": (86, None, 43.5, (44, 51)),
            "a sample stands for all": (100_000, 10_000, 5_000.0, (50_000, 50)),
        },
    )
    def test_counts_the_files_that_a_filter_reads(
        self, num_files, sampled, depth, expected
    ):
        strip = RangeStrip(
            bars=(), scale="number", num_files=num_files, sampled=sampled, depth=depth
        )

        assert (strip.files_of_a_value, strip.percent_of_a_value) == expected

    def test_many_files_share_bars_and_none_is_lost(self) -> None:
        low = list(range(3_001))

        strip = range_strip(
            pa.chunked_array([low]), pa.chunked_array([[n + 5 for n in low]])
        )

        assert strip is not None
        assert len(strip.bars) == MAX_BARS
        assert sum(bar.num_files for bar in strip.bars) == 3_001
        assert strip.bars[0].maximum == strip.bars[0].num_files + 4

    def test_nothing_is_drawn_where_nothing_is_known(self) -> None:
        nothing = pa.chunked_array([[None, None]], pa.int64())
        endless = pa.chunked_array([[float("nan")]])

        assert range_strip(nothing, nothing) is None
        assert range_strip(endless, endless) is None


class TestBarsOfACondition:
    def test_files_that_are_read_have_bars_of_their_own(self) -> None:
        low = pa.chunked_array([pa.array(range(1_000))])
        high = pa.chunked_array([pa.array(range(5, 1_005))])
        is_read = np.arange(1_000) >= 990

        strip = range_strip(low, high, is_read=is_read)

        assert strip is not None
        assert len(strip.bars) == MAX_BARS
        assert sum(bar.num_files for bar in strip.bars) == 1_000
        assert sum(bar.num_files for bar in strip.bars if bar.is_read) == 10
        assert [bar.low for bar in strip.bars] == sorted(bar.low for bar in strip.bars)

    def test_files_without_a_range_take_their_mark_with_them(self) -> None:
        low = pa.chunked_array([pa.array([None, 1, 2])])
        high = pa.chunked_array([pa.array([None, 3, 4])])

        strip = range_strip(low, high, is_read=np.array([True, False, True]))

        assert strip is not None
        assert [bar.is_read for bar in strip.bars] == [False, True]

    @cases(
        "low, high, value, place",
        {
            "a number": ([1, 2], [5, 9], pa.scalar(4), 4.0),
            "a day": (
                [date(1970, 1, 1)],
                [date(1970, 1, 9)],
                pa.scalar(date(1970, 1, 2)),
                86_400_000.0,
            ),
            "a text that is a bound": (["a", "c"], ["b", "d"], pa.scalar("c"), 3.0),
            "a text between bounds": (["a", "c"], ["b", "d"], pa.scalar("bb"), 2.5),
            "a value of another type": ([1], [2], pa.scalar("x"), None),
            "a value too large": ([1], [2], pa.scalar(1 << 60), float(1 << 60)),
            "nothing": ([1], [2], None, None),
        },
    )
    def test_a_value_has_its_place_on_the_axis(self, low, high, value, place) -> None:
        bounds = (pa.chunked_array([pa.array(one)]) for one in (low, high))

        strip = range_strip(*bounds, marks=[value])

        assert strip is not None
        assert strip.marks == (place,)
