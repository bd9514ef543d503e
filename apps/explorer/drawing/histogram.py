"""Bars of how many things lie between two edges each."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from deltaweb.web.explorer.drawing.figure import plain_figure
from deltaweb.web.pages.figures import ACCENT, count_ticks

ROOM_ABOVE = 1.1


def histogram_figure(  # noqa: PLR0913 (each is one part of the picture)
    counts: Sequence[int],
    texts: Sequence[str],
    edges: Sequence[str],
    *,
    unit: str,
    max_ticks: int,
    colours: str | Sequence[str] = ACCENT,
) -> dict[str, Any]:
    """Draw a bar a count; the edges between them are told as often as they fit.

    Args:
        edges: What stands at the n + 1 ends of the n bars; none of no bar.
        unit: What the things are: `files`.
    """
    bars = go.Bar(
        x=list(range(len(counts))),
        y=list(counts),
        customdata=list(texts),
        marker={"color": colours, "opacity": 0.85},
        hovertemplate=f"%{{y:,}} {unit}<br>%{{customdata}}<extra></extra>",
    )
    ticks = range(0, len(edges), -(-len(edges) // max_ticks) or 1)
    top = max(counts, default=1) or 1
    return plain_figure(
        [bars],
        xaxis={
            "tickmode": "array",
            "tickvals": [tick - 0.5 for tick in ticks],
            "ticktext": [edges[tick] for tick in ticks],
            "range": [-0.5, max(len(counts), 1) - 0.5],
        },
        yaxis={"range": [0, top * ROOM_ABOVE], **count_ticks(top)},
        bargap=0.12,
    )
