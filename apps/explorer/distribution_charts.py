"""Pictures of how files, partitions and values are spread; see `figures`."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

import plotly.graph_objects as go

from apps.explorer.axis_times import ticks_between, ticks_of_times
from apps.explorer.cells import cell
from apps.explorer.figures import FIRST_SHORTENED, SMALL, as_written, plain_figure
from apps.explorer.selectors.column_ranges import RangeBar, RangeStrip
from apps.explorer.selectors.distributions import AgeGrid, FileAges, Histogram
from apps.explorer.selectors.partitions import Skew
from apps.explorer.selectors.partitions_grid import PartitionGrid
from apps.pages.figures import ACCENT, GRID, Chart, bytes_text, count_ticks

MAX_TABLE_ROWS: Final = 60
MAX_VALUE: Final = 60  # characters of a value
MAX_TICK: Final = 16
PHONE_WIDTH: Final = 270.0  # px of a picture there
LETTER_WIDTH: Final = 6.4  # px, of an axis
SCALE: Final = [
    [0.0, "var(--dw-accent-soft)"],
    [1.0, "var(--dw-accent)"],
]


def partition_heatmap(grid: PartitionGrid) -> Chart:
    """Draw the bytes of partitions, a cell a pair of labels."""
    texts = [
        [
            "" if size is None else f"{short_size(size)}, {files:,} files"
            for size, files in zip(sizes, counts, strict=True)
        ]
        for sizes, counts in zip(grid.size_bytes, grid.num_files, strict=True)
    ]
    figure = plain_figure(
        [_cells(grid.across, grid.down, grid.size_bytes, texts)],
        xaxis={
            "type": "category",
            "nticks": _label_count(grid.across),
            "showline": False,
            "tickangle": 0,
            "labelalias": _short_labels(grid.across),
        },
        yaxis={
            "type": "category",
            "autorange": "reversed",
            "showgrid": False,
            "nticks": 16,
            "labelalias": _short_labels(grid.down),
        },
    )
    cells = sorted(
        (
            (f"{down} / {across}", size, files)
            for down, sizes, counts in zip(
                grid.down, grid.size_bytes, grid.num_files, strict=True
            )
            for across, size, files in zip(grid.across, sizes, counts, strict=True)
            if size is not None
        ),
        key=lambda cell: -cell[1],
    )
    return Chart(
        name="partition-grid",
        label=f"Bytes of partitions: {grid.caption}, {len(cells):,} cells",
        figure=figure,
        header=("Cell", "Bytes", "Files"),
        rows=cells[:MAX_TABLE_ROWS],
        note="; ".join(part for part in (grid.caption, grid.note) if part),
        height="x-plot-l",
    )


def _label_count(labels: Sequence[str]) -> int:
    """Return how many labels stand side by side on a phone, at most 10."""
    longest = max((min(len(label), MAX_TICK) for label in labels), default=1)
    return min(max(int(PHONE_WIDTH / (longest * LETTER_WIDTH)), 2), 10)


def _short_labels(labels: Sequence[str]) -> dict[str, str]:
    """Return what an axis writes instead of labels that would take all its room."""
    return {
        as_written(label): as_written(label[: MAX_TICK - 1] + "…")
        for label in labels
        if len(label) > MAX_TICK
    }


def lorenz(skew: Skew) -> Chart:
    """Draw the share of bytes that the smallest partitions have together."""
    ends = [0, 100]
    even = go.Scatter(
        x=ends,
        y=ends,
        mode="lines",
        line={"color": "var(--dw-line-strong)", "width": 1, "dash": "dot"},
        hoverinfo="skip",
    )
    line = go.Scatter(
        x=[point[0] for point in skew.lorenz],
        y=[point[1] for point in skew.lorenz],
        mode="lines",
        line={"color": ACCENT, "width": 1.75},
        fill="tozeroy",
        fillcolor="var(--x-area)",
        hovertemplate="the smallest %{x:.0f} % of partitions"
        "<br>have %{y:.1f} % of the bytes<extra></extra>",
    )
    figure = plain_figure(
        [even, line],
        xaxis={"range": [0, 101], "ticksuffix": " %", "dtick": 25},
        yaxis={"range": [0, 102], "ticksuffix": " %", "dtick": 25},
    )
    rows = [(f"smallest {share:.0f} %", round(has)) for share, has in skew.lorenz]
    return Chart(
        name="lorenz",
        label=f"Bytes of the smallest partitions together; Gini {skew.gini}",
        figure=figure,
        header=("Partitions", "Percent of bytes"),
        rows=rows[:: max(len(rows) // 20, 1)],
        note="dotted: all equal",
        height="x-plot-m",
    )


def sizes_by_age(
    ages: FileAges, *, small_bytes: int | None, height: str = "x-plot-m"
) -> Chart:
    """Draw each file by the time it was written and its size; cells for very many.

    Args:
        ages: The files.
        small_bytes: Smaller files are marked; None marks none.
        height: Class of the picture's height.
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
        note="a point a file" if grid is None else "binned on the server",
        height=height,
    )


