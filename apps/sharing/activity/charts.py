"""Pictures of use: plotly figures, coloured by names of the style sheet."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from apps.pages.figures import (
    ACCENT,
    MIN_BARS,
    Chart,
    count_ticks,
    figure_layout,
    plain_values,
    ticks_at,
)
from apps.pages.lists.days import day_text
from apps.sharing.activity.usage import DailyUse
from deltaweb.words import bytes_text

NUM_TICKS = 4
SIZE_DIGITS = 3
HEIGHT = "x-plot-s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """A colour of a chart: its word, hue and mark."""

    name: str
    hue: str
    mark: str


ANSWERED = Series(name="answered", hue="teal", mark="var(--dw-teal-m)")
REFUSED = Series(name="refused", hue="red", mark="var(--dw-red-m)")
OTHERS = Series(name="changes and activations", hue="purple", mark="var(--dw-purple-m)")


def use_charts(days: Sequence[DailyUse]) -> list[Chart]:
    """Draw the requests and the bytes of some days; nothing without a request."""
    if not any(day.num_requests for day in days):
        return []
    return [requests_per_day(days), bytes_per_day(days)]


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
        (day_text(day.day), *(values[place] for values in counts.values()))
        for place, day in enumerate(days)
    ]
    totals = [(series, sum(values)) for series, values in counts.items()]
    said = ", ".join(f"{total:,} {series.name}" for series, total in totals)
    busy = [row for row in reversed(rows) if any(row[1:])]
    return Chart(
        name="requests-per-day",
        label=f"Requests per day over {len(days)} days: {said}",
        figure=_figure(bars, yaxis=count_ticks(highest)),
        header=("Day (UTC)", *(series.name.capitalize() for series in counts)),
        rows=busy,
        note=note,
        height=HEIGHT,
        legend=totals,
        words=_words(busy, said),
    )


def bytes_per_day(days: Sequence[DailyUse], *, note: str = "") -> Chart:
    """Draw a bar a day: the bytes of the files that were offered."""
    names = [day.day.isoformat() for day in days]
    sizes = [day.size_bytes for day in days]
    bars = go.Bar(
        x=names,
        y=sizes,
        customdata=[_size_text(size) for size in sizes],
        marker={"color": ACCENT, "opacity": 0.82},
        hovertemplate="%{customdata}<extra></extra>",
    )
    ticks = _size_ticks(max(sizes, default=0))
    axis = {**ticks_at(ticks, map(_size_text, ticks)), "range": [0, max(ticks[-1], 1)]}
    rows = [
        (day_text(day.day), day.size_bytes) for day in reversed(days) if day.size_bytes
    ]
    return Chart(
        name="bytes-per-day",
        label=f"Bytes offered per day over {len(days)} days: {_size_text(sum(sizes))}",
        figure=_figure([bars], yaxis=axis),
        header=("Day (UTC)", "Bytes offered"),
        rows=rows,
        note=note,
        height=HEIGHT,
        words=_words(rows, _size_text(sum(sizes))),
    )


def _words(days: Sequence[tuple[object, ...]], said: str) -> str:
    """Say what one bar would show, or none; "" of more."""
    if len(days) >= MIN_BARS:
        return ""
    return f"{said}, all on {days[0][0]}." if days else "No requests on these days."


def _size_ticks(highest: int) -> list[int]:
    """Return round places on an axis of bytes: 0, 256 MiB, 512 MiB."""
    step = 1
    while step * NUM_TICKS < highest:
        step *= 2
    return list(range(0, highest + step, step)) if highest else [0]


def _size_text(size_bytes: int) -> str:
    return bytes_text(size_bytes, digits=SIZE_DIGITS)


def _figure(bars: Sequence[go.Bar], *, yaxis: dict[str, Any]) -> dict[str, Any]:
    """Return stacked bars over days."""
    shared = figure_layout(
        xaxis={
            "type": "date",
            "tickformat": "%-d %b",
            "hoverformat": "%a %-d %b %Y",
        },
        yaxis={"rangemode": "tozero", **yaxis},
        barmode="stack",
        bargap=0.28,
        hovermode="x unified",
    )
    return plain_values(go.Figure(data=list(bars), layout=shared))
