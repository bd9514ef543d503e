"""Days as pages write them and people type them: 20 Nov 2026, the same everywhere.

Nothing here asks for a locale: a browser that writes days in its own way would show
`11/20/2026` beside the page's own.
"""

import re
from datetime import UTC, date, datetime
from typing import Final

MONTHS: Final = (
    *("Jan", "Feb", "Mar", "Apr", "May", "Jun"),
    *("Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
)
EXAMPLE: Final = "20 Nov 2026"
_TYPED: Final = re.compile(r"(\d{1,2})[ .]+([A-Za-z]{3})[a-z]*[ .]+(\d{4})", re.ASCII)


def day_text(day: date) -> str:
    """Return a day as pages write it."""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def parse_day(text: str) -> date:
    """Return the day of a text such as 2026-11-20 or 20 Nov 2026."""
    typed = text.strip()
    try:
        if (found := _TYPED.fullmatch(typed)) is None:
            return date.fromisoformat(typed)
        day, month, year = found.groups()
        return date(int(year), MONTHS.index(month.capitalize()) + 1, int(day))
    except ValueError:
        message = f"{text!r} is not a day"
        raise ValueError(message) from None


def moment_of(time_ms: object) -> datetime | None:
    """Return a time of the log, ms since 1970; None of what no clock can show."""
    if isinstance(time_ms, datetime):
        return time_ms if time_ms.tzinfo else time_ms.replace(tzinfo=UTC)
    if not isinstance(time_ms, int):
        return None
    try:
        return datetime.fromtimestamp(time_ms / 1000, tz=UTC)
    except (ValueError, OverflowError, OSError):
        return None
