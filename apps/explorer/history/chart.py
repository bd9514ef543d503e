"""Commits per day, as a picture."""

from collections.abc import Sequence
from datetime import date

import plotly.graph_objects as go

from deltaweb.index.history.sentences.commit_facts import counted
from deltaweb.web.explorer.drawing.figure import plain_figure
from deltaweb.web.explorer.history.operations import OperationFamily
from deltaweb.web.pages.figures import MIN_BARS, Chart, count_ticks
from deltaweb.web.pages.lists.days import day_text


def commits_per_day(
    days: Sequence[date],
    families: dict[OperationFamily, tuple[int, ...]],
    *,
    note: str = "",
    height: str = "x-plot-m",
) -> Chart:
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
    figure = plain_figure(
        bars,
        xaxis={"type": "date", "tickformat": "%-d %b", "hoverformat": "%a %-d %b %Y"},
        yaxis={"rangemode": "tozero", **count_ticks(highest)},
        barmode="stack",
        bargap=0.28,
        hovermode="x unified",
    )
    rows = [
        (day_text(day), *(counts[index] for counts in families.values()))
        for index, day in enumerate(days)
    ]
    totals = [(family, sum(counts)) for family, counts in families.items()]
    busy = [row for row in reversed(rows) if any(row[1:])]
    return Chart(
        name="commits-per-day",
        label=_commits_label(days, totals),
        figure=figure,
        header=("Day (UTC)", *(family.name for family in families)),
        rows=busy,
        note=note,
        legend=totals,
        height=height,
        words=_words(busy) if len(busy) < MIN_BARS else "",
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
