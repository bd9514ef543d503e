"""How pictures of a table are drawn, and how their labels are written."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
from plotly.basedatatypes import BaseTraceType

from deltaweb.web.pages.figures import bytes_text, figure_layout, plain_values, ticks_at

COUNT_UNITS = ("", "k", "M", "B", "T")
FIRST_SHORTENED = 10_000  # counts from here on are written with a unit
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


def count_text(count: int) -> str:
    """Return a count as an axis writes it: 2,500 or 20 B."""
    value, unit = float(count), 0
    if count < FIRST_SHORTENED:
        return f"{count:,}"
    while value >= 1000 and unit < len(COUNT_UNITS) - 1:  # noqa: PLR2004 (the base)
        value, unit = value / 1000, unit + 1
    return f"{value:.10g} {COUNT_UNITS[unit]}"


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
