from apps.explorer.column.view import file_ranges
from apps.explorer.columns.ranges import RangeBar, RangeStrip

MARKUP = "<b>R&D</b>"
WRITTEN = "&lt;b&gt;R&amp;D&lt;/b&gt;"


def test_values_are_no_markup_of_a_range() -> None:
    bar = RangeBar(low=0, high=1, minimum=MARKUP, maximum="z", num_files=1)
    strip = RangeStrip(bars=(bar,), scale="order", num_files=1, sampled=None, depth=1.0)
    chart = file_ranges(strip, "string")

    assert chart.figure["layout"]["xaxis"]["ticktext"] == [WRITTEN, "z"]
    assert chart.figure["data"][0]["customdata"] == [f"{WRITTEN} to z"]
    assert chart.rows == [(f"{MARKUP} to z", 1)]  # the template escapes these


def test_the_range_of_a_single_file_is_a_sentence() -> None:
    bars = [
        RangeBar(low=n, high=n + 1, minimum=n, maximum=n + 1, num_files=1)
        for n in (1, 2)
    ]
    one, both = (
        RangeStrip(
            bars=tuple(some), scale="number", num_files=9, sampled=None, depth=1.0
        )
        for some in (bars[:1], bars)
    )

    assert file_ranges(one, "long").words == "One file has a range: 1 to 2."
    assert file_ranges(both, "long").words == ""
