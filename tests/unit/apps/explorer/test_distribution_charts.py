"""What charts of a table's own values and names look like."""

from datetime import datetime

import pytest

from apps.explorer import distribution_charts
from apps.explorer.selectors.column_ranges import RangeBar, RangeStrip
from apps.explorer.selectors.distributions import FileAges
from apps.explorer.selectors.partitions_grid import PartitionGrid

MARKUP = "<b>R&D</b>"
WRITTEN = "&lt;b&gt;R&amp;D&lt;/b&gt;"


class TestTextsOfATable:
    def test_values_are_no_markup_of_a_range(self) -> None:
        bar = RangeBar(low=0, high=1, minimum=MARKUP, maximum="z", num_files=1)
        strip = RangeStrip(
            bars=(bar,), scale="order", num_files=1, sampled=None, depth=1.0
        )
        chart = distribution_charts.file_ranges(strip, "string")

        assert chart.figure["layout"]["xaxis"]["ticktext"] == [WRITTEN, "z"]
        assert chart.figure["data"][0]["customdata"] == [f"{WRITTEN} to z"]
        assert chart.rows == [(f"{MARKUP} to z", 1)]  # the template escapes these

    def test_partition_values_are_no_markup_of_a_grid(self) -> None:
        grid = PartitionGrid(
            across=(MARKUP,),
            down=("x",),
            size_bytes=((1,),),
            num_files=((1,),),
            caption="team",
        )
        (cells,) = distribution_charts.partition_heatmap(grid).figure["data"]

        assert list(cells["x"]) == [WRITTEN]

    @pytest.mark.parametrize(
        ("label", "count"), [("2026-11-01", 4), ("DE", 10), ("a" * 400, 2)]
    )
    def test_labels_of_a_grid_have_room_on_a_phone(
        self, label: str, count: int
    ) -> None:
        grid = PartitionGrid(
            across=(label,),
            down=("x",),
            size_bytes=((1,),),
            num_files=((1,),),
            caption="day",
        )
        layout = distribution_charts.partition_heatmap(grid).figure["layout"]

        assert layout["xaxis"]["nticks"] == count

    def test_names_of_files_are_no_markup_of_a_point(self) -> None:
        ages = FileAges(
            num_files=1,
            modified_at=("2026-01-01T00:00:00",),
            size_bytes=(1024,),
            paths=(f"day=1/a{MARKUP.replace('/', '')}.parquet",),
        )
        chart = distribution_charts.sizes_by_age(ages, small_bytes=None)

        assert "a&lt;b&gt;R&amp;D" in chart.figure["data"][0]["customdata"][0]


@pytest.mark.parametrize(
    ("oldest", "spelling"),
    [
        pytest.param("2026-03-05T01:00:00", "%H:%M", id="one day"),
        pytest.param("2026-01-05T01:00:00", "%-d %b", id="one year"),
        pytest.param("2025-03-05T01:00:00", "%b %Y", id="more than a year"),
    ],
)
def test_times_are_as_short_as_they_still_differ(oldest: str, spelling: str) -> None:
    ages = FileAges(
        num_files=2,
        modified_at=("2026-03-05T20:00:00", oldest),
        size_bytes=(1, 2),
        paths=("a", "b"),
    )
    chart = distribution_charts.sizes_by_age(ages, small_bytes=None)

    axis = chart.figure["layout"]["xaxis"]
    moments = [datetime.fromisoformat(value) for value in axis["tickvals"]]
    assert axis["ticktext"] == [moment.strftime(spelling) for moment in moments]
    assert len(axis["ticktext"]) == len(set(axis["ticktext"]))


def test_points_of_small_files_have_the_second_colour() -> None:
    ages = FileAges(
        num_files=2,
        modified_at=("2026-03-05T20:00:00", "2026-03-05T01:00:00"),
        size_bytes=(99, 100),
        paths=("a", "b"),
    )
    chart = distribution_charts.sizes_by_age(ages, small_bytes=100)

    marker = chart.figure["data"][0]["marker"]
    assert marker["color"] == [1, 0]
    assert [colour for _, colour in marker["colorscale"]] == [
        "var(--dw-accent)",
        "var(--dw-amber-m)",
    ]


def test_long_labels_of_a_grid_leave_room_for_its_cells() -> None:
    grid = PartitionGrid(
        across=("2026-01",),
        down=("DE", "x" * 100),
        size_bytes=((1,), (2,)),
        num_files=((1,), (1,)),
        caption="country by day",
    )
    layout = distribution_charts.partition_heatmap(grid).figure["layout"]

    assert layout["yaxis"]["labelalias"] == {"x" * 100: "x" * 15 + "…"}
    assert layout["xaxis"]["labelalias"] == {}
