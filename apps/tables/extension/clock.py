"""What other apps do by the clock: each registers what it asks for when it is due."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from apps.pages.registry import Registry

# Queues what is due at a time; it is called every few seconds, and safe to repeat.
Due = Callable[[datetime], object]

dues: Registry[Due] = Registry()

NEVER: Final = -1
NIGHT: Final = timedelta(hours=6)  # a server that was off until later waits a day


def begun_at(hour: int, *, now: datetime) -> datetime | None:
    """Return when work of the day began; None where it has not, or is over.

    Args:
        hour: From which hour of UTC on it is done; -1 for never.
        now: In UTC.
    """
    if hour == NEVER:
        return None
    begins = now.replace(hour=hour, minute=0, second=0, microsecond=0)
    if begins > now:
        begins -= timedelta(days=1)
    return begins if now - begins <= NIGHT else None


def request_due(*, now: datetime) -> None:
    """Queue all that is due."""
    for request in dues:
        request(now)
