import itertools

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from apps.explorer.partitions.grid import partition_grid
from apps.explorer.partitions.selector import (
    PartitionFilter,
    as_written,
    partition_page,
    partition_rows,
    partition_skew,
    partition_totals,
)
from apps.explorer.partitions.treemap import (
    MAX_TILES,
    Rectangle,
    partition_tiles,
    squarify,
    tiles_note,
)
from apps.pages.request.parameters import QueryError
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from tests.support import cases

PARTITIONS = pa.map_(pa.string(), pa.string())
COLUMNS = ["day", "shop"]


def files_of(*rows: tuple[str | None, str | None, int, int | None]) -> pa.Table:
    """Files of (day, shop, size, rows)."""
    return pa.table(
        {
            "size": pa.array([row[2] for row in rows], pa.int64()),
            "modification_time": pa.array(range(len(rows)), pa.int64()),
            "partition_values": pa.array(
                [[("day", row[0]), ("shop", row[1])] for row in rows], PARTITIONS
            ),
            "num_records": pa.array([row[3] for row in rows], pa.int64()),
        }
    )


FILES = files_of(
    ("2026-01-01", "a", 10, 1),
    ("2026-01-01", "a", 30, None),
    ("2026-01-02", "", 20, 2),
    ("2026-01-02", None, 5, 3),
    (None, "b", 1, 4),
)
TOTALS = partition_totals(FILES, COLUMNS)


def shown(**fields: object) -> list[tuple[str | None, ...]]:
    wanted = PartitionFilter(**fields)  # type: ignore[arg-type]  # any field
    page = partition_page(TOTALS, wanted, COLUMNS, 25)
    return [tuple(value for _, value in part.values) for part in page.partitions]


class TestTotals:
    def test_adds_up_files_bytes_and_rows(self) -> None:
        largest = partition_page(TOTALS, PartitionFilter(), COLUMNS, 25).partitions[0]

        assert (largest.num_files, largest.size_bytes) == (2, 40)
        assert largest.num_records is None
        assert (largest.average_bytes, largest.times_median) == (20, 1.6)

    def test_an_empty_value_is_null(self) -> None:
        assert shown() == [("2026-01-01", "a"), ("2026-01-02", None), (None, "b")]

    def test_one_value_is_one_partition_whatever_its_text(self) -> None:
        schema = StructType(parse_columns_ddl("day TIMESTAMP, shop INT"))
        files = files_of(
            ("2026-01-01 00:00:00", "7", 10, 1),
            ("2026-01-01T00:00:00.000000Z", "07", 30, 2),
            ("2026-01-01 00:00:00", "8", 5, 2),
        )
        wanted = PartitionFilter(partitions=(("shop", "007"),))

        totals = partition_totals(files, COLUMNS, schema)
        page = partition_page(totals, as_written(wanted, schema), COLUMNS, 25)

        assert totals.num_rows == 2
        (found,) = page.partitions
        assert found.values == (("day", "2026-01-01T00:00:00.000000Z"), ("shop", "7"))
        assert (found.num_files, found.size_bytes) == (2, 40)

    @cases(
        "fields, expected",
        {
            "the smallest first": ({"sort": "bytes"}, (None, "b")),
            "by rows": ({"sort": "-rows"}, ("2026-01-02", None)),
            "by value": ({"sort": "values"}, ("2026-01-01", "a")),
            "a part of a value": ({"text": "B"}, (None, "b")),
            "null": ({"partitions": (("shop", None),)}, ("2026-01-02", None)),
        },
    )
    def test_sorts_and_filters(self, fields, expected):
        assert shown(**fields)[0] == expected

    def test_refuses_what_it_cannot_sort_or_filter_by(self) -> None:
        with pytest.raises(QueryError):
            shown(sort="colour")
        with pytest.raises(QueryError):
            shown(partitions=(("size", "1"),))

    def test_gives_every_partition_as_rows(self) -> None:
        rows = list(partition_rows(TOTALS, PartitionFilter(), COLUMNS))

        assert rows[0][:4] == ["day", "shop", "files", "bytes"]
        assert len(rows) == 4


class TestSkew:
    @cases(
        "sizes, gini, ratio",
        {
            "all equal": ([5, 5, 5, 5], 0.0, 1.0),
            "all in one": ([0, 0, 0, 8], 0.75, None),
            "two": ([1, 3], 0.25, 1.5),
        },
    )
    def test_tells_how_even_bytes_are(self, sizes, gini, ratio):
        skew = partition_skew(pa.table({"bytes": pa.array(sizes, pa.int64())}))

        assert skew is not None
        assert (skew.gini, skew.largest_to_median) == (gini, ratio)
        assert (skew.lorenz[0], skew.lorenz[-1]) == ((0.0, 0.0), (100.0, 100.0))

    def test_is_none_without_partitions(self) -> None:
        assert partition_skew(TOTALS.slice(0, 0)) is None


