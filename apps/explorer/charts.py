"""Pictures of domain values: plotly figures, coloured by names of the style sheet.

A colour is `var(--dw-...)`: the browser puts in what the current theme says. Figures
carry no template, no mode bar and no more points than a screen has pixels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import Any

import plotly.graph_objects as go

from apps.explorer.operations import OperationFamily

BYTE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
INK = "var(--dw-ink-3)"
ACCENT = "var(--dw-accent)"
SMALL = "var(--dw-amber-m)"
GRID = "var(--dw-grid)"
AXIS = "var(--dw-line-strong)"
BAND = "var(--dw-band)"
MAX_SIZE_TICKS = 7
ROOM_FOR_NOTES = 1.18  # above the highest bar


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


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionPoint:
    """What a table held after one version."""

    version: int
    num_records: int | None
    num_files: int | None
    size_bytes: int | None


def commits_per_day(
    days: Sequence[date],
    families: dict[OperationFamily, tuple[int, ...]],
    *,
    note: str = "",
    height: str = "x-plot-m",
) -> Chart:
    """Draw a bar a day, stacked by the family of operations."""
    figure = _figure(barmode="stack", bargap=0.28)
    names = [day.isoformat() for day in days]
    for family, counts in families.items():
        figure.add_trace(
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
        )
    figure.update_layout(hovermode="x unified")
    figure.update_xaxes(type="date", tickformat="%-d %b", hoverformat="%a %-d %b %Y")
    figure.update_yaxes(rangemode="tozero", tickformat=",d", nticks=4)
    rows = [
        (day.isoformat(), *(counts[index] for counts in families.values()))
        for index, day in enumerate(days)
    ]
    totals = [(family, sum(counts)) for family, counts in families.items()]
    return Chart(
        name="commits-per-day",
        label=_commits_label(days, totals),
        figure=_plain(figure),
        header=("Day (UTC)", *(family.name for family in families)),
        rows=[row for row in reversed(rows) if any(row[1:])],
        note=note,
        legend=totals,
        height=height,
    )


def file_sizes(
    edges: Sequence[int],
    counts: Sequence[int],
    *,
    target_bytes: int | None,
    note: str = "",
    height: str = "x-plot-s",
) -> Chart:
    """Draw how many files have which size; the server has counted them.

    Args:
        edges: The n + 1 edges of the bins in bytes, increasing.
        counts: Files in each of the n bins.
        target_bytes: The size that files of the table aim at, or None.
        note: What the caption adds.
        height: Class of the picture's height.
    """
    small = _small_bins(edges, target_bytes)
    texts = [
        f"{bytes_text(lower)} to {bytes_text(upper)}"
        for lower, upper in pairwise(edges)
    ]
    figure = _figure(bargap=0.12)
    figure.add_trace(
        go.Bar(
            x=list(range(len(counts))),
            y=list(counts),
            customdata=texts,
            marker={
                "color": [SMALL] * small + [ACCENT] * (len(counts) - small),
                "opacity": [1.0] * small + [0.82] * (len(counts) - small),
            },
            hovertemplate="%{y:,} files<br>%{customdata}<extra></extra>",
        )
    )
    ticks = range(0, len(edges), -(-len(edges) // MAX_SIZE_TICKS) or 1)
    figure.update_xaxes(
        tickmode="array",
        tickvals=[tick - 0.5 for tick in ticks],
        ticktext=[bytes_text(edges[tick]) for tick in ticks],
        range=[-0.5, max(len(counts), 1) - 0.5],
    )
    top = max(counts, default=1) or 1
    figure.update_yaxes(range=[0, top * ROOM_FOR_NOTES], tickformat=",d", nticks=5)
    _mark_target(figure, edges, counts, target_bytes, small)
    rows = [(text, count) for text, count in zip(texts, counts, strict=True) if count]
    return Chart(
        name="file-sizes",
        label=f"File sizes: {sum(counts):,} files in {len(rows)} size classes",
        figure=_plain(figure),
        header=("Size", "Files"),
        rows=rows,
        note=note,
        height=height,
    )


def over_versions(
    points: Sequence[VersionPoint],
    *,
    schema_changes: Sequence[int] = (),
    shown: int | None = None,
    note: str = "",
) -> Chart:
    """Draw the rows of a table over its versions, or its size where rows are unknown.

    Args:
        points: Versions in ascending order.
        schema_changes: Versions that changed the schema.
        shown: The version that the page shows.
        note: What the caption adds.
    """
    by_rows = any(point.num_records is not None for point in points)
    values = [point.num_records if by_rows else point.size_bytes for point in points]
    word = "Rows" if by_rows else "Size"
    figure = _figure()
    figure.add_trace(
        go.Scatter(
            x=[point.version for point in points],
            y=values,
            mode="lines",
            connectgaps=False,
            line={"shape": "hv", "width": 1.75, "color": ACCENT},
            fill="tozeroy",
            fillcolor="var(--x-area)",
            hovertemplate="v%{x}<br>%{y:,}"
            + (" rows" if by_rows else " bytes")
            + "<extra></extra>",
        )
    )
    known = {point.version: value for point, value in zip(points, values, strict=True)}
    marked = [version for version in schema_changes if known.get(version) is not None]
    if marked:
        figure.add_trace(
            go.Scatter(
                x=marked,
                y=[known[version] for version in marked],
                mode="markers",
                marker={"symbol": "diamond", "size": 8, "color": "var(--dw-purple-m)"},
                hovertemplate="v%{x}: schema change<extra></extra>",
            )
        )
    if shown is not None and points and shown != points[-1].version:
        figure.add_vline(x=shown, line={"color": ACCENT, "width": 1.5, "dash": "dot"})
    figure.update_xaxes(tickprefix="v", tickformat="d", nticks=4)
    figure.update_yaxes(rangemode="tozero", nticks=5, tickformat="~s")
    rows = [
        (f"v{point.version}", point.num_records, point.num_files, point.size_bytes)
        for point in reversed(points)
    ]
    return Chart(
        name="over-versions",
        label=f"{word} over versions",
        figure=_plain(figure),
        header=("Version", "Rows", "Files", "Bytes"),
        rows=rows,
        note=note,
        height="x-plot-s",
    )


def bytes_text(size_bytes: int) -> str:
    """Return a size as an axis writes it: 64 KiB."""
    value, unit = float(size_bytes), 0
    while value >= 1024 and unit < len(BYTE_UNITS) - 1:  # noqa: PLR2004 (the base)
        value, unit = value / 1024, unit + 1
    return f"{value:.10g} {BYTE_UNITS[unit]}"


def _figure(**layout: object) -> go.Figure:
    """Return an empty figure with the look that all charts share."""
    figure = go.Figure()
    figure.update_layout(
        template=None,
        showlegend=False,
        autosize=True,
        margin={"l": 38, "r": 4, "t": 8, "b": 22},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"size": 11, "color": INK, "family": "var(--dw-font)"},
        hoverlabel={
            "bgcolor": "var(--dw-sheet)",
            "bordercolor": AXIS,
            "font": {"size": 11, "color": "var(--dw-ink)", "family": "var(--dw-font)"},
        },
        dragmode=False,
        **layout,
    )
    figure.update_xaxes(
        showgrid=False, zeroline=False, linecolor=AXIS, ticks="", fixedrange=True
    )
    figure.update_yaxes(
        gridcolor=GRID,
        zeroline=False,
        ticks="",
        fixedrange=True,
        automargin=True,
        ticklabelstandoff=6,
    )
    return figure


def _plain(figure: go.Figure) -> dict[str, Any]:
    """Return the figure as plain JSON values; the browser needs no template."""
    plain: dict[str, Any] = figure.to_plotly_json()
    plain["layout"].pop("template", None)
    return plain


def _commits_label(
    days: Sequence[date], totals: Sequence[tuple[OperationFamily, int]]
) -> str:
    counts = ", ".join(f"{count} {family.name}" for family, count in totals)
    return f"Commits per day over {len(days)} days: {counts or 'none'}"


def _small_bins(edges: Sequence[int], target_bytes: int | None) -> int:
    """Return how many bins hold only files of less than a quarter of the target."""
    if target_bytes is None:
        return 0
    return sum(1 for edge in edges[1:] if edge <= target_bytes // 4)


def _mark_target(
    figure: go.Figure,
    edges: Sequence[int],
    counts: Sequence[int],
    target_bytes: int | None,
    small: int,
) -> None:
    """Shade the bins of small files and mark the target, where the axis holds it."""
    if small:
        figure.add_vrect(
            x0=-0.5, x1=small - 0.5, fillcolor=BAND, layer="below", line_width=0
        )
        text = f"small: {sum(counts[:small]):,} of {sum(counts):,}"
        _note(figure, text, colour="var(--dw-amber)", x=0, xref="paper", xanchor="left")
    if target_bytes is None or not edges or not edges[0] < target_bytes <= edges[-1]:
        return
    place = sum(1 for edge in edges if edge < target_bytes) - 0.5
    line = {"color": ACCENT, "width": 1.5, "dash": "4px,3px"}
    figure.add_vline(x=place, line=line)
    _note(figure, "target", colour=ACCENT, x=place, xanchor="right")


def _note(figure: go.Figure, text: str, *, colour: str, **place: object) -> None:
    figure.add_annotation(
        text=text,
        y=1,
        yref="paper",
        yanchor="top",
        showarrow=False,
        font={"size": 11, "color": colour},
        **place,
    )
