"""The picture of the sizes of row groups."""

from itertools import pairwise

from apps.explorer.drawing.figure import SMALL
from apps.explorer.drawing.histogram import histogram_figure
from apps.pages.figures import ACCENT, Chart, bytes_text
from apps.tables.versions.survey.inside import SMALL_GROUP_BYTES, GroupSizes

MAX_TICKS = 10


def group_sizes(sizes: GroupSizes) -> Chart:
    """Draw how many row groups have which size; small ones are marked."""
    texts = [
        f"{bytes_text(low)} to {bytes_text(high)}"
        for low, high in pairwise(sizes.edges)
    ]
    figure = histogram_figure(
        sizes.counts,
        texts,
        [bytes_text(edge) for edge in sizes.edges],
        unit="row groups",
        max_ticks=MAX_TICKS,
        colours=[
            SMALL if edge < SMALL_GROUP_BYTES else ACCENT for edge in sizes.edges[:-1]
        ],
    )
    total = sum(sizes.counts)
    return Chart(
        name="group-sizes",
        label=f"Sizes of {total:,} row groups, {sizes.num_small:,} of them small",
        figure=figure,
        header=("Size", "Row groups"),
        rows=[
            (text, count)
            for text, count in zip(texts, sizes.counts, strict=True)
            if count
        ],
        note=f"{sizes.num_small:,} of {total:,} below {bytes_text(SMALL_GROUP_BYTES)}",
        height="x-plot-s",
    )
