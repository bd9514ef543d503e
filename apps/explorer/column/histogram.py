"""The picture of how the values of a column are spread."""

import plotly.graph_objects as go

from apps.explorer.drawing import MAX_TICK, amount_axis, as_written, plain_figure
from apps.pages.figures import ACCENT, MIN_BARS, Chart, ticks_at
from deltaweb.delta.profile.described import ColumnProfile

MAX_LABELS = 6


def histogram_chart(profile: ColumnProfile) -> Chart | None:
    """Draw the histogram of a profile; None for values without one."""
    bins = profile.histogram
    if not bins:
        return None
    texts = [f"{low} to below {high}" for low, high, _ in bins]
    counts = [count for *_, count in bins]
    trace = go.Bar(
        x=[place + 0.5 for place in range(len(bins))],
        y=counts,
        customdata=[as_written(text) for text in texts],
        marker={"color": ACCENT},
        hovertemplate="%{customdata}: %{y:,} rows<extra></extra>",
    )
    edges = [low for low, *_ in bins] + [bins[-1][1]]
    step = -(-len(edges) // MAX_LABELS)
    places = range(0, len(edges), step)
    ticks = ticks_at(places, (as_written(_short(edges[place])) for place in places))
    figure = plain_figure(
        [trace],
        xaxis={**ticks, "range": [0, len(bins)], "showgrid": False},
        yaxis=amount_axis(max(counts), by_rows=True),
        margin={"l": 44, "r": 16, "t": 8, "b": 24},
        bargap=0.06,
    )
    return Chart(
        name="histogram",
        label=f"Rows by value, in {len(bins)} equal steps",
        figure=figure,
        header=("Values", "Rows"),
        rows=list(zip(texts, counts, strict=True)),
        note="" if profile.is_histogram_exact else "estimated, to about 1 %",
        words=f"All values are {bins[0][0]}." if len(bins) < MIN_BARS else "",
    )


def _short(edge: str) -> str:
    """Return an edge as a label has room for it: a time without its seconds."""
    return edge[:16].replace("T", " ") if "T" in edge else edge[:MAX_TICK]
