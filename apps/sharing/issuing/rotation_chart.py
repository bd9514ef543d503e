"""The bars of a rotation: requests a day with the new and the old token, in SVG.

X runs in percent and y in pixels, as the look asks, so that text keeps its size.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

BASE_PX: Final = 84.0  # y of the axis
TALLEST_PX: Final = 72.0
GAP: Final = 0.28  # of a day's width
SLIT_PX: Final = 0.8  # between the two parts of a bar
STEPS: Final = (1, 2, 3, 4, 6, 8, 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One day: the new token's part at the axis, the old one's on top of it."""

    title: str
    x: str
    middle: str
    width: str
    new_y: str
    new_height: str
    old_y: str
    old_height: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A line across the chart and its number."""

    y: str
    text_y: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestsChart:
    """What the template draws."""

    bars: list[Bar]
    ticks: list[Tick]


def requests_chart(
    days: Sequence[date], new: Sequence[int], old: Sequence[int]
) -> RequestsChart:
    """Stack the requests of two tokens day by day."""
    sums = [n + o for n, o in zip(new, old, strict=True)]
    top = _top(max(sums, default=0))
    px = TALLEST_PX / top
    width = 100 / max(len(days), 1)
    labelled = {0, len(days) // 2 - 1, len(days) - 1}
    bars = []
    for at, (day, n, o) in enumerate(zip(days, new, old, strict=True)):
        new_px, old_px = n * px, o * px
        new_y = BASE_PX - new_px
        is_today = at == len(days) - 1
        bars.append(
            Bar(
                title=_title(day, n, o),
                x=f"{width * (at + GAP / 2):.2f}%",
                middle=f"{width * (at + 0.5):.2f}%",
                width=f"{width * (1 - GAP):.2f}%",
                new_y=f"{new_y:.1f}",
                new_height=f"{new_px:.1f}",
                old_y=f"{new_y - old_px:.1f}",
                old_height=f"{max(old_px - SLIT_PX, 0):.1f}",
                label=("today" if is_today else _day(day)) if at in labelled else "",
            )
        )
    ticks = [_tick(value, px) for value in (0, top // 2, top)]
    return RequestsChart(bars=bars, ticks=ticks)


def _top(highest: int) -> int:
    """Return the end of the scale: an even round number, at least 2."""
    scale = 1
    while True:
        for step in STEPS:
            if step * scale >= highest and step * scale % 2 == 0:
                return step * scale
        scale *= 10


def _tick(value: int, px: float) -> Tick:
    y = BASE_PX - value * px
    return Tick(y=f"{y:.1f}", text_y=f"{y + 4:.1f}", label=f"{value:,}")


def _title(day: date, new: int, old: int) -> str:
    return f"{_day(day)}: {new:,} with the new token, {old:,} with the old"


def _day(day: date) -> str:
    return f"{day.day} {day:%b}"