class TestTiles:
    @given(st.lists(st.integers(1, 10**15), min_size=1, max_size=60))
    @example([1, 1, 4_999_999_999_794])
    def test_fill_the_place_by_size_and_do_not_overlap(self, sizes: list[int]) -> None:
        ordered = sorted(map(float, sizes), reverse=True)
        tiles = squarify(ordered, Rectangle(x=0, y=0, width=900, height=300))
        area = 900 * 300

        for size, tile in zip(ordered, tiles, strict=True):
            wanted = size / sum(ordered) * area
            assert tile.width * tile.height == pytest.approx(wanted, rel=1e-3, abs=0.1)
            assert 0 <= tile.x <= 900.01
            assert tile.y + tile.height <= 300.01
        for one, other in itertools.combinations(tiles, 2):
            across = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
            down = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
            assert across <= 0.01 or down <= 0.01

    def test_put_the_small_partitions_together(self) -> None:
        files = files_of(*((f"d{n}", "a", n + 1, 1) for n in range(MAX_TILES + 20)))

        tiles = partition_tiles(partition_totals(files, COLUMNS), COLUMNS)

        assert len(tiles) == MAX_TILES + 1
        assert sum(tile.num_partitions for tile in tiles) == MAX_TILES + 20
        assert {tile.shade for tile in tiles} == {"1", "2", "3", "4", "others"}

    def test_leave_out_small_partitions_that_would_hide_the_others(self) -> None:
        files = files_of(*((f"d{n}", "a", 50, 1) for n in range(4 * MAX_TILES)))
        totals = partition_totals(files, COLUMNS)

        tiles = partition_tiles(totals, COLUMNS)

        assert len(tiles) == MAX_TILES
        assert all(tile.fitted("2026-11-01") for tile in tiles[:10])
        note = f"the {MAX_TILES} largest of {4 * MAX_TILES}"
        assert tiles_note(totals, tiles) == note

    def test_that_hold_files_of_one_size_have_two_shades_in_turn(self) -> None:
        files = files_of(*((f"d{n}", "a", 50, 1) for n in range(4)))

        tiles = partition_tiles(partition_totals(files, COLUMNS), COLUMNS)

        assert {tile.shade for tile in tiles} == {"2", "3"}

    @cases(
        "size, others, expected",
        {
            "all of it": (100, 0, "2026-11-01 / DE, the shop"),
            "all that fits": (50, 1, "2026-11-01 / DE, the shop"),
            "the most of it": (50, 4, "…1 / DE, the shop"),
            "nothing where most is cut": (1, 9, ""),
        },
    )
    def test_have_a_text_where_there_is_room_for_it(self, size, others, expected):
        files = files_of(
            ("wanted", "a", size, 1), *((f"d{n}", "a", 50, 1) for n in range(others))
        )
        tiles = partition_tiles(partition_totals(files, COLUMNS), COLUMNS)

        (tile,) = (
            tile
            for tile in tiles
            if tile.partition and tile.partition.values[0][1] == "wanted"
        )
        assert tile.fitted("2026-11-01 / DE, the shop") == expected


class TestGrid:
    def test_one_day_column_is_a_calendar(self) -> None:
        totals = partition_totals(FILES, ["day"])

        grid = partition_grid(totals, ["day"])

        assert grid is not None
        assert grid.down[0] == "Mon"
        assert grid.size_bytes[3][0] == 40  # the first of January 2026 is a Thursday
        assert "without a day" in grid.note

    def test_many_years_are_months_by_year(self) -> None:
        files = files_of(*((f"{year}-03-04", "a", 7, 1) for year in range(1990, 2010)))

        grid = partition_grid(partition_totals(files, ["day"]), ["day"])

        assert grid is not None
        assert (len(grid.across), grid.down[0]) == (12, "1990")
        assert grid.size_bytes[0][2] == 7

    def test_two_keys_stand_against_each_other_and_null_is_a_label(self) -> None:
        grid = partition_grid(TOTALS, COLUMNS)

        assert grid is not None
        assert grid.across == ("2026-01-01", "2026-01-02", "no value")
        assert grid.down == ("a", "b", "no value")
        assert grid.size_bytes[0] == (40, None, None)

    def test_too_many_labels_are_put_together(self) -> None:
        files = files_of(*((f"k{n}", f"s{n % 90}", 1, 1) for n in range(500)))

        grid = partition_grid(partition_totals(files, COLUMNS), COLUMNS)

        assert grid is not None
        assert (len(grid.across), len(grid.down)) == (120, 40)
        assert sum(size or 0 for row in grid.size_bytes for size in row) == 500

    def test_other_tables_have_no_grid(self) -> None:
        assert partition_grid(partition_totals(FILES, ["shop"]), ["shop"]) is None
        assert partition_grid(TOTALS.slice(0, 0), COLUMNS) is None
