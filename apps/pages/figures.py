"""What all pictures share: their look, and how labels are written.

A colour is `var(--dw-...)`: the browser puts in what the current theme says. Figures
carry no template, no mode bar and no more points than a screen has pixels. They are
drawn by the apps that have something to show.
"""

import typing
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

INK = "var(--dw-ink-3)"
ACCENT = "var(--dw-accent)"
GRID = "var(--dw-grid)"
AXIS = "var(--dw-line-strong)"
MIN_BARS = 2  # of a picture; one alone is a sentence
MAX_SINGLE_STEPS = 4  # counts up to here have a tick each


class Shade(typing.Protocol):
    """What a colour of a picture stands for."""

    @property
    def name(self) -> str: ...

    @property
    def hue(self) -> str: ...


class Drawn(typing.Protocol):
    """A figure of plotly."""

    def to_plotly_json(self) -> dict[str, Any]:
        """Return it as plain values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A figure and the same numbers as a table.

    Attributes:
        figure: What plotly draws, ready for JSON.
        note: What the aside of the caption says.
        legend: Colours and counts above the picture.
        scale: What the first and the last colour of its cells stand for.
        words: The sentence that stands in place of a picture of one bar; else "".
    """

    name: str
    label: str
    figure: dict[str, Any]
    header: tuple[str, ...]
    rows: Sequence[Sequence[object]]
    note: str = ""
    legend: Sequence[tuple[Shade, int]] = ()
    height: str = "x-plot-m"
    words: str = ""
    scale: tuple[str, str] | None = None


def figure_layout(
    *, xaxis: dict[str, Any], yaxis: dict[str, Any], **layout: object
) -> dict[str, Any]:
    """Return the layout that all charts share, with what one has of its own."""
    font = {"size": 11, "color": INK, "family": "var(--dw-font)"}
    return {
        "template": {},
        "showlegend": False,
        "autosize": True,
        "margin": {"l": 38, "r": 4, "t": 8, "b": 22},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": font,
        "hoverlabel": {
            "bgcolor": "var(--dw-sheet)",
            "bordercolor": AXIS,
            "font": {**font, "color": "var(--dw-ink)"},
        },
        "dragmode": False,
        "xaxis": {
            "showgrid": False,
            "zeroline": False,
            "linecolor": AXIS,
            "ticks": "",
            "fixedrange": True,
            **xaxis,
        },
        "yaxis": {
            "gridcolor": GRID,
            "zeroline": False,
            "ticks": "",
            "ticklabelstandoff": 6,
            "fixedrange": True,
            "automargin": True,
            **yaxis,
        },
        **layout,
    }


def plain_values(figure: Drawn) -> dict[str, Any]:
    """Return a figure as plain JSON values, without a template."""
    plain = figure.to_plotly_json()
    plain["layout"].pop("template", None)
    return plain


def percent(part: float, whole: float, *, digits: int = 1) -> float:
    """Return a part in percent of a whole; 0 of nothing."""
    return round(100 * part / whole, digits) if whole > 0 else 0.0


def ticks_at(places: Iterable[object], texts: Iterable[str]) -> dict[str, Any]:
    """Return the ticks of an axis: where they are, and what they say."""
    return {"tickmode": "array", "tickvals": list(places), "ticktext": list(texts)}


def count_ticks(highest: int) -> dict[str, Any]:
    """Return the ticks of an axis that counts: never between two whole numbers."""
    step = {"dtick": 1} if highest <= MAX_SINGLE_STEPS else {"nticks": 5}
    return {"tickformat": ",d", **step}
