import pytest

from apps.explorer.partitions.grid import PartitionGrid
from apps.explorer.partitions.view import partition_heatmap

MARKUP = "<b>R&D</b>"
WRITTEN = "&lt;b&gt;R&amp;D&lt;/b&gt;"


def test_partition_values_are_no_markup_of_a_grid() -> None:
    grid = PartitionGrid(
        across=(MARKUP,),
        down=("x",),
        size_bytes=((1,),),
        num_files=((1,),),
        caption="team",
    )
    (cells,) = partition_heatmap(grid).figure["data"]

    assert list(cells["x"]) == [WRITTEN]


@pytest.mark.parametrize(
    ("label", "count"), [("2026-11-01", 4), ("DE", 10), ("a" * 400, 2)]
)
def test_labels_of_a_grid_have_room_on_a_phone(label: str, count: int) -> None:
    grid = PartitionGrid(
        across=(label,),
        down=("x",),
        size_bytes=((1,),),
        num_files=((1,),),
        caption="day",
    )
    layout = partition_heatmap(grid).figure["layout"]

    assert layout["xaxis"]["nticks"] == count


def test_long_labels_of_a_grid_leave_room_for_its_cells() -> None:
    grid = PartitionGrid(
        across=("2026-01",),
        down=("DE", "x" * 100),
        size_bytes=((1,), (2,)),
        num_files=((1,), (1,)),
        caption="country by day",
    )
    layout = partition_heatmap(grid).figure["layout"]

    assert layout["yaxis"]["labelalias"] == {"x" * 100: "x" * 15 + "…"}
    assert layout["xaxis"]["labelalias"] == {}


def test_the_colours_of_a_grid_begin_at_nothing() -> None:
    grid = PartitionGrid(
        across=("2026-01", "2026-02"),
        down=("DE", "PL"),
        size_bytes=((978, 917), (924, None)),
        num_files=((1, 2), (1, 0)),
        caption="country by day",
    )
    (cells,) = partition_heatmap(grid).figure["data"]

    # With one end alone, plotly takes both from the values: 917 would be nothing.
    assert (cells["zmin"], cells["zmax"]) == (0, 978)
    assert list(cells["customdata"][0]) == ["978 B, 1 file", "917 B, 2 files"]


def test_a_grid_has_a_scale_of_its_sizes() -> None:
    grid = PartitionGrid(
        across=("a", "b"),
        down=("x",),
        size_bytes=((1 << 20, 4 << 20),),
        num_files=((1, 2),),
        caption="day",
    )

    assert partition_heatmap(grid).scale == ("0 B", "4.0 MiB")
