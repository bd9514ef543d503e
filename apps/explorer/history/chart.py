"""Commits per day, as a picture."""

from collections.abc import Sequence
from datetime import date
from typing import Any

import plotly.graph_objects as go

from apps.explorer.drawing import plain_figure
from apps.explorer.history.operations import OperationFamily
from apps.pages.figures import MIN_BARS, Chart, count_ticks
from apps.pages.lists.days import day_text
from deltaweb.words import counted


def commits_per_day(
    days: Sequence[date],
    families: dict[OperationFamily, tuple[int, ...]],
    *,
    note: str = "",
    height: str = "x-plot-m",
) -> Chart:
    """Show commits a day by the family of operations; a single day needs no picture."""
    rows = [
        (day_text(day), *(counts[index] for counts in families.values()))
        for index, day in enumerate(days)
    ]
    totals = [(family, sum(counts)) for family, counts in families.items()]
    busy = [row for row in reversed(rows) if any(row[1:])]
    is_drawn = len(busy) >= MIN_BARS
    return Chart(
        name="commits-per-day",
        label=_commits_label(days, totals),
        figure=daily_bars(days, families) if is_drawn else {},
        header=("Day (UTC)", *(family.name for family in families)),
        rows=busy,
        note=note,
        legend=totals,
        height=height,
        words="" if is_drawn else _words(busy),
    )


def daily_bars(
    days: Sequence[date], families: dict[OperationFamily, tuple[int, ...]]
) -> dict[str, Any]:
    """Draw a bar a day, stacked by the family of operations."""
    names = [day.isoformat() for day in days]
    highest = max(map(sum, zip(*families.values(), strict=True)), default=0)
    bars = [
        go.Bar(
            name=family.name,
            x=names,
            y=list(counts),
            marker={
                "color": family.mark,
                "line": {"width": 1, "color": "var(--dw-sheet)"},
            },
            hovertemplate="%{y} " + family.name + "<extra></extra>",
        )
        for family, counts in families.items()
    ]
    return plain_figure(
        bars,
        xaxis={"type": "date", "tickformat": "%-d %b", "hoverformat": "%a %-d %b %Y"},
        yaxis={"rangemode": "tozero", **count_ticks(highest)},
        barmode="stack",
        bargap=0.28,
        hovermode="x unified",
    )


def _words(days: Sequence[tuple[object, ...]]) -> str:
    """Say what one bar would show, or none."""
    if not days:
        return "Nothing was committed on these days."
    day, *counts = days[0]
    total = sum(count for count in counts if isinstance(count, int))
    return f"{counted(total, 'commit')},{' all' * (total > 1)} on {day}."


def _commits_label(
    days: Sequence[date], totals: Sequence[tuple[OperationFamily, int]]
) -> str:
    counts = ", ".join(f"{count} {family.name}" for family, count in totals)
    return f"Commits per day over {len(days)} days: {counts or 'none'}"
