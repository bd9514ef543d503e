"""Times along an axis: as short as they still differ, and none of them twice."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

MAX_TIME_TICKS: Final = 5


def ticks_of_times(times: Sequence[str]) -> dict[str, Any]:
    """Return some of the times of an axis, as short as they still differ."""
    chosen = times[:: -(-len(times) // MAX_TIME_TICKS) or 1]
    moments = [datetime.fromisoformat(text) for text in chosen]
    if len({moment.date() for moment in moments}) == 1:
        spelling = "%H:%M"
    elif moments and moments[0].year == moments[-1].year:
        spelling = "%-d %b"
    else:
        spelling = "%b %Y"
    texts: dict[str, str] = {}
    for moment, text in zip(moments, chosen, strict=True):
        texts.setdefault(moment.strftime(spelling), text)
    return {
        "tickmode": "array",
        "tickvals": list(texts.values()),
        "ticktext": list(texts),
    }


def ticks_between(oldest: datetime, newest: datetime) -> dict[str, Any]:
    """Return times of an axis, as short as they differ, and none of them twice."""
    step = (newest - oldest) / MAX_TIME_TICKS
    chosen = [oldest + step * number for number in range(MAX_TIME_TICKS + 1)]
    spelling = "%b %Y"
    if newest - oldest < timedelta(minutes=MAX_TIME_TICKS):
        spelling = "%H:%M:%S"
    elif newest.date() == oldest.date():
        spelling = "%H:%M"
    elif newest.year == oldest.year:
        spelling = "%-d %b"
    texts: dict[str, datetime] = {}
    for moment in chosen:
        texts.setdefault(moment.strftime(spelling), moment)
    return {
        "tickmode": "array",
        "tickvals": [moment.isoformat()[:19] for moment in texts.values()],
        "ticktext": list(texts),
    }
