"""Files by size and by partition."""

from typing import Any

import pyarrow as pa

from deltaweb.delta.protocol.schema import PrimitiveType, StructField, StructType
from deltaweb.index.files.distribution import partition_totals, size_histogram
from tests.support import cases


def files(rows: list[tuple[dict[str, str | None], int]]) -> pa.Table:
    text_map = pa.map_(pa.string(), pa.string())
    return pa.table(
        {
            "partition_values": pa.array([list(v.items()) for v, _ in rows], text_map),
            "size": pa.array([size for _, size in rows], pa.int64()),
        }
    )


class TestSizeHistogram:
    @cases(
        "sizes, expected",
        {
            "no files": ([], {"edges": [], "counts": [], "bytes": []}),
            "an edge opens its own bin": (
                [4096],
                {"edges": [4096, 8192], "counts": [1], "bytes": [4096]},
            ),
            "tiny files share the first bin": (
                [0, 1500, 2048],
                {"edges": [0, 2048, 4096], "counts": [2, 1], "bytes": [1500, 2048]},
            ),
        },
    )
    def test_counts_files_by_powers_of_two(self, sizes, expected):
        assert size_histogram(pa.chunked_array([sizes], pa.int64())) == expected

    def test_counts_sizes_at_the_end_of_a_long(self) -> None:
        sizes = [2**63 - 1, 2**62, 2**62, 7]

        histogram = size_histogram(pa.chunked_array([sizes], pa.int64()))

        assert len(histogram["edges"]) == len(histogram["counts"]) + 1
        assert sum(histogram["counts"]) == 4
        assert sum(histogram["bytes"]) == sum(sizes)
        assert histogram["edges"] == sorted(set(histogram["edges"]))

    def test_stays_small_over_any_range(self) -> None:
        sizes = [1 << exponent for exponent in range(62)]

        histogram = size_histogram(pa.chunked_array([sizes], pa.int64()))

        assert len(histogram["counts"]) <= 14
        assert sum(histogram["counts"]) == len(sizes)
        assert sum(histogram["bytes"]) == sum(sizes)


class TestPartitionTotals:
    def test_adds_up_by_values_and_puts_the_largest_first(self) -> None:
        table = files([({"d": "1"}, 10), ({"d": "2"}, 50), ({"d": "1"}, 20), ({}, 1)])
        records = pa.chunked_array([[1, 2, None, 4]], pa.int64())

        largest, count = partition_totals(table, records, ["d"])

        assert count == 3
        assert largest == [
            {"values": {"d": "2"}, "files": 1, "bytes": 50, "rows": 2},
            {"values": {"d": "1"}, "files": 2, "bytes": 30, "rows": None},
            {"values": {"d": None}, "files": 1, "bytes": 1, "rows": 4},
        ]

    def test_takes_an_empty_value_for_null(self) -> None:
        table = files([({"d": ""}, 10), ({"d": None}, 50), ({}, 20), ({"d": "1"}, 1)])
        records = pa.chunked_array([[1, 2, 3, 4]], pa.int64())

        largest, count = partition_totals(table, records, ["d"])

        assert count == 2
        assert largest == [
            {"values": {"d": None}, "files": 3, "bytes": 80, "rows": 6},
            {"values": {"d": "1"}, "files": 1, "bytes": 1, "rows": 4},
        ]

    def test_adds_up_one_value_whatever_its_text(self) -> None:
        table = files([({"d": "7"}, 10), ({"d": "07"}, 50), ({"d": "x"}, 1)])
        records = pa.chunked_array([[1, 2, 3]], pa.int64())
        schema = StructType((StructField("d", PrimitiveType("integer")),))

        largest, count = partition_totals(table, records, ["d"], schema=schema)

        assert count == 2
        assert largest[0] == {"values": {"d": "7"}, "files": 2, "bytes": 60, "rows": 3}
        assert largest[1]["values"] == {"d": "x"}

    @cases(
        "rows, columns", {"not partitioned": ([({}, 5)], []), "no files": ([], ["d"])}
    )
    def test_is_empty_without_partitions(self, rows, columns):
        records: Any = pa.chunked_array([[None] * len(rows)], pa.int64())

        assert partition_totals(files(rows), records, columns) == ([], 0)

    def test_keeps_the_200_largest(self) -> None:
        table = files([({"d": str(n)}, n) for n in range(1000)])
        records = pa.chunked_array([[1] * 1000], pa.int64())

        largest, count = partition_totals(table, records, ["d"])

        assert count == 1000
        assert [p["bytes"] for p in largest] == list(range(999, 799, -1))

    def test_leaves_out_a_value_that_no_page_could_show(self) -> None:
        endless = "x" * 1_000_000
        table = files([({"d": endless}, 90), ({"d": "1"}, 10), ({"d": None}, 5)])

        largest, count = partition_totals(table, pa.chunked_array([[1, 1, 1]]), ["d"])

        assert [one["values"] for one in largest] == [{"d": "1"}, {"d": None}]
        assert count == 3
