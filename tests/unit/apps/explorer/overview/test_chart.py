import json
from datetime import date
from typing import Any

import plotly.graph_objects as go
import pytest

from apps.explorer.history.chart import commits_per_day
from apps.explorer.history.operations import MERGE, WRITE
from apps.explorer.overview.chart import VersionPoint, file_sizes, over_versions
from apps.pages.figures import Chart
from tests.support import cases

CARTESIAN = {"bar", "scatter", "box", "heatmap", "histogram", "contour", "violin"}
EDGES = [0, 1024, 4096, 16384, 65536, 262144]


def all_charts() -> list[Any]:
    days = [date(2026, 11, 1), date(2026, 11, 2)]
    points = [
        VersionPoint(version=v, num_records=v * 10, num_files=v, size_bytes=v)
        for v in range(5)
    ]
    return [
        pytest.param(
            commits_per_day(days, {WRITE: (1, 2), MERGE: (0, 1)}), id="commits"
        ),
        pytest.param(
            file_sizes(EDGES, [0, 5, 9, 1, 0], target_bytes=20_000), id="sizes"
        ),
        pytest.param(file_sizes([], [], target_bytes=None), id="no files"),
        pytest.param(over_versions(points, schema_changes=[3], shown=2), id="versions"),
        pytest.param(over_versions([]), id="no versions"),
    ]


@pytest.mark.parametrize("chart", all_charts())
class TestEveryChart:
    def test_is_a_figure_that_plotly_knows(self, chart: Chart) -> None:
        assert go.Figure(chart.figure) is not None

    def test_uses_traces_of_the_bundle_that_is_served(self, chart: Chart) -> None:
        assert {trace["type"] for trace in chart.figure["data"]} <= CARTESIAN

    def test_is_plain_json_without_a_template(self, chart: Chart) -> None:
        assert "template" not in json.loads(json.dumps(chart.figure))["layout"]

    def test_says_in_words_what_it_shows(self, chart: Chart) -> None:
        assert chart.label
        assert all(len(row) == len(chart.header) for row in chart.rows)


def test_a_size_is_named_by_both_its_edges() -> None:
    chart = file_sizes([2**19, 2**20, 2**21], [7, 0], target_bytes=None)

    assert [tuple(row) for row in chart.rows] == [("512 KiB to 1 MiB", 7)]


def test_a_target_beyond_every_file_is_not_drawn() -> None:
    chart = file_sizes([0, 1024], [3], target_bytes=2**27)

    texts = [note["text"] for note in chart.figure["layout"]["annotations"]]

    assert texts == ["small: 3 of 3"]


def test_files_below_a_quarter_of_the_target_are_called_small() -> None:
    chart = file_sizes(EDGES, [1, 2, 3, 4, 5], target_bytes=16384)

    texts = [note["text"] for note in chart.figure["layout"]["annotations"]]

    assert texts == ["small: 3 of 15", "target"]


@cases(
    "num_records, texts",
    {
        "an empty table": (0, ["0"]),
        "rows are whole": (3, ["0", "1", "2", "3"]),
        "in full": (8_260, ["0", "2,000", "4,000", "6,000", "8,000"]),
        "as the number": (20_100_000_000, ["0", "5 bn", "10 bn", "15 bn", "20 bn"]),
    },
)
def test_the_axis_of_rows_reads_as_the_numbers_beside_it(num_records, texts):
    point = VersionPoint(version=0, num_records=num_records, num_files=1, size_bytes=9)

    chart = over_versions([point])

    assert list(chart.figure["layout"]["yaxis"]["ticktext"]) == texts


def test_the_axis_of_sizes_counts_by_powers_of_two() -> None:
    point = VersionPoint(version=0, num_records=None, num_files=1, size_bytes=24_000)

    chart = over_versions([point])

    texts = chart.figure["layout"]["yaxis"]["ticktext"]
    assert list(texts) == ["0 B", "8 KiB", "16 KiB"]


@pytest.mark.parametrize(("first", "last"), [(0, 1), (7, 10)])
def test_no_tick_stands_between_two_of_few_versions(first: int, last: int) -> None:
    points = [
        VersionPoint(version=v, num_records=v, num_files=1, size_bytes=1)
        for v in range(first, last + 1)
    ]

    assert over_versions(points).figure["layout"]["xaxis"]["dtick"] == 1


def test_no_area_is_drawn_over_versions_that_are_unknown() -> None:
    rows = [5, 6, None, None, 9, 10]
    points = [
        VersionPoint(version=v, num_records=count, num_files=1, size_bytes=1)
        for v, count in enumerate(rows)
    ]

    chart = over_versions(points)

    assert [list(trace["x"]) for trace in chart.figure["data"]] == [[0, 1], [4, 5]]


def test_sizes_stand_in_where_rows_are_unknown() -> None:
    point = VersionPoint(version=0, num_records=None, num_files=1, size_bytes=9)

    chart = over_versions([point])

    assert list(chart.figure["data"][0]["y"]) == [9]
    assert chart.label == "Size over versions"
