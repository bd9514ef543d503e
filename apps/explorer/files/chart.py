"""Pictures of how the files of a version are spread."""

from bisect import bisect_right
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import plotly.graph_objects as go

from apps.explorer.drawing import (
    SMALL,
    as_written,
    cells_figure,
    histogram_figure,
    plain_figure,
    scale_of,
)
from apps.explorer.files.distributions import AgeGrid, FileAges, Histogram
from apps.pages.figures import ACCENT, Chart, ticks_at
from apps.pages.lists.round_times import round_times
from deltaweb.words import bytes_text, count_text, counted

MAX_TABLE_ROWS: Final = 60


def sizes_by_age(
    ages: FileAges, *, small_bytes: int | None, height: str = "x-plot-m"
) -> Chart:
    """Draw each file by the time it was written and its size; cells for very many.

    Args:
        small_bytes: Smaller files are marked; None marks none.
    """
    grid = ages.grid
    if grid is None:
        newest, oldest = (
            datetime.fromisoformat(ages.modified_at[place]) for place in (0, -1)
        )
        xaxis = {"type": "date", **ticks_between(oldest, newest)}
        figure = plain_figure(
            [_points(ages)],
            xaxis=xaxis,
            yaxis={"type": "log", "nticks": 5, **_byte_ticks(ages)},
        )
        if small_bytes:
            # Plotly would check every colour of its own: half of the page's time.
            figure["data"][0]["marker"]["color"] = [
                int(size < small_bytes) for size in ages.size_bytes
            ]
        rows = [
            (f"{ages.modified_at[place]} {path}", ages.size_bytes[place])
            for place, path in list(enumerate(ages.paths))[:MAX_TABLE_ROWS]
        ]
        header: tuple[str, ...] = ("Written (UTC), file", "Bytes")
    else:
        figure = plain_figure(
            [_age_cells(grid)],
            xaxis={"type": "category", "tickangle": 0, **ticks_of_times(grid.times)},
            yaxis={"type": "category", "nticks": 8, "showgrid": False},
        )
        rows = [
            (f"{when}, {size}", count)
            for size, counts in zip(grid.sizes, grid.counts, strict=True)
            for when, count in zip(grid.times, counts, strict=True)
            if count
        ][:MAX_TABLE_ROWS]
        header = ("Written (UTC), size", "Files")
    return Chart(
        name="sizes-by-age",
        label=f"Sizes of {ages.num_files:,} files by the time they were written",
        figure=figure,
        header=header,
        rows=rows,
        note=f"{'one point per file' if grid is None else 'grouped into bins'}, in UTC",
        height=height,
        scale=None if grid is None else scale_of(grid.counts, by_rows=True),
    )


def rows_per_file(histogram: Histogram, *, height: str = "x-plot-m") -> Chart:
    """Draw how many files have how many rows."""
    texts = histogram.labels("rows")
    figure = histogram_figure(
        histogram.counts,
        texts,
        [count_text(edge, digits=3) for edge in histogram.edges],
        unit="files",
        max_ticks=6,
    )
    num_unknown = histogram.num_without
    unknown = f", {num_unknown:,} without a row count" if num_unknown else ""
    return Chart(
        name="rows-per-file",
        label=f"Rows per file: {sum(histogram.counts):,} files{unknown}",
        figure=figure,
        header=("Rows", "Files"),
        rows=[
            (text, count)
            for text, count in zip(texts, histogram.counts, strict=True)
            if count
        ],
        note=f"exact{unknown}",
        height=height,
    )


def _points(ages: FileAges) -> go.Scatter:
    return go.Scatter(
        x=list(ages.modified_at),
        y=[max(size, 1) for size in ages.size_bytes],
        customdata=[
            f"{bytes_text(size, digits=3)}, {as_written(path.rpartition('/')[2][:60])}"
            for size, path in zip(ages.size_bytes, ages.paths, strict=True)
        ],
        mode="markers",
        marker={
            "size": 6,
            "opacity": 0.7,
            "color": ACCENT,
            "colorscale": [[0, ACCENT], [1, SMALL]],
            "cmin": 0,
            "cmax": 1,
        },
        hovertemplate="%{customdata}<br>%{x|%-d %b %Y %H:%M} UTC<extra></extra>",
    )


def _age_cells(grid: AgeGrid) -> go.Heatmap:
    texts = [[counted(count, "file") for count in row] for row in grid.counts]
    counts = [[count or None for count in row] for row in grid.counts]
    return cells_figure(grid.times, grid.sizes, counts, texts)


def _byte_ticks(ages: FileAges) -> dict[str, Any]:
    """Return ticks at powers of two, at most six."""
    sizes = [max(size, 1) for size in ages.size_bytes] or [1]
    low, high = min(sizes).bit_length() - 1, max(sizes).bit_length()
    step = max(-(-(high - low) // 5), 1)
    values = [2**exponent for exponent in range(low, high + 1, step)]
    return ticks_at(values, map(bytes_text, values))


# === Times along an axis ===

MAX_TIME_TICKS: Final = 5


def ticks_of_times(times: Sequence[str]) -> dict[str, Any]:
    """Return round times as ticks at the bins of an axis that hold them."""
    moments = [datetime.fromisoformat(text) for text in times]
    if not moments:
        return ticks_at((), ())
    chosen = _round_or_first(moments[0], moments[-1])
    places = [times[bisect_right(moments, moment) - 1] for moment in chosen]
    return ticks_at(places, _texts(chosen))


def ticks_between(oldest: datetime, newest: datetime) -> dict[str, Any]:
    """Return round times of an axis as ticks, as short as they differ."""
    chosen = _round_or_first(oldest, newest)
    return ticks_at((moment.isoformat()[:19] for moment in chosen), _texts(chosen))


def _round_or_first(first: datetime, last: datetime) -> list[datetime]:
    return round_times(first, last, most=MAX_TIME_TICKS) or [first]


def _texts(moments: Sequence[datetime]) -> list[str]:
    """Return times as short as they differ."""
    if any(moment.second for moment in moments):
        spelling = "%H:%M:%S"
    elif any(moment.hour or moment.minute for moment in moments):
        is_of_a_day = len({moment.date() for moment in moments}) == 1
        spelling = "%H:%M" if is_of_a_day else "%-d %b %H:%M"
    elif any(moment.day > 1 for moment in moments) or len(moments) == 1:
        is_of_a_year = len({moment.year for moment in moments}) == 1
        spelling = "%-d %b" if is_of_a_year else "%-d %b %Y"
    elif any(moment.month > 1 for moment in moments):
        spelling = "%b %Y"
    else:
        spelling = "%Y"
    return [moment.strftime(spelling) for moment in moments]
