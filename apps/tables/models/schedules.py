"""How often a table's log is looked at: its own schedule, or the installation's.

People choose a schedule by its name; a table stores it as seconds: none for the
installation's `DELTAWEB_PROBE_INTERVAL_S`, and 0 where nobody looks until asked.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final, Literal, TypeAlias

from django.conf import settings

from deltaweb.words import length_text

Schedule: TypeAlias = Literal[
    "default", "30s", "1m", "5m", "10m", "30m", "1h", "6h", "12h", "1d", "never"
]
"""The keys of `SCHEDULES`, as a type."""
DEFAULT: Final = "default"
NEVER: Final = "never"
ONLY_WHEN_ASKED_S: Final = 0
SCHEDULES: Final[Mapping[str, int | None]] = {
    DEFAULT: None,
    "30s": 30,
    "1m": 60,
    "5m": 300,
    "10m": 600,
    "30m": 1800,
    "1h": 3600,
    "6h": 6 * 3600,
    "12h": 12 * 3600,
    "1d": 86_400,
    NEVER: ONLY_WHEN_ASKED_S,
}
MAX_BACKOFF_S: Final = 3600


def next_look(interval_s: int | None, *, now: datetime, failures: int = 0) -> datetime:
    """Return when a table is due after a look, or after so many failures in a row.

    A table that fails rests longer each time, up to an hour, and never for less than
    its interval. One that is refreshed only when asked is never due, whatever this
    says: `due_for_probe` passes it over.
    """
    rest_s = interval_s or settings.PROBE_INTERVAL_S
    longest_s = max(rest_s, MAX_BACKOFF_S)
    return now + timedelta(seconds=min(rest_s * 2 ** min(failures, 20), longest_s))


def schedule_name(interval_s: int | None) -> str:
    """Return the name of a stored schedule."""
    names = (name for name, known_s in SCHEDULES.items() if known_s == interval_s)
    return next(names, f"{interval_s}s")


def schedule_words(interval_s: int | None) -> str:
    """Return a stored schedule in words that follow `refreshed`."""
    if interval_s == ONLY_WHEN_ASKED_S:
        return "only when asked"
    if interval_s is None:
        return f"{_every(settings.PROBE_INTERVAL_S)} (the default)"
    return _every(interval_s)


def schedule_json(interval_s: int | None) -> dict[str, Any]:
    """Return a stored schedule for scripts: its name, and its seconds; null: never."""
    seconds = settings.PROBE_INTERVAL_S if interval_s is None else interval_s
    return {"refresh": schedule_name(interval_s), "refresh_interval_s": seconds or None}


def schedule_choices() -> list[tuple[str, str]]:
    """Return the name of each schedule with the words that a list of them shows."""
    return [
        (name, schedule_words(interval_s).capitalize())
        for name, interval_s in SCHEDULES.items()
    ]


def _every(interval_s: int) -> str:
    """Name an interval by the largest unit that divides it."""
    return f"every {length_text(interval_s).removeprefix('1 ')}"
