"""A column's profile by Spark says what that of this process says of the same rows."""

import shutil
import threading
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deltaweb.delta.errors import (
    ColumnNotFoundError,
    ColumnTypeError,
    DataFileMissingError,
    UnsupportedFeatureError,
)
from deltaweb.delta.profile import in_process
from deltaweb.delta.profile.described import TOP_VALUES, ColumnProfile
from deltaweb.storage.place import TablePlace
from deltaweb.table import DeltaTable
from tests.support import cases
from tests.support.tables.span_table import SPAN, write_span_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def profile(spark: "SparkSession", location: Path, *column: str, **fields: Any):  # noqa: ANN401 (any field)
    """Return what Spark says, as this process does where Spark reads listed files."""
    from deltaweb.spark.statistics import ProfileRequest, profile_column

    snapshot = DeltaTable(str(location)).snapshot(fields.pop("version", None))
    request = ProfileRequest(
        place=TablePlace(str(location)),
        version=snapshot.version,
        column=column,
        **fields,
    )
    there = profile_column(spark, request)
    if not fields and not there.top_error:
        here = in_process.profile_column(snapshot, column, on_progress=lambda _n: None)
        assert comparable(here) == comparable(there)
    return there


def comparable(profile: ColumnProfile) -> dict[str, Any]:
    """What both engines say alike: sums to some digits, equal counts in any order.

    The bins are the same, and the counts of Spark are within 2 % of the rows.
    """
    said = asdict(profile)
    del said["is_histogram_exact"]
    near = 1 + profile.num_rows // 50
    said["histogram"] = [
        (low, high, pytest.approx(count, abs=near))
        for low, high, count in profile.histogram
    ]
    said["top"] = sorted(Counter(dict(profile.top)).items())
    if len(profile.top) == TOP_VALUES:  # the last of equal counts differ
        said["top"] = sorted(count for _, count in profile.top)
    for name in ("mean", "deviation", "num_distinct"):
        close = 0.06 if name == "num_distinct" else 1e-9
        if said[name] is not None:
            said[name] = pytest.approx(said[name], rel=close, nan_ok=True)
    return said


class TestProfileOfSamples:
    @cases(
        "names, num_files",
        {
            "listed": (["order_date", "country", "amount"], None),
            "listed, other types": (["items", "express", "placed_at"], None),
            "replayed": (["order_id"], 10**6),
        },
        often={"listed", "replayed"},
    )
    def test_describes_a_column_of_each_type_of_orders(
        self, spark: "SparkSession", lake: Path, names: list[str], num_files: int | None
    ) -> None:
        fields = {} if num_files is None else {"num_files": num_files}
        snapshot = DeltaTable(str(lake / "orders")).snapshot()
        num_rows = snapshot.read(["order_id"]).num_rows

        for name in names:
            there = profile(spark, lake / "orders", name, **fields)

            assert there.num_rows == num_rows

    def test_an_older_version_has_its_own_profile(self, spark, lake):
        orders = lake / "orders"

        there = profile(spark, orders, "order_id", version=1)

        assert there.num_rows == DeltaTable(str(orders)).snapshot(1).read().num_rows

    def test_tells_its_tasks_and_can_be_stopped(self, spark, lake):
        from deltaweb.spark.statistics import ProfileRequest, profile_column

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
