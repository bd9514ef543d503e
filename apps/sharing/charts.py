"""Pictures of use: plotly figures, coloured by names of the style sheet."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from apps.sharing.selectors.usage import DailyUse

INK = "var(--dw-ink-3)"
AXIS = "var(--dw-line-strong)"
BYTE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
MAX_SINGLE_STEPS = 4  # counts up to here have a tick each
NUM_TICKS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """A colour of a chart: its word, hue and mark."""

    name: str
    hue: str
    mark: str


ANSWERED = Series(name="answered", hue="teal", mark="var(--dw-teal-m)")
REFUSED = Series(name="refused", hue="red", mark="var(--dw-red-m)")
OTHERS = Series(name="changes and activations", hue="purple", mark="var(--dw-purple-m)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A figure and the same numbers as a table.

    Attributes:
        name: Names the elements of the page that hold it.
        label: What a screen reader says instead of the picture.
        figure: What plotly draws, ready for JSON.
        header: The header of the table.
        rows: The rows of the table, newest first; days without anything are left out.
        note: What the aside of the caption says.
        legend: Colours and counts above the picture.
        height: Class of the picture's height.
    """

    name: str
    label: str
    figure: dict[str, Any]
    header: tuple[str, ...]
    rows: Sequence[Sequence[object]]
    note: str = ""
    legend: Sequence[tuple[Series, int]] = ()
    height: str = "x-plot-s"


def requests_per_day(days: Sequence[DailyUse], *, note: str = "") -> Chart:
    """Draw a bar a day: what was answered and refused, and what else happened."""
    counts = {
        ANSWERED: [day.num_answered for day in days],
        REFUSED: [day.num_refused for day in days],
        OTHERS: [day.num_others for day in days],
    }
    if not any(counts[OTHERS]):
        del counts[OTHERS]
    names = [day.day.isoformat() for day in days]
    highest = max(map(sum, zip(*counts.values(), strict=True)), default=0)
    step = {"dtick": 1} if highest <= MAX_SINGLE_STEPS else {"nticks": NUM_TICKS + 1}
    bars = [
        go.Bar(
            name=series.name,
            x=names,
            y=values,
            marker={"color": series.mark},
            hovertemplate="%{y:,} " + series.name + "<extra></extra>",
        )
        for series, values in counts.items()
    ]
    rows = [
        (name, *(values[place] for values in counts.values()))
        for place, name in enumerate(names)
    ]
    totals = [(series, sum(values)) for series, values in counts.items()]
    said = ", ".join(f"{total:,} {series.name}" for series, total in totals)
    return Chart(
        name="requests-per-day",
        label=f"Requests per day over {len(days)} days: {said}",
        figure=_figure(bars, yaxis={"tickformat": ",d", **step}),
        header=("Day (UTC)", *(series.name.capitalize() for series in counts)),
        rows=[row for row in reversed(rows) if any(row[1:])],
        note=note,
        legend=totals,
    )


def bytes_per_day(days: Sequence[DailyUse], *, note: str = "") -> Chart:
    """Draw a bar a day: the bytes of the files that were offered."""
    names = [day.day.isoformat() for day in days]
    sizes = [day.size_bytes for day in days]
    bars = go.Bar(
        x=names,
        y=sizes,
        customdata=[_size_text(size) for size in sizes],
        marker={"color": "var(--dw-accent)", "opacity": 0.82},
        hovertemplate="%{customdata}<extra></extra>",
    )
    ticks = _size_ticks(max(sizes, default=0))
    axis = {
        "tickmode": "array",
        "tickvals": ticks,
        "ticktext": [_size_text(tick) for tick in ticks],
        "range": [0, max(ticks[-1], 1)],
    }
    rows = list(zip(reversed(names), reversed(sizes), strict=True))
    return Chart(
        name="bytes-per-day",
        label=f"Bytes offered per day over {len(days)} days: {_size_text(sum(sizes))}",
        figure=_figure([bars], yaxis=axis),
        header=("Day (UTC)", "Bytes offered"),
        rows=[row for row in rows if row[1]],
        note=note,
    )


def _size_ticks(highest: int) -> list[int]:
    """Return round places on an axis of bytes: 0, 256 MiB, 512 MiB."""
    step = 1
    while step * NUM_TICKS < highest:
        step *= 2
    return list(range(0, highest + step, step)) if highest else [0]


def _size_text(size_bytes: int) -> str:
    value, unit = float(size_bytes), 0
    while value >= 1024 and unit < len(BYTE_UNITS) - 1:  # noqa: PLR2004 (the base)
        value, unit = value / 1024, unit + 1
    return f"{value:.3g} {BYTE_UNITS[unit]}"


def _figure(bars: Sequence[go.Bar], *, yaxis: dict[str, Any]) -> dict[str, Any]:
    """Return a figure over days with the look of all charts, as plain JSON values."""
    font = {"size": 11, "color": INK, "family": "var(--dw-font)"}
    shared = {
        "template": {},
        "showlegend": False,
        "autosize": True,
        "barmode": "stack",
        "bargap": 0.28,
        "hovermode": "x unified",
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
            "type": "date",
            "tickformat": "%-d %b",
            "hoverformat": "%a %-d %b %Y",
            "showgrid": False,
            "zeroline": False,
            "linecolor": AXIS,
            "ticks": "",
            "fixedrange": True,
        },
        "yaxis": {
            "rangemode": "tozero",
            "gridcolor": "var(--dw-grid)",
            "zeroline": False,
            "ticks": "",
            "ticklabelstandoff": 6,
            "fixedrange": True,
            "automargin": True,
            **yaxis,
        },
    }
    plain: dict[str, Any] = go.Figure(data=list(bars), layout=shared).to_plotly_json()
    plain["layout"].pop("template", None)
    return plain
