"""Bars of how many things lie between two edges each."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from deltaweb.web.explorer.drawing.figure import plain_figure
from deltaweb.web.pages.figures import ACCENT, count_ticks, ticks_at

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
