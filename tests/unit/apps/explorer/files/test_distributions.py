import pyarrow as pa

from apps.explorer.files.chart import sizes_by_age
from apps.explorer.files.distributions import (
    MAX_POINTS,
    file_ages,
    rows_histogram,
)
from tests.support import cases


def files_of(*records: int | None, step_ms: int = 1_000) -> pa.Table:
    count = len(records)
    return pa.table(
        {
            "path": [f"part-{n}" for n in range(count)],
            "size": pa.array([1024 * (n % 9) for n in range(count)], pa.int64()),
            "modification_time": pa.array(
                [n * step_ms for n in range(count)], pa.int64()
            ),
            "num_records": pa.array(records, pa.int64()),
        }
    )


class TestRowsHistogram:
    @cases(
        "records, edges, counts, without",
        {
            "one file": ([5], (4, 8), (1,), 0),
            "no rows have their bin": ([0, 1, 1], (0, 1, 2), (1, 2), 0),
            "one does not tell": ([3, 4, None], (2, 4, 8), (1, 1), 1),
        },
    )
    def test_counts_files_by_rows(self, records, edges, counts, without):
        found = rows_histogram(files_of(*records))

        assert found is not None
        assert (found.edges, found.counts, found.num_without) == (
            edges,
            counts,
            without,
        )

    def test_no_bin_is_lost_however_far_rows_are_apart(self) -> None:
        found = rows_histogram(files_of(0, 1, 2**62))

        assert found is not None
        assert sum(found.counts) == 3
        assert len(found.counts) <= 16

    def test_is_none_where_no_file_tells(self) -> None:
        assert rows_histogram(files_of(None, None)) is None


class TestFileAges:
    def test_few_files_are_points_the_newest_first(self) -> None:
        ages = file_ages(files_of(1, 2, 3))

        assert ages is not None
        assert ages.modified_at[0] == "1970-01-01T00:00:02"
        assert ages.grid is None

    @cases(
        "step_ms, first_tick",
        {
            "at one moment": (0, "1 Jan"),
            "within a second": (1, "1 Jan"),
            "within days": (60_000, "1 Jan"),
            "within a century": (10**9, "2000"),
        },
    )
    def test_many_files_are_counted_on_a_grid(self, step_ms: int, first_tick: str):
        count = MAX_POINTS + 1

        ages = file_ages(files_of(*[1] * count, step_ms=step_ms))

        assert ages is not None
        assert ages.grid is not None
        assert sum(map(sum, ages.grid.counts)) == count
        assert len(ages.grid.times) <= 49
        chart = sizes_by_age(ages, small_bytes=None)
        assert len(chart.rows) <= 60
        ticks = chart.figure["layout"]["xaxis"]["ticktext"]
        assert ticks[0] == first_tick
        assert len(ticks) <= 5

    def test_is_none_without_files(self) -> None:
        assert file_ages(files_of()) is None
