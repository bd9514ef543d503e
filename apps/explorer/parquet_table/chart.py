"""The picture of the sizes of row groups."""

from itertools import pairwise

from deltaweb.web.explorer.drawing.figure import SMALL
from deltaweb.web.explorer.drawing.histogram import histogram_figure
from deltaweb.web.pages.figures import ACCENT, MIN_BARS, Chart, bytes_text
from deltaweb.web.tables.versions.survey.inside import SMALL_GROUP_BYTES, GroupSizes

MAX_TICKS = 10
BOTH = 2  # row groups, of which people do not say all


def group_sizes(sizes: GroupSizes, *, marks_small: bool) -> Chart:
    """Draw how many row groups have which size.

    Args:
        sizes: The counts.
        marks_small: Whether small ones are marked; those of a table that is smaller
            than one file should be are all small, and no fault.
    """
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
            SMALL if marks_small and edge < SMALL_GROUP_BYTES else ACCENT
            for edge in sizes.edges[:-1]
        ],
    )
    total = sum(sizes.counts)
    told = [pair for pair in zip(texts, sizes.counts, strict=True) if pair[1]]
    small = f", {sizes.num_small:,} of them small" if marks_small else ""
    below = f"{sizes.num_small:,} of {total:,} below {bytes_text(SMALL_GROUP_BYTES)}"
    return Chart(
        name="group-sizes",
        label=f"Sizes of {total:,} row groups{small}",
        figure=figure,
        header=("Size", "Row groups"),
        rows=told,
        note=below if marks_small else "",
        height="x-plot-s",
        words=_words(told[0][0], total) if len(told) < MIN_BARS else "",
    )


def _words(text: str, total: int) -> str:
    if total == 1:
        return f"The one row group has {text}."
    many = "Both" if total == BOTH else f"All {total:,}"
    return f"{many} row groups have {text}."
