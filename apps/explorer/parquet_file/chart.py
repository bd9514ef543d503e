"""Pictures of a file's row groups."""

from collections.abc import Sequence
from typing import Any, Final

import plotly.graph_objects as go

from apps.explorer.drawing import amount_axis, plain_figure
from apps.explorer.parquet_file.conditions import TriedCondition
from apps.explorer.parquet_file.groups import Bin
from apps.pages.figures import ACCENT, MIN_BARS, Chart
from deltaweb.words import bytes_text, counted

FADED: Final = 0.45
HOLLOW: Final = 0.15


def group_bytes(
    bins: Sequence[Bin], chosen: int, tried: TriedCondition | None = None
) -> Chart:
    """Draw the bytes of the row groups, the chosen one darker.

    Of a condition, those that it skips are hollow.

    Args:
        chosen: The number of the group whose columns are shown.
        tried: What a condition reads of them; None of none.
    """
    verdicts = {} if tried is None else tried.verdicts
    is_skipped = [
        bool(verdicts)
        and not any(
            verdicts[number].is_read
            for number in range(one.first, one.last + 1)
            if number in verdicts
        )
        for one in bins
    ]
    are_alone = all(one.first == one.last for one in bins)
    opacities = [
        HOLLOW if skipped else 0.95 if is_chosen or verdicts else FADED
        for one, skipped in zip(bins, is_skipped, strict=True)
        for is_chosen in [one.first <= chosen <= one.last]
    ]
    is_drawn = len(bins) >= MIN_BARS
    return Chart(
        name="group-bytes",
        label=f"Compressed bytes of {bins[-1].last + 1 if bins else 0:,} row groups",
        figure=_picture(bins, opacities, is_skipped) if is_drawn else {},
        header=("Row group", "Bytes" if are_alone else "Bytes each", "Rows"),
        rows=[(one.label, one.average_bytes, one.num_rows) for one in bins],
        note=("compressed" if are_alone else "compressed, averages of neighbours")
        + (", pale ones are skipped" if any(is_skipped) else ""),
        height="x-plot-xs",
        words="" if is_drawn else _words(bins),
    )


def _picture(
    bins: Sequence[Bin], opacities: Sequence[float], is_skipped: Sequence[bool]
) -> dict[str, Any]:
    are_alone = all(one.first == one.last for one in bins)
    sizes = [one.average_bytes for one in bins]
    bars = go.Bar(
        x=[(one.first + one.last) / 2 for one in bins],
        y=sizes,
        width=[(one.last - one.first + 1) * 0.86 for one in bins],
        customdata=[
            [one.label, bytes_text(one.average_bytes), f"{one.num_rows:,}"]
            for one in bins
        ],
        marker={
            "color": ACCENT,
            "opacity": opacities,
            "line": {
                "color": ACCENT,
                "width": [int(skipped) for skipped in is_skipped],
            },
        },
        hovertemplate="group %{customdata[0]}<br>%{customdata[1]}"
        + ("" if are_alone else " on average")
        + "<br>%{customdata[2]} rows<extra></extra>",
    )
    last = bins[-1].last
    return plain_figure(
        [bars],
        xaxis={"range": [-0.6, last + 0.6], "tickformat": ",d", "nticks": 12}
        | ({"dtick": 1} if last < 12 else {}),  # noqa: PLR2004 (ticks that fit)
        yaxis=amount_axis(max(sizes, default=0), by_rows=False),
        margin={"l": 56, "r": 4, "t": 8, "b": 22},
    )


def _words(bins: Sequence[Bin]) -> str:
    if not bins:
        return "The file has no row groups."
    (one,) = bins
    rows = counted(one.num_rows, "row")
    return f"One row group, {bytes_text(one.average_bytes)} compressed, of {rows}."
