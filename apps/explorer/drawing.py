"""How pictures of a table are drawn, and how their labels are written."""

from collections.abc import Sequence
from typing import Any, Final

import plotly.graph_objects as go
from plotly.basedatatypes import BaseTraceType

from apps.pages.figures import (
    ACCENT,
    count_ticks,
    figure_layout,
    plain_values,
    ticks_at,
)
from deltaweb.words import bytes_text, count_text, size_text

MAX_AMOUNT_TICKS = 4  # above 0
MAX_TICK = 16  # characters of a label
SMALL = "var(--dw-amber-m)"
ROOM_FOR_LINE = 1.04  # or half of the line's width is cut off


def amount_axis(highest: int, *, by_rows: bool) -> dict[str, Any]:
    """Return an axis from 0 whose ticks read as the numbers beside the chart do."""
    step = 1
    while highest // step > MAX_AMOUNT_TICKS:
        # 1, 2, 5, 10, 20, ... rows; 1, 2, 4, ... bytes.
        step = step * 5 // 2 if by_rows and str(step).startswith("2") else step * 2
    ticks = range(0, highest + 1, step)
    texts = map(count_text if by_rows else bytes_text, ticks)
    return {"range": [0, highest * ROOM_FOR_LINE or 1], **ticks_at(ticks, texts)}


def as_written(text: str) -> str:
    """Return a text of the table so that plotly draws it as it is.

    Plotly takes `<b>`, `<br>` and `<a href>` of any label for markup, and turns
    entities into characters.
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def plain_figure(
    data: Sequence[BaseTraceType],
    *,
    xaxis: dict[str, Any],
    yaxis: dict[str, Any],
    **layout: object,
) -> dict[str, Any]:
    """Return a figure with the look that all charts share, as plain JSON values.

    It is checked by plotly as a whole, which is ten times as fast as part by part.
    """
    shared = figure_layout(xaxis=xaxis, yaxis=yaxis, **layout)
    return plain_values(go.Figure(data=list(data), layout=shared))


SCALE: Final = [
    [0.0, "var(--dw-accent-soft)"],
    [1.0, "var(--dw-accent)"],
]


def cells_figure(
    across: Sequence[str],
    down: Sequence[str],
    values: Sequence[Sequence[int | None]],
    texts: Sequence[Sequence[str]],
) -> go.Heatmap:
    """Draw cells; `texts` are what each says when it is pointed at.

    Colours begin at 0, so that cells which are almost equal look it. Plotly draws a
    scale by inline styles; the page has its own (`scale_of`).
    """
    largest = _largest(values)
    return go.Heatmap(
        x=[as_written(label) for label in across],
        y=[as_written(label) for label in down],
        z=[list(row) for row in values],
        customdata=[list(row) for row in texts],
        zmin=0,
        zmax=largest or 1,  # with one of both, plotly takes neither
        colorscale=SCALE,
        showscale=False,
        xgap=1,
        ygap=1,
        hoverongaps=False,
        hovertemplate="%{y} / %{x}<br>%{customdata}<extra></extra>",
    )


def scale_of(
    values: Sequence[Sequence[int | None]], *, by_rows: bool
) -> tuple[str, str]:
    """Return what the first and the last colour of `cells_figure` stand for."""
    text = count_text if by_rows else size_text
    return text(0), text(_largest(values))


def _largest(values: Sequence[Sequence[int | None]]) -> int:
    return max((value or 0 for row in values for value in row), default=0)


ROOM_ABOVE = 1.1


def histogram_figure(  # noqa: PLR0913 (each is one part of the picture)
    counts: Sequence[int],
    texts: Sequence[str] | Sequence[Sequence[object]],
    edges: Sequence[str],
    *,
    unit: str,
    max_ticks: int,
    colours: str | Sequence[str] = ACCENT,
    opacity: float | Sequence[float] = 0.85,
    room: float = ROOM_ABOVE,
    **layout: object,
) -> dict[str, Any]:
    """Draw a bar a count; the edges between them are told as often as they fit.

    Args:
        texts: Between which edges each bar is; or lists that begin with that.
        edges: What stands at the n + 1 ends of the n bars; none of no bar.
        unit: What the things are: `files`.
        room: How far the axis goes past the highest bar.
    """
    said = (
        "customdata"
        if all(isinstance(text, str) for text in texts)
        else "customdata[0]"
    )
    bars = go.Bar(
        x=list(range(len(counts))),
        y=list(counts),
        customdata=list(texts),
        marker={"color": colours, "opacity": opacity},
        hovertemplate=f"%{{y:,}} {unit}<br>%{{{said}}}<extra></extra>",
    )
    ticks = range(0, len(edges), -(-len(edges) // max_ticks) or 1)
    top = max(counts, default=1) or 1
    return plain_figure(
        [bars],
        xaxis={
            **ticks_at((tick - 0.5 for tick in ticks), (edges[tick] for tick in ticks)),
            "range": [-0.5, max(len(counts), 1) - 0.5],
        },
        yaxis={"range": [0, top * room], **count_ticks(top)},
        bargap=0.12,
        **layout,
    )
