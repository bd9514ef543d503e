"""Cells of a grid, coloured by a number."""

from collections.abc import Sequence
from typing import Final

import plotly.graph_objects as go

from deltaweb.web.explorer.drawing.figure import (
    as_written,
)

SCALE: Final = [
    [0.0, "var(--dw-accent-soft)"],
    [1.0, "var(--dw-accent)"],
]


def cells_figure(
    across: Sequence[str],
    down: Sequence[str],
    values: Sequence[Sequence[int | None]],
    texts: Sequence[Sequence[str]],
) -> go.Heatmap:
    """Draw cells; `texts` are what each says when it is pointed at."""
    return go.Heatmap(
        x=[as_written(label) for label in across],
        y=[as_written(label) for label in down],
        z=[list(row) for row in values],
        customdata=[list(row) for row in texts],
        zmin=0,
        colorscale=SCALE,
        showscale=False,
        xgap=1,
        ygap=1,
        hoverongaps=False,
        hovertemplate="%{y} / %{x}<br>%{customdata}<extra></extra>",
    )
