"""What all pictures share: their look, their axes, and how labels are written.

A colour is `var(--dw-...)`: the browser puts in what the current theme says. Figures
carry no template, no mode bar and no more points than a screen has pixels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go
from plotly.basedatatypes import BaseTraceType

from apps.explorer.operations import OperationFamily

BYTE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
COUNT_UNITS = ("", "k", "M", "B", "T")
FIRST_SHORTENED = 10_000  # counts from here on are written with a unit
MAX_AMOUNT_TICKS = 4  # above 0
INK = "var(--dw-ink-3)"
ACCENT = "var(--dw-accent)"
SMALL = "var(--dw-amber-m)"
GRID = "var(--dw-grid)"
AXIS = "var(--dw-line-strong)"
MAX_SINGLE_STEPS = 4  # counts up to here have a tick each
ROOM_FOR_LINE = 1.04  # or half of the line's width is cut off


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A figure and the same numbers as a table.

    Attributes:
        name: Names the elements of the page that hold it.
        label: What a screen reader says instead of the picture.
        figure: What plotly draws, ready for JSON.
        header: The header of the table.
        rows: The rows of the table.
        note: What the aside of the caption says.
        legend: Families and counts above the picture.
        height: Class of the picture's height.
    """

    name: str
    label: str
    figure: dict[str, Any]
    header: tuple[str, ...]
    rows: Sequence[Sequence[object]]
    note: str = ""
    legend: Sequence[tuple[OperationFamily, int]] = ()
    height: str = "x-plot-m"


def amount_axis(highest: int, *, by_rows: bool) -> dict[str, Any]:
    """Return an axis from 0 whose ticks read as the numbers beside the chart do."""
    step = 1
    while highest // step > MAX_AMOUNT_TICKS:
        # 1, 2, 5, 10, 20, ... rows; 1, 2, 4, ... bytes.
        step = step * 5 // 2 if by_rows and str(step).startswith("2") else step * 2
    ticks = range(0, highest + 1, step)
    texts = [count_text(tick) if by_rows else bytes_text(tick) for tick in ticks]
    return {
        "range": [0, highest * ROOM_FOR_LINE or 1],
        "tickmode": "array",
        "tickvals": list(ticks),
        "ticktext": texts,
    }


def count_text(count: int) -> str:
    """Return a count as an axis writes it: 2,500 or 20 B."""
    value, unit = float(count), 0
    if count < FIRST_SHORTENED:
        return f"{count:,}"
    while value >= 1000 and unit < len(COUNT_UNITS) - 1:  # noqa: PLR2004 (the base)
        value, unit = value / 1000, unit + 1
    return f"{value:.10g} {COUNT_UNITS[unit]}"


def bytes_text(size_bytes: int) -> str:
    """Return a size as an axis writes it: 64 KiB."""
    value, unit = float(size_bytes), 0
    while value >= 1024 and unit < len(BYTE_UNITS) - 1:  # noqa: PLR2004 (the base)
        value, unit = value / 1024, unit + 1
    return f"{value:.10g} {BYTE_UNITS[unit]}"


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
    font = {"size": 11, "color": INK, "family": "var(--dw-font)"}
    shared: dict[str, Any] = {
        "template": {},
        "showlegend": False,
        "autosize": True,
        "margin": {"l": 38, "r": 4, "t": 8, "b": 22},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": font,
        "hoverlabel": {
            "bgcolor": "var(--dw-sheet)",
            "bordercolor": AXIS,
            "font": {**font, "color": "var(--dw-ink)"},
        },
        "dragmode": False,
        "xaxis": {
            "showgrid": False,
            "zeroline": False,
            "linecolor": AXIS,
            "ticks": "",
            "fixedrange": True,
            **xaxis,
        },
        "yaxis": {
            "gridcolor": GRID,
            "zeroline": False,
            "ticks": "",
            "ticklabelstandoff": 6,
            "fixedrange": True,
            "automargin": True,
            **yaxis,
        },
    }
    figure = go.Figure(data=list(data), layout={**shared, **layout})
    plain: dict[str, Any] = figure.to_plotly_json()
    plain["layout"].pop("template", None)
    return plain


def count_ticks(highest: int) -> dict[str, Any]:
    """Return the ticks of an axis that counts: never between two whole numbers."""
    step = {"dtick": 1} if highest <= MAX_SINGLE_STEPS else {"nticks": 5}
    return {"tickformat": ",d", **step}
