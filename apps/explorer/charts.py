"""Pictures of domain values: plotly figures, coloured by names of the style sheet.

A colour is `var(--dw-...)`: the browser puts in what the current theme says. Figures
carry no template, no mode bar and no more points than a screen has pixels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
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
    """Draw how many files have which size; bins are counted by the server.

    Args:
        edges: Lower edges of the bins in bytes, increasing; the last bin is open.
        counts: Files in each bin.
        target_bytes: The size that files of the table aim at, or None.
        note: What the caption adds.
        height: Class of the picture's height.
    """
    edges, counts = _trimmed(edges, counts)
    small = _small_bins(edges, target_bytes)
    figure = _figure(bargap=0.12)
    labels = [bytes_text(edge) for edge in edges]
    figure.add_trace(
        go.Bar(
            x=list(range(len(counts))),
            y=list(counts),
            customdata=[_bin_text(edges, index) for index in range(len(edges))],
            marker={
                "color": [SMALL] * small + [ACCENT] * (len(counts) - small),
                "opacity": [1.0] * small + [0.82] * (len(counts) - small),
            },
            hovertemplate="%{y:,} files<br>%{customdata}<extra></extra>",
        )
    )
    step = -(-len(labels) // 6) or 1
    ticks = list(range(0, len(labels), step))
    figure.update_xaxes(
        tickmode="array",
        tickvals=[tick - 0.5 for tick in ticks],
        ticktext=[labels[tick] for tick in ticks],
        range=[-0.5, len(labels) - 0.5],
    )
    figure.update_yaxes(rangemode="tozero", tickformat=",d", nticks=5)
    if target_bytes is not None and edges:
        _mark_target(figure, edges, counts, target_bytes, small)
    rows = [
        (_bin_text(edges, index), count) for index, count in enumerate(counts) if count
    ]
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


def _trimmed(
    edges: Sequence[int], counts: Sequence[int]
) -> tuple[Sequence[int], Sequence[int]]:
    """Drop the empty bins at both ends, but one on each side of the others."""
    filled = [index for index, count in enumerate(counts) if count]
    if not filled:
        return (), ()
    first, last = max(filled[0] - 1, 0), min(filled[-1] + 2, len(counts))
    return edges[first:last], counts[first:last]


def _small_bins(edges: Sequence[int], target_bytes: int | None) -> int:
    """Return how many bins hold only files of less than a quarter of the target."""
    if target_bytes is None:
        return 0
    return sum(1 for edge in edges[1:] if edge <= target_bytes // 4)


def _mark_target(
    figure: go.Figure,
    edges: Sequence[int],
    counts: Sequence[int],
    target_bytes: int,
    small: int,
) -> None:
    num_small, total = sum(counts[:small]), sum(counts)
    if small:
        figure.add_vrect(
            x0=-0.5, x1=small - 0.5, fillcolor=BAND, layer="below", line_width=0
        )
        figure.add_annotation(
            text=f"small: {num_small:,} of {total:,}",
            x=0,
            xref="paper",
            xanchor="left",
            y=1,
            yref="paper",
            yanchor="top",
            showarrow=False,
            font={"size": 11, "color": "var(--dw-amber)"},
        )
    place = sum(1 for edge in edges if edge < target_bytes) - 0.5
    if place <= len(edges) - 1:
        figure.add_vline(
            x=place, line={"color": ACCENT, "width": 1.5, "dash": "4px,3px"}
        )
        figure.add_annotation(
            text="target",
            x=place,
            xanchor="right",
            y=1,
            yref="paper",
            yanchor="top",
            showarrow=False,
            font={"size": 11, "color": ACCENT},
        )


def _bin_text(edges: Sequence[int], index: int) -> str:
    if index + 1 < len(edges):
        return f"{bytes_text(edges[index])} to {bytes_text(edges[index + 1])}"
    return f"{bytes_text(edges[index])} and more"
