"""The range of a column's values in each file, as a picture."""

from collections.abc import Sequence
from datetime import UTC
from typing import Any, Final

import plotly.graph_objects as go

from deltaweb.web.explorer.columns.ranges import RangeBar, RangeStrip
from deltaweb.web.explorer.drawing.figure import (
    MAX_TICK,
    as_written,
    plain_figure,
)
from deltaweb.web.explorer.files.chart import MAX_TABLE_ROWS
from deltaweb.web.explorer.grid.cells import cell
from deltaweb.web.pages.figures import ACCENT, GRID, MIN_BARS, Chart

MAX_VALUE: Final = 60  # characters of a value


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
        f"{strip.sampled:,} files sampled" if strip.sampled else "",
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
        words=f"One file has a range: {texts[0]}." if len(bars) < MIN_BARS else "",
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
