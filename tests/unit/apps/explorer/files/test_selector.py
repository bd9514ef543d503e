from datetime import UTC, datetime

import pyarrow as pa
import pytest

from apps.explorer.files.form import FileFilter
from apps.explorer.files.selector import file_page, file_rows, partition_shares
from apps.pages.page_json import json_of
from apps.pages.request.parameters import QueryError
from apps.tables.models import Table
from deltaweb.delta.protocol.schema import PrimitiveType, StructField, StructType
from tests.support import cases

PARTITIONS = pa.map_(pa.string(), pa.string())


def files_of(*rows: tuple[str, int, str | None, int | None]) -> pa.Table:
    """Files of (path, size, country, rows)."""
    return pa.table(
        {
            "path": [row[0] for row in rows],
            "size": pa.array([row[1] for row in rows], pa.int64()),
            "modification_time": pa.array([1_000_000] * len(rows), pa.int64()),
            "partition_values": pa.array(
                [[("country", row[2])] for row in rows], PARTITIONS
            ),
            "num_records": pa.array([row[3] for row in rows], pa.int64()),
        }
    )


FILES = files_of(
    ("b", 30, "DE", 3), ("a", 10, "FR", None), ("c", 20, "", 2), ("d", 20, None, 1)
)


def paths(**fields: object) -> list[str]:
    wanted = FileFilter(**fields)  # type: ignore[arg-type]  # any field of the filter
    return [file.path for file in file_page(FILES, wanted, ["country"]).files]


class TestFilePage:
    @cases(
        "sort, expected",
        {
            "the largest first": ("-size", ["b", "c", "d", "a"]),
            "the smallest first": ("size", ["a", "c", "d", "b"]),
            "by path": ("-path", ["d", "c", "b", "a"]),
            "unknown rows come last": ("-rows", ["b", "c", "d", "a"]),
            "unknown rows come last too": ("rows", ["d", "c", "b", "a"]),
        },
    )
    def test_sorts(self, sort: str, expected: list[str]) -> None:
        assert paths(sort=sort) == expected

    @pytest.mark.parametrize("value", ["7", "07"])
    def test_finds_a_partition_whatever_the_text_of_its_value(self, value: str) -> None:
        files = files_of(("a", 1, "7", 1), ("b", 1, "07", 1), ("c", 1, "8", 1))
        schema = StructType((StructField("country", PrimitiveType("integer")),))
        wanted = FileFilter(partitions=(("country", value),), sort="path")

        page = file_page(files, wanted, ["country"], schema)

        assert [file.path for file in page.files] == ["a", "b"]

    def test_only_a_path_that_no_address_can_name_is_cut(self) -> None:
        files = files_of(("x" * 1_000, 2, "DE", 1), ("y" * 1_001, 1, "DE", 1))

        whole, cut = file_page(files, FileFilter(), ["country"]).files

        assert (whole.path, whole.is_cut) == ("x" * 1_000, False)
        assert (cut.path, cut.is_cut) == (f"{'y' * 300}… (1001 characters)", True)

    def test_filters_by_size(self) -> None:
        assert paths(min_size_bytes=20, max_size_bytes=20) == ["c", "d"]

    def test_filters_by_a_partition(self) -> None:
        assert paths(partitions=(("country", "DE"),)) == ["b"]

    @pytest.mark.parametrize("value", [None, ""])
    def test_an_empty_partition_value_is_null(self, value: str | None) -> None:
        assert paths(partitions=(("country", value),)) == ["c", "d"]

    def test_refuses_a_column_that_is_no_partition(self) -> None:
        with pytest.raises(QueryError, match="country"):
            paths(partitions=(("city", "x"),))

    def test_refuses_an_order_that_it_has_not(self) -> None:
        with pytest.raises(QueryError, match="modified"):
            paths(sort="colour")

    def test_a_page_beyond_the_last_is_the_last(self) -> None:
        page = file_page(FILES, FileFilter(page=99), ["country"])

        assert (page.paged.page, page.paged.num_pages, page.paged.next_page) == (
            1,
            1,
            None,
        )
        assert page.matching_bytes == 80

    def test_pages_hold_every_file_once(self) -> None:
        many = files_of(*((f"{n:04d}", n % 7, "DE", n) for n in range(1234)))

        seen = [
            file.path
            for number in range(1, 26)
            for file in file_page(many, FileFilter(page=number), ["country"]).files
        ]

        assert sorted(seen) == many["path"].to_pylist()

    def test_tells_what_the_log_tells_of_a_file(self) -> None:
        file = file_page(FILES, FileFilter(sort="path"), ["country"]).files[0]

        assert json_of(file) == {
            "path": "a",
            "partition_values": {"country": "FR"},
            "size": 10,
            "num_records": None,
            "modified_at": datetime(1970, 1, 1, 0, 16, 40, tzinfo=UTC),
            "deleted_rows": 0,
        }

    def test_an_empty_version_has_one_empty_page(self) -> None:
        page = file_page(FILES.slice(0, 0), FileFilter(), ["country"])

        assert (page.files, page.paged.num_pages, page.matching_bytes) == ([], 1, 0)

    def test_a_time_beyond_the_calendar_is_unknown(self) -> None:
        files = FILES.slice(0, 1).set_column(
            2, "modification_time", pa.array([2**62], pa.int64())
        )

        assert file_page(files, FileFilter(), ["country"]).files[0].modified_at is None


def test_the_csv_form_has_a_column_for_each_partition_column() -> None:
    lines = list(file_rows(FILES, FileFilter(sort="path"), ["country"]))

    assert lines[0] == ["path", "country", "size", "num_records", "modified_at"]
    assert [line[:4] for line in lines[1:3]] == [
        ["a", "FR", 10, None],
        ["b", "DE", 30, 3],
    ]
    assert len(lines) == 5


def test_partitions_are_measured_by_the_largest() -> None:
    entries = [
        {"values": {"country": "DE"}, "files": 4, "bytes": 400, "rows": None},
        {"values": {"country": None}, "files": 1, "bytes": 100, "rows": 7},
    ]

    shares = partition_shares(Table(summary={"partitions": entries}), ["country"])

    assert [(share.percent, share.average_bytes) for share in shares] == [
        (100.0, 100),
        (25.0, 100),
    ]


def test_a_summary_without_partitions_has_none() -> None:
    assert partition_shares(Table(summary={}), []) == []


def test_values_of_a_partition_stand_in_the_order_of_the_table() -> None:
    entries = [{"values": {"p": "1", "day": "2"}, "files": 1, "bytes": 1}]

    (share,) = partition_shares(Table(summary={"partitions": entries}), ["day", "p"])

    assert share.values == (("day", "2"), ("p", "1"))
