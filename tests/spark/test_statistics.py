"""A column's profile by Spark says what plain Python says of the same rows."""

import math
import shutil
import statistics
import threading
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deltaweb.delta.errors import (
    ColumnNotFoundError,
    ColumnTypeError,
    DataFileMissingError,
    UnsupportedFeatureError,
)
from deltaweb.storage.place import TablePlace
from deltaweb.table import DeltaTable
from tests.support.tables.span_table import SPAN, write_span_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def profile(spark: "SparkSession", location: Path, *column: str, **fields: object):
    from deltaweb.spark.column_reader import ProfileRequest
    from deltaweb.spark.statistics import profile_column

    version = fields.pop("version", None)
    if version is None:
        version = DeltaTable(str(location)).latest_version()
    request = ProfileRequest(
        place=TablePlace(str(location)),
        version=version,  # type: ignore[arg-type]  # a number
        column=column,
        **fields,  # type: ignore[arg-type]  # any field
    )
    return profile_column(spark, request)


def values(location: Path, *column: str, version: int | None = None) -> list[Any]:
    rows = DeltaTable(str(location)).snapshot(version).read([column[0]])
    found: list[Any] = rows[rows.column_names[0]].to_pylist()
    for name in column[1:]:
        found = [None if value is None else value[name] for value in found]
    return found


class TestProfileOfSamples:
    @pytest.mark.parametrize("num_files", [None, 10**6], ids=["listed", "replayed"])
    def test_describes_every_column_of_orders(self, spark, lake, num_files):
        orders = lake / "orders"
        schema = DeltaTable(str(orders)).snapshot().schema
        names = schema.names if num_files is None else schema.names[:2]
        for name in names:
            here = values(orders, name)
            known = [value for value in here if value is not None]

            there = profile(spark, orders, name, num_files=num_files)

            assert (there.num_rows, there.num_nulls) == (
                len(here),
                len(here) - len(known),
            ), name
            if there.num_distinct is None:
                continue
            distinct = len(set(known))
            assert there.num_distinct == pytest.approx(distinct, rel=0.06), name
            if there.top and not there.top_error:
                counts = sorted(Counter(known).values(), reverse=True)[:10]
                assert [count for _, count in there.top] == counts, name

    def test_numbers_have_quantiles_and_a_mean(self, spark: "SparkSession", lake: Path):
        orders = lake / "orders"
        known = sorted(v for v in values(orders, "customer_id") if v is not None)

        there = profile(spark, orders, "customer_id")

        assert there.mean == pytest.approx(statistics.fmean(known))
        assert there.deviation == pytest.approx(statistics.pstdev(known))
        assert (there.minimum, there.maximum) == (str(known[0]), str(known[-1]))
        assert dict(there.quantiles)[0.5] == str(known[math.ceil(len(known) / 2) - 1])

    def test_an_older_version_has_its_own_profile(self, spark, lake):
        orders = lake / "orders"

        there = profile(spark, orders, "order_id", version=1)

        assert there.num_rows == len(values(orders, "order_id", version=1))

    def test_tells_its_tasks_and_can_be_stopped(self, spark, lake):
        from deltaweb.spark.column_reader import ProfileRequest
        from deltaweb.spark.statistics import profile_column

        request = ProfileRequest(
            place=TablePlace(str(lake / "orders")), version=3, column=("order_id",)
        )

        def stop(_done: int, _total: int | None) -> None:
            raise InterruptedError

        with pytest.raises(InterruptedError):
            profile_column(spark, request, on_progress=stop)
        assert threading.active_count() < 100
        assert profile_column(spark, request).num_rows > 0


class TestOddTables:
    @pytest.fixture
    def odd(self, tmp_path: Path) -> Path:
        import pyarrow as pa
        from deltalake import write_deltalake

        rows = pa.table(
            {
                "a.b": ["x" * 300, "x" * 300 + "y", None, ""],
                "s": pa.array([{"a.b": 1}, {"a.b": 1}, None, {"a.b": None}]),
                "f": [1.0, float("nan"), None, float("-inf")],
                "l": pa.array([[1], None, [], [2, 3]]),
                "raw": pa.array([b"\x00\xff", b"", None, b"\x00\xff"]),
                "flag": pa.array([True, True, False, None]),
            }
        )
        write_deltalake(str(tmp_path / "odd"), rows)
        return tmp_path / "odd"

    def test_long_texts_that_differ_are_told_apart(self, spark, odd):
        there = profile(spark, odd, "a.b")

        assert (there.num_distinct, there.num_nulls, there.num_empty) == (3, 1, 1)
        assert (there.min_length, there.max_length) == (0, 301)
        assert all(len(value) <= 260 for value, _ in there.top)

    def test_a_field_of_a_struct_is_null_where_the_struct_is(self, spark, odd):
        there = profile(spark, odd, "s", "a.b")

        assert (there.num_nulls, there.top) == (2, (("1", 2),))

    def test_nan_is_counted_and_left_out_of_the_rest(self, spark, odd):
        there = profile(spark, odd, "f")

        assert (there.num_nan, there.num_nulls) == (1, 1)
        assert (there.minimum, there.maximum) == ("-Infinity", "1.0")

    def test_values_without_an_order_are_counted(self, spark, odd):
        there = profile(spark, odd, "l")

        assert (there.num_rows, there.num_nulls, there.num_distinct) == (4, 1, None)

    def test_binary_is_told_as_hex_and_booleans_as_words(self, spark, odd):
        assert profile(spark, odd, "raw").top == (("00ff", 2), ("", 1))
        assert profile(spark, odd, "flag").top == (("true", 2), ("false", 1))

    @pytest.mark.parametrize("num_files", [None, 10**6], ids=["listed", "replayed"])
    def test_a_column_of_a_type_that_is_not_known_is_refused_alone(
        self, spark: "SparkSession", tmp_path: Path, num_files: int | None
    ) -> None:
        location = write_span_table(tmp_path / "t")

        assert profile(spark, location, "id", num_files=num_files).num_rows == 3
        with pytest.raises(ColumnTypeError, match=f"'span'.*{SPAN}"):
            profile(spark, location, "span", num_files=num_files)

    def test_a_missing_column_and_a_missing_file_say_so(self, spark, odd, tmp_path):
        with pytest.raises(ColumnNotFoundError):
            profile(spark, odd, "nowhere")
        copy = shutil.copytree(odd, tmp_path / "copy")
        next(copy.glob("*.parquet")).unlink()

        with pytest.raises(DataFileMissingError):
            profile(spark, copy, "f")

    def test_an_unsupported_feature_is_refused(self, spark: "SparkSession", odd: Path):
        log = odd / "_delta_log" / f"{0:020d}.json"
        lines = log.read_text().splitlines()
        protocol = (
            '{"protocol":{"minReaderVersion":3,"minWriterVersion":7,'
            '"readerFeatures":["catalogManaged"],"writerFeatures":["catalogManaged"]}}'
        )
        lines = [protocol if '"protocol"' in line else line for line in lines]
        log.write_text("\n".join(lines) + "\n")

        with pytest.raises(UnsupportedFeatureError):
            profile(spark, odd, "f")
        with pytest.raises(UnsupportedFeatureError):
            profile(spark, odd, "f", num_files=10**6)
