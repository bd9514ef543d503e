"""Pictures of how bytes are spread over partitions."""

from collections.abc import Sequence
from typing import Final

import plotly.graph_objects as go

from deltaweb.web.explorer.drawing.figure import (
    MAX_TICK,
    as_written,
    plain_figure,
)
from deltaweb.web.explorer.drawing.heatmap import cells_figure
from deltaweb.web.explorer.files.chart import MAX_TABLE_ROWS, short_size
from deltaweb.web.explorer.partitions.grid import PartitionGrid
from deltaweb.web.explorer.partitions.selector import Skew
from deltaweb.web.pages.figures import ACCENT, Chart

PHONE_WIDTH: Final = 270.0  # px of a picture there


LETTER_WIDTH: Final = 6.4  # px, of an axis


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
        [cells_figure(grid.across, grid.down, grid.size_bytes, texts)],
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
