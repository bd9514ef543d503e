"""The bins of a histogram: at most 30 of equal width, with edges that people can read.

    edges_of("integer", 3, 97)  ->  [0, 5, 10, ..., 95, 100]

Bin i holds the values from edge i to below edge i + 1.
"""

import math
from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

Edges: TypeAlias = Sequence[int] | Sequence[float]

MAX_BINS: Final = 30
HAS_BINS: Final = frozenset({"integer", "double", "decimal", "date", "timestamp"})
_SECOND_US: Final = 1_000_000
_DAY_US: Final = 86_400 * _SECOND_US
_TIMES_US: Final = (
    *(n * _SECOND_US for n in (1, 5, 15, 60, 300, 900, 3600, 3 * 3600, 6 * 3600)),
    *(n * _DAY_US for n in (1, 7, 30, 91, 365, 3650, 36_500)),
)
_DAYS: Final = (1, 7, 30, 91, 365, 3650, 36_500)


def edges_of(kind: str, low: float, high: float) -> Edges:
    """Return the edges of bins that hold every value between two extremes.

    Args:
        kind: One of `HAS_BINS`.
        low, high: The extremes: whole numbers; days or microseconds since 1970; finite
            numbers.
    """
    if kind in {"double", "decimal"}:
        return _float_edges(float(low), float(high))
    step = _step(kind, int(high) - int(low))
    first = int(low) // step
    return [place * step for place in range(first, int(high) // step + 2)]


def counts_between(values: npt.NDArray[np.generic], edges: Edges) -> list[int]:
    """Count values by bin."""
    inner = np.array(edges[1:-1], dtype=values.dtype)
    bins = np.searchsorted(inner, values, side="right")
    counts: list[int] = np.bincount(bins, minlength=len(edges) - 1).tolist()
    return counts


def estimated_counts(
    quantiles: Sequence[float], num_values: int, edges: Edges
) -> list[int]:
    """Estimate counts by bin from values that are evenly spread in rank.

    Args:
        quantiles: The values at ranks from 0 to 1 in equal steps.
        num_values: How many values there are.
    """
    ordered = np.asarray(quantiles, np.float64)
    places = np.searchsorted(ordered, np.asarray(edges, np.float64), side="left")
    ranks = np.round(places / len(ordered) * num_values).astype(np.int64)
    ranks[0], ranks[-1] = 0, num_values
    counts: list[int] = np.diff(ranks).tolist()
    return counts


def _step(kind: str, span: int) -> int:
    """Return the smallest step of whole numbers that needs few enough bins."""
    steps = {"date": _DAYS, "timestamp": _TIMES_US}.get(kind, ())
    for step in steps:
        if span // step + 2 <= MAX_BINS:
            return step
    step = 1
    while span // step + 2 > MAX_BINS:
        tenth = 10 ** (len(str(step)) - 1)
        step = {1: 2, 2: 5, 5: 10}[step // tenth] * tenth
    return step


def _float_edges(low: float, high: float) -> list[float]:
    span = high - low
    if not span or not math.isfinite(span):
        return [low, math.nextafter(high, math.inf)]
    power = 10.0 ** math.floor(math.log10(span / MAX_BINS))
    for factor in (1, 2, 5, 10, 20, 50):
        step = factor * power
        first, last = math.floor(low / step), math.floor(high / step) + 1
        edges = [float(f"{place * step:.12g}") for place in range(first, last + 1)]
        if len(edges) - 1 <= MAX_BINS and edges[0] <= low and high < edges[-1]:
            return edges if len(set(edges)) == len(edges) else [low, high]
    return [low, math.nextafter(high, math.inf)]
