"""What charts of a table's own values and names look like."""

from datetime import datetime

from apps.explorer.files.chart import sizes_by_age
from apps.explorer.files.distributions import FileAges
from tests.support import cases

MARKUP = "<b>R&D</b>"
WRITTEN = "&lt;b&gt;R&amp;D&lt;/b&gt;"


class TestTextsOfATable:
    def test_names_of_files_are_no_markup_of_a_point(self) -> None:
        ages = FileAges(
            num_files=1,
            modified_at=("2026-01-01T00:00:00",),
            size_bytes=(1024,),
            paths=(f"day=1/a{MARKUP.replace('/', '')}.parquet",),
        )
        chart = sizes_by_age(ages, small_bytes=None)

        assert "a&lt;b&gt;R&amp;D" in chart.figure["data"][0]["customdata"][0]


@cases(
    "oldest, spelling",
    {
        "one day": ("2026-03-05T01:00:00", "%H:%M"),
        "one year": ("2026-01-05T01:00:00", "%-d %b"),
        "more than a year": ("2025-03-05T01:00:00", "%b %Y"),
    },
)
def test_times_are_as_short_as_they_still_differ(oldest: str, spelling: str) -> None:
    ages = FileAges(
        num_files=2,
        modified_at=("2026-03-05T20:00:00", oldest),
        size_bytes=(1, 2),
        paths=("a", "b"),
    )
    chart = sizes_by_age(ages, small_bytes=None)

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
    chart = sizes_by_age(ages, small_bytes=100)

    marker = chart.figure["data"][0]["marker"]
    assert marker["color"] == [1, 0]
    assert [colour for _, colour in marker["colorscale"]] == [
        "var(--dw-accent)",
        "var(--dw-amber-m)",
    ]