def rows_per_file(histogram: Histogram, *, height: str = "x-plot-m") -> Chart:
    """Draw how many files have how many rows."""
    texts = histogram.labels("rows")
    bars = go.Bar(
        x=list(range(len(histogram.counts))),
        y=list(histogram.counts),
        customdata=texts,
        marker={"color": ACCENT, "opacity": 0.82},
        hovertemplate="%{y:,} files<br>%{customdata}<extra></extra>",
    )
    ticks = range(0, len(histogram.edges), -(-len(histogram.edges) // 6) or 1)
    top = max(histogram.counts, default=1) or 1
    figure = plain_figure(
        [bars],
        xaxis={
            "tickmode": "array",
            "tickvals": [tick - 0.5 for tick in ticks],
            "ticktext": [short_count(histogram.edges[tick]) for tick in ticks],
            "range": [-0.5, max(len(histogram.counts), 1) - 0.5],
        },
        yaxis={"range": [0, top * 1.08], **count_ticks(top)},
        bargap=0.12,
    )
    untold = f", {histogram.num_untold:,} do not tell" if histogram.num_untold else ""
    return Chart(
        name="rows-per-file",
        label=f"Rows per file: {sum(histogram.counts):,} files{untold}",
        figure=figure,
        header=("Rows", "Files"),
        rows=[
            (text, count)
            for text, count in zip(texts, histogram.counts, strict=True)
            if count
        ],
        note=f"exact{untold}",
        height=height,
    )


def short_count(number: int) -> str:
    """Return a count as an axis writes it: 1,024, 12 k."""
    if number < FIRST_SHORTENED:
        return f"{number:,}"
    for size, unit in ((10**9, " bn"), (10**6, " M"), (10**3, " k")):
        if number >= size:
            return f"{number / size:.3g}{unit}"
    return str(number)


def short_size(size_bytes: int) -> str:
    """Return a size in a few digits: 5.48 GiB."""
    whole = bytes_text(size_bytes)
    number, unit = whole.split(" ")
    return f"{float(number):.3g} {unit}" if len(number) > 4 else whole  # noqa: PLR2004 (digits)


def _cells(
    across: Sequence[str],
    down: Sequence[str],
    values: Sequence[Sequence[int | None]],
    texts: Sequence[Sequence[str]],
) -> go.Heatmap:
    return go.Heatmap(
        x=[as_written(label) for label in across],
        y=[as_written(label) for label in down],
        z=[list(row) for row in values],
        customdata=[list(row) for row in texts],
        zmin=0,
        colorscale=SCALE,
        showscale=False,
        xgap=1,
        ygap=1,
        hoverongaps=False,
        hovertemplate="%{y} / %{x}<br>%{customdata}<extra></extra>",
    )


def _points(ages: FileAges) -> go.Scatter:
    return go.Scatter(
        x=list(ages.modified_at),
        y=[max(size, 1) for size in ages.size_bytes],
        customdata=[
            f"{short_size(size)}, {as_written(path.rpartition('/')[2][:60])}"
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
    texts = [[f"{count:,} files" for count in row] for row in grid.counts]
    counts = [[count or None for count in row] for row in grid.counts]
    return _cells(grid.times, grid.sizes, counts, texts)


def _byte_ticks(ages: FileAges) -> dict[str, Any]:
    """Return ticks at powers of two, at most six."""
    sizes = [max(size, 1) for size in ages.size_bytes] or [1]
    low, high = min(sizes).bit_length() - 1, max(sizes).bit_length()
    step = max(-(-(high - low) // 5), 1)
    values = [2**exponent for exponent in range(low, high + 1, step)]
    return {
        "tickmode": "array",
        "tickvals": values,
        "ticktext": [bytes_text(value) for value in values],
    }


def file_ranges(strip: RangeStrip, type_text: str) -> Chart:
    """Draw from where to where each file, or each few files, reach."""
    bars = strip.bars
    texts = [_range_text(bar) for bar in bars]
    widths = [bar.high - bar.low for bar in bars]
    trace = go.Bar(
        orientation="h",
        y=list(range(len(bars))),
        base=[bar.low for bar in bars],
        x=widths,
        customdata=[as_written(text) for text in texts],
        marker={
            "color": ACCENT,
            "opacity": 0.75,
            "line": {"width": 1, "color": ACCENT},
        },
        hovertemplate="%{customdata}<extra></extra>",
    )
    xaxis: dict[str, Any] = {"nticks": 6, "showgrid": True, "gridcolor": GRID}
    if strip.scale == "time":
        xaxis["type"] = "date"
    elif strip.scale == "order":
        xaxis |= _order_ticks(bars)
    figure = plain_figure(
        [trace],
        xaxis=xaxis,
        yaxis={"visible": False, "autorange": "reversed"},
        margin={"l": 8, "r": 4, "t": 8, "b": 36 if strip.scale == "time" else 22},
        bargap=0.1,
    )
    is_binned = any(bar.num_files > 1 for bar in bars)
    notes = [
        f"a bar is about {bars[0].num_files:,} files" if is_binned else "a bar a file",
        "in order, not to scale" if strip.scale == "order" else "",
        f"{strip.sampled:,} files looked at" if strip.sampled else "",
    ]
    return Chart(
        name="file-ranges",
        label=f"Smallest and largest {type_text} of {strip.num_files:,} files",
        figure=figure,
        header=("Range", "Files"),
        rows=[(text, bar.num_files) for text, bar in zip(texts, bars, strict=True)][
            :MAX_TABLE_ROWS
        ],
        note=", ".join(note for note in notes if note),
        height="x-plot-l",
    )


def _range_text(bar: RangeBar) -> str:
    low, high = (
        cell(value, UTC).text[:MAX_VALUE] for value in (bar.minimum, bar.maximum)
    )
    files = f", {bar.num_files:,} files" if bar.num_files > 1 else ""
    return f"{low} to {high}{files}"


def _order_ticks(bars: Sequence[RangeBar]) -> dict[str, Any]:
    """Return the values at some places of the order."""
    ends = {bar.low: bar.minimum for bar in bars} | {
        bar.high: bar.maximum for bar in bars
    }
    places = sorted(ends)
    step = max(-(-len(places) // 5), 1)
    chosen = places[::step]
    return {
        "tickmode": "array",
        "tickvals": chosen,
        "ticktext": [
            as_written(cell(ends[place], UTC).text[:MAX_TICK]) for place in chosen
        ],
    }
