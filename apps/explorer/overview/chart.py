"""Pictures of a table's file sizes, and of what it held at each version."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import plotly.graph_objects as go

from apps.explorer.drawing import (
    SMALL,
    amount_axis,
    histogram_figure,
    plain_figure,
)
from apps.pages.figures import ACCENT, Chart
from deltaweb.words import bytes_text

BAND = "var(--dw-band)"


MAX_SIZE_TICKS = 7
MAX_TICKS = 4  # of versions


MAX_TABLE_ROWS = 60  # newest versions in the table beside a line


ROOM_FOR_NOTES = 1.18  # above the highest bar


LOW = "x-plot-xs"  # the lowest pictures


LOW_ROOM_FOR_NOTES = 1.45


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionPoint:
    """What a table held after one version."""

    version: int
    num_records: int | None
    num_files: int | None
    size_bytes: int | None


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
        target_bytes: The size that files of the table aim at, or None.
    """
    small = _small_bins(edges, target_bytes)
    texts = [
        f"{bytes_text(lower)} to {bytes_text(upper)}"
        for lower, upper in pairwise(edges)
    ]
    shapes, notes = _marks(edges, counts, target_bytes, small)
    large = len(counts) - small
    figure = histogram_figure(
        counts,
        [
            [text, low, high - 1]
            for text, (low, high) in zip(texts, pairwise(edges), strict=True)
        ],
        [bytes_text(edge) for edge in edges],
        unit="files",
        max_ticks=MAX_SIZE_TICKS,
        colours=[SMALL] * small + [ACCENT] * large,
        opacity=[1.0] * small + [0.82] * large,
        room=LOW_ROOM_FOR_NOTES if height == LOW else ROOM_FOR_NOTES,
        shapes=shapes,
        annotations=notes,
    )
    rows = [(text, count) for text, count in zip(texts, counts, strict=True) if count]
    return Chart(
        name="file-sizes",
        label=f"File sizes: {sum(counts):,} files in {len(rows)} size classes",
        figure=figure,
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
    """
    by_rows = any(point.num_records is not None for point in points)
    values = [point.num_records if by_rows else point.size_bytes for point in points]
    word = "Rows" if by_rows else "Size"
    hover = "v%{x}<br>%{y:,} " + ("rows" if by_rows else "bytes") + "<extra></extra>"
    known = {point.version: value for point, value in zip(points, values, strict=True)}
    lines = [
        go.Scatter(
            x=[version for version, _ in run],
            y=[value for _, value in run],
            mode="lines" if len(run) > 1 else "markers",
            line={"shape": "hv", "width": 1.75, "color": ACCENT},
            marker={"size": 4, "color": ACCENT},
            fill="tozeroy",
            fillcolor="var(--x-area)",
            hovertemplate=hover,
        )
        for run in _unbroken(known)
    ]
    marked = [version for version in schema_changes if known.get(version) is not None]
    changes = go.Scatter(
        x=marked,
        y=[known[version] for version in marked],
        mode="markers",
        marker={"symbol": "diamond", "size": 8, "color": "var(--dw-purple-m)"},
        hovertemplate="v%{x}: schema change<extra></extra>",
    )
    is_older = shown is not None and bool(points) and shown != points[-1].version
    figure = plain_figure(
        [*lines, changes] if marked else lines,
        xaxis={"tickprefix": "v", "tickformat": "d", **_version_ticks(points)},
        yaxis=amount_axis(
            max((value for value in values if value is not None), default=0),
            by_rows=by_rows,
        ),
        shapes=[_upright(shown, dash="dot")] if is_older else [],
    )
    rows = [
        (f"v{point.version}", point.num_records, point.num_files, point.size_bytes)
        for point in points[: -MAX_TABLE_ROWS - 1 : -1]
    ]
    return Chart(
        name="over-versions",
        label=f"{word} over versions",
        figure=figure,
        header=("Version", "Rows", "Files", "Bytes"),
        rows=rows,
        note=note,
        height="x-plot-s",
    )


def _version_ticks(points: Sequence[VersionPoint]) -> dict[str, int]:
    """Say where ticks stand: of few versions at each, for none is between two."""
    few = len(points) > 1 and points[-1].version - points[0].version < MAX_TICKS
    return {"dtick": 1} if few else {"nticks": MAX_TICKS}


def _unbroken(
    known: dict[int, int | None],
) -> list[list[tuple[int, int]]]:
    """Return the runs of versions whose value is known, one at least.

    Plotly fills the area below a line across its gaps as well, so a gap parts lines.
    """
    runs: list[list[tuple[int, int]]] = [[]]
    for version, value in known.items():
        if value is not None:
            runs[-1].append((version, value))
        elif runs[-1]:
            runs.append([])
    return runs if runs[-1] or len(runs) == 1 else runs[:-1]


def _small_bins(edges: Sequence[int], target_bytes: int | None) -> int:
    """Return how many bins hold only files of less than a quarter of the target.

    The upper edge of the last bin is not drawn; like every other it is the double of
    the lower one.
    """
    if target_bytes is None or not edges:
        return 0
    upper_edges = [*edges[1:], edges[-1] * 2]
    return sum(1 for edge in upper_edges if edge <= target_bytes // 4)


def _marks(
    edges: Sequence[int],
    counts: Sequence[int],
    target_bytes: int | None,
    small: int,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Shade the bins of small files and mark the target, where the axis holds it."""
    shapes: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    if small:
        band = {"x0": -0.5, "x1": small - 0.5, "y0": 0, "y1": 1, "yref": "paper"}
        line = {"width": 0}
        shapes.append({**band, "fillcolor": BAND, "layer": "below", "line": line})
        text = f"small: {sum(counts[:small]):,} of {sum(counts):,}"
        left = {"x": 0, "xref": "paper", "xanchor": "left"}
        notes.append(_note(text, "var(--dw-amber)") | left)
    if target_bytes is None or not edges or not edges[0] < target_bytes <= edges[-1]:
        return shapes, notes
    place = sum(1 for edge in edges if edge < target_bytes) - 0.5
    shapes.append(_upright(place, dash="4px,3px"))
    notes.append(_note("target", ACCENT) | {"x": place, "xanchor": "right"})
    return shapes, notes


def _upright(x: float | None, *, dash: str) -> dict[str, Any]:
    """Return a line from the bottom to the top of the plot."""
    line = {"color": ACCENT, "width": 1.5, "dash": dash}
    ends = {"x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "paper"}
    return {"type": "line", "line": line, **ends}


def _note(text: str, colour: str) -> dict[str, Any]:
    font = {"size": 11, "color": colour}
    top = {"y": 1, "yref": "paper", "yanchor": "top", "showarrow": False}
    return {"text": text, "font": font, **top}
